// SPDX-License-Identifier: Apache-2.0
// Every kernel against plain loops that sum in the same order: equal bits, on every target this machine has.
#include "core/kernels/conv.h"

#include <vector>

#include "core/kernels/gemm.h"
#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

class Numbers {
 public:
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(state_)) * 4.6e-10f;
  }
  std::vector<float> vector(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = next();
    return values;
  }

 private:
  uint32_t state_ = 20240601u;
};

float finish(float sum, const Epilogue& epilogue, int64_t column) {
  if (epilogue.bias != nullptr) sum = sum + epilogue.bias[column];
  sum = sum < epilogue.low ? epilogue.low : sum;
  return sum > epilogue.high ? epilogue.high : sum;
}

/// The order in which multiply_rows() sums.
class Sum {
 public:
  /// The d-th product of a tap of `depth`.
  void add(float product, int64_t d, int64_t depth) {
    partial_ = partial_ + product;
    if (++since_chunk_, (d + 1) % kSumLength != 0 && d + 1 != depth) return;
    summed_ += since_chunk_;
    since_chunk_ = 0;
    if (summed_ < kSumLength) return;
    total_ = total_ + partial_;
    partial_ = 0;
    summed_ = 0;
  }
  float value() const { return total_ + partial_; }

 private:
  float total_ = 0, partial_ = 0;
  int64_t summed_ = 0, since_chunk_ = 0;
};

std::vector<float> conv_ref(const ConvWeights& s, const std::vector<float>& w, const std::vector<float>& x,
                            int64_t batch, const ConvAxis& rows, const ConvAxis& columns, const Epilogue& epilogue) {
  std::vector<float> y;
  const int64_t channels = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  // With few channels a tap is a whole kernel row.
  const bool merged = s.groups == 1 && s.in_channels <= 8 && columns.kernel > 1 && columns.dilation == 1;
  const int64_t depth = merged ? columns.kernel * channels : channels;
  const auto product = [&](int64_t n, int64_t iy, int64_t ix, int64_t o, int64_t c, int64_t ky, int64_t kx) {
    if (iy < 0 || iy >= rows.in || ix < 0 || ix >= columns.in) return 0.0f;
    const int64_t pixel = (n * rows.in + iy) * columns.in + ix;
    return x[static_cast<size_t>(pixel * s.in_channels + o / outputs * channels + c)] *
           w[static_cast<size_t>(((o * channels + c) * rows.kernel + ky) * columns.kernel + kx)];
  };
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t oy = 0; oy < rows.out; ++oy)
      for (int64_t ox = 0; ox < columns.out; ++ox)
        for (int64_t o = 0; o < s.out_channels; ++o) {
          Sum sum;
          for (int64_t ky = 0; ky < rows.kernel; ++ky)
            for (int64_t kx = 0; kx < columns.kernel; ++kx)
              for (int64_t c = 0; c < channels; ++c)
                sum.add(product(n, oy * rows.stride - rows.before + ky * rows.dilation,
                                ox * columns.stride - columns.before + kx * columns.dilation, o, c, ky, kx),
                        merged ? kx * channels + c : c, depth);
          y.push_back(finish(sum.value(), epilogue, o));
        }
  return y;
}

ConvAxis axis(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t before, int64_t after) {
  return {in, (in + before + after - dilation * (kernel - 1) - 1) / stride + 1, kernel, stride, dilation, before};
}

void check_conv(const ConvWeights& shape, const ConvAxis& rows, const ConvAxis& columns, int64_t batch = 1) {
  Numbers numbers;
  const auto w = numbers.vector(shape.out_channels * shape.in_channels / shape.groups * rows.kernel * columns.kernel);
  const auto x = numbers.vector(batch * rows.in * columns.in * shape.in_channels),
             bias = numbers.vector(shape.out_channels);
  const Epilogue epilogue{bias.data(), -0.3f, 0.4f};
  const auto wanted = conv_ref(shape, w, x, batch, rows, columns, epilogue);
  on_every_target([&] {
    const Conv conv(shape, w.data());
    std::vector<std::byte> scratch(static_cast<size_t>(Conv::scratch_bytes(shape, rows, columns)) + 64);
    auto* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    std::vector<float> y(wanted.size());
    conv.run(x.data(), batch, rows, columns, epilogue, {aligned, scratch.size() - 64}, y.data());
    REQUIRE(y == wanted);
    if (shape.groups == shape.in_channels && shape.out_channels == shape.in_channels) {
      std::vector<float> z(wanted.size());
      Depthwise(shape.in_channels, rows.kernel, columns.kernel, w.data())
          .run(x.data(), batch, rows, columns, epilogue, z.data());
      REQUIRE(z == wanted);
    }
  });
}

}  // namespace

