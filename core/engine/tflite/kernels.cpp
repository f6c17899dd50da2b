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
#include "core/tflite/lstm.h"

namespace tersor::tflite {

namespace {

constexpr int32_t kLowest = -128, kHighest = 127;

struct Bounds {
  int32_t low = kLowest, high = kHighest;
  int8_t hold(int64_t value) const { return static_cast<int8_t>(std::clamp<int64_t>(value, low, high)); }
};

/// The codes that the fused activation leaves.
Bounds bounds_of(const KernelCall& call) {
  const auto code = [&](float bound) {
    return call.zero_point() + static_cast<int32_t>(std::round(bound / call.scale()));
  };
  switch (call.op.options.activation) {
    case kReluActivation:
      return {std::max(kLowest, code(0)), kHighest};
    case kRelu6Activation:
      return {std::max(kLowest, code(0)), std::min(kHighest, code(6))};
    case kReluN1To1Activation:
      return {std::max(kLowest, code(-1)), std::min(kHighest, code(1))};
    default:
      return {};
  }
}

/// Fresh codes for the output, and a function that each kernel fills them by.
template <class Fill>
Tensor filled(const KernelCall& call, Fill fill) {
  Tensor result = Tensor::make(DType::kInt8, call.output.full_shape());
  fill(result.mutable_data<int8_t>());
  return result;
}

double product(const Argument& a, double b) {
  return static_cast<double>(a.scale()) * b;
}

/// Sums of products of one operator with a weight: the bias that they begin with, and how they become codes.
struct Products {
  const Argument &x, &w;
  std::vector<int32_t> bias;
  std::vector<Multiplier> multipliers;
  Bounds bounds;
  int32_t zero_point;

  /// `sums`: [places][channels].
  void write(std::span<const int32_t> sums, int8_t* y) const {
    for (size_t at = 0; at < sums.size();)
      for (const Multiplier multiplier : multipliers)
        *y++ = bounds.hold(int64_t{scaled(sums[at++], multiplier)} + zero_point);
  }
};

Products products_of(const KernelCall& call, const Argument& x, size_t bias, size_t channels) {
  Products products{x, call.in(1), std::vector<int32_t>(channels, 0), {}, bounds_of(call), call.zero_point()};
  const std::vector<float>& scales = products.w.tensor->quantization.scale;
  for (size_t c = 0; c < channels; ++c)
    products.multipliers.push_back(multiplier_of(product(x, scales[scales.size() == 1 ? 0 : c]) / call.scale()));
  if (call.has(bias)) {
    const Tensor given = call.in(bias).value->aligned();
    std::copy(given.data<int32_t>().begin(), given.data<int32_t>().end(), products.bias.begin());
  }
  return products;
}

/// One axis of a window: where it begins before the input, and its steps.
struct Steps {
  int in, out, kernel, stride, dilation, before;
};

Steps steps_of(const Options& options, int in, int out, int kernel, int stride, int dilation) {
  const int missing = std::max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
  return {in, out, kernel, stride, dilation, options.padding == kSame ? missing / 2 : 0};
}

template <class Visit>
void for_each_tap(const Steps& steps, int out, Visit visit) {
  for (int k = 0; k < steps.kernel; ++k) {
    const int place = out * steps.stride - steps.before + k * steps.dilation;
    if (place >= 0 && place < steps.in) visit(k, place);
  }
}

/// Where the taps of a window lie for each place of the output; -1: outside the picture.
class Windows {
 public:
  Windows(const KernelCall& call, const Argument& x, const Argument& w)
      : rows(steps_of(call.op.options, x.dim(1), call.output.shape[1], w.dim(1), call.op.options.stride_h,
                      call.op.options.dilation_h)),
        columns(steps_of(call.op.options, x.dim(2), call.output.shape[2], w.dim(2), call.op.options.stride_w,
                         call.op.options.dilation_w)) {}

