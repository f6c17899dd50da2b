// SPDX-License-Identifier: Apache-2.0
// Upsample became Resize, and Resize got coordinates of its choice. Until opset 10 both take x_in = x_out / scale; in
// nearest mode that is rounded down when an axis grows and up when it shrinks, as ONNX's cases of that time expect.
#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/onnx/rewriter.h"

namespace tersor::onnx {

namespace {

enum class Direction { kGrows, kShrinks, kBoth };

Direction direction_of(const std::vector<double>& scales) {
  bool grows = false, shrinks = false;
  for (const double scale : scales) {
    grows = grows || scale > 1;
    shrinks = shrinks || scale < 1;
  }
  return grows && shrinks ? Direction::kBoth : shrinks ? Direction::kShrinks : Direction::kGrows;
}

void set_nearest(Node& node, Direction direction) {
  node.attributes["nearest_mode"] = std::string(direction == Direction::kShrinks ? "ceil" : "floor");
}

ValueId float_list(Rewriter& rewriter, const Node& node, const char* suffix, const std::vector<float>& values) {
  return rewriter.constant(node, suffix,
                           Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values)));
}

/// One Resize for the axes that grow before the node, which then only shrinks: each with its own rounding.
void split_directions(Rewriter& rewriter, Node& node, const std::vector<double>& scales) {
  std::vector<float> growing, shrinking;
  for (const double scale : scales) {
    growing.push_back(static_cast<float>(std::max(scale, 1.0)));
    shrinking.push_back(static_cast<float>(std::min(scale, 1.0)));
  }
  const ValueId between = rewriter.value(node, "grown");
  Node grow = rewriter.make(node, "grow", "Resize", node.inputs, {between});
  grow.attributes = node.attributes;
  set_nearest(grow, Direction::kGrows);
  grow.inputs[2] = float_list(rewriter, node, "growing", growing);
  rewriter.before.push_back(std::move(grow));
  node.inputs[0] = between;
  node.inputs[2] = float_list(rewriter, node, "shrinking", shrinking);
  set_nearest(node, Direction::kShrinks);
}

bool is_empty(const Fact& fact) {
  return fact.constant && fact.constant->elements() == 0;
}

}  // namespace

void upsample_9(Rewriter& rewriter, Node& node) {
  const auto* scales = node.attribute<std::vector<float>>("scales");
  if (scales == nullptr) rewriter.refuse("Upsample lacks its attribute \"scales\".");
  set_input(node, 1, float_list(rewriter, node, "scales", *scales));
  node.attributes.erase("scales");
}

void upsample_10(Rewriter&, Node& node) {
  node.op_type = "Resize";
}

void resize_11(Rewriter& rewriter, Node& node) {
  if (node.inputs.size() < 2) rewriter.refuse("Resize lacks its scales.");
  // The scales of an Upsample of opset 7 are an initializer made a moment ago, of which no facts are known yet.
  const Tensor* fresh = rewriter.graph.initializer(node.inputs[1]);
  const std::optional<Tensor> known = fresh != nullptr ? std::optional(*fresh) : rewriter.input(node, 1).constant;
  const ValueId scales = node.inputs[1];
  // An unused roi may be absent since opset 13 only.
  set_input(node, 1, rewriter.target >= 13 ? ValueId{} : float_list(rewriter, node, "roi", {}));
  set_input(node, 2, scales);
  node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  if (string_of(node, "mode") != "nearest") return;
  if (!known) {
    rewriter.warn("The scales of this Resize are not known before the run; it is taken to enlarge.");
    set_nearest(node, Direction::kGrows);
    return;
  }
  const std::vector<double> values = known->to_doubles();
  const Direction direction = direction_of(values);
  if (direction == Direction::kBoth)
    split_directions(rewriter, node, values);
  else
    set_nearest(node, direction);
}

void resize_13(Rewriter& rewriter, Node& node) {
  // Empty tensors stood for absent inputs.
  for (size_t k = 1; k < node.inputs.size() && k < 3; ++k) {
    const Tensor* fresh = node.inputs[k].valid() ? rewriter.graph.initializer(node.inputs[k]) : nullptr;
    const bool empty = (fresh != nullptr && fresh->elements() == 0) || is_empty(rewriter.input(node, k));
    if (empty) node.inputs[k] = ValueId{};
  }
  if (string_of(node, "coordinate_transformation_mode") != "tf_half_pixel_for_nn") return;
  // x_in = (x_out + 0.5) / scale without half_pixel's - 0.5; another way of rounding makes up for it.
  const std::string rounding = string_of(node, "nearest_mode");
  if (rounding == "floor")
    node.attributes["nearest_mode"] = std::string("round_prefer_ceil");
  else if (rounding == "round_prefer_floor")
    node.attributes["nearest_mode"] = std::string("ceil");
  else
    rewriter.refuse("Resize with tf_half_pixel_for_nn and nearest_mode " + rounding + " has no equal in opset 13.");
  node.attributes["coordinate_transformation_mode"] = std::string("half_pixel");
}

}  // namespace tersor::onnx
