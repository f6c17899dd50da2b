// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/kernels_16.h"

#include <array>
#include <functional>

#include "core/tflite/kernels_of_codes.h"

namespace tersor::tflite {

namespace {

int64_t dot(const int16_t* x, const int8_t* w, int64_t count) {
  constexpr int64_t kHeldBy32Bits = 256;
  int64_t sum = 0;
  for (int64_t first = 0; first < count; first += kHeldBy32Bits) {
    int32_t part = 0;
    for (int64_t k = first; k < std::min(count, first + kHeldBy32Bits); ++k) part += x[k] * w[k];
    sum += part;
  }
  return sum;
}

/// How the sums of one operator become codes. With an int32 bias they are of 32 bits, and are scaled as those of int8.
struct WideProducts {
  std::vector<int64_t> bias;
  std::vector<Multiplier> multipliers;
  Bounds<int16_t> bounds;
  bool narrow = false;

  int16_t code(int64_t sum, size_t channel) const {
    const Multiplier by = multipliers[channel];
    sum += bias[channel];
    return bounds.hold(narrow ? scaled(wrapped(sum), by) : scaled_sum(sum, by));
  }
};

WideProducts products_of(const KernelCall& call, const Argument& x, size_t bias, size_t channels) {
  WideProducts products{std::vector<int64_t>(channels, 0), multipliers_of(call, x, channels), bounds_of<int16_t>(call)};
  if (call.has(bias)) {
    products.bias = call.in(bias).value->to_int64s();
    products.narrow = call.in(bias).value->dtype() == DType::kInt32;
  }
  return products;
}

Tensor convolve(const KernelCall& call, bool by_channel) {
  const Argument &x = call.in(0), &w = call.in(1);
  const Windows windows(call, x, w);
  const int64_t channels_in = x.dim(3), channels = call.output.shape[3], taps = windows.taps();
  const int64_t inputs = by_channel ? 1 : w.dim(3);
  const int64_t per_group = channels / (channels_in / inputs);
  const WideProducts products = products_of(call, x, 2, static_cast<size_t>(channels));
  const int16_t* numbers = x.codes<int16_t>().data();
  const int8_t* weights = w.codes().data();
  return filled<int16_t>(call, [&](std::span<int16_t> y) {
    size_t made = 0;
    for (int64_t place = 0; made < y.size(); ++place) {
      std::vector<std::pair<int64_t, int64_t>> inside;  // taps, and where they read
      for (int64_t tap = 0; tap < taps; ++tap)
        if (const int64_t at = windows.at(place, tap); at >= 0) inside.emplace_back(tap, at * channels_in);
      for (int64_t o = 0; o < channels; ++o) {
        int64_t sum = 0;
        for (const auto& [tap, at] : inside)
          sum += dot(numbers + at + o / per_group * inputs,
                     by_channel ? weights + tap * channels + o : weights + (o * taps + tap) * inputs, inputs);
        y[made++] = products.code(sum, static_cast<size_t>(o));
      }
    }
  });
}

Tensor convolve_back(const KernelCall& call) {
  const Argument &x = call.in(2), &w = call.in(1);
  const Windows windows = Windows::back(call);
  const int64_t channels = call.output.shape[3], inputs = x.dim(3), taps = windows.taps();
  const WideProducts products = products_of(call, x, 3, static_cast<size_t>(channels));
  const int16_t* from = x.codes<int16_t>().data();
  return filled<int16_t>(call, [&](std::span<int16_t> y) {
    std::vector<int64_t> sums(y.size() / static_cast<size_t>(x.dim(0)));
    for (size_t made = 0; made < y.size();) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int64_t place = 0; place < windows.of_picture(); ++place, from += inputs)
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t at = windows.at(place, tap);
          for (int64_t o = 0; at >= 0 && o < channels; ++o)
            sums[static_cast<size_t>(at * channels + o)] +=
                dot(from, w.codes().data() + (o * taps + tap) * inputs, inputs);
        }
      for (size_t k = 0; k < sums.size(); ++k) y[made++] = products.code(sums[k], k % static_cast<size_t>(channels));
    }
  });
}

Tensor fully_connected(const KernelCall& call) {
  const Argument &x = call.in(0), &w = call.in(1);
  const int64_t outputs = w.dim(0), inputs = w.dim(1);
  const WideProducts products = products_of(call, x, 2, static_cast<size_t>(outputs));
  const int32_t weight_zero = w.tensor->quantization.scale.size() == 1 ? w.zero_point() : 0;
  return filled<int16_t>(call, [&](std::span<int16_t> y) {
    for (size_t k = 0; k < y.size(); ++k) {
      const int64_t row = static_cast<int64_t>(k) / outputs, o = static_cast<int64_t>(k) % outputs;
      const int16_t* from = x.codes<int16_t>().data() + row * inputs;
      int64_t sum = dot(from, w.codes().data() + o * inputs, inputs);
      for (int64_t i = 0; weight_zero != 0 && i < inputs; ++i) sum -= int64_t{from[i]} * weight_zero;
      y[k] = products.code(sum, static_cast<size_t>(o));
    }
  });
}

