// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/quant/quantizer.h"

namespace tersor::quant {

/// A step as a file stores it: the scale, computed in double and rounded once, and the zero point that belongs to it. A
/// range without width has scale 1 and zero point 0.
struct StoredStep {
  float scale = 1;
  int32_t zero_point = 0;
};

StoredStep stored_step(const Quantizer& quantizer, const Range& range, const IntegerGrid& grid);

}  // namespace tersor::quant
