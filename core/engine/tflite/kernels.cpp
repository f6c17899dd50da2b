// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/kernels/integer.h"
#include "core/kernels/panels.h"
#include "core/tflite/axis_order.h"
#include "core/tflite/fixed_point.h"
#include "core/tflite/kernels_16.h"
#include "core/tflite/kernels_of_codes.h"
#include "core/tflite/lstm.h"

namespace tersor::tflite {

namespace {

using Bounds8 = Bounds<int8_t>;
constexpr int32_t kLowest = Bounds8::kLowest, kHighest = Bounds8::kHighest;

/// Sums of products of one operator with a weight: the bias that they begin with, and how they become codes.
struct Products {
  std::vector<int32_t> bias;
  std::vector<Multiplier> multipliers;
  Bounds8 bounds;
  int32_t zero_point;

  /// `sums`: [places][channels].
  void write(std::span<const int32_t> sums, int8_t* y) const {
    for (size_t at = 0; at < sums.size();)
      for (const Multiplier multiplier : multipliers)
        *y++ = bounds.hold(int64_t{scaled(sums[at++], multiplier)} + zero_point);
  }
};

Products products_of(const KernelCall& call, const Argument& x, size_t bias, size_t channels) {
  Products products{std::vector<int32_t>(channels, 0), multipliers_of(call, x, channels), bounds_of<int8_t>(call),
                    call.zero_point()};
  if (call.has(bias)) {
    const Tensor given = call.in(bias).value->aligned();
    std::copy(given.data<int32_t>().begin(), given.data<int32_t>().end(), products.bias.begin());
  }
  return products;
}

/// A convolution in groups of channels; weights as `steps` says, from the group's first on.
Tensor convolve_groups(const KernelCall& call, int64_t inputs, kernels::IntegerPanels::Source steps,
                       int64_t group_step) {
  const Argument& x = call.in(0);
  const Windows windows(call, x, call.in(1));
  const int64_t channels_in = x.dim(3), channels = call.output.shape[3], groups = channels_in / inputs,
                per_group = channels / groups, taps = windows.taps();
  const Products products = products_of(call, x, 2, static_cast<size_t>(channels));
  const std::vector<int16_t> numbers = numbers_of(x.codes(), x.zero_point()),
                             weights = numbers_of(call.in(1).codes(), 0), outside(static_cast<size_t>(inputs) + 1);
  std::vector<kernels::IntegerPanels> panels;
  for (int64_t group = 0; group < groups; ++group) {
    steps.weights = weights.data() + group * group_step;
    panels.emplace_back(per_group, taps, inputs, steps);
  }
  return filled<int8_t>(call, [&](std::span<int8_t> y) {
    const int64_t places = windows.of_picture() * x.dim(0), most = std::min<int64_t>(kernels::kRowsPerCall, places);
    std::vector<int64_t> at(static_cast<size_t>(most * taps));
    std::vector<const int16_t*> pointers(at.size());
    std::vector<int32_t> sums(static_cast<size_t>(most * channels));
    for (int64_t first = 0; first < places; first += most) {
      const int64_t count = std::min(most, places - first);
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t k = 0; k < count; ++k) at[static_cast<size_t>(tap * count + k)] = windows.at(first + k, tap);
      for (int64_t group = 0; group < groups; ++group) {
        for (size_t k = 0; k < static_cast<size_t>(count * taps); ++k)
          pointers[k] = at[k] < 0 ? outside.data() : numbers.data() + at[k] * channels_in + group * inputs;
        kernels::multiply_integer_rows(panels[static_cast<size_t>(group)], {pointers.data(), count},
                                       products.bias.data() + group * per_group, sums.data() + group * per_group,
                                       channels);
      }
      products.write(std::span(sums).first(static_cast<size_t>(count * channels)), y.data() + first * channels);
    }
  });
}

Tensor convolve(const KernelCall& call) {
  const Argument& w = call.in(1);
  const int64_t inputs = w.dim(3), taps = int64_t{w.dim(1)} * w.dim(2), groups = call.in(0).dim(3) / inputs;
  return convolve_groups(call, inputs, {nullptr, taps * inputs, inputs, 1},
                         call.output.shape[3] / groups * taps * inputs);
}

Tensor convolve_channels(const KernelCall& call) {
  const Argument& x = call.in(0);
  const int64_t channels = x.dim(3);
  const int64_t repeats = call.output.shape[3] / channels;
  const Windows windows(call, x, call.in(1));
  const Steps &rows = windows.rows, &columns = windows.columns;
  const auto reach = [](const Steps& axis) {
    return int64_t{axis.out - 1} * axis.stride + int64_t{axis.kernel - 1} * axis.dilation + 1;
  };
  const auto is_near = [&](const Steps& axis) { return reach(axis) <= 4 * int64_t{axis.in} + 16; };
  if (repeats > 1 || !is_near(rows) || !is_near(columns))
    return convolve_groups(call, 1, {nullptr, 1, call.output.shape[3], 1}, repeats);
  const Products products = products_of(call, x, 2, static_cast<size_t>(channels));
  const std::vector<int16_t> numbers = numbers_of(x.codes(), x.zero_point());
  const std::vector<int16_t> pairs =
      kernels::pair_depthwise(numbers_of(call.in(1).codes(), 0).data(), windows.taps(), channels);
  const int64_t width = reach(columns), height = reach(rows);
  std::vector<int64_t> offsets;
  for (int64_t tap = 0; tap < windows.taps(); ++tap)
    offsets.push_back((tap / columns.kernel * rows.dilation * width + tap % columns.kernel * columns.dilation) *
                      channels);
  if (offsets.size() % 2 == 1) offsets.push_back(offsets.back());
  return filled<int8_t>(call, [&](std::span<int8_t> y) {
    std::vector<int32_t> sums(static_cast<size_t>(columns.out * channels));
    std::vector<int16_t> padded;
    for (int64_t n = 0; n < x.dim(0); ++n) {
      padded.assign(static_cast<size_t>(height * width * channels) + 1, 0);
      const int64_t copied = std::min<int64_t>(columns.in, width - columns.before) * channels;
      for (int64_t row = 0; row < rows.in && row + rows.before < height; ++row)
        std::copy_n(numbers.data() + (n * rows.in + row) * columns.in * channels, std::max<int64_t>(copied, 0),
                    padded.data() + ((row + rows.before) * width + columns.before) * channels);
      for (int64_t row = 0; row < rows.out; ++row) {
        kernels::sum_depthwise(
            {padded.data() + row * rows.stride * width * channels, columns.out, columns.stride * channels, offsets},
            pairs.data(), channels, products.bias.data(), sums.data());
        products.write(sums, y.data() + (n * rows.out + row) * columns.out * channels);
      }
    }
  });
}

/// Each place of the input adds its products to the places that its window covers.
Tensor convolve_back(const KernelCall& call) {
  const Argument &x = call.in(2), &w = call.in(1);
  const Windows windows = Windows::back(call);
  const int64_t channels = call.output.shape[3], inputs = x.dim(3), taps = windows.taps(), columns = channels * taps,
                of_output = int64_t{call.output.shape[1]} * call.output.shape[2];
  const Products products = products_of(call, x, 3, static_cast<size_t>(channels));
  const std::vector<int16_t> numbers = numbers_of(x.codes(), x.zero_point()), weights = numbers_of(w.codes(), 0);
  const kernels::IntegerPanels panels(columns, 1, inputs, {weights.data(), inputs, inputs, 1});
  return filled<int8_t>(call, [&](std::span<int8_t> y) {
    std::vector<int32_t> made(static_cast<size_t>(columns)), sums;
    const int16_t* from = numbers.data();
    for (int n = 0; n < x.dim(0); ++n) {
      sums.clear();
      for (int64_t place = 0; place < of_output; ++place)
        sums.insert(sums.end(), products.bias.begin(), products.bias.end());
      for (int64_t place = 0; place < windows.of_picture(); ++place, from += inputs) {
        kernels::multiply_integer_rows(panels, {&from, 1}, nullptr, made.data(), columns);
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t at = windows.at(place, tap);
          for (int64_t o = 0; at >= 0 && o < channels; ++o) {
            int32_t& to = sums[static_cast<size_t>(at * channels + o)];
            to = wrapped(int64_t{to} + made[static_cast<size_t>(o * taps + tap)]);
          }
        }
      }
      products.write(sums, y.data() + n * of_output * channels);
    }
  });
}

