// SPDX-License-Identifier: Apache-2.0
// docs/operators.md says what is true: it is written from the lists of operators and from the cases that pass. With
// TERSOR_WRITE_DOCS set the test writes it anew.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/framework/attach.h"
#include "core/graph/operators.h"
#include "core/run/control.h"
#include "core/simulate/operators.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/conformance_cases.h"

using namespace tersor;

namespace {

constexpr int64_t kNewest = 28;  // operator set of the newest cases

struct Count {
  int passed = 0, present = 0;
};

using Counts = std::map<std::string, std::map<int64_t, Count>>;  // by operator, by operator set

Counts count_cases(const test::ConformanceCases& given) {
  Counts counts;
  for (const Json& entry : given.cases) {
    Count& count = counts[entry["op"]][entry["opset"].get<int64_t>()];
    ++count.present;
    const Model model = given.model_of(entry);
    const ops::Registry& registry =
        test::all_known(model) ? ops::standard() : simulate::registry(simulate::Profile::kX64);
    if (!test::all_known(model, registry)) continue;
    if (test::run_case(entry, model, given.folder_of(entry) + "test_data_set_0/", registry).empty()) ++count.passed;
  }
  return counts;
}

std::string text_of(const std::map<int64_t, Count>& by_opset) {
  std::string text;
  for (const auto& [opset, count] : by_opset)
    text += (text.empty() ? "" : ", ") + std::to_string(opset) + ": " + std::to_string(count.passed) + "/" +
            std::to_string(count.present);
  return text;
}

bool is_control(const std::string& type, int64_t version) {
  Node node;
  node.op_type = type;
  return run::control_op(node) != nullptr && (type != "Scan" || version >= 9);
}

/// The versions of ONNX's operator set in which the engine takes the operator: "7", "1-9", "13+", empty for none.
std::string versions_of(const std::string& type) {
  int64_t first = 0, last = 0;
  for (int64_t version = 1; version <= kNewest; ++version) {
    const bool runs = ops::standard().find("", type, version) != nullptr || is_control(type, version);
    if (!is_in_opset(type, version) || !runs) continue;
    if (first == 0) first = version;
    last = version;
  }
  if (first == 0) return "";
  return std::to_string(first) + (last == kNewest ? "+" : "-" + std::to_string(last));
}

/// Float operators that have an integer kernel after QuantizeLinear and DequantizeLinear.
std::set<std::string> simulated() {
  std::set<std::string> types;
  const auto standard = ops::standard().ops();
  for (const ops::Op* op : simulate::registry(simulate::Profile::kX64).ops()) {
    if (std::find(standard.begin(), standard.end(), op) != standard.end()) continue;
    std::string type(op->type);
    if (type == "MatMulIntegerToFloat") type = "MatMul";
    for (const char* prefix : {"QLinear", "Q"})
      if (type.rfind(prefix, 0) == 0) {
        type = type.substr(std::string(prefix).size());
        break;
      }
    types.insert(type);
  }
  return types;
}

/// What the platform does with one node of that type, whose inputs are all floats.
std::string quantized(const std::string& type, const tpc::TargetPlatformCapabilities& platform) {
  Graph graph;
  const ValueId x = graph.add_value("x", DType::kFloat32, std::vector<Dim>(4, Dim{8, {}}));
  graph.inputs.push_back(x);
  Node node;
  node.op_type = type;
  node.name = "node";
  node.inputs = {x};
  node.outputs = {graph.add_value("y", DType::kFloat32)};
  graph.outputs = node.outputs;
  const framework::FrameworkInfo info = framework::onnx_framework_info();
  const bool has_kernel = std::find(info.kernel_ops.begin(), info.kernel_ops.end(), type) != info.kernel_ops.end();
  if (has_kernel) node.inputs.push_back(graph.add_initializer("w", Tensor::make(DType::kFloat32, Shape{8, 8, 1, 1})));
  const NodeId id = graph.append(node);
  const framework::Attachment attachment = framework::attach(graph, platform, info, {});
  const std::string weights = has_kernel ? "weights, " : "";
  switch (attachment.of(id).activation) {
    case framework::ActivationMode::kQuant:
    case framework::ActivationMode::kFlnQuant:
      return weights + "output";
    case framework::ActivationMode::kPreserveQuant:
      return weights + "as its input";
    default:
      return has_kernel ? "weights" : "";
  }
}

std::string document(const Counts& counts) {
  std::ostringstream text;
  text
      << "# Operators\n\n"
         "Written by a test from the operators of the engine and ONNX's own cases; it fails when this page is stale. "
         "To write it\nanew: `TERSOR_WRITE_DOCS=1 ctest --preset native -R matrix`.\n\n"
         "- **Float**: versions of ONNX's operator set in which the float engine ([engine.md](engine.md)) runs it.\n"
         "- **Simulated**: between QuantizeLinear and DequantizeLinear it runs by the runtime's integer arithmetic\n"
         "  ([simulation.md](simulation.md)).\n"
         "- **Quantized**: what the platform `ort-cpu` quantizes of it; \"as its input\": its output has the "
         "parameters "
         "of its\n  input.\n"
         "- **Cases**: ONNX's cases that pass of those present, by version of the operator set. Decompositions count "
         "with the\n"
         "  operator that they decompose, integer operators with the simulation. Left out of them: other element types "
         "than\n"
         "  float32, 8-bit, 32-bit and 64-bit integers and bool, strings, sequences, random operators, training.\n\n"
         "| Operator | Float | Simulated | Quantized | Cases |\n| --- | --- | --- | --- | --- |\n";
  std::set<std::string> types;
  for (const auto& [type, by_opset] : counts) types.insert(type);
  for (const ops::Op* op : ops::standard().ops())
    if (op->domain.empty()) types.insert(std::string(op->type));
  const std::set<std::string> integer = simulated();
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu", 1);
  Count all;
  for (const std::string& type : types) {
    const auto found = counts.find(type);
    text << "| " << type << " | " << versions_of(type) << " | " << (integer.count(type) != 0 ? "yes" : "") << " | "
         << quantized(type, platform) << " | " << (found == counts.end() ? "" : text_of(found->second)) << " |\n";
    if (found == counts.end()) continue;
    for (const auto& [opset, count] : found->second) all.passed += count.passed, all.present += count.present;
  }
  text << "\nTogether " << all.passed << " of " << all.present
       << " cases pass. `tests/ops/conformance_test.cpp` names those that "
          "do not, with the reason.\n";
  return text.str();
}

}  // namespace

TEST_CASE("docs/operators.md is what the engine does") {
  const auto given = test::ConformanceCases::find();
  if (!given) return;
  const std::string path = "docs/operators.md", wanted = document(count_cases(*given));
  if (std::getenv("TERSOR_WRITE_DOCS") != nullptr) std::ofstream(path, std::ios::binary) << wanted;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream found;
  found << file.rdbuf();
  INFO("docs/operators.md is stale: TERSOR_WRITE_DOCS=1 ctest --preset native -R matrix writes it anew");
  CHECK(found.str() == wanted);
}
