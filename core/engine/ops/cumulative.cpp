// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd: each element becomes the sum or product of those up to it along an axis. Fractions accumulate in
// double, whole numbers wrap around.
#include <type_traits>

#include "core/graph/attribute_defaults.h"
#include "core/ops/binary_functions.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/lines.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

class Cumulative : public Kernel {
 public:
  Cumulative(const Setup& setup, bool product)
      : product_(product),
        exclusive_(int_of(setup.node, "exclusive") != 0),
        reverse_(int_of(setup.node, "reverse") != 0) {
    require_inputs(setup, 2, 2);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    with_number_type(inputs[0].dtype(), [](auto) {});
    require_type(inputs[1], {DType::kInt64, DType::kInt32}, "axis");
    if (inputs[1].elements() != 1)
      invalid("The input axis has the shape " + inputs[1].shape().text() + "; it must be a scalar.");
    if (inputs[1].data != nullptr) axis_of(index_at(inputs[1], 0), inputs[0].shape());
    return {{inputs[0].dtype(), inputs[0].shape(), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Lines lines = lines_along(*call.inputs[0].type, axis_of(index_at(call.inputs[1], 0), call.inputs[0].shape()));
    with_number_type(call.inputs[0].dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* x = call.inputs[0].values<T>().data();
      T* y = call.outputs[0].values<T>().data();
      lines.for_each([&](int64_t first) {
        product_ ? accumulate<of_two::Mul>(lines, x + first, y + first, 1)
                 : accumulate<of_two::Add>(lines, x + first, y + first, 0);
      });
    });
  }

 private:
  template <class F, class T>
  void accumulate(const Lines& lines, const T* x, T* y, int initial) const {
    using A = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    A sum = static_cast<A>(initial);
    for (int64_t k = 0; k < lines.length; ++k) {
      const int64_t at = (reverse_ ? lines.length - 1 - k : k) * lines.inner;
      if (exclusive_) y[at] = static_cast<T>(sum);
      sum = F::of(sum, static_cast<A>(x[at]));
      if (!exclusive_) y[at] = static_cast<T>(sum);
    }
  }

  bool product_, exclusive_, reverse_;
};

Op cumulative(std::string_view type, int64_t since, bool product) {
  return {.domain = "", .type = type, .since = since, .prepare = [product](Setup& setup) {
            return std::make_unique<Cumulative>(setup, product);
          }};
}

}  // namespace

std::vector<Op> cumulative_ops() {
  return {cumulative("CumSum", 11, false), cumulative("CumProd", 26, true)};
}

}  // namespace tersor::ops
