// SPDX-License-Identifier: Apache-2.0
// The loop under matrix products and convolutions: rows given by pointers, so that a convolution needs no copy of its
// windows.
#pragma once

#include <cstdint>
#include <limits>

#include "core/kernels/panels.h"

namespace tersor::kernels {

/// What happens to a sum before it is stored: y = min(max(sum + bias, low), high). NaN stays NaN.
struct Epilogue {
  const float* bias = nullptr;  // one per output column, or none
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// `rows` holds, tap by tap, one pointer per output row: rows[tap * count + r] points to `depth` floats.
struct Rows {
  const float* const* pointers;
  int64_t count;
};

/// Products are summed one by one into a partial sum that goes to the total at the end of each tap, or of each
/// kSumLength along its depth, once it holds kSumLength products or more: long sums keep their precision, and the order
/// is the same everywhere. 256 is the block of ONNX Runtime's matrix product, so that our float outputs lie near its
/// own.
inline constexpr int64_t kSumLength = 256;

/// out[r * out_step + c] = epilogue(sum over taps, then over depth, of row[tap][r][d] * weight[c][tap][d]) in the order
/// above, each product rounded before it is added. No vector width changes a bit of it.
void multiply_rows(const Panels& weights, const Rows& rows, const Epilogue& epilogue, float* out, int64_t out_step);

}  // namespace tersor::kernels
