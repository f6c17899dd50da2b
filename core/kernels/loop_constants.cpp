// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/loop_constants.h"

namespace tersor::kernels {

const float kNoFraction = 12582912.0f;
const float kWholeAsBits = 8388608.0f;
const int32_t kLowestByte = 0xff, kLowestByteOfTwo = 0x00ff00ff, kLowest27But4 = 0x07fffff0;

}  // namespace tersor::kernels
