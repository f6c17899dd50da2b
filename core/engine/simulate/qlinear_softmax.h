// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/simulate/arithmetic.h"

namespace tersor::simulate {

/// com.microsoft QLinearSoftmax over rows of `length` elements (onnxruntime
/// contrib_ops/cpu/quantization/qlinear_softmax.cc): a table of exponentials of the distance to the row's maximum, and
/// floor(1 / output scale). The table depends on length and input scale only: make the object once.
class QLinearSoftmax {
 public:
  QLinearSoftmax(int64_t length, const Grid& x, const Grid& y);
  /// x.size() and y.size() are a multiple of the length.
  void run(std::span<const uint8_t> x, std::span<uint8_t> y) const;

 private:
  int64_t length_;
  Grid x_, y_;
  float inverse_scale_;
  std::vector<float> exponentials_;
};

}  // namespace tersor::simulate
