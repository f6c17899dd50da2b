// SPDX-License-Identifier: Apache-2.0
// The records of the quantization methods; each is in a file of its own in this folder.
#pragma once

#include "core/quant/quantizer.h"

namespace tersor::quant {

extern const Quantizer kPowerOfTwoQuantizer;
extern const Quantizer kSymmetricQuantizer;
extern const Quantizer kUniformQuantizer;

/// The least power of two that is not below x, exactly; x > 0.
double power_of_two_above(double x);

}  // namespace tersor::quant
