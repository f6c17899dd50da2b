// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/onnx/form_rewriter.h"
#include "core/onnx/rewrite_forms.h"

namespace tersor::onnx {

namespace {

constexpr const char* kMlDomain = "ai.onnx.ml";

/// Formulas: ONNX's Operators-ml.md; a row of zeros and the ranks of ArrayFeatureExtractor as in ONNX Runtime.
class MlRewriter : FormRewriter {
 public:
  explicit MlRewriter(Model& model) : FormRewriter(model.graph, model.opset(), {}) {}

  void run() {
    facts_.enter(graph_);
    std::vector<Node> nodes = std::move(graph_.nodes());
    graph_.nodes().clear();
    for (Node& node : nodes) {
      if (node.domain == kMlDomain) rewrite(node);
      facts_.pass(graph_, node);
      graph_.nodes().push_back(std::move(node));
    }
  }

 private:
  void rewrite(Node& node) {
    const bool simple = node.outputs.size() == 1 && node.outputs[0].valid() && !node.inputs.empty() &&
                        std::all_of(node.inputs.begin(), node.inputs.end(), [](ValueId id) { return id.valid(); });
    if (!simple) return;
    if (node.op_type == "Scaler") return scale(node);
    if (node.op_type == "Normalizer") return normalize(node);
    if (node.op_type == "ArrayFeatureExtractor" && node.inputs.size() == 2) return extract(node);
  }

  /// y = (x - offset) * scale along the last axis.
  void scale(Node& node) {
    const auto constant = [&](const char* key) {
      const auto* numbers = node.attribute<std::vector<float>>(key);
      if (numbers == nullptr || numbers->empty()) return ValueId{};
      return graph_.add_initializer(graph_.label_of(node) + "_" + key,
                                    Tensor::of<float>(Shape{static_cast<int64_t>(numbers->size())}, *numbers));
    };
    const ValueId offset = constant("offset"), factor = constant("scale");
    const ValueId x = as_float(node);
    if (!factor.valid()) return become(node, offset.valid() ? "Sub" : "Identity", {x, offset});
    const ValueId centered = offset.valid() ? step(node, "Sub", {x, offset}) : x;
    become(node, "Mul", {centered, factor});
  }

  void normalize(Node& node) {
    const std::string norm = node.string_or("norm", "MAX");
    if (norm != "MAX" && norm != "L1" && norm != "L2") return;
    const ValueId x = as_float(node);
    Node reduce = made(node, norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : "ReduceL2");
    reduce.inputs = {x};
    const std::vector<int64_t> axes = {-1};
    if (opset_ >= 18)
      reduce.inputs.push_back(graph_.add_initializer(graph_.label_of(node) + "_axis", Tensor::of<int64_t>({1}, axes)));
    else
      reduce.attributes["axes"] = axes;
    reduce.attributes["keepdims"] = int64_t{1};
    const ValueId size = append(node, std::move(reduce));
    const ValueId zero = graph_.add_initializer(graph_.label_of(node) + "_zero", Tensor::scalar(0.0f)),
                  one = graph_.add_initializer(graph_.label_of(node) + "_one", Tensor::scalar(1.0f));
    const ValueId is_zero = step(node, "Equal", {size, zero});
    const ValueId divisor = step(node, "Where", {is_zero, one, size});
    become(node, "Div", {x, divisor});
  }

  /// The columns of x that y names: a Gather along the last axis, whose result has two axes at least.
  void extract(Node& node) {
    const Fact x = facts_.of(graph_, node, 0);
    if (!x.dims || x.dims->empty()) return;
    const ValueId all =
        graph_.add_initializer(graph_.label_of(node) + "_all", Tensor::of<int64_t>({1}, std::vector<int64_t>{-1}));
    const ValueId columns = step(node, "Reshape", {node.inputs[1], all});
    const auto last = static_cast<int64_t>(x.dims->size()) - 1;
    if (x.dims->size() > 1) {
      become(node, "Gather", {node.inputs[0], columns});
      node.attributes["axis"] = last;
      return;
    }
    Node gather = made(node, "Gather");
    gather.inputs = {node.inputs[0], columns};
    gather.attributes["axis"] = last;
    const ValueId row = append(node, std::move(gather));
    become(node, "Reshape",
           {row, graph_.add_initializer(graph_.label_of(node) + "_row",
                                        Tensor::of<int64_t>({2}, std::vector<int64_t>{1, -1}))});
  }

  ValueId as_float(const Node& node) {
    if (facts_.of(graph_, node, 0).dtype == DType::kFloat32) return node.inputs[0];
    Node cast = made(node, "Cast");
    cast.inputs = {node.inputs[0]};
    cast.attributes["to"] = static_cast<int64_t>(DType::kFloat32);
    return append(node, std::move(cast));
  }
};

}  // namespace

void rewrite_ml_operators(Model& model) {
  const auto& nodes = model.graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.domain == kMlDomain; }))
    MlRewriter(model).run();
}

}  // namespace tersor::onnx
