// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/conv.h"

#include <algorithm>
#include <cstring>

namespace tersor::kernels {

namespace {

constexpr int64_t kFewChannels = 16;

/// Few channels: a whole kernel row is one run of columns x channels floats in a copy of the input padded at the sides.
bool merges_columns(const ConvWeights& shape) {
  return shape.groups == 1 && shape.in_channels <= kFewChannels && shape.kernel_columns > 1 && !shape.dilated_columns;
}

/// Cuts one run's scratch into its parts.
struct Scratch {
  const float** pointers;  // [taps][kRowsPerCall]
  float* zeros;            // what a tap outside the input reads
  float* padded;           // the input with padded columns; only where columns are merged

  static int64_t pointer_bytes(int64_t taps) {
    return taps * kRowsPerCall * static_cast<int64_t>(sizeof(const float*));
  }
  static int64_t zero_bytes(int64_t depth) { return (depth * 4 + 63) / 64 * 64; }

  Scratch(std::span<std::byte> bytes, int64_t taps, int64_t depth)
      : pointers(reinterpret_cast<const float**>(bytes.data())),
        zeros(reinterpret_cast<float*>(bytes.data() + (pointer_bytes(taps) + 63) / 64 * 64)),
        padded(zeros + zero_bytes(depth) / 4) {
    std::fill_n(zeros, depth, 0.0f);
  }
};

/// A row of pixels that a tap reads; null where it lies outside the input.
struct TapRow {
  const float* pixels;
  int64_t step;        // floats from one pixel to the next
  const float* zeros;  // what a tap outside the input reads
};

/// Where neighbouring windows from column `first` on read at column `tap` of the kernel.
void point_at_tap(const TapRow& row, const ConvAxis& columns, int64_t first, int64_t tap,
                  std::span<const float*> pointers) {
  const int64_t start = first * columns.stride - columns.before + tap * columns.dilation, stride = columns.stride;
  // The first window whose tap does not lie before `column`.
  const auto reaching = [&](int64_t column) {
    const int64_t ahead = column - start, windows = stride == 1 ? ahead : (ahead + stride - 1) / stride;
    return std::clamp<int64_t>(windows, 0, static_cast<int64_t>(pointers.size()));
  };
  const auto inside = pointers.begin() + (row.pixels == nullptr ? 0 : reaching(columns.in));
  const auto begin = row.pixels == nullptr ? inside : pointers.begin() + reaching(0);
  std::fill(pointers.begin(), begin, row.zeros);
  std::fill(inside, pointers.end(), row.zeros);
  int64_t column = start + (begin - pointers.begin()) * stride;
  for (auto pointer = begin; pointer < inside; ++pointer, column += stride) *pointer = row.pixels + column * row.step;
}

int64_t padded_columns(const ConvAxis& columns) {
  const int64_t reach = (columns.out - 1) * columns.stride + (columns.kernel - 1) * columns.dilation + 1;
  return std::max(columns.before + columns.in, reach);
}

}  // namespace

Conv::Conv(const ConvWeights& shape, const float* weights) : shape_(shape) {
  if (Winograd::suits(shape)) {
    winograd_ = Winograd(shape.in_channels, shape.out_channels, weights);
    return;
  }
  const int64_t channels = shape.in_channels / shape.groups, outputs = shape.out_channels / shape.groups;
  const int64_t taps = shape.kernel_rows * shape.kernel_columns;
  for (int64_t g = 0; g < shape.groups; ++g) {
    const float* of_group = weights + g * outputs * channels * taps;
    if (!merges_columns(shape)) {
      groups_.emplace_back(outputs, taps, channels, Panels::Source{of_group, channels * taps, 1, taps});
      continue;
    }
    // One tap per kernel row, its depth the columns and channels of the row in the input's order.
    std::vector<float> merged(static_cast<size_t>(outputs * channels * taps));
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t t = 0; t < taps; ++t)
          merged[static_cast<size_t>((o * taps + t) * channels + c)] = of_group[(o * channels + c) * taps + t];
    const int64_t depth = shape.kernel_columns * channels;
    groups_.emplace_back(outputs, shape.kernel_rows, depth, Panels::Source{merged.data(), taps * channels, depth, 1});
  }
}

