// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of two inputs, and those of any number that fold over two at a time. Arithmetic on whole
// numbers wraps around; division by zero gives 0 there.
#include <array>
#include <cstring>
#include <type_traits>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/elementwise.h"
#include "core/ops/binary_functions.h"
#include "core/ops/broadcast.h"
#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/number_types.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

using namespace of_two;  // the functions of the table at the end

/// out[k] = f(a[k or 0], b[k or 0]) for n elements; out may be a or b.
using Loop = void (*)(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n);

template <class F, class T>
void loop(const void* a_bytes, bool a_moves, const void* b_bytes, bool b_moves, void* out_bytes, size_t n) {
  using R = decltype(F::of(T(), T()));
  const T* a = static_cast<const T*>(a_bytes);
  const T* b = static_cast<const T*>(b_bytes);
  R* out = static_cast<R*>(out_bytes);
  if (a_moves && b_moves)
    for (size_t k = 0; k < n; ++k) out[k] = F::of(a[k], b[k]);
  else if (a_moves)
    for (size_t k = 0; k < n; ++k) out[k] = F::of(a[k], *b);
  else if (b_moves)
    for (size_t k = 0; k < n; ++k) out[k] = F::of(*a, b[k]);
  else
    for (size_t k = 0; k < n; ++k) out[k] = F::of(*a, *b);
}

template <class F>
Loop whole_loop(DType dtype) {
  Loop made = nullptr;
  visit_whole_type(dtype, [&](auto zero) { made = loop<F, decltype(zero)>; });
  return made;
}

template <class F>
Loop number_loop(DType dtype) {
  Loop made = nullptr;
  visit_number_type(dtype, [&](auto zero) { made = loop<F, decltype(zero)>; });
  return made;
}

template <class F>
Loop bool_loop(DType dtype) {
  return dtype == DType::kBool ? static_cast<Loop>(loop<F, bool>) : nullptr;
}

template <class F>
Loop any_loop(DType dtype) {
  return dtype == DType::kBool ? static_cast<Loop>(loop<F, bool>) : number_loop<F>(dtype);
}

/// What distinguishes one binary operator from another.
struct Rule {
  Loop (*loop_for)(DType);                                 // null for types that it does not take
  std::optional<kernels::Arithmetic> fast = std::nullopt;  // for float32
  bool gives_bool = false;                                 // a comparison
  size_t least_inputs = 2;
  size_t most_inputs = 2;
  bool divides_by_count = false;  // Mean
};

