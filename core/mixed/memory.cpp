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

/// The nodes during which a value is there.
struct Life {
  size_t first = 0, last = 0;
};

std::optional<Life> life_of(const Graph& graph, const Uses& uses, ValueId value) {
  if (graph.initializer(value) != nullptr || uses.reader_count(value) == 0) {
    const auto made = graph.initializer(value) != nullptr ? std::nullopt : uses.producer_index(value);
    return made ? std::optional(Life{*made, *made}) : std::nullopt;
  }
  const size_t last = uses.is_output(value) ? graph.nodes().size() - 1 : uses.reader_indices(value).back();
  return Life{uses.producer_index(value).value_or(0), last};
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

std::vector<Cut> cuts_of(const Graph& graph) {
  const Uses uses(graph);
  std::vector<Cut> cuts(graph.nodes().size());
  for (size_t v = 0; v < graph.value_count() && !cuts.empty(); ++v) {
    const ValueId value{static_cast<int32_t>(v)};
    if (const auto life = life_of(graph, uses, value))
      for (size_t n = life->first; n <= life->last; ++n) cuts[n].push_back(value);
  }
  std::vector<Cut> largest;
  for (size_t n = 0; n < cuts.size(); ++n) {
    bool inside = false;
    for (size_t other = 0; other < cuts.size() && !inside; ++other)
      inside = other != n && holds(cuts[other], cuts[n]) && (other < n || cuts[other] != cuts[n]);
    if (!inside) largest.push_back(cuts[n]);
  }
  return largest;
}

}  // namespace tersor::mixed