int64_t Conv::scratch_bytes(const ConvWeights& shape, const ConvAxis& rows, const ConvAxis& columns) {
  if (Winograd::suits(shape)) return Winograd::scratch_bytes(shape.in_channels, shape.out_channels);
  const bool merged = merges_columns(shape);
  const int64_t taps = shape.kernel_rows * (merged ? 1 : shape.kernel_columns);
  const int64_t depth = shape.in_channels / shape.groups * (merged ? shape.kernel_columns : 1);
  const int64_t bytes = (Scratch::pointer_bytes(taps) + 63) / 64 * 64 + Scratch::zero_bytes(depth);
  return bytes + (merged ? rows.in * padded_columns(columns) * shape.in_channels * 4 : 0);
}

void Conv::run(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns, const Epilogue& epilogue,
               std::span<std::byte> scratch, float* y) const {
  if (!winograd_.empty()) return winograd_.run(x, batch, rows, columns, epilogue, scratch, y);
  if (!merges_columns(shape_)) {
    for (int64_t g = 0; g < shape_.groups; ++g) run_group(x, batch, rows, columns, g, epilogue, scratch, y);
    return;
  }
  const Scratch parts(scratch, groups_.front().taps(), groups_.front().depth());
  const int64_t channels = shape_.in_channels, width = padded_columns(columns),
                out_one = rows.out * columns.out * shape_.out_channels;
  ConvAxis merged = columns;
  merged.in = width;
  merged.before = 0;
  merged.kernel = 1;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t r = 0; r < rows.in; ++r) {
      float* const row = parts.padded + r * width * channels;
      float* const inside = row + columns.before * channels;
      std::fill(row, inside, 0.0f);
      std::memcpy(inside, x + (n * rows.in + r) * columns.in * channels,
                  static_cast<size_t>(columns.in * channels) * 4);
      std::fill(inside + columns.in * channels, row + width * channels, 0.0f);
    }
    run_group(parts.padded, 1, rows, merged, 0, epilogue, scratch, y + n * out_one);
  }
}

void Conv::run_group(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns, int64_t group,
                     const Epilogue& epilogue, std::span<std::byte> scratch, float* y) const {
  const Panels& weights = groups_[static_cast<size_t>(group)];
  const Scratch parts(scratch, weights.taps(), weights.depth());
  const int64_t channels = shape_.in_channels, total = batch * rows.out * columns.out;
  const int64_t outputs = shape_.out_channels / shape_.groups, first_channel = group * (channels / shape_.groups);
  Epilogue of_group = epilogue;
  if (epilogue.bias != nullptr) of_group.bias += group * outputs;
  for (int64_t first = 0; first < total; first += kRowsPerCall) {
    const int64_t count = std::min(kRowsPerCall, total - first);
    int64_t ox = first % columns.out, oy = first / columns.out % rows.out, n = first / (columns.out * rows.out);
    for (int64_t done = 0, neighbours = 0; done < count; done += neighbours) {
      neighbours = std::min(count - done, columns.out - ox);
      const float** pointers = parts.pointers + done;
      for (int64_t ky = 0; ky < rows.kernel; ++ky) {
        const int64_t iy = oy * rows.stride - rows.before + ky * rows.dilation;
        const float* const row =
            iy >= 0 && iy < rows.in ? x + (n * rows.in + iy) * columns.in * channels + first_channel : nullptr;
        for (int64_t kx = 0; kx < columns.kernel; ++kx, pointers += count)
          point_at_tap({row, channels, parts.zeros}, columns, ox, kx, {pointers, static_cast<size_t>(neighbours)});
      }
      ox = 0;
      if (++oy == rows.out) oy = 0, ++n;
    }
    multiply_rows(weights, {parts.pointers, count}, of_group, y + first * shape_.out_channels + group * outputs,
                  shape_.out_channels);
  }
}

}  // namespace tersor::kernels