TEST_CASE("a convolution sums rows, columns, then channels, with equal bits on every target") {
  for (int64_t in : {1, 3, 5, 8, 17})
    for (int64_t out : {1, 2, 7, 16, 33, 48, 64}) {
      CAPTURE(in, out);
      check_conv({in, out, 1, 3, 3}, axis(9, 3, 1, 1, 1, 1), axis(11, 3, 1, 1, 1, 1));
      check_conv({in, out, 1, 1, 1}, axis(6, 1, 1, 1, 0, 0), axis(17, 1, 1, 1, 0, 0), 2);
    }
}

TEST_CASE("strides, dilations, one-sided pads, kernels larger than the input and groups") {
  check_conv({3, 24, 1, 7, 7}, axis(20, 7, 2, 1, 3, 2), axis(21, 7, 2, 1, 2, 3), 2);
  check_conv({4, 6, 1, 5, 1}, axis(3, 5, 1, 1, 4, 4), axis(1, 1, 1, 1, 0, 0));
  check_conv({2, 5, 1, 3, 3, true}, axis(12, 3, 1, 2, 2, 2), axis(12, 3, 2, 3, 3, 3));
  check_conv({12, 20, 4, 3, 3}, axis(5, 3, 1, 1, 1, 1), axis(6, 3, 1, 1, 0, 2));
  check_conv({3, 8, 1, 3, 3}, axis(1, 3, 1, 1, 1, 1), axis(1, 3, 1, 1, 1, 1));
}

TEST_CASE("a depthwise convolution sums rows, then columns, with equal bits on every target") {
  for (int64_t channels : {2, 3, 4, 7, 16, 37})
    for (int64_t stride : {1, 2}) {
      CAPTURE(channels, stride);
      check_conv({channels, channels, channels, 3, 3}, axis(9, 3, stride, 1, 1, 1), axis(14, 3, stride, 1, 1, 1), 2);
      check_conv({channels, channels, channels, 5, 2, true}, axis(7, 5, stride, 1, 2, 2), axis(8, 2, stride, 3, 1, 2));
    }
}

TEST_CASE("a matrix product sums over k in order, with equal bits on every target") {
  for (int64_t m : {1, 2, 5, 13, 100})
    for (int64_t n : {1, 2, 10, 31, 64}) {
      const int64_t k = n == 2 ? 1031 : 175;
      Numbers numbers;
      const auto a = numbers.vector(m * k), b = numbers.vector(k * n);
      std::vector<float> transposed(b.size()), wanted;
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j) transposed[static_cast<size_t>(j * k + i)] = b[static_cast<size_t>(i * n + j)];
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          Sum sum;
          for (int64_t p = 0; p < k; ++p)
            sum.add(a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)], p, k);
          wanted.push_back(sum.value());
        }
      on_every_target([&] {
        std::vector<float> c(wanted.size()), other(wanted.size());
        gemm(a.data(), m, pack_matrix(b.data(), k, n, false), {}, c.data());
        gemm(a.data(), m, pack_matrix(transposed.data(), k, n, true), {}, other.data());
        REQUIRE(c == wanted);
        REQUIRE(other == wanted);
      });
    }
}

TEST_CASE("long sums go from one tap into the next, and any number of rows may be given at once") {
  for (int64_t depth : {40, 255, 256, 300, 513})
    for (int64_t taps : {1, 3, 9}) {
      CAPTURE(depth, taps);
      constexpr int64_t kCount = 2 * kRowsPerCall + 9, kColumns = 20;
      Numbers numbers;
      const auto x = numbers.vector(kCount + taps * depth), w = numbers.vector(kColumns * taps * depth),
                 bias = numbers.vector(kColumns);
      const Epilogue epilogue{bias.data(), -2, 3};
      std::vector<const float*> rows;
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t r = 0; r < kCount; ++r) rows.push_back(x.data() + r + tap * depth);
      std::vector<float> wanted;
      for (int64_t r = 0; r < kCount; ++r)
        for (int64_t c = 0; c < kColumns; ++c) {
          Sum sum;
          for (int64_t k = 0; k < taps * depth; ++k)
            sum.add(x[static_cast<size_t>(r + k)] * w[static_cast<size_t>(c * taps * depth + k)], k % depth, depth);
          wanted.push_back(finish(sum.value(), epilogue, c));
        }
      on_every_target([&] {
        const Panels panels(kColumns, taps, depth, {w.data(), taps * depth, depth, 1});
        std::vector<float> y(wanted.size());
        multiply_rows(panels, {rows.data(), kCount}, epilogue, y.data(), kColumns);
        REQUIRE(y == wanted);
      });
    }
}

TEST_CASE("NaN passes the clamp and infinite bounds do nothing") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[1] = {nan}, b[1] = {1};
  float c[1] = {0};
  gemm(a, 1, pack_matrix(b, 1, 1, false), {nullptr, 0.0f, 6.0f}, c);
  REQUIRE(c[0] != c[0]);
}
