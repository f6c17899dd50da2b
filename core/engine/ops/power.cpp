// SPDX-License-Identifier: Apache-2.0
// Pow, whose base and exponent may be of different types; the result has the base's.
#include <cmath>
#include <type_traits>

#include "core/kernels/transcendental.h"
#include "core/ops/broadcast.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

/// Whole numbers wrap around; a negative exponent gives 0 but for the bases 1 and -1.
template <class T>
T whole_power(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    return base == T(-1) && std::is_signed_v<T> ? static_cast<T>(exponent % 2 == 0 ? 1 : -1) : T(0);
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1, factor *= factor)
    if (left & 1) result *= factor;
  return static_cast<T>(result);
}

template <class T>
int64_t whole_at(const std::byte* data, int64_t k) {
  return static_cast<int64_t>(reinterpret_cast<const T*>(data)[k]);
}

bool is_whole(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64;
}

int64_t whole_at(const Input& input, int64_t k) {
  return input.dtype() == DType::kInt64 ? whole_at<int64_t>(input.data, k) : whole_at<int32_t>(input.data, k);
}

float float_at(const Input& input, int64_t k) {
  if (is_whole(input.dtype())) return static_cast<float>(whole_at(input, k));
  return reinterpret_cast<const float*>(input.data)[k];
}

/// A power as a whole number, cut towards zero and at the ends of the type.
template <class T>
T whole_of(float x) {
  if (!(x == x)) return 0;
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return x >= end ? std::numeric_limits<T>::max() : x < -end ? std::numeric_limits<T>::lowest() : static_cast<T>(x);
}

class Pow : public Kernel {
 public:
  explicit Pow(const Setup& setup) { require_inputs(setup, 2, 2); }

  std::vector<Form> forms(std::span<const Input> inputs) const override { return elementwise_forms(inputs); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32, DType::kInt32, DType::kInt64}, "X");
    require_type(inputs[1], {DType::kFloat32, DType::kInt32, DType::kInt64}, "Y");
    return {broadcast_type(inputs, inputs[0].dtype())};
  }

  void run(const Call& call) const override {
    switch (call.inputs[0].dtype()) {
      case DType::kFloat32:
        return run_floats(call);
      case DType::kInt32:
        return run_whole<int32_t>(call);
      default:
        return run_whole<int64_t>(call);
    }
  }

 private:
  static void run_floats(const Call& call) {
    const BroadcastLoop loops(call.inputs, *call.outputs[0].type);
    const Input &x = call.inputs[0], &y = call.inputs[1];
    float* out = call.outputs[0].values<float>().data();
    const auto n = static_cast<size_t>(loops.inner());
    const bool whole = is_whole(y.dtype());
    std::vector<float> exponents(whole ? n : 0);
    loops.for_each_run([&](const int64_t* offsets, int64_t output) {
      const float* exponent = whole ? exponents.data() : y.values<float>().data() + offsets[1];
      for (size_t k = 0; k < exponents.size(); ++k)
        exponents[k] = float_at(y, offsets[1] + (loops.moves(1) ? static_cast<int64_t>(k) : 0));
      kernels::power(x.values<float>().data() + offsets[0], loops.moves(0), exponent, loops.moves(1), n, out + output);
    });
  }

  template <class T>
  static void run_whole(const Call& call) {
    const BroadcastLoop loops(call.inputs, *call.outputs[0].type);
    const Input& y = call.inputs[1];
    const T* x = call.inputs[0].values<T>().data();
    T* out = call.outputs[0].values<T>().data();
    loops.for_each_run([&](const int64_t* offsets, int64_t output) {
      for (int64_t k = 0; k < loops.inner(); ++k) {
        const T base = x[offsets[0] + (loops.moves(0) ? k : 0)];
        const int64_t at = offsets[1] + (loops.moves(1) ? k : 0);
        if (is_whole(y.dtype())) {
          out[output + k] = whole_power(base, whole_at(y, at));
          continue;
        }
        const float wide = static_cast<float>(base), exponent = float_at(y, at);
        float result = 0;
        kernels::power(&wide, false, &exponent, false, 1, &result);
        out[output + k] = whole_of<T>(result);
      }
    });
  }
};

}  // namespace

std::vector<Op> power_ops() {
  return {{.domain = "", .type = "Pow", .since = 7, .prepare = make_kernel<Pow>}};
}

}  // namespace tersor::ops
