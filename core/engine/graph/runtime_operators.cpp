// SPDX-License-Identifier: Apache-2.0
#include "core/graph/runtime_operators.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tersor {

namespace {

using enum RuntimeTrait;

struct RuntimeOperator {
  std::string_view name;
  RuntimeTrait traits;
};

// Sorted by name.
constexpr RuntimeOperator kOperators[] = {
    {"Add", kFuses | kTakesSeveral | kKeepsOrder},
    {"AveragePool", kFuses | kKeepsOrder},
    {"Cast", kLetsThrough},
    {"Clip", kFuses | kKeepsOrder | kIsFreeAfterConv},
    {"Concat", kFuses | kTakesSeveral | kKeepsOrder},
    {"DepthToSpace", kLetsThrough | kCarriesDown},
    {"DequantizeLinear", kKeepsOrder},
    {"Div", kFuses | kTakesSeveral | kKeepsOrder},
    {"Elu", kKeepsOrder},
    {"Erf", kKeepsOrder},
    {"Exp", kKeepsOrder},
    {"Expand", kLetsThrough | kCarriesOnce},
    {"Flatten", kLetsThrough | kCarriesOnce | kCarriesDown},
    {"Gather", kLetsThrough | kCarriesOnce | kCarriesDown},
    {"Gelu", kKeepsOrder},
    {"GlobalAveragePool", kFuses | kKeepsOrder},
    {"HardSigmoid", kKeepsOrder | kIsFreeAfterConv},
    {"HardSwish", kKeepsOrder},
    {"Identity", kLetsThrough | kCarriesDown},
    {"LeakyRelu", kFuses | kKeepsOrder | kIsFreeAfterConv},
    {"Max", kKeepsOrder},
    {"MaxPool", kLetsThrough | kCarriesOnce | kCarriesUp | kCarriesDown | kKeepsOrder},
    {"Min", kKeepsOrder},
    {"Mul", kFuses | kTakesSeveral | kKeepsOrder},
    {"Neg", kKeepsOrder},
    {"PRelu", kFuses | kTakesSeveral | kKeepsOrder},
    {"Pad", kLetsThrough},
    {"Pow", kKeepsOrder},
    {"QLinearAdd", kKeepsOrder},
    {"QLinearAveragePool", kKeepsOrder},
    {"QLinearConcat", kKeepsOrder},
    {"QLinearGlobalAveragePool", kKeepsOrder},
    {"QLinearLeakyRelu", kKeepsOrder},
    {"QLinearMul", kKeepsOrder},
    {"QLinearSigmoid", kKeepsOrder},
    {"QuantizeLinear", kKeepsOrder},
    {"Relu", kFuses | kKeepsOrder | kIsFreeAfterConv},
    {"Reshape", kLetsThrough | kCarriesOnce | kCarriesUp | kCarriesDown},
    {"Resize", kLetsThrough},
    {"Sigmoid", kFuses | kKeepsOrder},
    {"Slice", kLetsThrough | kCarriesOnce | kCarriesUp | kCarriesDown},
    {"Softmax", kFuses},
    {"Softplus", kKeepsOrder},
    {"SpaceToDepth", kLetsThrough | kCarriesDown},
    {"Split", kLetsThrough | kCarriesOnce},
    {"Sqrt", kKeepsOrder},
    {"Squeeze", kLetsThrough | kCarriesOnce | kCarriesUp | kCarriesDown},
    {"Sub", kFuses | kTakesSeveral | kKeepsOrder},
    {"Tanh", kKeepsOrder},
    {"Tile", kLetsThrough | kCarriesOnce},
    {"Transpose", kLetsThrough | kCarriesOnce | kCarriesUp | kCarriesDown},
    {"Unsqueeze", kLetsThrough | kCarriesOnce | kCarriesUp | kCarriesDown},
    {"Where", kFuses | kTakesSeveral},
};

}  // namespace

bool has_runtime_trait(const Node& node, RuntimeTrait trait) {
  const auto* at =
      std::lower_bound(std::begin(kOperators), std::end(kOperators), node.op_type,
                       [](const RuntimeOperator& one, std::string_view wanted) { return one.name < wanted; });
  if (at == std::end(kOperators) || at->name != node.op_type) return false;
  return (static_cast<uint32_t>(at->traits) & static_cast<uint32_t>(trait)) != 0;
}

}  // namespace tersor
