// SPDX-License-Identifier: Apache-2.0
// Every operator has both parts of its record, what the graph knows of it and its kernel, and what the graph says of
// its outputs is so in ONNX's own cases.
#include "core/graph/operators.h"

#include <algorithm>
#include <map>

#include "core/graph/ranks.h"
#include "core/graph/value_types.h"
#include "tests/catch.h"
#include "tests/support/conformance_cases.h"

using namespace tersor;

TEST_CASE("every kernel of ONNX's own operators has a record in the graph's table, of the same versions") {
  for (const ops::Op* op : ops::standard().ops()) {
    if (!op->domain.empty()) continue;
    INFO(op->type);
    const Operator* known = find_operator(op->type);
    REQUIRE(known != nullptr);
    CHECK(op->until >= known->since);
    if (known->removed != 0) CHECK(op->since < known->removed);
  }
}

TEST_CASE("ranks and element types that follow from the graph are those of ONNX's cases") {
  const auto given = test::ConformanceCases::find();
  if (!given) return;
  int ranks_seen = 0, types_seen = 0;
  for (const Json& entry : given->cases) {
    Model model = given->model_of(entry);
    const std::string data = given->folder_of(entry) + "test_data_set_0/";
    for (const Node& node : model.graph.nodes())
      for (const ValueId id : node.outputs)
        if (id.valid()) {
          model.graph.value(id).shape.reset();
          model.graph.value(id).dtype = DType::kUndefined;
        }
    const std::vector<int> ranks = infer_ranks(model);
    const std::vector<DType> types = value_types(model.graph);
    for (size_t k = 0; k < model.graph.outputs.size(); ++k) {
      const Tensor want = test::read_case_tensor(data + "output_" + std::to_string(k) + ".pb");
      const auto at = static_cast<size_t>(model.graph.outputs[k].index);
      INFO(entry["case"] << ", output " << k);
      if (ranks[at] >= 0) {
        ++ranks_seen;
        CHECK(ranks[at] == static_cast<int>(want.shape().rank()));
      }
      if (types[at] != DType::kUndefined) {
        ++types_seen;
        CHECK(name_of(types[at]) == name_of(want.dtype()));
      }
    }
  }
  CHECK(ranks_seen > static_cast<int>(given->cases.size()) / 2);
  CHECK(types_seen > static_cast<int>(given->cases.size()) / 2);
}

namespace {

std::vector<float> values_of(const Tensor& tensor) {
  const Tensor aligned = tensor.aligned();
  const auto values = aligned.data<float>();
  return {values.begin(), values.end()};
}

std::vector<float> sorted(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return values;
}

bool all_within(const std::vector<float>& some, const std::vector<float>& all) {
  return std::all_of(some.begin(), some.end(),
                     [&](float x) { return std::find(all.begin(), all.end(), x) != all.end(); });
}

/// Equal values of x have equal values of y.
bool is_function(const std::vector<float>& x, const std::vector<float>& y) {
  std::map<float, float> seen;
  for (size_t i = 0; i < x.size(); ++i)
    if (seen.try_emplace(x[i], y[i]).first->second != y[i]) return false;
  return true;
}

}  // namespace

TEST_CASE("what the graph's table says an operator does to values is what ONNX's cases show") {
  const auto given = test::ConformanceCases::find();
  if (!given) return;
  std::map<std::string, int> seen;
  for (const Json& entry : given->cases) {
    const Model model = given->model_of(entry);
    const auto& nodes = model.graph.nodes();
    if (nodes.size() != 1 || nodes[0].inputs.empty() || !nodes[0].inputs[0].valid()) continue;
    const Node& node = nodes[0];
    if (node.is("Dropout") || model.graph.inputs.empty() || model.graph.inputs[0] != node.inputs[0]) continue;
    const std::string data = given->folder_of(entry) + "test_data_set_0/";
    const Tensor input = test::read_case_tensor(data + "input_0.pb"),
                 output = test::read_case_tensor(data + "output_0.pb");
    if (input.dtype() != DType::kFloat32 || output.dtype() != DType::kFloat32) continue;
    const std::vector<float> x = values_of(input), y = values_of(output);
    INFO(entry["case"]);
    if (has_trait(node, Trait::kView)) CHECK((++seen["view"], x == y));
    if (has_trait(node, Trait::kReorders)) CHECK((++seen["reorders"], sorted(x) == sorted(y)));
    if (has_trait(node, Trait::kSelects)) CHECK((++seen["selects"], all_within(y, x)));
    if (has_trait(node, Trait::kRepeats)) CHECK((++seen["repeats"], all_within(y, x) && all_within(x, y)));
    if (has_trait(node, Trait::kReduces)) CHECK((++seen["reduces"], x.empty() || y.size() <= x.size()));
    if (has_trait(node, Trait::kArithmetic)) CHECK((++seen["arithmetic"], y.size() >= x.size()));
    if (has_trait(node, Trait::kClamp)) CHECK((++seen["clamp"], input.shape() == output.shape()));
    if (has_trait(node, Trait::kActivation | Trait::kFunction) && node.inputs.size() == 1)
      CHECK((++seen["function"], input.shape() == output.shape() && is_function(x, y)));
  }
  CHECK(seen.size() == 8);
}
