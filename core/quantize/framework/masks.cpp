// SPDX-License-Identifier: Apache-2.0
#include "core/framework/masks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "core/graph/operators.h"
#include "core/graph/uses.h"

namespace tersor::framework {

namespace {

constexpr float kBeyondActivations = 1e8f;
/// exp(-64) is less than 1e-27. A factor before a Softmax may be a temperature, of 100 say; one that makes a mask
/// of zeros and ones is larger.
constexpr float kBeyondSoftmax = 64, kBeyondTemperatures = 1000;
constexpr int64_t kLargestMask = int64_t{1} << 22;  // 2048 places by as many; larger constants are tables of words

bool reaches(const Tensor& constant, float far) {
  if (constant.dtype() != DType::kFloat32 || constant.elements() > kLargestMask) return false;
  const Tensor aligned = constant.aligned();
  const auto values = aligned.data<float>();
  return std::any_of(values.begin(), values.end(), [&](float x) { return std::fabs(x) >= far; });
}

/// Operators that lay a mask on values, make one or pass one on. Max, Min and Clip use large numbers as bounds.
bool passes_mask(const Node& node) {
  constexpr std::string_view kTypes[] = {"Add", "Sub", "Mul", "Where", "Concat", "Cast", "Trilu"};
  return has_trait(node, kMoves) ||
         std::any_of(std::begin(kTypes), std::end(kTypes), [&](std::string_view type) { return node.is(type); });
}

/// full_like(x, -infinity), as exporters write it where the shape is open.
const Tensor* filling(const Node& node) {
  return node.is("ConstantOfShape") ? node.attribute<Tensor>("value") : nullptr;
}

/// By value index: read by Softmax alone, at once or after operators that pass masks on.
std::vector<bool> values_for_softmax(const Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> found(graph.value_count(), false);
  for (size_t i = graph.nodes().size(); i-- > 0;)
    for (const ValueId output : graph.nodes()[i].outputs) {
      if (!output.valid() || uses.is_output(output)) continue;
      const auto& readers = uses.reader_indices(output);
      const auto ends_there = [&](size_t reader) {
        const Node& node = graph.nodes()[reader];
        if (node.is("Softmax")) return true;
        return passes_mask(node) && std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
                 return !id.valid() || found[static_cast<size_t>(id.index)];
               });
      };
      found[static_cast<size_t>(output.index)] =
          !readers.empty() && std::all_of(readers.begin(), readers.end(), ends_there);
    }
  return found;
}

}  // namespace

std::vector<bool> masked_values(const Graph& graph) {
  std::vector<bool> masked(graph.value_count(), false);
  const std::vector<bool> for_softmax = values_for_softmax(graph);
  for (const Node& node : graph.nodes()) {
    const bool softens =
        !node.outputs.empty() && node.outputs[0].valid() && for_softmax[static_cast<size_t>(node.outputs[0].index)];
    const float far = !softens ? kBeyondActivations : node.is("Mul") ? kBeyondTemperatures : kBeyondSoftmax;
    const auto holds_mask = [&](ValueId id) {
      if (!id.valid()) return false;
      const Tensor* constant = graph.initializer(id);
      return masked[static_cast<size_t>(id.index)] || (constant != nullptr && reaches(*constant, far));
    };
    const Tensor* const filled = filling(node);
    if (!(filled != nullptr && reaches(*filled, far)) &&
        !(passes_mask(node) && std::any_of(node.inputs.begin(), node.inputs.end(), holds_mask)))
      continue;
    for (const ValueId id : node.outputs)
      if (id.valid()) masked[static_cast<size_t>(id.index)] = true;
  }
  return masked;
}

}  // namespace tersor::framework
