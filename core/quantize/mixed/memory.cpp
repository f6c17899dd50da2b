// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/memory.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/graph/uses.h"

namespace tersor::mixed {

namespace {

double bytes_of(std::span<const QuantizedTensor> tensors) {
  double bytes = 0;
  for (const QuantizedTensor& tensor : tensors) {
    if (tensor.elements < 0 || tensor.n_bits < 1)
      throw Error(ErrorCode::kInvalidArgument, "Found a tensor of " + std::to_string(tensor.elements) +
                                                   " elements of " + std::to_string(tensor.n_bits) +
                                                   " bits where 0 or more of 1 or more are expected.");
    bytes += static_cast<double>(tensor.elements) * tensor.n_bits / 8;
  }
  return bytes;
}

using Cut = std::vector<ValueId>;

bool holds(const Cut& cut, const Cut& other) {
  return std::includes(cut.begin(), cut.end(), other.begin(), other.end());
}

/// The steps during which a value is there.
struct Life {
  size_t first = 0, last = 0;
};

/// None of constants, of inputs that nothing reads, and of what a step of several nodes keeps to itself.
std::optional<Life> life_of(const Graph& graph, const Uses& uses, std::span<const size_t> steps, ValueId value) {
  if (graph.initializer(value) != nullptr) return std::nullopt;
  const auto producer = uses.producer_index(value);
  if (uses.reader_count(value) == 0)
    return producer ? std::optional(Life{steps[*producer], steps[*producer]}) : std::nullopt;
  Life life{producer ? steps[*producer] : 0, 0};
  for (const size_t reader : uses.reader_indices(value)) life.last = std::max(life.last, steps[reader]);
  if (uses.is_output(value)) life.last = graph.nodes().size() - 1;
  if (producer && life.first == life.last && !uses.is_output(value)) return std::nullopt;
  return life;
}

}  // namespace

double weights_memory(std::span<const QuantizedTensor> weights) {
  return bytes_of(weights);
}

double activation_memory(std::span<const std::vector<QuantizedTensor>> cuts) {
  double most = 0;
  for (const auto& cut : cuts) most = std::max(most, bytes_of(cut));
  return most;
}

std::vector<Cut> cuts_of(const Graph& graph, std::span<const size_t> steps) {
  const Uses uses(graph);
  std::vector<Cut> cuts(graph.nodes().size());
  for (size_t v = 0; v < graph.value_count() && !cuts.empty(); ++v) {
    const ValueId value{static_cast<int32_t>(v)};
    if (const auto life = life_of(graph, uses, steps, value))
      for (size_t n = life->first; n <= life->last; ++n) cuts[n].push_back(value);
  }
  // A value is there without a break, so a cut that another holds is held by a neighbour.
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Cut> largest;
  for (size_t n = 0; n < cuts.size(); ++n) {
    const bool inside = (n > 0 && holds(cuts[n - 1], cuts[n])) || (n + 1 < cuts.size() && holds(cuts[n + 1], cuts[n]));
    if (!inside) largest.push_back(cuts[n]);
  }
  return largest;
}

}  // namespace tersor::mixed
