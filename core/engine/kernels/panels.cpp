// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/panels.h"

#include <algorithm>
#include <new>

#include "core/base/error.h"

namespace tersor::kernels {

namespace {
constexpr std::align_val_t kAlignment{64};
}

std::shared_ptr<float> allocate_panels(size_t count) {
  auto* memory =
      static_cast<float*>(::operator new(std::max<size_t>(count, 1) * sizeof(float), kAlignment, std::nothrow));
  if (memory == nullptr)
    throw Error(ErrorCode::kOutOfMemory,
                "There is no memory for " + std::to_string(count * sizeof(float)) + " bytes of packed weights.");
  return {memory, [](float* floats) { ::operator delete(floats, kAlignment); }};
}

int64_t panel_width(int64_t columns) {
  const int64_t one = vector_width(), two = 2 * one;
  const auto padded = [&](int64_t width) { return (columns + width - 1) / width * width; };
  return padded(one) * 5 < padded(two) * 4 ? one : two;
}

Panels::Panels(int64_t columns, int64_t taps, int64_t depth, const Source& source)
    : columns_(columns),
      taps_(taps),
      depth_(depth),
      width_(too_few_columns(columns, depth) ? 1 : panel_width(columns)) {
  data_ = allocate_panels(static_cast<size_t>(count() * taps * depth * width_));
  float* to = data_.get();
  for (int64_t first = 0; first < columns; first += width_) {
    const int64_t some = std::min(width_, columns - first);
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t d = 0; d < depth; ++d, to += width_) {
        const float* const from =
            source.weights + first * source.column_step + tap * source.tap_step + d * source.depth_step;
        for (int64_t c = 0; c < some; ++c) to[c] = from[c * source.column_step];
        std::fill(to + some, to + width_, 0.0f);
      }
  }
}

}  // namespace tersor::kernels