class Binary : public Kernel {
 public:
  Binary(const Setup& setup, Rule rule) : rule_(rule), clamp_(setup.clamp) {
    require_inputs(setup, rule.least_inputs, rule.most_inputs);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override { return elementwise_forms(inputs); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    for (const Input& input : inputs) require_same_type(inputs[0], input);
    const DType dtype = inputs[0].dtype();
    if (rule_.loop_for(dtype) == nullptr)
      unsupported("The input type " + std::string(name_of(dtype)) + " is not supported for this operator.");
    return {broadcast_type(inputs, rule_.gives_bool ? DType::kBool : dtype)};
  }

  std::optional<size_t> alias(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return inputs.size() == 1 && !clamp_ ? std::optional<size_t>(0) : std::nullopt;
  }

  /// Only where every element is read before its place is written.
  bool overwrites(size_t k, std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return k <= 1 && inputs[k].shape() == outputs[0].shape && inputs[k].dtype() == outputs[0].dtype;
  }

  void run(const Call& call) const override {
    const Output& out = call.outputs[0];
    const DType dtype = call.inputs[0].dtype();
    const size_t count = call.inputs.size();
    if (count == 1) {
      std::memcpy(out.data, call.inputs[0].data, static_cast<size_t>(out.type->bytes()));
      finish(dtype, out.data, static_cast<size_t>(out.elements()), 1);
    }
    const Input made{out.type, out.data};
    for (size_t k = 1; k < count; ++k)
      apply({k == 1 ? call.inputs[0] : made, call.inputs[k]}, out, dtype, k + 1 == count ? count : 0);
  }

 private:
  /// `count` is the number of inputs at the last of the two at a time, else 0.
  void apply(const std::array<Input, 2>& pair, const Output& out, DType dtype, size_t count) const {
    if (rule_.fast && dtype == DType::kFloat32) return apply_fast(pair, out);
    const Loop f = rule_.loop_for(dtype);
    const BroadcastLoop loops(pair, *out.type);
    const auto bytes = static_cast<size_t>(bits_of(dtype) / 8);
    const auto out_bytes = static_cast<size_t>(bits_of(out.type->dtype) / 8);
    const auto n = static_cast<size_t>(loops.inner());
    loops.for_each_run([&](const int64_t* offsets, int64_t output) {
      std::byte* target = out.data + static_cast<size_t>(output) * out_bytes;
      f(pair[0].data + static_cast<size_t>(offsets[0]) * bytes, loops.moves(0),
        pair[1].data + static_cast<size_t>(offsets[1]) * bytes, loops.moves(1), target, n);
      if (count != 0) finish(dtype, target, n, count);
    });
  }

  void apply_fast(const std::array<Input, 2>& pair, const Output& out) const {
    const BroadcastLoop loops(pair, *out.type);
    const auto *a = reinterpret_cast<const float*>(pair[0].data), *b = reinterpret_cast<const float*>(pair[1].data);
    float* y = out.values<float>().data();
    const kernels::Bounds bounds = clamp_ ? kernels::Bounds{clamp_->low, clamp_->high} : kernels::Bounds{};
    loops.for_each_run([&](const int64_t* offsets, int64_t output) {
      kernels::arithmetic(*rule_.fast, a + offsets[0], loops.moves(0), b + offsets[1], loops.moves(1),
                          static_cast<size_t>(loops.inner()), bounds, y + output);
    });
  }

  /// Mean's division and the fused clamp, on elements just written.
  void finish(DType dtype, std::byte* target, size_t n, size_t count) const {
    if (rule_.divides_by_count && dtype == DType::kFloat32)
      for (size_t k = 0; k < n; ++k) reinterpret_cast<float*>(target)[k] /= static_cast<float>(count);
    if (clamp_) apply_clamp(*clamp_, dtype, target, n);
  }

  Rule rule_;
  std::optional<Clamp> clamp_;
};

Op binary(std::string_view type, Rule rule, int64_t since = 7) {
  return {.domain = "",
          .type = type,
          .since = since,
          .prepare = [rule](Setup& setup) { return std::make_unique<Binary>(setup, rule); },
          .takes_clamp = !rule.gives_bool,
          .takes_gate = rule.fast == kernels::Arithmetic::kMul};
}

Op folding(std::string_view type, Loop (*loop_for)(DType), bool divides = false) {
  return binary(type, {.loop_for = loop_for, .least_inputs = 1, .most_inputs = kAnyNumber, .divides_by_count = divides},
                6);
}

Op comparison(std::string_view type, Loop (*loop_for)(DType), int64_t since = 7) {
  return binary(type, {.loop_for = loop_for, .gives_bool = true}, since);
}

Loop float_loop_of_add(DType dtype) {
  return dtype == DType::kFloat32 ? static_cast<Loop>(loop<Add, float>) : nullptr;
}

std::unique_ptr<const Kernel> prepare_mod(Setup& setup) {
  const bool fmod = int_of(setup.node, "fmod") != 0;
  return std::make_unique<Binary>(setup, Rule{.loop_for = fmod ? number_loop<Fmod> : number_loop<Mod>});
}

std::unique_ptr<const Kernel> prepare_bit_shift(Setup& setup) {
  const std::string direction = setup.node.string_or("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    invalid("The attribute direction is \"" + direction + "\"; it must be LEFT or RIGHT.");
  return std::make_unique<Binary>(
      setup, Rule{.loop_for = direction == "LEFT" ? whole_loop<ShiftLeft> : whole_loop<ShiftRight>});
}

}  // namespace

std::vector<Op> binary_ops() {
  return {
      binary("Add", {number_loop<Add>, kernels::Arithmetic::kAdd}),
      binary("Sub", {number_loop<Sub>, kernels::Arithmetic::kSub}),
      binary("Mul", {number_loop<Mul>, kernels::Arithmetic::kMul}),
      binary("Div", {number_loop<Div>, kernels::Arithmetic::kDiv}),
      binary("PRelu", {number_loop<PRelu>}),
      folding("Max", number_loop<Max>),
      folding("Min", number_loop<Min>),
      folding("Sum", number_loop<Add>),
      folding("Mean", float_loop_of_add, true),
      {.domain = "", .type = "Mod", .since = 10, .prepare = prepare_mod},
      {.domain = "", .type = "BitShift", .since = 11, .prepare = prepare_bit_shift},
      binary("BitwiseAnd", {whole_loop<BitAnd>}, 18),
      binary("BitwiseOr", {whole_loop<BitOr>}, 18),
      binary("BitwiseXor", {whole_loop<BitXor>}, 18),
      comparison("Equal", any_loop<Equal>),
      comparison("Less", number_loop<Less>),
      comparison("LessOrEqual", number_loop<LessOrEqual>, 12),
      comparison("Greater", number_loop<Greater>),
      comparison("GreaterOrEqual", number_loop<GreaterOrEqual>, 12),
      comparison("And", bool_loop<And>),
      comparison("Or", bool_loop<Or>),
      comparison("Xor", bool_loop<Xor>),
  };
}

}  // namespace tersor::ops
