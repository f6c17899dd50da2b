// SPDX-License-Identifier: Apache-2.0
// Every operator has both parts of its record, what the graph knows of it and its kernel, and what the graph says of
// its outputs is so in ONNX's own cases.
#include "core/graph/operators.h"

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
