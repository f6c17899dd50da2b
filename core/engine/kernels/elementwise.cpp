// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/elementwise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/bounds-inl.h"
#include "core/kernels/for_each-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V Bounded(D d, V x, const Bounds& bounds) {
  return Bounded(x, hn::Set(d, bounds.low), hn::Set(d, bounds.high));
}

struct AddOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct SubOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Sub(a, b);
  }
};
struct MulOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct DivOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Div(a, b);
  }
};

// Bounds go by value, so that no store to y can change them.

template <class Op>
void ArithmeticLoop(Op op, const float* a, bool a_moves, const float* b, bool b_moves, size_t n, Bounds bounds,
                    float* y) {
  if (a_moves && b_moves) {
    ForEach(n, [&](auto d, size_t k) HWY_ATTR {
      hn::StoreU(Bounded(d, op(hn::LoadU(d, a + k), hn::LoadU(d, b + k)), bounds), d, y + k);
    });
  } else if (a_moves) {
    const float single = *b;
    ForEach(n, [&](auto d, size_t k)
                   HWY_ATTR { hn::StoreU(Bounded(d, op(hn::LoadU(d, a + k), hn::Set(d, single)), bounds), d, y + k); });
  } else if (b_moves) {
    const float single = *a;
    ForEach(n, [&](auto d, size_t k)
                   HWY_ATTR { hn::StoreU(Bounded(d, op(hn::Set(d, single), hn::LoadU(d, b + k)), bounds), d, y + k); });
  } else {
    const hn::CappedTag<float, 1> one;
    std::fill_n(y, n, hn::GetLane(Bounded(one, op(hn::Set(one, *a), hn::Set(one, *b)), bounds)));
  }
}

void ArithmeticOf(Arithmetic op, const float* a, bool a_moves, const float* b, bool b_moves, size_t n, Bounds bounds,
                  float* y) {
  switch (op) {
    case Arithmetic::kAdd:
      return ArithmeticLoop(AddOp(), a, a_moves, b, b_moves, n, bounds, y);
    case Arithmetic::kSub:
      return ArithmeticLoop(SubOp(), a, a_moves, b, b_moves, n, bounds, y);
    case Arithmetic::kMul:
      return ArithmeticLoop(MulOp(), a, a_moves, b, b_moves, n, bounds, y);
    case Arithmetic::kDiv:
      return ArithmeticLoop(DivOp(), a, a_moves, b, b_moves, n, bounds, y);
  }
}

void Clamp(const float* x, size_t n, Bounds bounds, float* y) {
  ForEach(n, [&](auto d, size_t k) HWY_ATTR { hn::StoreU(Bounded(d, hn::LoadU(d, x + k), bounds), d, y + k); });
}

void ScaleChannels(const float* x, size_t rows, size_t channels, const float* factors, const float* terms,
                   Bounds bounds, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    ForEach(channels, [&](auto d, size_t c) HWY_ATTR {
      const auto scaled = hn::Mul(hn::LoadU(d, x + c), hn::LoadU(d, factors + c));
      hn::StoreU(Bounded(d, hn::Add(scaled, hn::LoadU(d, terms + c)), bounds), d, y + c);
    });
}

void MaxOfRows(const float* const* x, size_t count, size_t n, float* y) {
  ForEach(n, [&](auto d, size_t c) HWY_ATTR {
    auto most = hn::LoadU(d, x[0] + c);
    for (size_t r = 1; r < count; ++r) {
      const auto next = hn::LoadU(d, x[r] + c);
      most = hn::IfThenElse(hn::Gt(next, most), next, most);
    }
    hn::StoreU(most, d, y + c);
  });
}

void MeanOfRows(const float* const* x, size_t count, size_t n, float divisor, float* y) {
  ForEach(n, [&](auto d, size_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (size_t r = 0; r < count; ++r) sum = hn::Add(sum, hn::LoadU(d, x[r] + c));
    hn::StoreU(hn::Div(sum, hn::Set(d, divisor)), d, y + c);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(ArithmeticOf);
HWY_EXPORT(Clamp);
HWY_EXPORT(ScaleChannels);
HWY_EXPORT(MaxOfRows);
HWY_EXPORT(MeanOfRows);

void arithmetic(Arithmetic op, const float* a, bool a_moves, const float* b, bool b_moves, size_t n,
                const Bounds& bounds, float* y) {
  if (n != 0) HWY_DYNAMIC_DISPATCH(ArithmeticOf)(op, a, a_moves, b, b_moves, n, bounds, y);
}

void clamp(const float* x, size_t n, const Bounds& bounds, float* y) {
  HWY_DYNAMIC_DISPATCH(Clamp)(x, n, bounds, y);
}

void scale_channels(const float* x, size_t rows, size_t channels, const float* factors, const float* terms,
                    const Bounds& bounds, float* y) {
  HWY_DYNAMIC_DISPATCH(ScaleChannels)(x, rows, channels, factors, terms, bounds, y);
}

void max_of_rows(const float* const* x, size_t count, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(MaxOfRows)(x, count, n, y);
}

void mean_of_rows(const float* const* x, size_t count, size_t n, float divisor, float* y) {
  HWY_DYNAMIC_DISPATCH(MeanOfRows)(x, count, n, divisor, y);
}

}  // namespace tersor::kernels
#endif
