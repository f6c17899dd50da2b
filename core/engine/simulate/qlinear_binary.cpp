// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/qlinear_binary.h"

#include <cmath>

#include "core/base/error.h"
#include "core/kernels/quantize.h"

namespace tersor::simulate {

namespace {

float f(int32_t number) {
  return static_cast<float>(number);
}

/// The portable form, taken by WebAssembly: v = f(op(f(sa*(a-za)), f(sb*(b-zb)))) / sc, clamped and shifted before
/// rounding.
struct Portable {
  BinaryKind kind;
  Grid a, b, y;
  uint8_t operator()(uint8_t raw_a, uint8_t raw_b) const {
    const float left = a.scale * f(a.number(raw_a) - a.zero_point), right = b.scale * f(b.number(raw_b) - b.zero_point);
    const float v = (kind == BinaryKind::kAdd ? left + right : left * right) / y.scale;
    const float low = f(y.low() - y.zero_point), high = f(y.high() - y.zero_point);
    const float clamped = std::min(std::max(v, low), high);
    return static_cast<uint8_t>(static_cast<int32_t>(round_half_even(clamped + f(y.zero_point))));
  }
};

/// x64 with AVX2: two fused steps on the raw codes, the zero points gathered in one constant.
struct FusedAdd {
  FusedAdd(const Grid& first, const Grid& second, const Grid& out) : a(first), b(second), y(out) {
    ratio_a = a.scale / y.scale;
    ratio_b = b.scale / y.scale;
    const float shifted = ratio_b * f(b.zero_point);
    constant = f(y.zero_point) - fma_once(ratio_a, f(a.zero_point), shifted);
  }
  uint8_t operator()(uint8_t raw_a, uint8_t raw_b) const {
    return saturate(fma_once(f(a.number(raw_a)), ratio_a, fma_once(f(b.number(raw_b)), ratio_b, constant)), y);
  }
  Grid a, b, y;
  float ratio_a, ratio_b, constant;
};

/// ARM64: fixed point with 2^n, ties away from zero. Only where both ratios and n lie in range; else the portable form.
struct FixedPointAdd {
  FixedPointAdd(const Grid& first, const Grid& second, const Grid& out) : a(first), b(second), y(out) {
    const float ra = a.scale / y.scale, rb = b.scale / y.scale;
    const float greatest = std::max(ra, rb);
    const float least_ratio = 1.0f / 16384.0f;
    n = 21 - std::ilogb(greatest);
    usable = ra >= least_ratio && rb >= least_ratio && ra < 256.0f && rb < 256.0f && n >= 13 && n <= 31;
    ma = static_cast<int64_t>(round_half_even(std::ldexp(static_cast<double>(ra), n)));
    mb = static_cast<int64_t>(round_half_even(std::ldexp(static_cast<double>(rb), n)));
  }
  uint8_t operator()(uint8_t raw_a, uint8_t raw_b) const {
    const int64_t t = (a.number(raw_a) - a.zero_point) * ma + (b.number(raw_b) - b.zero_point) * mb;
    const int64_t half = int64_t{1} << (n - 1);
    const int64_t rounded = t >= 0 ? (t + half) >> n : -((-t + half) >> n);
    const int64_t shifted = rounded + y.zero_point;
    return static_cast<uint8_t>(std::min<int64_t>(std::max<int64_t>(shifted, y.low()), y.high()));
  }
  Grid a, b, y;
  int n = 0;
  bool usable = false;
  int64_t ma = 0, mb = 0;
};

/// y = sat(rne(p * R + zc)), the product of the codes exact; ARM64 fuses the last two steps.
struct RatioMul {
  RatioMul(const Grid& first, const Grid& second, const Grid& out, bool fused_in)
      : a(first), b(second), y(out), fused(fused_in) {
    ratio = (a.scale * b.scale) / y.scale;
  }
  uint8_t operator()(uint8_t raw_a, uint8_t raw_b) const {
    const float product = f((a.number(raw_a) - a.zero_point) * (b.number(raw_b) - b.zero_point));
    return saturate(fused ? fma_once(product, ratio, f(y.zero_point)) : product * ratio + f(y.zero_point), y);
  }
  Grid a, b, y;
  bool fused;
  float ratio;
};

template <class Step>
void run(const Step& step, std::span<const uint8_t> a, std::span<const uint8_t> b, std::span<uint8_t> y,
         InnerBroadcast broadcast) {
  const size_t stride_a = broadcast == InnerBroadcast::kScalarA ? 0 : 1,
               stride_b = broadcast == InnerBroadcast::kScalarB ? 0 : 1;
  for (size_t i = 0; i < y.size(); ++i) y[i] = step(a[i * stride_a], b[i * stride_b]);
}

}  // namespace

void qlinear_binary(BinaryKind kind, Profile profile, std::span<const uint8_t> a, const Grid& grid_a,
                    std::span<const uint8_t> b, const Grid& grid_b, std::span<uint8_t> y, const Grid& grid_y,
                    InnerBroadcast broadcast) {
  const Portable portable{kind, grid_a, grid_b, grid_y};
  const bool by_ratio = kind == BinaryKind::kMul && profile != Profile::kWasm && profile != Profile::kArm64;
  if ((profile == Profile::kWasm || by_ratio) && broadcast == InnerBroadcast::kNone) {
    const auto codes = [](const Grid& grid) { return kernels::CodeGrid{grid.scale, grid.zero_point, grid.is_signed}; };
    const auto op = by_ratio                   ? kernels::CodeArithmetic::kMulByRatio
                    : kind == BinaryKind::kMul ? kernels::CodeArithmetic::kMul
                                               : kernels::CodeArithmetic::kAdd;
    return kernels::combine_codes(op, a.data(), codes(grid_a), b.data(), codes(grid_b), y.size(), codes(grid_y),
                                  y.data());
  }
  if (profile == Profile::kWasm) return run(portable, a, b, y, broadcast);
  if (kind == BinaryKind::kMul)
    return run(RatioMul(grid_a, grid_b, grid_y, profile == Profile::kArm64), a, b, y, broadcast);
  if (profile == Profile::kArm64) {
    const FixedPointAdd step(grid_a, grid_b, grid_y);
    return step.usable ? run(step, a, b, y, broadcast) : run(portable, a, b, y, broadcast);
  }
  // The roles swap when A is the repeated scalar: the fused steps are not symmetric.
  if (broadcast == InnerBroadcast::kScalarA)
    return run(FusedAdd(grid_b, grid_a, grid_y), b, a, y, InnerBroadcast::kScalarB);
  run(FusedAdd(grid_a, grid_b, grid_y), a, b, y, broadcast);
}

}  // namespace tersor::simulate
