// SPDX-License-Identifier: Apache-2.0
// Platforms laid onto real models.
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/framework/attach.h"
#include "core/onnx/read.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

using namespace tersor;
using namespace tersor::framework;

namespace {

bool multiplies(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul");
}

void check(const Graph& graph, const Attachment& attachment) {
  REQUIRE(attachment.nodes.size() == graph.nodes().size());
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const NodeAttachment& one = attachment.nodes[i];
    INFO(place_of(node, i));
    REQUIRE(one.node == node.id);
    REQUIRE_FALSE(one.candidates.empty());
    // Nothing stays float without a sentence.
    const bool stays_float = one.kernel == tpc::RuntimeKernel::kFloat || one.activation == ActivationMode::kNoQuant;
    if (stays_float) REQUIRE_FALSE(one.reason.empty());
    if (!multiplies(node)) continue;
    const WeightAttribute* kernel = one.weight(tpc::kKernelAttr);
    // Every platform has a set for operators with weights.
    if (kernel != nullptr) REQUIRE_FALSE(one.operator_set.empty());
    if (kernel != nullptr && kernel->channel_axis)
      REQUIRE(*kernel->channel_axis < graph.initializer(kernel->value)->shape().rank());
  }
  std::set<int32_t> grouped;
  for (const FusedGroup& group : attachment.groups)
    for (const NodeId id : group.nodes) REQUIRE(grouped.insert(id.index).second);
}

}  // namespace

TEST_CASE("every platform can be laid onto every model of the zoo") {
  const auto path = test::shared_file("zoo/index.json");
  if (!path) return;
  const auto text = test::read_file(*path);
  const Json index = parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, "index.json");
  std::vector<tpc::TargetPlatformCapabilities> platforms;
  for (const tpc::PlatformLabel& label : tpc::builtin_platforms())
    platforms.push_back(tpc::get_target_platform_capabilities(label.name, label.version));
  int files = 0;
  for (const Json& model : index["models"])
    for (const auto& [name, expected] : model["files"].items()) {
      if (name.size() < 5 || name.substr(name.size() - 5) != ".onnx") continue;
      const std::string label = model["id"].get<std::string>() + "/" + name;
      INFO(label);
      const auto file = test::shared_file("zoo/" + label);
      REQUIRE(file);
      const Graph graph = onnx::read(onnx::Source::of(test::read_file(*file))).graph;
      for (const tpc::TargetPlatformCapabilities& platform : platforms)
        check(graph, attach(graph, platform, onnx_framework_info(), {}));
      ++files;
    }
  REQUIRE(files > 20);
}
