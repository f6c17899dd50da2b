// SPDX-License-Identifier: Apache-2.0
// A plan is what a prepared graph becomes for one set of input shapes: the layouts of all values, the conversions
// between them, and a place in one arena for every buffer, reused as soon as its last reader is done. Values that
// follow from shapes alone are computed while planning. Results lie apart, in memory that each run gives away. Where a
// shape depends on data, the plan ends before the node that needs the data; the runner then plans the rest with the
// values that are there.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/run/arena.h"
#include "core/run/prepared.h"

namespace tersor::run {

/// Where a tensor's bytes lie.
struct Place {
  enum class Kind : uint8_t { kNone, kArena, kConstant, kSource } kind = Kind::kNone;
  size_t index = 0;  // of the buffer, of Plan::constants, or of the sources
  bool operator==(const Place&) const = default;
};

struct Operand {
  ops::TensorType type;
  Place place;
  bool absent = false;
};

struct Step {
  const PreparedNode* node = nullptr;
  bool converts = false;  // copies inputs[0] to the layout of outputs[0], for the sake of `node`
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  Place scratch;
  int64_t scratch_bytes = 0;
  std::vector<std::pair<ValueId, Operand>> observed;  // after the step
};

/// A value that is there before the plan runs.
struct Source {
  ValueId value;
  ops::TensorType type;
};

class Plan {
 public:
  /// Plans the nodes from `begin` on. `known` holds values that are there as tensors already (plain). Error
  /// kInvalidModel, kUnsupportedModel, kOutOfMemory with the node's place.
  Plan(const PreparedGraph& graph, size_t begin, std::span<const Source> sources,
       const std::map<ValueId, Tensor>& known);

  std::vector<Step> steps;
  std::vector<std::pair<ValueId, Operand>> observed_first;  // sources and constants that the observer is shown
  std::vector<Tensor> constants;
  std::vector<Buffer> buffers;
  std::vector<std::pair<size_t, ops::TensorType>> apart;  // buffers that hold a result, and which
  int64_t arena_bytes = 0;
  std::vector<int64_t> macs;  // by the nodes' indices in the graph
  size_t end = 0;             // the first node that is not planned; all are planned where it is the number of nodes
  int64_t bytes() const;      // of the arena and what lies apart
  std::map<ValueId, Operand> values;  // everything a continuation or the results may need
};

}  // namespace tersor::run
