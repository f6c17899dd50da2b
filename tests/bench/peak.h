// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tersor::bench {

/// What one core can do at most, from loops that touch no memory.
struct Peak {
  double separate;  // GFLOP/s of a product and a sum as two instructions, as the engine has them
  double fused;     // of both as one, where the machine has it
};

/// Measures for about so many milliseconds each, on the widest vectors of this machine.
Peak measure_peak(double milliseconds);

}  // namespace tersor::bench
