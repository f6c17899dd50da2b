// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/peak.h"

#include <algorithm>
#include <chrono>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Operations of `steps` rounds over twelve chains: more than any core's latency needs, fewer than there are registers.
/// Each begins with a number of its own, or a compiler would see that they are one.
template <bool fused>
double Multiply(int64_t steps, float* sink) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
  const auto next = [&](auto x) { return fused ? hn::MulAdd(x, factor, term) : hn::Add(hn::Mul(x, factor), term); };
  const auto start = [&](int chain) { return hn::Set(d, sink[chain]); };
  auto a = start(0), b = start(1), c = start(2), e = start(3), f = start(4), g = start(5), h = start(6), i = start(7),
       j = start(8), k = start(9), l = start(10), m = start(11);
  for (int64_t step = 0; step < steps; ++step) {
    a = next(a), b = next(b), c = next(c), e = next(e), f = next(f), g = next(g);
    h = next(h), i = next(i), j = next(j), k = next(k), l = next(l), m = next(m);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i))),
                           hn::Add(hn::Add(j, k), hn::Add(l, m)));
  sink[0] = hn::GetLane(sum) / 12;
  return 2.0 * 12.0 * static_cast<double>(steps) * static_cast<double>(hn::Lanes(d));
}

double Separate(int64_t steps, float* sink) {
  return Multiply<false>(steps, sink);
}
double Fused(int64_t steps, float* sink) {
  return Multiply<true>(steps, sink);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::bench {

HWY_EXPORT(Separate);
HWY_EXPORT(Fused);

namespace {

template <class Run>
double best_rate(double milliseconds, Run&& run) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kSteps = 200000;
  const auto begin = Clock::now();
  double best = 0;
  float sink[12];
  for (int chain = 0; chain < 12; ++chain) sink[chain] = static_cast<float>(1 + chain);
  do {
    const auto start = Clock::now();
    const double operations = run(kSteps, sink);
    const std::chrono::duration<double> took = Clock::now() - start;
    // A core that is slow for a moment says nothing about what it can do.
    if (sink[0] != 0) best = std::max(best, operations / took.count() / 1e9);
  } while (std::chrono::duration<double, std::milli>(Clock::now() - begin).count() < milliseconds);
  return best;
}

}  // namespace

Peak measure_peak(double milliseconds) {
  return {
      best_rate(milliseconds, [](int64_t steps, float* sink) { return HWY_DYNAMIC_DISPATCH(Separate)(steps, sink); }),
      best_rate(milliseconds, [](int64_t steps, float* sink) { return HWY_DYNAMIC_DISPATCH(Fused)(steps, sink); })};
}

}  // namespace tersor::bench
#endif
