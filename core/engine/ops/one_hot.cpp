// SPDX-License-Identifier: Apache-2.0
// OneHot: an axis more, with one of two values where it meets the index and the other elsewhere.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

/// Fractions are cut; what no int64 holds is -2^63, which is outside every axis.
template <class T>
int64_t whole(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!(std::fabs(x) < static_cast<T>(9e18))) return std::numeric_limits<int64_t>::min();
  }
  return static_cast<int64_t>(x);
}

class OneHot : public Kernel {
 public:
  explicit OneHot(const Setup& setup) : axis_(int_of(setup.node, "axis")) { require_inputs(setup, 3, 3); }

  std::vector<size_t> value_inputs() const override { return {1}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    with_number_type(inputs[0].dtype(), [](auto) {});
    require_whole_bytes(inputs[2], "values");
    if (inputs[1].elements() != 1)
      invalid("The input depth has the shape " + inputs[1].shape().text() + "; it must be a scalar.");
    if (inputs[2].elements() != 2)
      invalid("The input values has the shape " + inputs[2].shape().text() + "; it must hold two elements.");
    int64_t depth = 0;
    with_number_type(inputs[1].dtype(), [&](auto zero) { depth = whole(inputs[1].values<decltype(zero)>()[0]); });
    if (depth < 0) invalid("The depth is " + std::to_string(depth) + ".");
    std::vector<int64_t> dims = inputs[0].shape().dims();
    dims.insert(dims.begin() + place(inputs[0].shape()), depth);
    return {{inputs[2].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& picks = call.inputs[0].shape();
    const int axis = place(picks);
    const int64_t depth = call.outputs[0].shape()[axis], inner = picks.elements(axis, picks.rank());
    const auto bytes = static_cast<size_t>(bits_of(call.inputs[2].dtype()) / 8);
    const std::byte *off = call.inputs[2].data, *on = off + bytes;
    for (int64_t k = 0; k < call.outputs[0].elements(); ++k)
      std::memcpy(call.outputs[0].data + static_cast<size_t>(k) * bytes, off, bytes);
    with_number_type(call.inputs[0].dtype(), [&](auto zero) {
      const auto indices = call.inputs[0].values<decltype(zero)>();
      for (int64_t k = 0; k < picks.elements(); ++k) {
        const int64_t index = whole(indices[static_cast<size_t>(k)]);
        if (index < -depth || index >= depth) continue;
        const int64_t at = (k / inner * depth + (index < 0 ? index + depth : index)) * inner + k % inner;
        std::memcpy(call.outputs[0].data + static_cast<size_t>(at) * bytes, on, bytes);
      }
    });
  }

 private:
  /// Where the new axis stands.
  int place(const Shape& indices) const {
    const int rank = indices.rank() + 1;
    if (axis_ < -rank || axis_ >= rank)
      invalid("The axis " + std::to_string(axis_) + " is outside an output of rank " + std::to_string(rank) + ".");
    return static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
  }

  int64_t axis_;
};

}  // namespace

std::vector<Op> one_hot_ops() {
  return {{.domain = "", .type = "OneHot", .since = 9, .prepare = make_kernel<OneHot>}};
}

}  // namespace tersor::ops
