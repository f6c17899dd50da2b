// SPDX-License-Identifier: Apache-2.0
// Values that do not depend on the graph's inputs. They are computed when somebody asks for them and dropped when the
// last reader is done, so that weights which a model unpacks by nodes of its own never all exist at once.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/ops/registry.h"

namespace tersor::run {

/// Runs one kernel on plain tensors (absent inputs are empty tensors; those in `absorbed` have only their type) and
/// returns its outputs plain; an output k with wanted[k] false is left out (an empty tensor). None when the outputs
/// would take more than `limit` bytes.
std::optional<std::vector<Tensor>> run_once(const ops::Kernel& kernel, std::span<const Tensor> inputs,
                                            const std::vector<bool>& absorbed, const std::vector<bool>& wanted,
                                            int64_t limit);

class Constants {
 public:
  /// `live[i]` says whether node i takes part. The graph, registry and model outlive this.
  Constants(const Model& model, const Uses& uses, const ops::Registry& registry, const std::vector<bool>& live,
            int64_t limit);

  bool is_constant(ValueId id) const { return constant_[static_cast<size_t>(id.index)]; }
  /// All inputs of node `index` are constant and its operator is known, so its outputs are constant too.
  bool is_folded(size_t index) const { return folded_[index]; }

  /// The value, computed now if it is not there. Errors of the nodes that make it.
  const Tensor& value(ValueId id);
  /// One reader of the value is done with it.
  void release(ValueId id);

 private:
  void compute(size_t index);

  const Model& model_;
  const ops::Registry& registry_;
  int64_t limit_;
  std::vector<bool> constant_;
  std::vector<bool> folded_;
  std::vector<int> readers_;       // left, by value
  std::vector<int64_t> producer_;  // by value, -1: an initializer
  std::map<ValueId, Tensor> values_;
};

}  // namespace tersor::run
