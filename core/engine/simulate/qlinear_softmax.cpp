// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/qlinear_softmax.h"

#include <limits>

#include "core/kernels/transcendental.h"

namespace tersor::simulate {

QLinearSoftmax::QLinearSoftmax(int64_t length, const Grid& x, const Grid& y)
    : length_(length), x_(x), y_(y), exponentials_(256) {
  const double scale = x.scale;
  const float share = std::numeric_limits<float>::max() / static_cast<float>(length);
  const double shift = std::max(0.0, kernels::natural_logarithm(static_cast<double>(share)) - 5.0) / scale;
  for (int i = 0; i < 256; ++i)
    exponentials_[static_cast<size_t>(i)] = static_cast<float>(kernels::exponential((i - 255 + shift) * scale));
  inverse_scale_ = std::floor(1.0f / y.scale);
}

void QLinearSoftmax::run(std::span<const uint8_t> x, std::span<uint8_t> y) const {
  const auto length = static_cast<size_t>(length_);
  for (size_t row = 0; row + length <= x.size(); row += length) {
    int32_t most = x_.low();
    for (size_t i = 0; i < length; ++i) most = std::max(most, x_.number(x[row + i]));
    const auto exponential = [&](size_t i) {
      return exponentials_[static_cast<size_t>(x_.number(x[row + i]) - most + 255)];
    };
    float sum = 0;
    for (size_t i = 0; i < length; ++i) sum += exponential(i);
    for (size_t i = 0; i < length; ++i) {
      const float scaled = round_half_even(exponential(i) * inverse_scale_ / sum) + static_cast<float>(y_.zero_point);
      y[row + i] = saturate(scaled, y_);
    }
  }
}

}  // namespace tersor::simulate
