// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/gradients.h"

#include <cstring>

#include "core/kernels/loop_constants.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/gradients.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

using Floats = float __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(Floats) / sizeof(float);
constexpr size_t kInFloat = 16;  // terms of a lane

HWY_INLINE Floats Load(const float* from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
HWY_INLINE void Store(const Floats& v, float* to) {
  std::memcpy(to, &v, sizeof v);
}
HWY_INLINE Floats Every(float x) {
  return x - Floats{};
}

/// Each lane, to a sum of its own.
HWY_INLINE void AddLanes(const Floats& lanes, double* sums) {
  float each[kLanes];
  std::memcpy(each, &lanes, sizeof lanes);
  for (size_t k = 0; k < kLanes; ++k) sums[k] += static_cast<double>(each[k]);
}

/// Of eight lanes, each the sum of at most so many terms at a time.
struct LaneSums {
  double sums[kLanes] = {};
  Floats part = {};
  size_t terms = 0;

  HWY_INLINE void Add(const Floats& term) {
    part += term;
    if (++terms == kInFloat) Flush();
  }
  HWY_INLINE void Flush() {
    AddLanes(part, sums);
    part = Floats{};
    terms = 0;
  }
  HWY_INLINE double Total() {
    Flush();
    double total = 0;
    for (const double one : sums) total += one;
    return total;
  }
};

/// Calls body(place, load, store) for each eight elements; what is left is filled up with zeros.
template <class Body>
HWY_INLINE void ForEachEight(size_t n, Body body) {
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    body([k](const float* from) { return Load(from + k); }, [k](const Floats& v, float* to) { Store(v, to + k); });
  if (k == n) return;
  const size_t left = n - k;
  body(
      [k, left](const float* from) {
        Floats v = {};
        std::memcpy(&v, from + k, left * sizeof(float));
        return v;
      },
      [k, left](const Floats& v, float* to) { std::memcpy(to + k, &v, left * sizeof(float)); });
}

/// Within the ends first, which are whole numbers: the same, and there is room for the addition that rounds.
HWY_INLINE Floats Code(Floats n, const Floats& low, const Floats& high) {
  n = n > low ? n : low;
  n = n < high ? n : high;
  return (n + kNoFraction) - kNoFraction;
}

void FakeQuantize(const float* x, size_t n, const FakeGrid& grid, float* y) {
  const Floats scale = Every(grid.scale), low = Every(grid.low), high = Every(grid.high);
  if (grid.fraction == 1)
    return ForEachEight(n, [&](auto load, auto store) { store(scale * Code(load(x) / scale, low, high), y); });
  const Floats fraction = Every(grid.fraction);
  ForEachEight(n, [&](auto load, auto store) {
    const Floats v = load(x);
    store(v + fraction * (scale * Code(v / scale, low, high) - v), y);
  });
}

double FakeQuantizeGradient(const float* x, const float* dy, size_t n, const FakeGrid& grid, float* dx) {
  const Floats scale = Every(grid.scale), low = Every(grid.low), high = Every(grid.high);
  const Floats least = Every(grid.low - 0.5f), most = Every(grid.high + 0.5f), none = {}, whole = Every(1),
               beyond = Every(1 - grid.fraction);
  LaneSums sums;
  ForEachEight(n, [&](auto load, auto store) {
    const Floats v = load(x) / scale, by = load(dy);
    const auto within = (v >= least) & (v <= most);
    sums.Add(by * (Code(v, low, high) - (within ? v : none)));
    if (dx != nullptr) store(by * (within ? whole : beyond), dx);
  });
  return sums.Total();
}

double SquaredError(const float* a, const float* b, size_t n, float twice, const float* so_far, float* by_a) {
  const Floats factor = Every(twice);
  LaneSums sums;
  ForEachEight(n, [&](auto load, auto store) {
    const Floats difference = load(a) - load(b);
    sums.Add(difference * difference);
    if (by_a == nullptr) return;
    const Floats by = factor * difference;
    store(so_far == nullptr ? by : load(so_far) + by, by_a);
  });
  return sums.Total();
}

/// term(row, channel) for all rows, and as many channels as fit eight at a time; the channels after those.
template <class Term>
HWY_INLINE size_t AddTermsByColumn(size_t rows, size_t channels, Term term, double* sums) {
  size_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    double sum[kLanes] = {};
    for (size_t start = 0; start < rows; start += kInFloat) {
      const size_t end = HWY_MIN(rows, start + kInFloat);
      Floats part = {};
      for (size_t r = start; r < end; ++r) part += term(r, c);
      AddLanes(part, sum);
    }
    for (size_t k = 0; k < kLanes; ++k) sums[c + k] += sum[k];
  }
  return c;
}

void AddProductsByColumn(const ColumnProducts& of, double* sums) {
  const size_t channels = of.channels;
  size_t c = 0;
  if (of.y == nullptr)
    c = AddTermsByColumn(
        of.rows, channels, [&](size_t r, size_t k) { return Load(of.dy + r * channels + k); }, sums);
  else if (of.bias == nullptr)
    c = AddTermsByColumn(
        of.rows, channels,
        [&](size_t r, size_t k) { return Load(of.dy + r * channels + k) * Load(of.y + r * channels + k); }, sums);
  else
    c = AddTermsByColumn(
        of.rows, channels,
        [&](size_t r, size_t k) {
          return Load(of.dy + r * channels + k) * (Load(of.y + r * channels + k) - Load(of.bias + k));
        },
        sums);
  for (; c < channels; ++c)
    for (size_t r = 0; r < of.rows; ++r) {
      const float y = of.y == nullptr ? 1 : of.y[r * channels + c] - (of.bias == nullptr ? 0 : of.bias[c]);
      sums[c] += static_cast<double>(of.dy[r * channels + c] * y);
    }
}

void AddRowOfProducts(const float* x, size_t step, const float* dy, size_t rows, size_t channels, double* sums) {
  size_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    Floats line = {};
    for (size_t r = 0; r < rows; ++r) line += Load(x + r * step + c) * Load(dy + r * channels + c);
    AddLanes(line, sums + c);
  }
  for (; c < channels; ++c) {
    float line = 0;
    for (size_t r = 0; r < rows; ++r) line += x[r * step + c] * dy[r * channels + c];
    sums[c] += static_cast<double>(line);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(FakeQuantize);
HWY_EXPORT(FakeQuantizeGradient);
HWY_EXPORT(SquaredError);
HWY_EXPORT(AddProductsByColumn);
HWY_EXPORT(AddRowOfProducts);

void fake_quantize(const float* x, size_t n, const FakeGrid& grid, float* y) {
  HWY_DYNAMIC_DISPATCH(FakeQuantize)(x, n, grid, y);
}

double fake_quantize_gradient(const float* x, const float* dy, size_t n, const FakeGrid& grid, float* dx) {
  return HWY_DYNAMIC_DISPATCH(FakeQuantizeGradient)(x, dy, n, grid, dx);
}

double squared_error(const float* a, const float* b, size_t n, float twice, const float* so_far, float* by_a) {
  return HWY_DYNAMIC_DISPATCH(SquaredError)(a, b, n, twice, so_far, by_a);
}

void add_products_by_column(const ColumnProducts& of, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddProductsByColumn)(of, sums);
}

void add_row_of_products(const float* x, size_t step, const float* dy, size_t rows, size_t channels, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddRowOfProducts)(x, step, dy, rows, channels, sums);
}

}  // namespace tersor::kernels
#endif
