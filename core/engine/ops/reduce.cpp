// SPDX-License-Identifier: Apache-2.0
// The Reduce family. Fractions are accumulated in double, whole numbers in int64, each output element over its inputs
// in memory order (sums of neighbours in eight parts), and rounded once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/integer_list.h"
#include "core/ops/reduced.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

/// One reduction: acc starts at `initial`, takes each element by `take`, and ends by `end` with the number of elements.
template <class A>
struct Reduction {
  A initial;
  A (*take)(A acc, A x);
  A (*end)(A acc, int64_t count);
};

enum class Kind { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum };

template <class A>
A keep(A acc, int64_t) {
  return acc;
}

/// Whole numbers wrap around.
template <class A>
A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class A>
A times(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <class A>
A magnitude(A x) {
  return x < 0 ? times(x, A(-1)) : x;
}

/// What no whole number holds becomes the lowest one, as x64 converts.
template <class A>
A from_double(double x) {
  if constexpr (std::is_floating_point_v<A>) {
    return static_cast<A>(x);
  } else {
    const double end = std::ldexp(1.0, std::numeric_limits<A>::digits);
    return x >= -end && x < end ? static_cast<A>(x) : std::numeric_limits<A>::lowest();
  }
}

template <class A, class T>
Reduction<A> reduction_of(Kind kind) {
  constexpr bool kFraction = std::is_floating_point_v<T>;
  using Limits = std::numeric_limits<T>;
  switch (kind) {
    case Kind::kSum:
      return {0, [](A acc, A x) -> A { return plus(acc, x); }, keep<A>};
    case Kind::kMean:
      return {0, [](A acc, A x) -> A { return plus(acc, x); },
              [](A acc, int64_t n) -> A { return n == 0 ? acc : acc / static_cast<A>(n); }};
    case Kind::kMax:
      return {static_cast<A>(kFraction ? -Limits::infinity() : Limits::lowest()),
              [](A acc, A x) -> A { return x <= acc || acc != acc ? acc : x; }, keep<A>};
    case Kind::kMin:
      return {static_cast<A>(kFraction ? Limits::infinity() : Limits::max()),
              [](A acc, A x) -> A { return x >= acc || acc != acc ? acc : x; }, keep<A>};
    case Kind::kProd:
      return {1, [](A acc, A x) -> A { return times(acc, x); }, keep<A>};
    case Kind::kL1:
      return {0, [](A acc, A x) -> A { return plus(acc, magnitude(x)); }, keep<A>};
    case Kind::kL2:
      return {0, [](A acc, A x) -> A { return plus(acc, times(x, x)); },
              [](A acc, int64_t) -> A { return from_double<A>(std::sqrt(static_cast<double>(acc))); }};
    case Kind::kLogSum:
      return {0, [](A acc, A x) -> A { return plus(acc, x); },
              [](A acc, int64_t) -> A { return from_double<A>(kernels::natural_logarithm(static_cast<double>(acc))); }};
    case Kind::kSumSquare:
      break;
  }
  return {0, [](A acc, A x) -> A { return plus(acc, times(x, x)); }, keep<A>};
}

/// Of fractions eight sums side by side, for none to wait for the one before.
template <class A, class T>
A sum_of(const T* x, int64_t count) {
  constexpr int64_t kSums = std::is_floating_point_v<T> ? 8 : 1;
  A sums[kSums] = {};
  int64_t k = 0;
  for (; k + kSums <= count; k += kSums)
    for (int64_t j = 0; j < kSums; ++j) sums[j] = plus(sums[j], static_cast<A>(x[k + j]));
  for (; k < count; ++k) sums[k % kSums] = plus(sums[k % kSums], static_cast<A>(x[k]));
  for (int64_t half = kSums / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) sums[j] = plus(sums[j], sums[j + half]);
  return sums[0];
}

class Reduce : public Kernel {
 public:
  Reduce(const Setup& setup, Kind kind)
      : kind_(kind),
        axes_(setup, 1, "axes"),
        keep_dims_(int_of(setup.node, "keepdims") != 0),
        noop_(int_of(setup.node, "noop_with_empty_axes") != 0) {
    require_inputs(setup, 1, 2);
  }

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    axes_.append_to(inputs);
    return inputs;
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    if (reduced_type(*inputs[0].type, axes(inputs), keep_dims_)) forms[0].layout = inputs[0].type->layout;
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(
        inputs[0],
        {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint8, DType::kInt8, DType::kBool},
        "data");
    return {*reduced_type(*inputs[0].type, axes(inputs), keep_dims_)};
  }

  int64_t scratch_bytes(std::span<const Input>, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * 8;
  }

  void run(const Call& call) const override {
    switch (call.inputs[0].dtype()) {
      case DType::kFloat32:
        return run_as<float, double>(call);
      case DType::kFloat64:
        return run_as<double, double>(call);
      case DType::kInt32:
        return run_as<int32_t, int64_t>(call);
      case DType::kInt64:
        return run_as<int64_t, int64_t>(call);
      case DType::kInt8:
        return run_as<int8_t, int64_t>(call);
      case DType::kBool:
        return run_as<bool, int64_t>(call);
      default:
        return run_as<uint8_t, int64_t>(call);
    }
  }

 protected:
  std::vector<int> axes(std::span<const Input> inputs) const {
    const int rank = inputs[0].shape().rank();
    std::vector<int64_t> given = axes_.values(inputs);
    if (given.empty() && !noop_)
      for (int axis = 0; axis < rank; ++axis) given.push_back(axis);
    return axes_of(given, rank);
  }

 private:
  template <class T, class A>
  void run_as(const Call& call) const {
    const Reduction<A> rule = reduction_of<A, T>(kind_);
    const auto results = static_cast<size_t>(call.outputs[0].elements());
    auto* acc = reinterpret_cast<A*>(call.scratch.data());
    std::fill_n(acc, results, rule.initial);
    const auto* x = reinterpret_cast<const T*>(call.inputs[0].data);
    const ReducedLoop loop(*call.inputs[0].type, axes(call.inputs));
    if (kind_ == Kind::kSum || kind_ == Kind::kMean)
      loop.for_each_run([&](int64_t from, int64_t to, int64_t count, bool moves) {
        if (moves)
          for (int64_t k = 0; k < count; ++k) acc[to + k] = plus(acc[to + k], static_cast<A>(x[from + k]));
        else
          acc[to] = plus(acc[to], sum_of<A>(x + from, count));
      });
    else
      loop.for_each_run([&](int64_t from, int64_t to, int64_t count, bool moves) {
        for (int64_t k = 0; k < count; ++k) {
          A& one = acc[to + (moves ? k : 0)];
          one = rule.take(one, static_cast<A>(x[from + k]));
        }
      });
    const int64_t each = results == 0 ? 0 : call.inputs[0].elements() / static_cast<int64_t>(results);
    auto* out = reinterpret_cast<T*>(call.outputs[0].data);
    for (size_t k = 0; k < results; ++k) out[k] = static_cast<T>(rule.end(acc[k], each));
  }

  Kind kind_;
  IntegerList axes_;
  bool keep_dims_;
  bool noop_;
};

