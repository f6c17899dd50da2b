// SPDX-License-Identifier: Apache-2.0
// libhwy measures, for its benchmarks, how fine the processor's clock is while it is being loaded: 4 ms, twice as long
// as the rest of the program takes to start. The loader finds this function before the library's own.
#include <cstdint>

namespace hwy::platform {

// NOLINTNEXTLINE(misc-use-internal-linkage): found by its name.
uint64_t TimerResolution();
uint64_t TimerResolution() {
  return 1;
}

}  // namespace hwy::platform