/// LOGISTIC and TANH. A scale of 2^-12 (TANH: or 2^-11), or within 0.07 % of it, is taken for that; others are brought
/// to steps of 2^-12 / 3.
Tensor bend(const KernelCall& call, bool is_tanh) {
  const double power = std::log2(static_cast<double>(call.in(0).scale())), whole = std::round(power);
  const bool is_power = std::fabs(power - whole) < 1e-3;
  const int left = static_cast<int>(whole) + 12;
  int64_t factor = 3;
  int right = 0;
  if (is_power && (left == 0 || (is_tanh && left == 1))) {
    factor <<= left;
  } else {
    double multiplier = static_cast<double>(call.in(0).scale()) * 4096 * 3;
    for (; multiplier <= 32767.0 / 2 && right <= 30; ++right) multiplier *= 2;
    factor = static_cast<int64_t>(std::min(multiplier, 2147483647.0));
  }
  const int64_t half = right > 0 ? int64_t{1} << (right - 1) : 0;
  return by_code<int16_t, int16_t>(call, [&](int32_t code) {
    const int64_t number = (code * factor + half) >> right;
    return static_cast<int16_t>(is_tanh ? tanh_16(number) : logistic_16(number));
  });
}

/// 513 values of a function, between which lines are drawn. Computed in float, as the runtime fills its table.
using Line = std::array<int16_t, 513>;

Line line_of(float low, float high, float scale, const std::function<float(float)>& function) {
  Line line;
  const float step = (high - low) / 512, half = step / 2;
  const auto held = [](float value) { return static_cast<int16_t>(std::clamp(value, -32768.0F, 32767.0F)); };
  for (size_t k = 0; k < 512; ++k) {
    const float at = low + static_cast<float>(k) * step, next = low + static_cast<float>(k + 1) * step;
    const float value = std::round(function(at) * scale);
    const float drawn = std::round((function(next) * scale + value) / 2);
    const float between = std::round(function(at + half) * scale);
    line[k] = held(value - std::round((drawn - between) / 2));
  }
  line[512] = held(std::round(function(high) * scale));
  return line;
}

int32_t on_line(const Line& line, int64_t place) {
  const auto at = static_cast<int32_t>(std::clamp<int64_t>(place, -32768, 32767));
  const auto k = static_cast<size_t>(256 + (at >> 7));
  return line[k] + (((line[k + 1] - line[k]) * (at & 127) + 64) >> 7);
}

Tensor softmax(const KernelCall& call) {
  constexpr auto kPowers = static_cast<float>(10.0 / 65535), kFraction = static_cast<float>(1.0 / 65535),
                 kMade = static_cast<float>(2.0 / 65535);
  constexpr float kScale = 65536 / (kMade * 32767 - kMade * -32768);
  static const Line exponentials = line_of(kPowers * -65535, 0, kScale, [](float value) {
    return static_cast<float>(std::exp(static_cast<double>(value)));
  });
  static const Line inverses = line_of(0, kFraction * 65535, kScale, [](float value) { return 1 / (1 + value); });
  const Argument& x = call.in(0);
  const Multiplier multiplier = multiplier_of(static_cast<double>(x.scale() * call.op.options.beta) / (10.0 / 65535));
  const auto depth = static_cast<size_t>(x.tensor->shape.back());
  return filled<int16_t>(call, [&](std::span<int16_t> y) {
    std::vector<int32_t> powers(depth);
    for (size_t row = 0; row + depth <= y.size(); row += depth) {
      const auto codes = x.codes<int16_t>().subspan(row, depth);
      const int32_t largest = *std::max_element(codes.begin(), codes.end());
      int64_t sum = 0;
      for (size_t k = 0; k < depth; ++k)
        sum += powers[k] = on_line(exponentials, int64_t{scaled(codes[k] - largest, multiplier)} + 32767);
      const int headroom = std::countl_zero(static_cast<uint32_t>(sum)), right = 31 - headroom;
      const int64_t fraction = ((sum << (headroom - 1)) + (1 << 13)) >> 14;
      const int64_t inverse = on_line(inverses, fraction - (1 << 15) - (1 << 16));
      for (size_t k = 0; k < depth; ++k)
        y[row + k] = static_cast<int16_t>(
            std::clamp<int64_t>((powers[k] * inverse + (int64_t{1} << (right - 1))) >> right, 0, 32767));
    }
  });
}

}  // namespace

bool runs_on_16_bits(Code code) {
  static constexpr Code kCodes[] = {Code::kConv2d,
                                    Code::kDepthwiseConv2d,
                                    Code::kTransposeConv,
                                    Code::kFullyConnected,
                                    Code::kBatchMatmul,
                                    Code::kAveragePool2d,
                                    Code::kMaxPool2d,
                                    Code::kAdd,
                                    Code::kSub,
                                    Code::kMul,
                                    Code::kMaximum,
                                    Code::kMinimum,
                                    Code::kRelu,
                                    Code::kLeakyRelu,
                                    Code::kLogistic,
                                    Code::kTanh,
                                    Code::kSoftmax,
                                    Code::kMean,
                                    Code::kQuantize,
                                    Code::kDequantize,
                                    Code::kReshape,
                                    Code::kPad,
                                    Code::kPadV2,
                                    Code::kTranspose,
                                    Code::kResizeNearestNeighbor,
                                    Code::kStridedSlice,
                                    Code::kConcatenation};
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

Tensor evaluate_16(const KernelCall& call) {
  switch (call.op.code) {
    case Code::kConv2d:
      return convolve(call, false);
    case Code::kDepthwiseConv2d:
      return convolve(call, true);
    case Code::kTransposeConv:
      return convolve_back(call);
    case Code::kFullyConnected:
      return fully_connected(call);
    case Code::kLogistic:
      return bend(call, false);
    case Code::kTanh:
      return bend(call, true);
    case Code::kSoftmax:
      return softmax(call);
    default:
      return evaluate_on<int16_t>(call);
  }
}

}  // namespace tersor::tflite
