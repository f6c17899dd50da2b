// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/integer_conv.h"

#include <algorithm>

#include "core/kernels/quantize.h"

namespace tersor::simulate {

namespace {

/// Without groups and dilation a kernel row is one run of kernel_w * channels numbers.
bool has_whole_rows(const ConvGeometry& g) {
  return g.groups == 1 && g.dilation_w == 1;
}

/// The kernel that the runtime takes for it sums without saturation.
bool runs_as_depthwise(const ConvGeometry& g) {
  return g.in_channels == g.groups && g.out_channels == g.groups;
}

/// Numbers w - zw as [out channel][tap][channel].
std::vector<int16_t> numbers_of(const ConvGeometry& g, const IntegerConv::Codes& weights) {
  const auto channels = static_cast<size_t>(g.in_channels / g.groups),
             taps = static_cast<size_t>(g.kernel_h * g.kernel_w), outputs = static_cast<size_t>(g.out_channels);
  std::vector<int16_t> numbers(weights.raw.size());
  for (size_t o = 0; o < outputs; ++o) {
    const int32_t zero_point =
        weights.zero_points.empty() ? 0 : weights.zero_points[weights.zero_points.size() == 1 ? 0 : o];
    for (size_t c = 0; c < channels; ++c)
      for (size_t t = 0; t < taps; ++t) {
        const uint8_t code = weights.raw[(o * channels + c) * taps + t];
        const int32_t number = weights.is_signed ? static_cast<int8_t>(code) : code;
        numbers[(o * taps + t) * channels + c] = static_cast<int16_t>(number - zero_point);
      }
  }
  return numbers;
}

/// By group, of the columns of raw weights in the runtime's order (tap, channel).
std::vector<PairSaturation> saturation_of(const ConvGeometry& g, const IntegerConv::Codes& weights) {
  const auto channels = static_cast<size_t>(g.in_channels / g.groups),
             taps = static_cast<size_t>(g.kernel_h * g.kernel_w);
  const auto outputs = static_cast<size_t>(g.out_channels / g.groups);
  std::vector<PairSaturation> groups;
  std::vector<int8_t> columns(outputs * channels * taps);
  const auto* raw = weights.raw.data();
  for (int64_t group = 0; group < g.groups; ++group) {
    for (size_t o = 0; o < outputs; ++o)
      for (size_t c = 0; c < channels; ++c)
        for (size_t t = 0; t < taps; ++t) columns[(o * taps + t) * channels + c] = static_cast<int8_t>(*raw++);
    groups.emplace_back(columns, channels * taps);
  }
  const auto is_empty = [](const PairSaturation& group) { return group.empty(); };
  if (std::all_of(groups.begin(), groups.end(), is_empty)) groups.clear();
  return groups;
}

}  // namespace

IntegerConv::IntegerConv(const ConvGeometry& geometry, const Codes& weights, Pairs pairs) : pairs_(pairs) {
  const int64_t taps = geometry.kernel_h * geometry.kernel_w, channels = geometry.in_channels / geometry.groups;
  const std::vector<int16_t> numbers = numbers_of(geometry, weights);
  if (pairs != Pairs::kExact && weights.is_signed && !runs_as_depthwise(geometry))
    saturation_ = saturation_of(geometry, weights);
  if (geometry.depthwise()) {
    std::vector<int16_t> by_tap(numbers.size());
    for (int64_t o = 0; o < geometry.out_channels; ++o)
      for (int64_t t = 0; t < taps; ++t)
        by_tap[static_cast<size_t>(t * geometry.out_channels + o)] = numbers[static_cast<size_t>(o * taps + t)];
    depthwise_ = kernels::pair_depthwise(by_tap.data(), taps, geometry.out_channels);
    return;
  }
  const bool whole = has_whole_rows(geometry);
  const int64_t outputs = geometry.out_channels / geometry.groups,
                depth = whole ? geometry.kernel_w * channels : channels;
  for (int64_t g = 0; g < geometry.groups; ++g)
    groups_.emplace_back(
        outputs, whole ? geometry.kernel_h : taps, depth,
        kernels::IntegerPanels::Source{numbers.data() + g * outputs * taps * channels, taps * channels, depth, 1});
}

/// The numbers x - zx of the rows of a picture with its borders that the windows at hand lie in, each row in the place
/// of one that is no longer asked for; or of the pixels at hand where a window is one pixel.
class IntegerConv::Windows {
 public:
  Windows(const ConvGeometry& g, std::span<const uint8_t> x, const Picture& picture, std::span<int16_t> scratch)
      : g_(g),
        x_(x),
        picture_(picture),
        scratch_(scratch),
        row_((picture.width + g.pad_left + g.pad_right) * g.in_channels),
        out_w_(g.out_w(picture.width)),
        rows_(g.rows_at_once(picture.height, picture.width)) {}

