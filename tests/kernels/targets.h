// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/targets.h>

#include "tests/catch.h"

namespace tersor::test {

/// Runs the check once per SIMD target of this machine; in WebAssembly there is one.
template <class Check>
void on_every_target(const Check& check) {
  int targets = 0;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1, ++targets) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    CAPTURE(hwy::TargetName(rest & -rest));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  REQUIRE(targets > 0);
}

}  // namespace tersor::test
