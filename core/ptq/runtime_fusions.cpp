// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/runtime_fusions.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace tersor::ptq {

namespace {

bool is_one_of(const Node& node, std::span<const std::string_view> types) {
  return std::any_of(types.begin(), types.end(), [&](std::string_view type) { return node.is(type); });
}

}  // namespace

bool fuses_with_neighbours(const Node& node) {
  static constexpr std::array<std::string_view, 7> kTypes{"Sigmoid", "LeakyRelu",   "Softmax",          "Relu",
                                                          "Clip",    "AveragePool", "GlobalAveragePool"};
  return is_one_of(node, kTypes) || takes_several(node);
}

bool takes_several(const Node& node) {
  static constexpr std::array<std::string_view, 7> kTypes{"Add", "Sub", "Mul", "Div", "Concat", "Where", "PRelu"};
  return is_one_of(node, kTypes);
}

bool lets_through(const Node& node) {
  static constexpr std::array<std::string_view, 17> kTypes{
      "MaxPool", "Reshape", "Transpose", "Squeeze", "Slice", "Unsqueeze",    "Flatten",      "Resize",  "Gather",
      "Split",   "Expand",  "Tile",      "Pad",     "Cast",  "DepthToSpace", "SpaceToDepth", "Identity"};
  return is_one_of(node, kTypes);
}

}  // namespace tersor::ptq
