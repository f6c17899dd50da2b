// SPDX-License-Identifier: Apache-2.0
// Constants that are equal byte for byte become one, and so do matrices of which one is the other transposed, with a
// Transpose that runtimes compute when they open the file. Each kernel was given a weight of its own to be quantized;
// those that stayed float, those that came out the same (the steps of an unrolled recurrence, a table that is read as
// it stands and transposed), and what folding wrote out several times, would make the file larger than it was.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

std::string key_of(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  return std::string(name_of(dtype)) + shape.text() + sha256_hex(bytes);
}

std::vector<std::byte> transposed(const Tensor& matrix) {
  const auto rows = static_cast<size_t>(matrix.shape()[0]), columns = static_cast<size_t>(matrix.shape()[1]),
             width = static_cast<size_t>(bits_of(matrix.dtype()) / 8);
  const auto from = matrix.bytes();
  std::vector<std::byte> to(from.size());
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      std::copy_n(from.data() + (r * columns + c) * width, width, to.data() + (c * rows + r) * width);
  return to;
}

/// The node, before all others, that makes one constant of the other.
void add_transpose(Graph& graph, ValueId from, ValueId to) {
  Node turn;
  turn.op_type = "Transpose";
  turn.name = graph.name_of(to) + "_Transpose";
  turn.inputs = {from};
  turn.outputs = {to};
  turn.attributes["perm"] = std::vector<int64_t>{1, 0};
  graph.insert(0, std::move(turn));
}

}  // namespace

int share_equal_constants(Model& model) {
  constexpr int64_t kWorthIt = 256;        // elements
  constexpr int64_t kWorthTurning = 1024;  // a node and its names take some hundred bytes
  Graph& graph = model.graph;
  const std::vector<bool> captured = captured_values(graph);
  const Uses uses(graph);
  const auto may_go = [&](ValueId id, const Tensor& tensor) {
    const bool weight = tensor.dtype() == DType::kFloat32 || bits_of(tensor.dtype()) <= 8;
    return weight && tensor.elements() >= kWorthIt && !captured[static_cast<size_t>(id.index)];
  };
  const auto may_turn = [](const Tensor& tensor) {
    return tensor.shape().rank() == 2 && tensor.elements() >= kWorthTurning && bits_of(tensor.dtype()) >= 8;
  };
  std::map<std::pair<DType, std::pair<int64_t, int64_t>>, int> sizes;  // of matrices
  for (const auto& [id, tensor] : graph.initializers())
    if (may_go(id, tensor) && may_turn(tensor)) ++sizes[{tensor.dtype(), {tensor.shape()[0], tensor.shape()[1]}}];
  const auto has_partner = [&](const Tensor& tensor) {
    const int64_t rows = tensor.shape()[0], columns = tensor.shape()[1];
    const auto found = sizes.find({tensor.dtype(), {columns, rows}});
    return found != sizes.end() && found->second > (rows == columns ? 1 : 0);
  };
  std::map<std::string, ValueId> first;
  std::map<ValueId, ValueId> same;
  std::vector<std::pair<ValueId, ValueId>> turned;
  for (const auto& [id, tensor] : graph.initializers()) {
    if (!may_go(id, tensor)) continue;
    const Tensor read = tensor;  // a copy, so that the graph's own does not hold what was deferred
    const std::string key = key_of(read.dtype(), read.shape(), read.bytes());
    if (const auto found = first.find(key); found != first.end()) {
      if (!uses.is_output(id)) same.emplace(id, found->second);
      continue;
    }
    if (may_turn(read) && has_partner(read) && !uses.is_output(id)) {
      const Shape other{read.shape()[1], read.shape()[0]};
      const auto found = first.find(key_of(read.dtype(), other, transposed(read)));
      if (found != first.end()) {
        turned.emplace_back(id, found->second);
        continue;
      }
    }
    first.emplace(key, id);
  }
  for (Node& node : graph.nodes())
    for (ValueId& id : node.inputs)
      if (const auto found = same.find(id); found != same.end()) id = found->second;
  for (const auto& [id, kept] : same) graph.erase_initializer(id);
  for (const auto& [id, kept] : turned) {
    graph.erase_initializer(id);
    add_transpose(graph, kept, id);
  }
  return static_cast<int>(same.size() + turned.size());
}

}  // namespace tersor::passes