  /// Before the windows of these output pixels are asked for; the ranges rise.
  void prepare(int64_t first, int64_t count) {
    if (g_.pointwise()) {
      first_ = first;
      return widen(first * g_.in_channels, count * g_.in_channels, 0);
    }
    const int64_t end = (first + count - 1) / out_w_ * g_.stride_h + g_.window_h();
    for (; ready_ < end; ++ready_) fill(ready_);
  }
  /// Where the window of a pixel begins in each of its rows.
  const int16_t* window(int64_t pixel) const {
    return scratch_.data() + (g_.pointwise() ? pixel - first_ : pixel % out_w_ * g_.stride_w) * g_.in_channels;
  }
  /// Of `most` output pixels from this one on, those whose windows lie step() numbers apart.
  int64_t in_line(int64_t pixel, int64_t most) const {
    return g_.pointwise() ? most : std::min(most, out_w_ - pixel % out_w_);
  }
  int64_t step() const { return g_.stride_w * g_.in_channels; }
  const ConvGeometry& geometry() const { return g_; }
  /// Where each tap of this pixel lies after window(), row by row: the same for those in line.
  void place_taps(int64_t pixel, std::vector<int64_t>& offsets) const {
    offsets.clear();
    const int64_t top = g_.pointwise() ? 0 : pixel / out_w_ * g_.stride_h;
    for (int64_t kh = 0; kh < g_.kernel_h; ++kh) {
      const int64_t row = (top + kh * g_.dilation_h) % rows_ * row_;
      for (int64_t kw = 0; kw < g_.kernel_w; ++kw) offsets.push_back(row + kw * g_.dilation_w * g_.in_channels);
    }
  }

 private:
  /// Row `row` of the picture with its borders.
  void fill(int64_t row) {
    const int64_t at = row % rows_ * row_, h = row - g_.pad_top, left = g_.pad_left * g_.in_channels,
                  numbers = picture_.width * g_.in_channels;
    const auto border = [&](int64_t from, int64_t count) { std::fill_n(scratch_.begin() + from, count, int16_t{0}); };
    if (h < 0 || h >= picture_.height) return border(at, row_);
    border(at, left);
    widen(h * numbers, numbers, at + left);
    border(at + left + numbers, row_ - left - numbers);
  }
  void widen(int64_t from, int64_t count, int64_t to) {
    kernels::widen_codes(x_.data() + from, static_cast<size_t>(count), {1, picture_.zero_point, picture_.is_signed},
                         scratch_.data() + to);
  }

