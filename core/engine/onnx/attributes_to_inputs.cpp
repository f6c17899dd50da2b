// SPDX-License-Identifier: Apache-2.0
// Operators of which an attribute became an input, so that it may be computed.
#include "core/onnx/rewriter.h"

namespace tersor::onnx {

namespace {

/// Moves a list of integers from attribute `key` to input `k`; false when the attribute is absent.
bool move_list(Rewriter& rewriter, Node& node, const char* key, size_t k) {
  const auto* list = node.attribute<std::vector<int64_t>>(key);
  if (list == nullptr) return false;
  set_input(node, k, rewriter.int64s(node, key, *list));
  node.attributes.erase(key);
  return true;
}

void demand(Rewriter& rewriter, bool there, const Node& node, const char* key) {
  if (!there) rewriter.refuse(node.op_type + " lacks its attribute \"" + key + "\".");
}

}  // namespace

void slice_10(Rewriter& rewriter, Node& node) {
  demand(rewriter, move_list(rewriter, node, "starts", 1), node, "starts");
  demand(rewriter, move_list(rewriter, node, "ends", 2), node, "ends");
  move_list(rewriter, node, "axes", 3);
}

void top_k_10(Rewriter& rewriter, Node& node) {
  const auto* k = node.attribute<int64_t>("k");
  demand(rewriter, k != nullptr, node, "k");
  set_input(node, 1, rewriter.int64s(node, "k", {*k}));
  node.attributes.erase("k");
}

void clip_11(Rewriter& rewriter, Node& node) {
  const DType dtype = rewriter.dtype(node, 0);
  size_t position = 1;
  for (const char* key : {"min", "max"}) {
    if (const auto* bound = node.attribute<float>(key)) {
      set_input(node, position, rewriter.number(node, key, *bound, dtype));
      node.attributes.erase(key);
    }
    ++position;
  }
}

void pad_11(Rewriter& rewriter, Node& node) {
  demand(rewriter, move_list(rewriter, node, "pads", 1), node, "pads");
  if (const auto* value = node.attribute<float>("value")) {
    if (*value != 0.0f) set_input(node, 2, rewriter.number(node, "value", *value, rewriter.dtype(node, 0)));
    node.attributes.erase("value");
  }
}

/// Squeeze, Unsqueeze, ReduceSum
void axes_13(Rewriter& rewriter, Node& node) {
  const bool moved = move_list(rewriter, node, "axes", 1);
  if (node.op_type == "Unsqueeze") demand(rewriter, moved, node, "axes");
}

void split_13(Rewriter& rewriter, Node& node) {
  move_list(rewriter, node, "split", 1);
}

/// The axis was counted from the front with the batch as 0 and had the default 1.
void dft_20(Rewriter& rewriter, Node& node) {
  const int64_t axis = node.int_or("axis", 1);
  node.attributes.erase("axis");
  const Tensor scalar = Tensor::of<int64_t>(Shape{}, std::span<const int64_t>(&axis, 1));
  set_input(node, 2, rewriter.constant(node, "axis", scalar));
}

}  // namespace tersor::onnx
