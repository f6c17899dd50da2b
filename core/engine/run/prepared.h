// SPDX-License-Identifier: Apache-2.0
// What Program::compile() makes of a graph: the nodes that are left to run, each with its kernel, and the constants
// that kernels read as they are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/memory_hint.h"
#include "core/graph/graph.h"
#include "core/ops/op.h"
#include "core/run/control.h"

namespace tersor::run {

struct PreparedNode {
  size_t index = 0;  // in the graph's list of nodes, for Observer::step_done
  std::string place;
  std::shared_ptr<const ops::Kernel> kernel;   // of like nodes with the same weights one; none for one of subgraphs:
  std::unique_ptr<const Control> control;      // then this
  std::vector<ValueId> inputs;                 // invalid: an absent optional input; captured values come last
  std::vector<ValueId> outputs;                // invalid: an absent output, or one that nobody reads
  std::map<size_t, ops::TensorType> absorbed;  // types of the constant inputs that the kernel holds in its own form
};

struct PreparedGraph {
  std::vector<PreparedNode> nodes;      // in an order in which they can run
  std::map<ValueId, Tensor> constants;  // aligned
  std::vector<ValueId> inputs;
  std::vector<ValueId> results;  // the graph's outputs, then the fetched values
  std::vector<bool> observed;    // by value index
  int64_t memory_limit = 0;
  int64_t loop_limit = 0;
  bool will_run = true;
};

/// Runs `body` and puts `place` before errors that have none; translates failed allocations.
template <class Body>
auto at_place(const std::string& place, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& error) {
    if (!error.place.empty()) throw;
    const bool advised = !error.hint.empty() || error.code != ErrorCode::kInvalidModel;
    throw Error(error.code, error.message, place,
                advised ? error.hint : "Check the shapes that reach this node, or export the model again.");
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "There is not enough memory for this operator.", place, kMoreMemory);
  } catch (const std::length_error&) {
    throw Error(ErrorCode::kOutOfMemory, "There is not enough memory for this operator.", place, kMoreMemory);
  }
}

/// Refuses `bytes` above `limit`: Error kOutOfMemory.
void check_memory(int64_t bytes, int64_t limit);

/// Error kUnsupportedModel for types whose layout cannot be changed: those of less than a byte, and strings.
void require_turnable(DType dtype);

/// For a node that names more outputs than its operator has.
Error too_many_outputs(size_t named, size_t given);

}  // namespace tersor::run
