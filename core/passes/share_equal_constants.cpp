// SPDX-License-Identifier: Apache-2.0
// Constants that are equal byte for byte become one. Each kernel was given a weight of its own to be quantized; those
// that stayed float, those that came out the same (the steps of an unrolled recurrence), and what folding wrote out
// several times, would make the file larger than it was.
#include <map>
#include <string>

#include "core/base/digest.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

int share_equal_constants(Model& model) {
  constexpr int64_t kWorthIt = 256;  // elements
  Graph& graph = model.graph;
  const std::vector<bool> captured = captured_values(graph);
  std::map<std::string, ValueId> first;
  std::vector<std::pair<ValueId, ValueId>> same;
  for (const auto& [id, tensor] : graph.initializers()) {
    const bool weight = tensor.dtype() == DType::kFloat32 || bits_of(tensor.dtype()) <= 8;
    if (!weight || tensor.elements() < kWorthIt || captured[static_cast<size_t>(id.index)]) continue;
    const Tensor read = tensor;  // a copy, so that the graph's own does not hold what was deferred
    const auto [found, is_new] =
        first.try_emplace(std::string(name_of(read.dtype())) + read.shape().text() + sha256_hex(read.bytes()), id);
    if (!is_new) same.emplace_back(id, found->second);
  }
  int shared = 0;
  for (const auto& [id, kept] : same) {
    if (Uses(graph).is_output(id)) continue;
    replace_reads(graph, id, kept);
    graph.erase_initializer(id);
    ++shared;
  }
  return shared;
}

}  // namespace tersor::passes
