// SPDX-License-Identifier: Apache-2.0
// Relu and Clip: the clamps that a producer may apply for them.
#include "core/ops/clamp.h"
#include "core/ops/layouts.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/kernels/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/number_types.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

template <class T>
void clamp_values(T low, T high, const T* x, T* y, size_t n) {
  if constexpr (std::is_same_v<T, float>) return kernels::clamp(x, n, {low, high}, y);
  for (size_t k = 0; k < n; ++k) {
    const T raised = x[k] < low ? low : x[k];
    y[k] = raised > high ? high : raised;
  }
}

/// The bound as a T; bounds outside T's range become its ends.
template <class T>
T bound_as(float bound) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(bound);
  } else {
    const double x = bound;
    if (!(x > static_cast<double>(std::numeric_limits<T>::lowest()))) return std::numeric_limits<T>::lowest();
    if (!(x < static_cast<double>(std::numeric_limits<T>::max()))) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  }
}

template <class T>
void clamp_in_place(const Clamp& clamp, std::byte* bytes, size_t n) {
  T* x = reinterpret_cast<T*>(bytes);
  clamp_values(bound_as<T>(clamp.low), bound_as<T>(clamp.high), x, x, n);
}

/// Relu and Clip on their own. The bounds of Clip may be attributes (to operator set 10), constants, or values that
/// only a run gives.
class ClampKernel : public AnyLayoutKernel {
 public:
  explicit ClampKernel(const Setup& setup, Clamp fixed) : fixed_(fixed) {
    require_inputs(setup, 1, setup.node.is("Clip") && setup.opset >= 11 ? 3 : 1);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    with_number_type(inputs[0].dtype(), [](auto) {});
    for (size_t k = 1; k < inputs.size(); ++k) {
      if (!inputs[k].present()) continue;
      require_same_type(inputs[0], inputs[k]);
      if (inputs[k].elements() != 1)
        invalid("A bound of Clip has the shape " + inputs[k].shape().text() + "; it must be a scalar.");
    }
    return {*inputs[0].type};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  void run(const Call& call) const override {
    with_number_type(call.inputs[0].dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto bound = [&](size_t k, float otherwise) {
        return k < call.inputs.size() && call.inputs[k].present() ? call.inputs[k].values<T>()[0]
                                                                  : bound_as<T>(otherwise);
      };
      clamp_values(bound(1, fixed_.low), bound(2, fixed_.high), call.inputs[0].values<T>().data(),
                   call.outputs[0].values<T>().data(), static_cast<size_t>(call.outputs[0].elements()));
    });
  }

 private:
  Clamp fixed_;  // where no input says otherwise
};

Clamp bounds_of_attributes(const Setup& setup) {
  if (setup.opset >= 11) return {};
  Clamp clamp;
  clamp.low = setup.node.float_or("min", clamp.low);
  clamp.high = setup.node.float_or("max", clamp.high);
  return clamp;
}

std::optional<Clamp> clip_as_clamp(const Setup& setup) {
  Clamp clamp = bounds_of_attributes(setup);
  for (const size_t k : {size_t{1}, size_t{2}}) {
    if (!setup.has_input(k)) continue;
    const Tensor* bound = setup.constant(k);
    if (bound == nullptr || bound->dtype() != DType::kFloat32 || bound->elements() != 1) return std::nullopt;
    (k == 1 ? clamp.low : clamp.high) = static_cast<float>(bound->to_doubles()[0]);
  }
  if (std::isnan(clamp.low) || std::isnan(clamp.high)) return std::nullopt;
  return clamp;
}

constexpr Clamp kRelu{0.0f, std::numeric_limits<float>::infinity()};

}  // namespace

void apply_clamp(const Clamp& clamp, DType dtype, std::byte* x, size_t n) {
  with_number_type(dtype, [&](auto zero) { clamp_in_place<decltype(zero)>(clamp, x, n); });
}

std::vector<Op> clamp_ops() {
  return {
      {.domain = "",
       .type = "Relu",
       .since = 6,
       .prepare = [](Setup& setup) { return std::make_unique<ClampKernel>(setup, kRelu); },
       .as_clamp = [](const Setup&) -> std::optional<Clamp> { return kRelu; }},
      {.domain = "",
       .type = "Clip",
       .since = 6,
       .prepare = [](Setup& setup) { return std::make_unique<ClampKernel>(setup, bounds_of_attributes(setup)); },
       .as_clamp = clip_as_clamp},
  };
}

}  // namespace tersor::ops
