// SPDX-License-Identifier: Apache-2.0
// Kernels of TensorFlow Lite Micro that are alike for codes of 8 and of 16 bits (zero points of the latter are 0).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/error.h"
#include "core/tflite/fixed_point.h"
#include "core/tflite/kernels.h"

namespace tersor::tflite {

template <class Int>
struct Bounds {
  static constexpr int32_t kLowest = std::numeric_limits<Int>::min(), kHighest = std::numeric_limits<Int>::max();
  int32_t low = kLowest, high = kHighest;
  Int hold(int64_t value) const { return static_cast<Int>(std::clamp<int64_t>(value, low, high)); }
};

template <class Int>
constexpr DType kTypeOf = std::is_same_v<Int, int16_t> ? DType::kInt16 : DType::kInt8;

/// The codes that the fused activation leaves.
template <class Int>
Bounds<Int> bounds_of(const KernelCall& call) {
  Bounds<Int> bounds;
  const auto code = [&](float bound) {
    return call.zero_point() + static_cast<int32_t>(std::round(bound / call.scale()));
  };
  const int32_t activation = call.op.options.activation;
  if (activation == kReluActivation || activation == kRelu6Activation) bounds.low = std::max(bounds.low, code(0));
  if (activation == kRelu6Activation) bounds.high = std::min(bounds.high, code(6));
  if (activation == kReluN1To1Activation) bounds = {std::max(bounds.low, code(-1)), std::min(bounds.high, code(1))};
  return bounds;
}

/// Fresh codes for the output, and a function that each kernel fills them by.
template <class Int, class Fill>
Tensor filled(const KernelCall& call, Fill fill) {
  Tensor result = Tensor::make(kTypeOf<Int>, call.output.full_shape());
  fill(result.mutable_data<Int>());
  return result;
}

inline double product(const Argument& a, double b) {
  return static_cast<double>(a.scale()) * b;
}

/// A sum of 64 bits times the multiplier, of which 15 bits are left: one rounding, halves upward.
inline int32_t scaled_sum(int64_t sum, Multiplier by) {
  const int64_t factor = by.value < 0x7FFF0000 ? (by.value + (1 << 15)) >> 16 : 0x7FFF;
  const int right = std::clamp(15 - by.shift, 1, 62);
  const auto made =
      static_cast<int64_t>(static_cast<uint64_t>(sum) * static_cast<uint64_t>(factor) + (uint64_t{1} << (right - 1)));
  return wrapped(made >> right);
}

/// Of each output channel's sums of products with a weight.
inline std::vector<Multiplier> multipliers_of(const KernelCall& call, const Argument& x, size_t channels) {
  const std::vector<float>& scales = call.in(1).tensor->quantization.scale;
  std::vector<Multiplier> multipliers;
  for (size_t c = 0; c < channels; ++c)
    multipliers.push_back(multiplier_of(product(x, scales[scales.size() == 1 ? 0 : c]) / call.scale()));
  return multipliers;
}

/// One axis of a window: where it begins before the input, and its steps.
struct Steps {
  int in, out, kernel, stride, dilation, before;
};

inline Steps steps_of(const Options& options, int in, int out, int kernel, int stride, int dilation) {
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

  /// Of TRANSPOSE_CONV: where the taps add their products, for each place of the input. They lie as the windows of a
  /// convolution of the output would.
  static Windows back(const KernelCall& call) {
    const Argument &x = call.in(2), &w = call.in(1);
    const Options& options = call.op.options;
    const auto along = [&](int axis, int stride) {
      const int size = call.output.shape[static_cast<size_t>(axis)];
      Steps steps = steps_of(options, size, (size + stride - 1) / stride, w.dim(axis), stride, 1);
      steps.out = x.dim(axis);
      return steps;
    };
    return {along(1, options.stride_h), along(2, options.stride_w)};
  }

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

 private:
  Windows(Steps of_rows, Steps of_columns) : rows(of_rows), columns(of_columns) {}
};

/// Averages are of the places inside the picture, halves away from zero, and of raw codes.
template <class Int>
Tensor pool(const KernelCall& call, bool is_max) {
  const Argument& x = call.in(0);
  const Options& options = call.op.options;
  const Steps rows = steps_of(options, x.dim(1), call.output.shape[1], options.filter_h, options.stride_h, 1);
  const Steps columns = steps_of(options, x.dim(2), call.output.shape[2], options.filter_w, options.stride_w, 1);
  const Bounds<Int> bounds = bounds_of<Int>(call);
  const int channels = x.dim(3);
  return filled<Int>(call, [&](std::span<Int> y) {
    size_t at = 0;
    for (int n = 0; n < x.dim(0); ++n)
      for (int row = 0; row < rows.out; ++row)
        for (int column = 0; column < columns.out; ++column)
          for (int channel = 0; channel < channels; ++channel) {
            int32_t sum = 0, largest = Bounds<Int>::kLowest, count = 0;
            for_each_tap(rows, row, [&](int, int r) {
              for_each_tap(columns, column, [&](int, int c) {
                const int64_t place = ((static_cast<int64_t>(n) * rows.in + r) * columns.in + c) * channels + channel;
                const int32_t code = x.codes<Int>()[static_cast<size_t>(place)];
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

template <class Int, class Function>
Tensor for_each_pair(const KernelCall& call, Function function) {
  const Argument &a = call.in(0), &b = call.in(1);
  const Spread left(a.tensor->shape, call.output.shape), right(b.tensor->shape, call.output.shape);
  const auto p = a.codes<Int>(), q = b.codes<Int>();
  const bool alike = a.tensor->shape == call.output.shape && b.tensor->shape == call.output.shape;
  return filled<Int>(call, [&](std::span<Int> y) {
    for (size_t k = 0; k < y.size(); ++k) y[k] = alike ? function(p[k], q[k]) : function(p[left.at(k)], q[right.at(k)]);
  });
}

template <class Int>
Tensor add(const KernelCall& call, bool subtracts) {
  const Argument &a = call.in(0), &b = call.in(1);
  constexpr int kLeft = std::is_same_v<Int, int16_t> ? 15 : 20;
  const double twice = 2 * static_cast<double>(std::max(a.scale(), b.scale()));
  const Multiplier of_a = multiplier_of(a.scale() / twice), of_b = multiplier_of(b.scale() / twice);
  const Multiplier of_sum = multiplier_of(twice / ((1 << kLeft) * static_cast<double>(call.scale())));
  const Bounds<Int> bounds = bounds_of<Int>(call);
  return for_each_pair<Int>(call, [&](int32_t p, int32_t q) {
    const int32_t left = scaled((p - a.zero_point()) * (1 << kLeft), of_a);
    const int32_t right = scaled((q - b.zero_point()) * (1 << kLeft), of_b);
    return bounds.hold(int64_t{scaled(wrapped(int64_t{left} + (subtracts ? -int64_t{right} : right)), of_sum)} +
                       call.zero_point());
  });
}

template <class Int>
Tensor multiply(const KernelCall& call) {
  const Argument &a = call.in(0), &b = call.in(1);
  const Multiplier multiplier = multiplier_of(product(a, b.scale()) / call.scale());
  const Bounds<Int> bounds = bounds_of<Int>(call);
  return for_each_pair<Int>(call, [&](int32_t p, int32_t q) {
    return bounds.hold(int64_t{scaled((p - a.zero_point()) * (q - b.zero_point()), multiplier)} + call.zero_point());
  });
}

template <class Int>
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
  return filled<Int>(call, [&](std::span<Int> y) {
    const int64_t area = rows * columns;
    for (int64_t at = 0; at < static_cast<int64_t>(y.size()); ++at) {
      const int64_t row = at % area / columns, column = at % columns;
      const int64_t first = base(shape_a, at / area), second = base(shape_b, at / area);
      int64_t sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t i = first + (swap_a ? k * rows + row : row * inner + k);
        const int64_t j = second + (swap_b ? column * inner + k : k * columns + column);
        sum += (a.codes<Int>()[static_cast<size_t>(i)] - a.zero_point()) *
               (b.codes<Int>()[static_cast<size_t>(j)] - b.zero_point());
      }
      const int32_t code =
          std::is_same_v<Int, int16_t> ? scaled_sum(sum, multiplier) : scaled(wrapped(sum), multiplier);
      y[static_cast<size_t>(at)] = Bounds<Int>{}.hold(int64_t{code} + call.zero_point());
    }
  });
}

/// A function of one code; of 8 bits, it is computed once for each of the 256.
template <class From, class To, class Function>
Tensor by_code(const KernelCall& call, Function function) {
  return filled<To>(call, [&](std::span<To> y) {
    const auto x = call.in(0).codes<From>();
    if constexpr (std::is_same_v<From, int8_t>) {
      To table[256];
      for (int code = 0; code < 256; ++code) table[code] = function(code + Bounds<From>::kLowest);
      for (size_t k = 0; k < y.size(); ++k) y[k] = table[x[k] - Bounds<From>::kLowest];
    } else {
      for (size_t k = 0; k < y.size(); ++k) y[k] = function(x[k]);
    }
  });
}

template <class Int>
Tensor relu(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Multiplier multiplier = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const Bounds<Int> bounds{std::max(Bounds<Int>::kLowest, call.zero_point()), Bounds<Int>::kHighest};
  return by_code<Int, Int>(call, [&](int32_t code) {
    return bounds.hold(int64_t{scaled(code - x.zero_point(), multiplier)} + call.zero_point());
  });
}

template <class Int>
Tensor leaky_relu(const KernelCall& call) {
  const Argument& x = call.in(0);
  const Multiplier above = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const double slope = product(x, call.op.options.alpha) / call.scale();
  const Multiplier below = multiplier_of(std::fabs(slope));
  return by_code<Int, Int>(call, [&](int32_t code) {
    const int32_t d = code - x.zero_point();
    const int32_t y = d >= 0 ? scaled(d, above) : slope < 0 ? -scaled(d, below) : scaled(d, below);
    return Bounds<Int>{}.hold(int64_t{y} + call.zero_point());
  });
}

/// To the type of `To`, of floats or codes.
template <class To>
Tensor quantize(const KernelCall& call) {
  const Argument& x = call.in(0);
  if (x.tensor->dtype == DType::kFloat32)
    return filled<To>(call, [&](std::span<To> y) {
      const Tensor aligned = x.value->aligned();
      const auto values = aligned.data<float>();
      for (size_t k = 0; k < y.size(); ++k) {
        const float code = std::clamp(std::round(values[k] / call.scale()), -65536.0F, 65536.0F);
        y[k] = Bounds<To>{}.hold(static_cast<int32_t>(code) + call.zero_point());
      }
    });
  const Multiplier multiplier = multiplier_of(static_cast<double>(x.scale()) / call.scale());
  const auto rescaled = [&](int32_t code) {
    return Bounds<To>{}.hold(int64_t{scaled(code - x.zero_point(), multiplier)} + call.zero_point());
  };
  if (x.tensor->dtype == DType::kInt16) return by_code<int16_t, To>(call, rescaled);
  return by_code<int8_t, To>(call, rescaled);
}

template <class Int>
Tensor dequantize(const KernelCall& call) {
  const Argument& x = call.in(0);
  Tensor result = Tensor::make(DType::kFloat32, call.output.full_shape());
  const auto y = result.mutable_data<float>();
  for (size_t k = 0; k < y.size(); ++k) y[k] = static_cast<float>(product(x, x.codes<Int>()[k] - x.zero_point()));
  return result;
}

/// Calls body(output element, codes that are reduced to it).
template <class Int, class Body>
Tensor reduce(const KernelCall& call, Body body) {
  const Argument& x = call.in(0);
  const std::vector<int32_t>& dims = x.tensor->shape;
  std::vector<bool> reduced(dims.size());
  for (const int64_t axis : call.in(1).value->to_int64s())
    reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis)] = true;
  return filled<Int>(call, [&](std::span<Int> y) {
    std::vector<std::vector<Int>> parts(y.size());
    for (size_t k = 0; k < x.codes<Int>().size(); ++k) {
      size_t rest = k, place = 0, step = 1;
      for (size_t axis = dims.size(); axis-- > 0;) {
        const auto dim = static_cast<size_t>(dims[axis]);
        if (!reduced[axis]) {
          place += rest % dim * step;
          step *= dim;
        }
        rest /= dim;
      }
      parts[place].push_back(x.codes<Int>()[k]);
    }
    for (size_t k = 0; k < y.size(); ++k) y[k] = body(parts[k]);
  });
}

/// 1/n goes into the multiplier, and is cut there.
template <class Int>
Tensor mean(const KernelCall& call) {
  const Argument& x = call.in(0);
  return reduce<Int>(call, [&](const std::vector<Int>& part) {
    const auto count = static_cast<int64_t>(part.size());
    Multiplier multiplier = multiplier_of(static_cast<double>(x.scale()) / call.scale());
    const int floor_of_log = 63 - std::countl_zero(static_cast<uint64_t>(std::max<int64_t>(count, 1)));
    const int shift = std::min({floor_of_log, 32, 31 + multiplier.shift});
    multiplier.value = static_cast<int32_t>((static_cast<int64_t>(multiplier.value) << shift) / count);
    multiplier.shift -= shift;
    int64_t sum = 0;
    for (const Int code : part) sum += code;
    return Bounds<Int>{}.hold(int64_t{scaled(wrapped(sum - x.zero_point() * count), multiplier)} + call.zero_point());
  });
}

/// Each element of the output is one of the input, or the filler: source(place in the output) gives the place in the
/// input, and is false where there is none.
template <class Int, class Source>
Tensor move(const KernelCall& call, Int filler, Source source) {
  const Argument& x = call.in(0);
  const std::vector<int32_t>&from = x.tensor->shape, &to = call.output.shape;
  return filled<Int>(call, [&](std::span<Int> y) {
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
      y[k] = x.codes<Int>()[static_cast<size_t>(at)];
    }
  });
}

template <class Int>
Tensor resize_nearest(const KernelCall& call) {
  const Argument& x = call.in(0);
  return move<Int>(call, 0, [&](const Dims& place, Dims& origin) {
    origin = place;
    for (size_t axis = 1; axis < 3; ++axis)
      origin[axis] = nearest_place(place[axis], x.tensor->shape[axis], call.output.shape[axis], call.op.options);
    return true;
  });
}

template <class Int>
Tensor pad(const KernelCall& call) {
  const Dims pads = call.in(1).value->to_int64s();
  const Int filler = call.has(2) ? call.in(2).codes<Int>()[0] : Bounds<Int>{}.hold(call.zero_point());
  return move<Int>(call, filler, [&](const Dims& place, Dims& origin) {
    for (size_t axis = 0; axis < place.size(); ++axis) {
      origin[axis] = place[axis] - pads[2 * axis];
      if (origin[axis] < 0 || origin[axis] >= call.in(0).tensor->shape[axis]) return false;
    }
    return true;
  });
}

template <class Int>
Tensor transpose(const KernelCall& call) {
  const Dims perm = call.in(1).value->to_int64s();
  return move<Int>(call, 0, [&](const Dims& place, Dims& origin) {
    for (size_t axis = 0; axis < perm.size(); ++axis) origin[static_cast<size_t>(perm[axis])] = place[axis];
    return true;
  });
}

template <class Int>
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
  return move<Int>(call, 0, [&](const Dims& place, Dims& origin) {
    size_t out = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const bool dropped = (options.shrink_axis_mask >> axis & 1) != 0;
      origin[axis] = begin[axis] + (dropped ? 0 : place[out++] * step[axis]);
    }
    return true;
  });
}

template <class Int>
Tensor concatenate(const KernelCall& call) {
  const auto rank = static_cast<int32_t>(call.output.shape.size());
  const auto axis = static_cast<size_t>(call.op.options.axis < 0 ? call.op.options.axis + rank : call.op.options.axis);
  int64_t outer = 1;
  for (size_t k = 0; k < axis; ++k) outer *= call.output.shape[k];
  return filled<Int>(call, [&](std::span<Int> y) {
    size_t at = 0;
    for (int64_t row = 0; row < outer; ++row)
      for (const Argument& part : call.inputs) {
        const size_t length = part.codes<Int>().size() / static_cast<size_t>(outer);
        const auto from = part.codes<Int>().subspan(static_cast<size_t>(row) * length, length);
        std::copy(from.begin(), from.end(), y.begin() + static_cast<std::ptrdiff_t>(at));
        at += length;
      }
  });
}

/// The operators above, and those of one line.
template <class Int>
Tensor evaluate_on(const KernelCall& call) {
  switch (call.op.code) {
    case Code::kAveragePool2d:
      return pool<Int>(call, false);
    case Code::kMaxPool2d:
      return pool<Int>(call, true);
    case Code::kAdd:
      return add<Int>(call, false);
    case Code::kSub:
      return add<Int>(call, true);
    case Code::kMul:
      return multiply<Int>(call);
    case Code::kBatchMatmul:
      return multiply_matrices<Int>(call);
    case Code::kMaximum:
      return for_each_pair<Int>(call, [](Int a, Int b) { return std::max(a, b); });
    case Code::kMinimum:
      return for_each_pair<Int>(call, [](Int a, Int b) { return std::min(a, b); });
    case Code::kRelu:
      return relu<Int>(call);
    case Code::kLeakyRelu:
      return leaky_relu<Int>(call);
    case Code::kDequantize:
      return dequantize<Int>(call);
    case Code::kMean:
      return mean<Int>(call);
    case Code::kResizeNearestNeighbor:
      return resize_nearest<Int>(call);
    case Code::kPad:
    case Code::kPadV2:
      return pad<Int>(call);
    case Code::kTranspose:
      return transpose<Int>(call);
    case Code::kStridedSlice:
      return strided_slice<Int>(call);
    case Code::kConcatenation:
      return concatenate<Int>(call);
    default:
      throw Error(ErrorCode::kUnsupportedModel, std::string(kind_of(call.op.code).name) + " is not run here.");
  }
}

}  // namespace tersor::tflite
