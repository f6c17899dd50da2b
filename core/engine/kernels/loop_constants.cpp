// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/loop_constants.h"

namespace tersor::kernels {

const float kNoFraction = 12582912.0f;
const float kWholeAsBits = 8388608.0f;
const int32_t kNoFractionBits = 0x4b400000;
const int32_t kExponentBias = 127;
const float kNoFractionBiased = 12583039.0f;
const int32_t kNoFractionBiasedBits = 0x4b40007f;

const float kOne = 1;
const float kLog2OfE = 1.44269504f;
const float kLogOfTwo[] = {0.693359375f, -2.12194440e-4f};
const float kExpSeries[] = {0.0013814540579915047f, 0.00836874544620514f, 0.04166838899254799f, 0.1666652113199234f,
                            0.4999999403953552f};
const float kExpOfMinusIsZero = 104, kExpOfMinusAddsNothing = 87, kExpOfMinusIsInfinite = -89;
const float kErfNear[] = {7.889119297033176e-05f, -0.0008020841050893068f, 0.005189535208046436f,
                          -0.026854444295167923f, 0.11283600330352783f,    -0.3761262595653534f,
                          0.12837916612625122f};
const float kErfFar[] = {-0.0001855748996604234f, 0.0029396156314760447f, -0.021805351600050926f, 0.10303743183612823f,
                         0.6382256150245667f,     1.1270400285720825f,    0.00035370892146602273f};
const float kErfIsOne = 4;

}  // namespace tersor::kernels
