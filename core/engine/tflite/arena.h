// SPDX-License-Identifier: Apache-2.0
// The memory that TensorFlow Lite Micro takes for a network, as its greedy planner lays it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/tflite/network.h"

namespace tersor::tflite {

/// In bytes. The wheel's own record (print_allocations() of tflite-micro 0.dev20261023 on x86-64) has the same numbers.
struct Arena {
  int64_t head = 0;  // activations and scratch, on any machine
  int64_t tail = 0;  // what lives as long as the interpreter, on a machine of 64 bits; less on one of 32
  /// An arena that loads: while it plans, the head also holds the planner's own lists. 0 to 2 % above the least.
  int64_t needed = 0;

  int64_t total() const { return head + tail; }
};

/// None where the network has an operator whose kernel's own memory is not known here.
std::optional<Arena> plan_arena(const Network& network);

}  // namespace tersor::tflite
