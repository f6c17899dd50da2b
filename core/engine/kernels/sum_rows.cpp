// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/sum_rows.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/sum_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

using Floats = float __attribute__((vector_size(32)));
using Counts = int32_t __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(Floats) / sizeof(float);
constexpr size_t kRowsInFloat = 16;

/// Of `count` of the channels.
HWY_INLINE void SumInDouble(const float* HWY_RESTRICT x, size_t rows, size_t channels, size_t count, double low,
                            double high, double* HWY_RESTRICT sums) {
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < count; ++c) {
      const double value = static_cast<double>(x[r * channels + c]), raised = value < low ? low : value;
      sums[c] += raised > high ? high : raised;
    }
}

void SumClampedRows(const float* HWY_RESTRICT x, size_t rows, size_t channels, float low, float high,
                    double* HWY_RESTRICT sums, double* HWY_RESTRICT counts) {
  if (rows == 0) return;  // x may be null
  const Floats least = low - Floats{}, most = high - Floats{};
  size_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    double sum[kLanes] = {};
    Counts minus = {};
    for (size_t start = 0; start < rows; start += kRowsInFloat) {
      Floats part = {};
      const float* row = x + start * channels + c;
      for (size_t r = HWY_MIN(kRowsInFloat, rows - start); r > 0; --r, row += channels) {
        Floats v;
        std::memcpy(&v, row, sizeof v);
        minus += (v > least) & (v < most);
        const Floats raised = v < least ? least : v;
        part += raised > most ? most : raised;
      }
      float columns[kLanes];
      std::memcpy(columns, &part, sizeof part);
      for (size_t k = 0; k < kLanes; ++k) sum[k] += static_cast<double>(columns[k]);
    }
    int32_t inside[kLanes];
    std::memcpy(inside, &minus, sizeof minus);
    for (size_t k = 0; k < kLanes; ++k) {
      if (!std::isfinite(sum[k])) {  // sixteen may be more than a float holds
        sum[k] = 0;
        SumInDouble(x + c + k, rows, channels, 1, low, high, &sum[k]);
      }
      sums[c + k] += sum[k];
      counts[c + k] += static_cast<double>(-static_cast<int64_t>(inside[k]));
    }
  }
  SumInDouble(x + c, rows, channels, channels - c, low, high, sums + c);
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = c; k < channels; ++k) {
      const float value = x[r * channels + k];
      counts[k] += value > low && value < high ? 1 : 0;
    }
}

void AddToRows(float* HWY_RESTRICT y, size_t rows, size_t channels, const float* HWY_RESTRICT terms) {
  for (size_t r = 0; r < rows; ++r, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] += terms[c];
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(SumClampedRows);
HWY_EXPORT(AddToRows);

void sum_clamped_rows(const float* x, size_t rows, size_t channels, float low, float high, double* sums,
                      double* counts) {
  HWY_DYNAMIC_DISPATCH(SumClampedRows)(x, rows, channels, low, high, sums, counts);
}

void add_to_rows(float* y, size_t rows, size_t channels, const float* terms) {
  HWY_DYNAMIC_DISPATCH(AddToRows)(y, rows, channels, terms);
}

}  // namespace tersor::kernels
#endif