/// log(sum(exp(x))), computed as most + log(sum(exp(x - most))) with the largest element `most`.
class ReduceLogSumExp : public Reduce {
 public:
  explicit ReduceLogSumExp(const Setup& setup) : Reduce(setup, Kind::kMax) {}

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "data");
    return Reduce::infer(inputs);
  }

  int64_t scratch_bytes(std::span<const Input>, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * 16;
  }

  void run(const Call& call) const override {
    Reduce::run(call);  // the largest elements, left in the first half of the scratch
    const auto results = static_cast<size_t>(call.outputs[0].elements());
    double* most = reinterpret_cast<double*>(call.scratch.data());
    double* sums = most + results;
    std::fill_n(sums, results, 0.0);
    const float* x = call.inputs[0].values<float>().data();
    ReducedLoop(*call.inputs[0].type, axes(call.inputs))
        .for_each_run([&](int64_t from, int64_t to, int64_t count, bool moves) {
          for (int64_t k = 0; k < count; ++k) {
            const int64_t at = to + (moves ? k : 0);
            const double below = static_cast<double>(x[from + k]) - most[at];
            sums[at] += kernels::exponential(below == below ? below : 0.0);  // infinity minus itself counts as nothing
          }
        });
    float* out = call.outputs[0].values<float>().data();
    for (size_t k = 0; k < results; ++k) out[k] = static_cast<float>(most[k] + kernels::natural_logarithm(sums[k]));
  }
};