Tensor fully_connected(const KernelCall& call) {
  const Argument &x = call.in(0), &w = call.in(1);
  const int64_t outputs = w.dim(0), inputs = w.dim(1);
  const Products products = products_of(call, x, 2, static_cast<size_t>(outputs));
  const int32_t weight_zero = w.tensor->quantization.scale.size() == 1 ? w.zero_point() : 0;
  const std::vector<int16_t> numbers = numbers_of(x.codes(), x.zero_point()),
                             weights = numbers_of(w.codes(), weight_zero);
  const kernels::IntegerPanels panels(outputs, 1, inputs, {weights.data(), inputs, inputs, 1});
  return filled<int8_t>(call, [&](std::span<int8_t> y) {
    std::vector<const int16_t*> rows;
    for (int64_t row = 0; row < static_cast<int64_t>(y.size()) / outputs; ++row)
      rows.push_back(numbers.data() + row * inputs);
    std::vector<int32_t> sums(y.size());
    kernels::multiply_integer_rows(panels, {rows.data(), static_cast<int64_t>(rows.size())}, products.bias.data(),
                                   sums.data(), outputs);
    products.write(sums, y.data());
  });
}

Tensor parametric_relu(const KernelCall& call) {
  const Argument &x = call.in(0), &alpha = call.in(1);
  const Multiplier above = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const Multiplier below = multiplier_of(product(x, alpha.scale()) / call.scale());
  return for_each_pair<int8_t>(call, [&](int32_t p, int32_t q) {
    const int32_t d = p - x.zero_point();
    const int32_t y = d >= 0 ? scaled(d, above) : scaled(d * (q - alpha.zero_point()), below);
    return Bounds8{}.hold(int64_t{y} + call.zero_point());
  });
}

