// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike. Between whole numbers the value is cut to the target's width; from a fraction to a whole number it
// is cut towards zero, what is out of range goes to the nearest end, and NaN becomes 0: the same on every machine.
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ops/families.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"
#include "core/tensor/float16.h"

namespace tersor::ops {

namespace {

/// A float16 in memory.
struct Half {
  uint16_t bits;
};

template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<From, Half>) {
    return converted<To>(float_from_half(x.bits));
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{half_from_float(static_cast<float>(x))};
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return 0;
    // The ends as powers of two, which a float holds exactly.
    const auto above = static_cast<From>(std::ldexp(1.0, std::numeric_limits<To>::digits));
    if (x >= above) return std::numeric_limits<To>::max();
    if (std::is_signed_v<To> ? x < -above : x <= From(-1)) return std::numeric_limits<To>::lowest();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert(const std::byte* source, std::byte* target, size_t n) {
  const auto* from = reinterpret_cast<const From*>(source);
  auto* to = reinterpret_cast<To*>(target);
  for (size_t k = 0; k < n; ++k) to[k] = converted<To>(from[k]);
}

using Loop = void (*)(const std::byte*, std::byte*, size_t);

template <class From>
Loop loop_to(DType to) {
  switch (to) {
    case DType::kFloat32:
      return convert<From, float>;
    case DType::kFloat64:
      return convert<From, double>;
    case DType::kFloat16:
      return convert<From, Half>;
    case DType::kInt8:
      return convert<From, int8_t>;
    case DType::kInt16:
      return convert<From, int16_t>;
    case DType::kInt32:
      return convert<From, int32_t>;
    case DType::kInt64:
      return convert<From, int64_t>;
    case DType::kUint8:
      return convert<From, uint8_t>;
    case DType::kUint16:
      return convert<From, uint16_t>;
    case DType::kUint32:
      return convert<From, uint32_t>;
    case DType::kUint64:
      return convert<From, uint64_t>;
    case DType::kBool:
      return convert<From, bool>;
    default:
      unsupported("A cast to " + std::string(name_of(to)) + " is not supported.");
  }
}

Loop loop_for(DType from, DType to) {
  switch (from) {
    case DType::kFloat32:
      return loop_to<float>(to);
    case DType::kFloat64:
      return loop_to<double>(to);
    case DType::kFloat16:
      return loop_to<Half>(to);
    case DType::kInt8:
      return loop_to<int8_t>(to);
    case DType::kInt16:
      return loop_to<int16_t>(to);
    case DType::kInt32:
      return loop_to<int32_t>(to);
    case DType::kInt64:
      return loop_to<int64_t>(to);
    case DType::kUint8:
      return loop_to<uint8_t>(to);
    case DType::kUint16:
      return loop_to<uint16_t>(to);
    case DType::kUint32:
      return loop_to<uint32_t>(to);
    case DType::kUint64:
      return loop_to<uint64_t>(to);
    case DType::kBool:
      return loop_to<uint8_t>(to);
    default:
      unsupported("A cast from " + std::string(name_of(from)) + " is not supported.");
  }
}

class Cast : public AnyLayoutKernel {
 public:
  /// kUndefined: to the type of input 1.
  explicit Cast(DType to) : to_(to) {}

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const DType to = to_ == DType::kUndefined ? inputs[1].dtype() : to_;
    if (inputs[0].dtype() != to) loop_for(inputs[0].dtype(), to);
    return {{to, inputs[0].shape(), inputs[0].type->layout}};
  }
  std::optional<size_t> alias(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return inputs[0].dtype() == outputs[0].dtype ? std::optional<size_t>(0) : std::nullopt;
  }
  void run(const Call& call) const override {
    const Loop loop = loop_for(call.inputs[0].dtype(), call.outputs[0].type->dtype);
    loop(call.inputs[0].data, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()));
  }

 private:
  DType to_;
};

std::unique_ptr<const Kernel> prepare_cast(Setup& setup) {
  require_inputs(setup, 1, 1);
  const auto* to = setup.node.attribute<int64_t>("to");
  if (to == nullptr || *to <= 0 || *to > 255) invalid("The attribute to is missing or names no type.");
  return std::make_unique<Cast>(static_cast<DType>(*to));
}

std::unique_ptr<const Kernel> prepare_cast_like(Setup& setup) {
  require_inputs(setup, 2, 2);
  return std::make_unique<Cast>(DType::kUndefined);
}

}  // namespace

std::vector<Op> cast_ops() {
  return {
      {.domain = "", .type = "Cast", .since = 6, .prepare = prepare_cast},
      {.domain = "", .type = "CastLike", .since = 15, .prepare = prepare_cast_like},
  };
}

}  // namespace tersor::ops
