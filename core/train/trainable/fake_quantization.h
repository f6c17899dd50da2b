// SPDX-License-Identifier: Apache-2.0
// Fake quantization as TensorFlow computes it in training, so that a range found there makes the same values here:
//   scale = (max - min) / (q_max - q_min), q_min = 1 where narrow, else 0, q_max = 2^n_bits - 1
//   zero point = floor(q_min - min / scale + 0.5) within [q_min, q_max]
//   y = floor((x within the nudged range - nudged min) / scale + 0.5) * scale + nudged min
// The grid is that of UNIFORM (core/quant), with its zero point and values rounded half up from the lower end where
// ONNX rounds half to even: the two differ where a value lies half-way between two codes. All in double.
#pragma once

#include "core/quant/params.h"

namespace tersor::trainable {

class FakeQuantization {
 public:
  /// Error kInvalidArgument for a range that is not finite or does not hold 0 (shape_range() makes those that do), and
  /// for bits outside 2 to 16.
  FakeQuantization(const quant::Range& range, int n_bits, bool narrow_range);

  double scale() const { return scale_; }
  /// The range moved so that 0 is one of its values; its width stays.
  const quant::Range& nudged() const { return nudged_; }
  /// y of the formula; 0 of the range 0 to 0; NaN of NaN.
  double operator()(double x) const;

 private:
  double scale_ = 0;
  quant::Range nudged_;
};

}  // namespace tersor::trainable