/// LOGISTIC and TANH.
Tensor bend(const KernelCall& call, bool is_tanh) {
  const Argument& x = call.in(0);
  int shift = 0;
  const double fraction = std::frexp(static_cast<double>(x.scale()) * (1 << 27), &shift);
  const Multiplier multiplier{static_cast<int32_t>(std::min(std::floor(std::ldexp(fraction, 31) + 0.5), 2147483647.0)),
                              shift};
  const int32_t radius = input_radius(4, shift);
  return by_code<int8_t, int8_t>(call, [&](int32_t code) {
    const int32_t d = code - x.zero_point();
    if (d <= -radius) return static_cast<int8_t>(kLowest);
    if (d >= radius) return static_cast<int8_t>(kHighest);
    const int32_t v = scaled(d, multiplier);
    return Bounds8{}.hold(is_tanh ? divided_by_power(tanh_of(v), 24) : divided_by_power(logistic_of(v), 23) - 128);
  });
}

int16_t to_16_bits(int32_t value) {
  return static_cast<int16_t>(value >= INT32_MAX - (1 << 15) ? INT16_MAX : (value + (1 << 15)) >> 16);
}

int16_t high_product_16(int16_t a, int16_t b) {
  if (a == b && a == INT16_MIN) return INT16_MAX;
  const int32_t ab = a * b;
  return static_cast<int16_t>((ab + (ab >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

int16_t held_16(int64_t value) {
  return static_cast<int16_t>(std::clamp<int64_t>(value, INT16_MIN, INT16_MAX));
}

/// x relu6(x + 3) / 6 in 16 bits.
Tensor hard_swish(const KernelCall& call) {
  const Argument& x = call.in(0);
  const double fine = static_cast<double>(x.scale()) / 128;
  const Multiplier out = multiplier_of(fine / call.scale()), relu = multiplier_of(fine / (3.0 / 32768));
  const int16_t out_16 = to_16_bits(out.value), relu_16 = to_16_bits(relu.value);
  return by_code<int8_t, int8_t>(call, [&](int32_t code) {
    const auto v = static_cast<int16_t>((code - x.zero_point()) * 128);
    const int16_t scaled_input = high_product_16(v, out_16);
    int16_t gate = v;
    if (relu.shift > 0) gate = held_16(int64_t{gate} << std::min(relu.shift - 1, 31));
    gate = high_product_16(gate, relu_16);
    if (relu.shift > 0) gate = held_16(int64_t{gate} * 2);
    if (relu.shift < 0) gate = static_cast<int16_t>(divided_by_power(gate, std::min(-relu.shift, 31)));
    gate = static_cast<int16_t>((gate + 32768) >> 1);
    const bool both_lowest = gate == INT16_MIN && scaled_input == INT16_MIN;
    const int32_t made = both_lowest ? INT16_MAX : gate * scaled_input / (1 << 15);
    const int32_t rounded = out.shift < 0 ? divided_by_power(made, std::min(-out.shift, 31)) : made;
    return Bounds8{}.hold(static_cast<int16_t>(rounded + call.zero_point()));
  });
}

/// In the input's grid: the output's own is not read.
Tensor relu6(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Bounds8 bounds{x.zero_point(), std::clamp(static_cast<int32_t>(std::round(6.0F / x.scale())) + x.zero_point(),
                                                  kLowest, kHighest)};
  return by_code<int8_t, int8_t>(call, [&](int32_t code) {
    return static_cast<int8_t>(code > bounds.high ? bounds.high : std::max(code, bounds.low));
  });
}

Tensor softmax(const KernelCall& call) {
  const Argument& x = call.in(0);
  constexpr double kMost = 2147483647.0;
  const Multiplier multiplier =
      multiplier_of(std::min(call.op.options.beta * static_cast<double>(x.scale()) * (1 << 26), kMost));
  const int32_t least = -input_radius(5, multiplier.shift);
  const auto depth = static_cast<size_t>(x.tensor->shape.back());
  return filled<int8_t>(call, [&](std::span<int8_t> y) {
    std::vector<int32_t> powers(depth);
    for (size_t row = 0; row + depth <= y.size(); row += depth) {
      const auto codes = x.codes().subspan(row, depth);
      const int32_t largest = *std::max_element(codes.begin(), codes.end());
      int32_t sum = 0;  // Q12.19
      for (size_t k = 0; k < depth; ++k) {
        const int32_t d = codes[k] - largest;
        powers[k] = d < least ? -1 : exp_of_negative(scaled(d, multiplier), 5);
        if (d >= least) sum = wrapped(int64_t{sum} + divided_by_power(powers[k], 12));
      }
      const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
      const auto fraction = static_cast<int32_t>((static_cast<uint32_t>(sum) << headroom) - (uint32_t{1} << 31));
      const int32_t inverse = one_over_one_plus(fraction);
      for (size_t k = 0; k < depth; ++k)
        y[row + k] =
            powers[k] < 0
                ? static_cast<int8_t>(kLowest)
                : Bounds8{}.hold(int64_t{divided_by_power(high_product(inverse, powers[k]), 12 - headroom + 31 - 8)} -
                                 128);
    }
  });
}

Tensor resize_linear(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Options& options = call.op.options;
  struct Taps {
    int64_t fraction, low, high;
  };
  const auto taps_of = [&](int64_t in, int64_t out, int64_t place) {
    int64_t scale = ((in << 10) + out / 2) / out;
    if (options.align_corners != 0 && out > 1) scale = (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
    int64_t at = place * scale;
    if (options.half_pixel_centers != 0) at += scale / 2 - 512;
    const int64_t low = std::max<int64_t>(at / 1024, 0);
    return Taps{at - 1024 * low, low, std::min<int64_t>((at + 1023) / 1024, in - 1)};
  };
  const int64_t height = x.dim(1), width = x.dim(2), channels = x.dim(3);
  return filled<int8_t>(call, [&](std::span<int8_t> y) {
    size_t at = 0;
    for (int64_t n = 0; n < x.dim(0); ++n)
      for (int64_t row = 0; row < call.output.shape[1]; ++row)
        for (int64_t column = 0; column < call.output.shape[2]; ++column) {
          const Taps r = taps_of(height, call.output.shape[1], row);
          const Taps c = taps_of(width, call.output.shape[2], column);
          for (int64_t channel = 0; channel < channels; ++channel) {
            const auto code = [&](int64_t line, int64_t place) {
              return int64_t{
                  x.codes()[static_cast<size_t>(((n * height + line) * width + place) * channels + channel)]};
            };
            const int64_t sum = code(r.low, c.low) * (1024 - r.fraction) * (1024 - c.fraction) +
                                code(r.high, c.low) * r.fraction * (1024 - c.fraction) +
                                code(r.low, c.high) * (1024 - r.fraction) * c.fraction +
                                code(r.high, c.high) * r.fraction * c.fraction;
            y[at++] = static_cast<int8_t>((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
          }
        }
  });
}

Tensor depth_to_space(const KernelCall& call, bool to_space) {
  const int64_t block = call.op.options.block_size;
  return move<int8_t>(call, 0, [&](const Dims& place, Dims& origin) {
    origin = place;
    if (to_space) {
      const int64_t channels = call.output.shape[3];
      origin[3] = ((place[1] % block) * block + place[2] % block) * channels + place[3];
      origin[1] = place[1] / block;
      origin[2] = place[2] / block;
    } else {
      const int64_t channels = call.in(0).dim(3), within = place[3] / channels;
      origin[3] = place[3] % channels;
      origin[1] = place[1] * block + within / block;
      origin[2] = place[2] * block + within % block;
    }
    return true;
  });
}

Tensor arg_max(const KernelCall& call) {
  const std::vector<int32_t>& dims = call.in(0).tensor->shape;
  int64_t axis = call.in(1).value->to_int64s()[0];
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  int64_t inner = 1;
  for (size_t k = static_cast<size_t>(axis) + 1; k < dims.size(); ++k) inner *= dims[k];
  const int64_t count = dims[static_cast<size_t>(axis)];
  Tensor result = Tensor::make(DType::kInt32, call.output.full_shape());
  const auto y = result.mutable_data<int32_t>();
  for (size_t k = 0; k < y.size(); ++k) {
    const int64_t first = static_cast<int64_t>(k) / inner * inner * count + static_cast<int64_t>(k) % inner;
    const auto code = [&](int64_t place) { return call.in(0).codes()[static_cast<size_t>(first + place * inner)]; };
    for (int32_t place = 1; place < count; ++place)
      if (code(place) > code(y[k])) y[k] = place;
  }
  return result;
}

}  // namespace

std::vector<int16_t> numbers_of(std::span<const int8_t> codes, int32_t zero_point) {
  std::vector<int16_t> numbers(codes.size() + 1);
  for (size_t k = 0; k < codes.size(); ++k) numbers[k] = static_cast<int16_t>(codes[k] - zero_point);
  return numbers;
}

int64_t nearest_place(int64_t out, int64_t in_size, int64_t out_size, const Options& options) {
  const bool aligned = options.align_corners != 0 && out_size > 1;
  const float scale = aligned ? static_cast<float>(in_size - 1) / static_cast<float>(out_size - 1)
                              : static_cast<float>(in_size) / static_cast<float>(out_size);
  const float place = (static_cast<float>(out) + (options.half_pixel_centers != 0 ? 0.5F : 0.0F)) * scale;
  const float whole = options.align_corners != 0 ? std::round(place) : std::floor(place);
  return std::clamp<int64_t>(static_cast<int64_t>(whole), 0, in_size - 1);
}

void check_runs(Code code, DType first) {
  const bool fits = first == DType::kInt8 || (first == DType::kInt16 && runs_on_16_bits(code)) ||
                    (code == Code::kQuantize && first == DType::kFloat32) ||
                    (code == Code::kReshape && first != DType::kUndefined) ||
                    (code == Code::kTransposeConv && first == DType::kInt32);
  if (!fits || kind_of(code).resolver.empty())
    throw Error(ErrorCode::kUnsupportedModel, std::string(kind_of(code).name) + " of " + std::string(name_of(first)) +
                                                  " is not run here; operators on int8 are, and many on int16.");
}

Tensor evaluate(const KernelCall& call) {
  const Code code = call.op.code;
  const DType first = call.in(0).tensor->dtype;
  check_runs(code, first);
  if (code == Code::kReshape) return call.in(0).value->reshaped(call.output.full_shape());
  if (code == Code::kQuantize)
    return call.output.dtype == DType::kInt16 ? quantize<int16_t>(call) : quantize<int8_t>(call);
  if (first == DType::kInt16 || (code == Code::kTransposeConv && call.output.dtype == DType::kInt16))
    return evaluate_16(call);
  switch (code) {
    case Code::kConv2d:
      return convolve(call);
    case Code::kDepthwiseConv2d:
      return convolve_channels(call);
    case Code::kTransposeConv:
      return convolve_back(call);
    case Code::kFullyConnected:
      return fully_connected(call);
    case Code::kPrelu:
      return parametric_relu(call);
    case Code::kLogistic:
      return bend(call, false);
    case Code::kTanh:
      return bend(call, true);
    case Code::kHardSwish:
      return hard_swish(call);
    case Code::kRelu6:
      return relu6(call);
    case Code::kSoftmax:
      return softmax(call);
    case Code::kReduceMax:
      return reduce<int8_t>(call, [](const auto& part) { return *std::max_element(part.begin(), part.end()); });
    case Code::kReduceMin:
      return reduce<int8_t>(call, [](const auto& part) { return *std::min_element(part.begin(), part.end()); });
    case Code::kResizeBilinear:
      return resize_linear(call);
    case Code::kDepthToSpace:
      return depth_to_space(call, true);
    case Code::kSpaceToDepth:
      return depth_to_space(call, false);
    case Code::kArgMax:
      return arg_max(call);
    case Code::kUnidirectionalSequenceLstm:
      return lstm(call);
    default:
      return evaluate_on<int8_t>(call);
  }
}

}  // namespace tersor::tflite
