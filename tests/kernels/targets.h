// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/highway.h>

#include "tests/catch.h"

namespace tersor::test {

/// Runs the check once per SIMD target of this machine that the kernels are compiled for. In WebAssembly there is one,
/// chosen when compiling, and it must be that with vectors.
template <class Check>
void on_every_target(const Check& check) {
#if defined(__EMSCRIPTEN__)
  static_assert(HWY_STATIC_TARGET == HWY_WASM);
  check();
#else
  int targets = 0;
  for (int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1, ++targets) {
    hwy::GetChosenTarget().Update(rest & -rest);
    CAPTURE(hwy::TargetName(rest & -rest));
    check();
  }
  hwy::GetChosenTarget().DeInit();
  REQUIRE(targets > 0);
#endif
}

}  // namespace tersor::test