  const ConvGeometry& g_;
  std::span<const uint8_t> x_;
  Picture picture_;
  std::span<int16_t> scratch_;
  int64_t row_, out_w_, rows_;  // numbers to a row, and how many rows have a place
  int64_t ready_ = 0, first_ = 0;
};

int64_t IntegerConv::run(const ConvGeometry& g, std::span<const uint8_t> x, const Picture& picture,
                         std::span<const int32_t> bias, std::span<int16_t> scratch, std::span<int32_t> sums,
                         const Taker& take) const {
  Windows windows(g, x, picture, scratch);
  const int64_t total = g.out_h(picture.height) * g.out_w(picture.width), at_once = g.pixels_at_once(picture.width);
  std::vector<int64_t> offsets;
  // A run of taps that lie together counts as one.
  const int64_t taps = g.kernel_h * g.kernel_w, run_of_taps = has_whole_rows(g) ? g.kernel_w : 1;
  std::vector<const int16_t*> pointers(g.depthwise() ? 0 : static_cast<size_t>(taps / run_of_taps * at_once));
  const bool saturates = !saturation_.empty() && !picture.is_signed;
  const auto bias_of = [&](int64_t output) { return bias.empty() ? nullptr : bias.data() + output; };
  int64_t saturated = 0;
  // To each tap of the windows of these pixels, tap by tap.
  const auto point_to = [&](int64_t first, int64_t count) {
    for (int64_t r = 0, in_line = 0; r < count; r += in_line) {
      in_line = windows.in_line(first + r, count - r);
      windows.place_taps(first + r, offsets);
      const int16_t* const window = windows.window(first + r);
      const int16_t** pointer = pointers.data() + r;
      for (int64_t t = 0; t < taps; t += run_of_taps, pointer += count)
        for (int64_t k = 0; k < in_line; ++k)
          pointer[k] = window + offsets[static_cast<size_t>(t)] + k * windows.step();
    }
  };
  for (int64_t first = 0; first < total; first += at_once) {
    const int64_t count = std::min(at_once, total - first);
    windows.prepare(first, count);
    const auto block = sums.first(static_cast<size_t>(count * g.out_channels));
    if (g.depthwise()) {
      windows.place_taps(first, offsets);
      if (offsets.size() % 2 != 0) offsets.push_back(offsets.back());
      kernels::sum_depthwise({windows.window(first), count, windows.step(), offsets}, depthwise_.data(), g.in_channels,
                             bias_of(0), block.data());
    } else {
      point_to(first, count);
      int64_t output = 0;
      for (const kernels::IntegerPanels& group : groups_) {
        if (output > 0)
          for (const int16_t*& pointer : std::span(pointers).first(static_cast<size_t>(taps / run_of_taps * count)))
            pointer += g.in_channels / g.groups;
        kernels::multiply_integer_rows(group, {pointers.data(), count}, bias_of(output), block.data() + output,
                                       g.out_channels);
        output += group.columns();
      }
    }
    if (saturates) saturated += saturate(windows, first, picture.zero_point, block);
    take(first, block);
  }
  return saturated;
}

int64_t IntegerConv::saturate(const Windows& windows, int64_t first, int32_t zero_point,
                              std::span<int32_t> sums) const {
  const ConvGeometry& g = windows.geometry();
  const int64_t channels = g.in_channels / g.groups, outputs = g.out_channels / g.groups;
  std::vector<int64_t> offsets, places;
  const auto count = static_cast<int64_t>(sums.size()) / g.out_channels;
  int64_t saturated = 0;
  for (int64_t p = 0, in_line = 0; p < count; p += in_line) {
    in_line = windows.in_line(first + p, count - p);
    windows.place_taps(first + p, offsets);
    places.clear();
    for (const int64_t offset : offsets)
      for (int64_t c = 0; c < channels; ++c) places.push_back(offset + c);
    for (size_t k = 0; k < saturation_.size(); ++k) {
      const auto group = static_cast<int64_t>(k);
      saturated += saturation_[k].apply(
          {windows.window(first + p) + group * channels, in_line, windows.step(), places.data(), zero_point},
          pairs_ == Pairs::kSaturating ? sums.data() + p * g.out_channels + group * outputs : nullptr, g.out_channels);
    }
  }
  return saturated;
}

}  // namespace tersor::simulate
