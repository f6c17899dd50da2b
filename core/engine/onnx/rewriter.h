// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/facts.h"

namespace tersor::onnx {

/// What a conversion rule works with: the node to change, and nodes, values and constants it may put around it.
class Rewriter {
 public:
  Rewriter(Graph& of, int64_t target_opset, const Facts& facts, std::set<std::string>& names,
           std::vector<Diagnostic>& warnings)
      : graph(of), target(target_opset), facts_(facts), names_(names), warnings_(warnings) {}

  Graph& graph;
  int64_t target;            // the opset the model goes to
  std::vector<Node> before;  // to run before the node
  std::vector<Node> after;   // to run after it
  std::string place;         // of the node

  Fact input(const Node& node, size_t k) const { return facts_.of(graph, node, k); }
  /// The type of input `k`; float32 where nothing tells.
  DType dtype(const Node& node, size_t k) const;

  /// A new initializer, named after the node's first output.
  ValueId constant(const Node& node, const char* suffix, Tensor tensor);
  ValueId int64s(const Node& node, const char* suffix, const std::vector<int64_t>& values);
  /// One number of type `dtype` (float32, float64 or float16) as a scalar.
  ValueId number(const Node& node, const char* suffix, float value, DType dtype);
  /// A new value, of the type and shape of `like` where it is valid.
  ValueId value(const Node& node, const char* suffix, ValueId like = {});
  /// A node named after `node`.
  Node make(const Node& node, const char* suffix, std::string op, std::vector<ValueId> inputs,
            std::vector<ValueId> outputs) const;

  void warn(std::string message) { warnings_.push_back({"conversion", std::move(message), place, ""}); }
  /// Error kUnsupportedModel at the node.
  [[noreturn]] void refuse(std::string message) const;

 private:
  std::string fresh_name(const Node& node, const char* suffix);

  const Facts& facts_;
  std::set<std::string>& names_;
  std::vector<Diagnostic>& warnings_;
};

/// Puts `id` at position `k` of the inputs, absent ones before it.
void set_input(Node& node, size_t k, ValueId id);

/// A change of an operator's form: nodes of that type are changed when a model goes from before `version` to it or
/// beyond. Listed in convert_opset.cpp, ascending.
struct Rule {
  int64_t version;
  const char* op;
  void (*apply)(Rewriter& rewriter, Node& node);
};

// Before opset 7: old_forms.cpp
void pad_2(Rewriter&, Node&);
void split_2(Rewriter&, Node&);
void whole_p_2(Rewriter&, Node&);
void concat_4(Rewriter&, Node&);
void reshape_5(Rewriter&, Node&);
void cast_6(Rewriter&, Node&);
void selu_6(Rewriter&, Node&);
void tile_6(Rewriter&, Node&);
void broadcast_7(Rewriter&, Node&);
void prelu_7(Rewriter&, Node&);
void inference_7(Rewriter&, Node&);
void gemm_7(Rewriter&, Node&);
void recurrent_7(Rewriter&, Node&);
void upsample_7(Rewriter&, Node&);
// Attributes that became inputs: attributes_to_inputs.cpp
void slice_10(Rewriter&, Node&);
void top_k_10(Rewriter&, Node&);
void clip_11(Rewriter&, Node&);
void pad_11(Rewriter&, Node&);
void axes_13(Rewriter&, Node&);
void split_13(Rewriter&, Node&);
void dft_20(Rewriter&, Node&);
// upsample.cpp
void upsample_9(Rewriter&, Node&);
void upsample_10(Rewriter&, Node&);
void resize_11(Rewriter&, Node&);
void resize_13(Rewriter&, Node&);
// other_forms.cpp
void batch_normalization_9(Rewriter&, Node&);
void scan_9(Rewriter&, Node&);
void dropout_10(Rewriter&, Node&);
void dropout_12(Rewriter&, Node&);
void scatter_11(Rewriter&, Node&);
void softmax_13(Rewriter&, Node&);
void roi_align_16(Rewriter&, Node&);
void split_18(Rewriter&, Node&);
void grid_sample_20(Rewriter&, Node&);
void group_normalization_21(Rewriter&, Node&);

}  // namespace tersor::onnx