/// ArgMax and ArgMin: the index of the first (or last) extreme along an axis.
class ArgExtreme : public Kernel {
 public:
  ArgExtreme(const Setup& setup, bool largest)
      : largest_(largest),
        axis_(int_of(setup.node, "axis")),
        keep_dims_(int_of(setup.node, "keepdims") != 0),
        last_(int_of(setup.node, "select_last_index") != 0) {
    require_inputs(setup, 1, 1);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    if (reduced_type(*inputs[0].type, {axis_of(axis_, inputs[0].shape())}, keep_dims_))
      forms[0].layout = inputs[0].type->layout;
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0],
                 {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint8, DType::kInt8}, "data");
    const int axis = axis_of(axis_, inputs[0].shape());
    TensorType type = *reduced_type(*inputs[0].type, {axis}, keep_dims_);
    if (inputs[0].shape()[axis] == 0 && type.shape.elements() != 0)
      invalid("The axis " + std::to_string(axis) + " of the shape " + inputs[0].shape().text() + " is empty.");
    type.dtype = DType::kInt64;
    return {type};
  }

  void run(const Call& call) const override {
    switch (call.inputs[0].dtype()) {
      case DType::kFloat32:
        return run_as<float>(call);
      case DType::kFloat64:
        return run_as<double>(call);
      case DType::kInt32:
        return run_as<int32_t>(call);
      case DType::kInt64:
        return run_as<int64_t>(call);
      case DType::kInt8:
        return run_as<int8_t>(call);
      default:
        return run_as<uint8_t>(call);
    }
  }

 private:
  template <class T>
  void run_as(const Call& call) const {
    const TensorType& type = *call.inputs[0].type;
    const int rank = type.shape.rank(), axis = physical_axis(axis_of(axis_, type.shape), rank, type.layout);
    const Shape lying(physical_dims(type));
    const int64_t outer = lying.elements(0, axis), dim = lying[axis], inner = lying.elements(axis + 1, rank);
    const T* x = call.inputs[0].values<T>().data();
    int64_t* out = call.outputs[0].values<int64_t>().data();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const T* line = x + o * dim * inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < dim; ++k) {
          const T now = line[k * inner], then = line[best * inner];
          if (largest_ ? now > then : now < then) best = k;
          if (last_ && now == then) best = k;
        }
        out[o * inner + i] = best;
      }
  }

  bool largest_;
  int64_t axis_;
  bool keep_dims_, last_;
};

Op reduce(std::string_view type, Kind kind) {
  return {
      .domain = "", .type = type, .prepare = [kind](Setup& setup) { return std::make_unique<Reduce>(setup, kind); }};
}

Op arg(std::string_view type, bool largest) {
  return {.domain = "", .type = type, .prepare = [largest](Setup& setup) {
            return std::make_unique<ArgExtreme>(setup, largest);
          }};
}

}  // namespace

std::vector<Op> reduce_ops() {
  return {reduce("ReduceSum", Kind::kSum),
          reduce("ReduceMean", Kind::kMean),
          reduce("ReduceMax", Kind::kMax),
          reduce("ReduceMin", Kind::kMin),
          reduce("ReduceProd", Kind::kProd),
          reduce("ReduceL1", Kind::kL1),
          reduce("ReduceL2", Kind::kL2),
          reduce("ReduceSumSquare", Kind::kSumSquare),
          reduce("ReduceLogSum", Kind::kLogSum),
          {.domain = "", .type = "ReduceLogSumExp", .prepare = make_kernel<ReduceLogSumExp>},
          arg("ArgMax", true),
          arg("ArgMin", false)};
}

}  // namespace tersor::ops
