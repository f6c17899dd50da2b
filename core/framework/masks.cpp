// SPDX-License-Identifier: Apache-2.0
#include "core/framework/masks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace tersor::framework {

namespace {

constexpr float kBeyondActivations = 1e8f;
constexpr int64_t kLargestMask = int64_t{1} << 22;  // 2048 places by as many; larger constants are tables of words

bool reaches_beyond(const Tensor& constant) {
  if (constant.dtype() != DType::kFloat32 || constant.elements() > kLargestMask) return false;
  const Tensor aligned = constant.aligned();
  const auto values = aligned.data<float>();
  return std::any_of(values.begin(), values.end(), [](float x) { return std::fabs(x) >= kBeyondActivations; });
}

/// Operators that lay a mask on values, make one or pass one on. Max, Min and Clip use large numbers as bounds.
bool passes_mask(const Node& node) {
  constexpr std::string_view kTypes[] = {"Add",     "Sub",       "Mul",     "Where",  "Slice",  "Gather", "Reshape",
                                         "Squeeze", "Unsqueeze", "Flatten", "Expand", "Tile",   "Concat", "Transpose",
                                         "Split",   "Identity",  "Cast",    "Trilu",  "Dropout"};
  return node.domain.empty() && std::find(std::begin(kTypes), std::end(kTypes), node.op_type) != std::end(kTypes);
}

/// full_like(x, -infinity), as exporters write it where the shape is open.
bool fills_with_mask(const Node& node) {
  const auto* value = node.is("ConstantOfShape") ? node.attribute<Tensor>("value") : nullptr;
  return value != nullptr && reaches_beyond(*value);
}

}  // namespace

std::vector<bool> masked_values(const Graph& graph) {
  std::vector<bool> masked(graph.value_count(), false);
  for (const Node& node : graph.nodes()) {
    const auto holds_mask = [&](ValueId id) {
      if (!id.valid()) return false;
      const Tensor* constant = graph.initializer(id);
      return masked[static_cast<size_t>(id.index)] || (constant != nullptr && reaches_beyond(*constant));
    };
    if (!fills_with_mask(node) &&
        !(passes_mask(node) && std::any_of(node.inputs.begin(), node.inputs.end(), holds_mask)))
      continue;
    for (const ValueId id : node.outputs)
      if (id.valid()) masked[static_cast<size_t>(id.index)] = true;
  }
  return masked;
}

}  // namespace tersor::framework
