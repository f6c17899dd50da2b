// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/ops/layout.h"

namespace tersor::run {

/// A float tensor just made. `shape` is the ONNX shape; `data` lies as `layout` says and is valid during the call only.
struct ObservedTensor {
  ValueId value;
  const Shape& shape;
  ops::Layout layout;
  std::span<const float> data;
};

/// Is shown what a run makes, while it is in cache.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Called for each value of ProgramOptions::observed that is float32, once per run: graph inputs and constants at the
  /// start, all others right after they are made.
  virtual void observe(const ObservedTensor& tensor) = 0;

  /// Called after each step of the run with the node it belongs to (its index in the graph's list of nodes; a layout
  /// conversion belongs to the node that asked for it). A caller with a clock can profile here.
  virtual void step_done(size_t node_index) { (void)node_index; }
};

}  // namespace tersor::run
