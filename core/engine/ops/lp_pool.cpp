// SPDX-License-Identifier: Apache-2.0
// LpPool and GlobalLpPool: the p-th root of the sum of p-th powers of a window's magnitudes.
#include <cmath>

#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/pool.h"

namespace tersor::ops {

namespace {

class LpPool : public Pool {
 public:
  LpPool(const Setup& setup, bool global) : Pool(setup, global) {
    if (setup.node.holds<float>("p")) {  // operator set 1
      const float fraction = setup.node.float_or("p", 2);
      if (fraction != std::floor(fraction)) unsupported("The attribute p is " + std::to_string(fraction) + ".");
      p_ = fraction > 0 && fraction < 1e6f ? static_cast<int64_t>(fraction) : 0;
    } else {
      p_ = setup.node.int_or("p", 2);
    }
    if (p_ < 1 || p_ > 64) invalid("The attribute p is " + std::to_string(p_) + "; it must be from 1 to 64.");
  }

  void run(const Call& call) const override {
    if (call.outputs[0].elements() == 0) return;
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    std::vector<double> sums(static_cast<size_t>(channels));
    Windows windows(spatial);
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      std::fill(sums.begin(), sums.end(), 0.0);
      windows.for_each_place(out, [&](int64_t place) {
        const float* row = x + (n * places + place) * channels;
        for (size_t c = 0; c < sums.size(); ++c) sums[c] += powered(std::fabs(static_cast<double>(row[c])));
      });
      for (size_t c = 0; c < sums.size(); ++c)
        y[at * channels + static_cast<int64_t>(c)] = static_cast<float>(root(sums[c]));
    });
  }

 private:
  double powered(double x) const {
    double product = x;
    for (int64_t k = 1; k < p_; ++k) product *= x;
    return product;
  }

  double root(double x) const {
    if (p_ == 1 || x == 0) return x;
    return p_ == 2 ? std::sqrt(x) : kernels::exponential(kernels::natural_logarithm(x) / static_cast<double>(p_));
  }

  int64_t p_;
};

}  // namespace

std::vector<Op> lp_pool_ops() {
  return {pool<LpPool>("LpPool", false), pool<LpPool>("GlobalLpPool", true)};
}

}  // namespace tersor::ops