  int64_t taps() const { return int64_t{rows.kernel} * columns.kernel; }
  int64_t of_picture() const { return int64_t{rows.out} * columns.out; }
  /// In places of the input, of all pictures.
  int64_t at(int64_t place, int64_t tap) const {
    const int64_t within = place % of_picture();
    const int64_t row = within / columns.out * rows.stride - rows.before + tap / columns.kernel * rows.dilation;
    const int64_t column =
        within % columns.out * columns.stride - columns.before + tap % columns.kernel * columns.dilation;
    if (row < 0 || row >= rows.in || column < 0 || column >= columns.in) return -1;
    return (place / of_picture() * rows.in + row) * columns.in + column;
  }

  Steps rows, columns;
};

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
  return filled(call, [&](std::span<int8_t> y) {
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
  return filled(call, [&](std::span<int8_t> y) {
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
  const Options& options = call.op.options;
  const int height = call.output.shape[1], width = call.output.shape[2], channels = call.output.shape[3];
  const int64_t inputs = x.dim(3), taps = int64_t{w.dim(1)} * w.dim(2), columns = channels * taps;
  const Products products = products_of(call, x, 3, static_cast<size_t>(channels));
  const auto before = [&](int size, int kernel, int stride) {
    const int out = (size + stride - 1) / stride;
    return options.padding == kSame ? std::max(0, (out - 1) * stride + kernel - size) / 2 : 0;
  };
  const int top = before(height, w.dim(1), options.stride_h), left = before(width, w.dim(2), options.stride_w);
  const std::vector<int16_t> numbers = numbers_of(x.codes(), x.zero_point()), weights = numbers_of(w.codes(), 0);
  const kernels::IntegerPanels panels(columns, 1, inputs, {weights.data(), inputs, inputs, 1});
  return filled(call, [&](std::span<int8_t> y) {
    std::vector<int32_t> made(static_cast<size_t>(columns)), sums;
    for (int n = 0; n < x.dim(0); ++n) {
      sums.clear();
      for (int64_t place = 0; place < int64_t{height} * width; ++place)
        sums.insert(sums.end(), products.bias.begin(), products.bias.end());
      for (int row = 0; row < x.dim(1); ++row)
        for (int column = 0; column < x.dim(2); ++column) {
          const int16_t* from = numbers.data() + ((int64_t{n} * x.dim(1) + row) * x.dim(2) + column) * inputs;
          kernels::multiply_integer_rows(panels, {&from, 1}, nullptr, made.data(), columns);
          for (int tap = 0; tap < taps; ++tap) {
            const int r = row * options.stride_h - top + tap / w.dim(2);
            const int c = column * options.stride_w - left + tap % w.dim(2);
            if (r < 0 || r >= height || c < 0 || c >= width) continue;
            int32_t* to = sums.data() + (int64_t{r} * width + c) * channels;
            for (int o = 0; o < channels; ++o)
              to[o] = wrapped(int64_t{to[o]} + made[static_cast<size_t>(o * taps + tap)]);
          }
        }
      products.write(sums, y.data() + static_cast<int64_t>(n) * height * width * channels);
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
  return filled(call, [&](std::span<int8_t> y) {
    std::vector<const int16_t*> rows;
    for (int64_t row = 0; row < static_cast<int64_t>(y.size()) / outputs; ++row)
      rows.push_back(numbers.data() + row * inputs);
    std::vector<int32_t> sums(y.size());
    kernels::multiply_integer_rows(panels, {rows.data(), static_cast<int64_t>(rows.size())}, products.bias.data(),
                                   sums.data(), outputs);
    products.write(sums, y.data());
  });
}

Tensor multiply_matrices(const KernelCall& call) {
  const Argument &a = call.in(0), &b = call.in(1);
  const std::vector<int32_t>&shape_a = a.tensor->shape, &shape_b = b.tensor->shape, &shape = call.output.shape;
  const auto size = [](const std::vector<int32_t>& dims, size_t back) { return int64_t{dims[dims.size() - back]}; };
  const bool swap_a = call.op.options.adj_x != 0, swap_b = call.op.options.adj_y != 0;
  const int64_t rows = size(shape, 2), columns = size(shape, 1), inner = size(shape_a, swap_a ? 2 : 1);
  const Multiplier multiplier = multiplier_of(product(a, b.scale()) / call.scale());
  const auto base = [&](const std::vector<int32_t>& dims, int64_t matrix) {
    int64_t result = 0, step = size(dims, 1) * size(dims, 2);
    for (size_t back = 3; back <= shape.size(); ++back) {
      const int64_t place = matrix % size(shape, back);
      matrix /= size(shape, back);
      if (back > dims.size() || size(dims, back) == 1) continue;
      result += place * step;
      step *= size(dims, back);
    }
    return result;
  };
  return filled(call, [&](std::span<int8_t> y) {
    const int64_t area = rows * columns;
    for (int64_t at = 0; at < static_cast<int64_t>(y.size()); ++at) {
      const int64_t row = at % area / columns, column = at % columns;
      const int64_t first = base(shape_a, at / area), second = base(shape_b, at / area);
      uint32_t sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t i = first + (swap_a ? k * rows + row : row * inner + k);
        const int64_t j = second + (swap_b ? column * inner + k : k * columns + column);
        sum += static_cast<uint32_t>((a.codes()[static_cast<size_t>(i)] - a.zero_point()) *
                                     (b.codes()[static_cast<size_t>(j)] - b.zero_point()));
      }
      y[static_cast<size_t>(at)] =
          Bounds{}.hold(int64_t{scaled(static_cast<int32_t>(sum), multiplier)} + call.zero_point());
    }
  });
}

/// Averages are of the places inside the picture, halves away from zero, and of raw codes.
Tensor pool(const KernelCall& call, bool is_max) {
  const Argument& x = call.in(0);
  const Options& options = call.op.options;
  const Steps rows = steps_of(options, x.dim(1), call.output.shape[1], options.filter_h, options.stride_h, 1);
  const Steps columns = steps_of(options, x.dim(2), call.output.shape[2], options.filter_w, options.stride_w, 1);
  const Bounds bounds = bounds_of(call);
  const int channels = x.dim(3);
  return filled(call, [&](std::span<int8_t> y) {
    size_t at = 0;
    for (int n = 0; n < x.dim(0); ++n)
      for (int row = 0; row < rows.out; ++row)
        for (int column = 0; column < columns.out; ++column)
          for (int channel = 0; channel < channels; ++channel) {
            int32_t sum = 0, largest = kLowest, count = 0;
            for_each_tap(rows, row, [&](int, int r) {
              for_each_tap(columns, column, [&](int, int c) {
                const int64_t place = ((static_cast<int64_t>(n) * rows.in + r) * columns.in + c) * channels + channel;
                const int32_t code = x.codes()[static_cast<size_t>(place)];
                sum += code;
                largest = std::max(largest, code);
                ++count;
              });
            });
            const int32_t half = count / 2;
            y[at++] = bounds.hold(is_max ? largest : (sum > 0 ? sum + half : sum - half) / std::max(count, 1));
          }
  });
}

/// Where the elements of the output lie in an operand that is spread to its shape.
class Spread {
 public:
  Spread(const std::vector<int32_t>& from, const std::vector<int32_t>& to) : to_(to), steps_(to.size(), 0) {
    int64_t step = 1;
    for (size_t back = 1; back <= from.size(); ++back) {
      const int32_t dim = from[from.size() - back];
      if (dim != 1) steps_[to.size() - back] = step;
      step *= dim;
    }
  }
  size_t at(size_t element) const {
    int64_t place = 0;
    for (size_t k = to_.size(); k-- > 0;) {
      const auto dim = static_cast<size_t>(to_[k]);
      place += static_cast<int64_t>(element % dim) * steps_[k];
      element /= dim;
    }
    return static_cast<size_t>(place);
  }

 private:
  const std::vector<int32_t>& to_;
  std::vector<int64_t> steps_;
};

template <class Function>
Tensor for_each_pair(const KernelCall& call, Function function) {
  const Argument &a = call.in(0), &b = call.in(1);
  const Spread left(a.tensor->shape, call.output.shape), right(b.tensor->shape, call.output.shape);
  const auto p = a.codes(), q = b.codes();
  const bool alike = a.tensor->shape == call.output.shape && b.tensor->shape == call.output.shape;
  return filled(call, [&](std::span<int8_t> y) {
    for (size_t k = 0; k < y.size(); ++k) y[k] = alike ? function(p[k], q[k]) : function(p[left.at(k)], q[right.at(k)]);
  });
}

Tensor add(const KernelCall& call, bool subtracts) {
  const Argument &a = call.in(0), &b = call.in(1);
  constexpr int kLeft = 20;
  const double twice = 2 * static_cast<double>(std::max(a.scale(), b.scale()));
  const Multiplier of_a = multiplier_of(a.scale() / twice), of_b = multiplier_of(b.scale() / twice);
  const Multiplier of_sum = multiplier_of(twice / ((1 << kLeft) * static_cast<double>(call.scale())));
  const Bounds bounds = bounds_of(call);
  return for_each_pair(call, [&](int32_t p, int32_t q) {
    const int32_t left = scaled((p - a.zero_point()) * (1 << kLeft), of_a);
    const int32_t right = scaled((q - b.zero_point()) * (1 << kLeft), of_b);
    return bounds.hold(int64_t{scaled(wrapped(int64_t{left} + (subtracts ? -int64_t{right} : right)), of_sum)} +
                       call.zero_point());
  });
}

Tensor multiply(const KernelCall& call) {
  const Argument &a = call.in(0), &b = call.in(1);
  const Multiplier multiplier = multiplier_of(product(a, b.scale()) / call.scale());
  const Bounds bounds = bounds_of(call);
  return for_each_pair(call, [&](int32_t p, int32_t q) {
    return bounds.hold(int64_t{scaled((p - a.zero_point()) * (q - b.zero_point()), multiplier)} + call.zero_point());
  });
}

Tensor parametric_relu(const KernelCall& call) {
  const Argument &x = call.in(0), &alpha = call.in(1);
  const Multiplier above = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const Multiplier below = multiplier_of(product(x, alpha.scale()) / call.scale());
  return for_each_pair(call, [&](int32_t p, int32_t q) {
    const int32_t d = p - x.zero_point();
    const int32_t y = d >= 0 ? scaled(d, above) : scaled(d * (q - alpha.zero_point()), below);
    return Bounds{}.hold(int64_t{y} + call.zero_point());
  });
}

/// A function of one code, computed once for each of the 256.
template <class Function>
Tensor by_table(const KernelCall& call, Function function) {
  int8_t table[256];
  for (int code = kLowest; code <= kHighest; ++code) table[code - kLowest] = function(code);
  return filled(call, [&](std::span<int8_t> y) {
    const auto x = call.in(0).codes();
    for (size_t k = 0; k < y.size(); ++k) y[k] = table[x[k] - kLowest];
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
  return by_table(call, [&](int32_t code) {
    const int32_t d = code - x.zero_point();
    if (d <= -radius) return static_cast<int8_t>(kLowest);
    if (d >= radius) return static_cast<int8_t>(kHighest);
    const int32_t v = scaled(d, multiplier);
    return Bounds{}.hold(is_tanh ? divided_by_power(tanh_of(v), 24) : divided_by_power(logistic_of(v), 23) - 128);
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
  return by_table(call, [&](int32_t code) {
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
    return Bounds{}.hold(static_cast<int16_t>(rounded + call.zero_point()));
  });
}

Tensor relu(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Multiplier multiplier = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const Bounds bounds{std::max(kLowest, call.zero_point()), kHighest};
  return by_table(call, [&](int32_t code) {
    return bounds.hold(int64_t{scaled(code - x.zero_point(), multiplier)} + call.zero_point());
  });
}

/// In the input's grid: the output's own is not read.
Tensor relu6(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Bounds bounds{x.zero_point(), std::clamp(static_cast<int32_t>(std::round(6.0F / x.scale())) + x.zero_point(),
                                                 kLowest, kHighest)};
  return by_table(call, [&](int32_t code) {
    return static_cast<int8_t>(code > bounds.high ? bounds.high : std::max(code, bounds.low));
  });
}

Tensor leaky_relu(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Multiplier above = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const double slope = product(x, call.op.options.alpha) / call.scale();
  const Multiplier below = multiplier_of(std::fabs(slope));
  return by_table(call, [&](int32_t code) {
    const int32_t d = code - x.zero_point();
    const int32_t y = d >= 0 ? scaled(d, above) : slope < 0 ? -scaled(d, below) : scaled(d, below);
    return Bounds{}.hold(int64_t{y} + call.zero_point());
  });
}

Tensor quantize(const KernelCall& call) {
  const Argument& x = call.in(0);
  if (x.tensor->dtype == DType::kFloat32)
    return filled(call, [&](std::span<int8_t> y) {
      const Tensor aligned = x.value->aligned();
      const auto values = aligned.data<float>();
      for (size_t k = 0; k < y.size(); ++k) {
        const float code = std::clamp(std::round(values[k] / call.scale()), -65536.0F, 65536.0F);
        y[k] = Bounds{}.hold(static_cast<int32_t>(code) + call.zero_point());
      }
    });
  const Multiplier multiplier = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  return by_table(call, [&](int32_t code) {
    return Bounds{}.hold(int64_t{scaled(code - x.zero_point(), multiplier)} + call.zero_point());
  });
}

Tensor dequantize(const KernelCall& call) {
  const Argument& x = call.in(0);
  Tensor result = Tensor::make(DType::kFloat32, call.output.full_shape());
  const auto y = result.mutable_data<float>();
  for (size_t k = 0; k < y.size(); ++k) y[k] = static_cast<float>(product(x, x.codes()[k] - x.zero_point()));
  return result;
}

Tensor softmax(const KernelCall& call) {
  const Argument& x = call.in(0);
  constexpr double kMost = 2147483647.0;
  const Multiplier multiplier =
      multiplier_of(std::min(call.op.options.beta * static_cast<double>(x.scale()) * (1 << 26), kMost));
  const int32_t least = -input_radius(5, multiplier.shift);
  const auto depth = static_cast<size_t>(x.tensor->shape.back());
  return filled(call, [&](std::span<int8_t> y) {
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
                : Bounds{}.hold(int64_t{divided_by_power(high_product(inverse, powers[k]), 12 - headroom + 31 - 8)} -
                                128);
    }
  });
}

/// Calls body(output element, codes that are reduced to it).
template <class Body>
Tensor reduce(const KernelCall& call, Body body) {
  const Argument& x = call.in(0);
  const std::vector<int32_t>& dims = x.tensor->shape;
  std::vector<bool> reduced(dims.size());
  for (const int64_t axis : call.in(1).value->to_int64s())
    reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis)] = true;
  return filled(call, [&](std::span<int8_t> y) {
    std::vector<std::vector<int8_t>> parts(y.size());
    for (size_t k = 0; k < x.codes().size(); ++k) {
      size_t rest = k, place = 0, step = 1;
      for (size_t axis = dims.size(); axis-- > 0;) {
        const auto dim = static_cast<size_t>(dims[axis]);
        if (!reduced[axis]) {
          place += rest % dim * step;
          step *= dim;
        }
        rest /= dim;
      }
      parts[place].push_back(x.codes()[k]);
    }
    for (size_t k = 0; k < y.size(); ++k) y[k] = body(parts[k]);
  });
}

/// 1/n goes into the multiplier, and is cut there.
Tensor mean(const KernelCall& call) {
  const Argument& x = call.in(0);
  return reduce(call, [&](const std::vector<int8_t>& part) {
    const auto count = static_cast<int64_t>(part.size());
    Multiplier multiplier = multiplier_of(static_cast<double>(x.scale()) / call.scale());
    const int floor_of_log = 63 - std::countl_zero(static_cast<uint64_t>(std::max<int64_t>(count, 1)));
    const int shift = std::min({floor_of_log, 32, 31 + multiplier.shift});
    multiplier.value = static_cast<int32_t>((static_cast<int64_t>(multiplier.value) << shift) / count);
    multiplier.shift -= shift;
    int64_t sum = 0;
    for (const int8_t code : part) sum += code;
    return Bounds{}.hold(int64_t{scaled(wrapped(sum - x.zero_point() * count), multiplier)} + call.zero_point());
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
  return filled(call, [&](std::span<int8_t> y) {
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

/// Each element of the output is one of the input, or the filler: source(place in the output) gives the place in the
/// input, and is false where there is none.
template <class Source>
Tensor move(const KernelCall& call, int8_t filler, Source source) {
  const Argument& x = call.in(0);
  const std::vector<int32_t>&from = x.tensor->shape, &to = call.output.shape;
  return filled(call, [&](std::span<int8_t> y) {
    Dims place(to.size()), origin(from.size());
    for (size_t k = 0; k < y.size(); ++k) {
      size_t rest = k;
      for (size_t axis = to.size(); axis-- > 0;) {
        place[axis] = static_cast<int64_t>(rest % static_cast<size_t>(to[axis]));
        rest /= static_cast<size_t>(to[axis]);
      }
      if (!source(place, origin)) {
        y[k] = filler;
        continue;
      }
      int64_t at = 0;
      for (size_t axis = 0; axis < from.size(); ++axis) at = at * from[axis] + origin[axis];
      y[k] = x.codes()[static_cast<size_t>(at)];
    }
  });
}

Tensor resize_nearest(const KernelCall& call) {
  const Argument& x = call.in(0);
  return move(call, 0, [&](const Dims& place, Dims& origin) {
    origin = place;
    for (size_t axis = 1; axis < 3; ++axis)
      origin[axis] = nearest_place(place[axis], x.tensor->shape[axis], call.output.shape[axis], call.op.options);
    return true;
  });
}

Tensor pad(const KernelCall& call) {
  const Dims pads = call.in(1).value->to_int64s();
  const int8_t filler = call.has(2) ? call.in(2).codes()[0] : Bounds{}.hold(call.zero_point());
  return move(call, filler, [&](const Dims& place, Dims& origin) {
    for (size_t axis = 0; axis < place.size(); ++axis) {
      origin[axis] = place[axis] - pads[2 * axis];
      if (origin[axis] < 0 || origin[axis] >= call.in(0).tensor->shape[axis]) return false;
    }
    return true;
  });
}

Tensor transpose(const KernelCall& call) {
  const Dims perm = call.in(1).value->to_int64s();
  return move(call, 0, [&](const Dims& place, Dims& origin) {
    for (size_t axis = 0; axis < perm.size(); ++axis) origin[static_cast<size_t>(perm[axis])] = place[axis];
    return true;
  });
}

Tensor strided_slice(const KernelCall& call) {
  const Options& options = call.op.options;
  const std::vector<int32_t>& dims = call.in(0).tensor->shape;
  Dims begin = call.in(1).value->to_int64s();
  const Dims step = call.in(3).value->to_int64s();
  for (size_t axis = 0; axis < begin.size(); ++axis) {
    if (begin[axis] < 0) begin[axis] += dims[axis];
    if ((options.begin_mask >> axis & 1) != 0) begin[axis] = 0;
    begin[axis] = std::clamp<int64_t>(begin[axis], 0, dims[axis]);
  }
  return move(call, 0, [&](const Dims& place, Dims& origin) {
    size_t out = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const bool dropped = (options.shrink_axis_mask >> axis & 1) != 0;
      origin[axis] = begin[axis] + (dropped ? 0 : place[out++] * step[axis]);
    }
    return true;
  });
}

Tensor depth_to_space(const KernelCall& call, bool to_space) {
  const int64_t block = call.op.options.block_size;
  return move(call, 0, [&](const Dims& place, Dims& origin) {
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

Tensor concatenate(const KernelCall& call) {
  const auto rank = static_cast<int32_t>(call.output.shape.size());
  const auto axis = static_cast<size_t>(call.op.options.axis < 0 ? call.op.options.axis + rank : call.op.options.axis);
  int64_t outer = 1;
  for (size_t k = 0; k < axis; ++k) outer *= call.output.shape[k];
  return filled(call, [&](std::span<int8_t> y) {
    size_t at = 0;
    for (int64_t row = 0; row < outer; ++row)
      for (const Argument& part : call.inputs) {
        const size_t length = part.codes().size() / static_cast<size_t>(outer);
        const auto from = part.codes().subspan(static_cast<size_t>(row) * length, length);
        std::copy(from.begin(), from.end(), y.begin() + static_cast<std::ptrdiff_t>(at));
        at += length;
      }
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
  const bool fits = first == DType::kInt8 || (code == Code::kQuantize && first == DType::kFloat32) ||
                    (code == Code::kReshape && first != DType::kUndefined) ||
                    (code == Code::kTransposeConv && first == DType::kInt32);
  if (!fits || kind_of(code).resolver.empty())
    throw Error(ErrorCode::kUnsupportedModel, std::string(kind_of(code).name) + " of " + std::string(name_of(first)) +
                                                  " is not run here; operators on int8 are.");
}

Tensor evaluate(const KernelCall& call) {
  const Code code = call.op.code;
  check_runs(code, call.in(0).tensor->dtype);
  switch (code) {
    case Code::kConv2d:
      return convolve(call);
    case Code::kDepthwiseConv2d:
      return convolve_channels(call);
    case Code::kTransposeConv:
      return convolve_back(call);
    case Code::kFullyConnected:
      return fully_connected(call);
    case Code::kBatchMatmul:
      return multiply_matrices(call);
    case Code::kAveragePool2d:
      return pool(call, false);
    case Code::kMaxPool2d:
      return pool(call, true);
    case Code::kAdd:
      return add(call, false);
    case Code::kSub:
      return add(call, true);
    case Code::kMul:
      return multiply(call);
    case Code::kMaximum:
      return for_each_pair(call, [](int8_t a, int8_t b) { return std::max(a, b); });
    case Code::kMinimum:
      return for_each_pair(call, [](int8_t a, int8_t b) { return std::min(a, b); });
    case Code::kPrelu:
      return parametric_relu(call);
    case Code::kLogistic:
      return bend(call, false);
    case Code::kTanh:
      return bend(call, true);
    case Code::kHardSwish:
      return hard_swish(call);
    case Code::kRelu:
      return relu(call);
    case Code::kRelu6:
      return relu6(call);
    case Code::kLeakyRelu:
      return leaky_relu(call);
    case Code::kQuantize:
      return quantize(call);
    case Code::kDequantize:
      return dequantize(call);
    case Code::kSoftmax:
      return softmax(call);
    case Code::kMean:
      return mean(call);
    case Code::kReduceMax:
      return reduce(call, [](const auto& part) { return *std::max_element(part.begin(), part.end()); });
    case Code::kReduceMin:
      return reduce(call, [](const auto& part) { return *std::min_element(part.begin(), part.end()); });
    case Code::kResizeBilinear:
      return resize_linear(call);
    case Code::kResizeNearestNeighbor:
      return resize_nearest(call);
    case Code::kReshape:
      return call.in(0).value->reshaped(call.output.full_shape());
    case Code::kPad:
    case Code::kPadV2:
      return pad(call);
    case Code::kTranspose:
      return transpose(call);
    case Code::kStridedSlice:
      return strided_slice(call);
    case Code::kDepthToSpace:
      return depth_to_space(call, true);
    case Code::kSpaceToDepth:
      return depth_to_space(call, false);
    case Code::kConcatenation:
      return concatenate(call);
    case Code::kArgMax:
      return arg_max(call);
    case Code::kUnidirectionalSequenceLstm:
      return lstm(call);
    default:
      throw Error(ErrorCode::kUnsupportedModel, std::string(kind_of(code).name) + " is not run here.");
  }
}

}  // namespace tersor::tflite
