// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest or smallest elements along an axis, best first, of equals the one that stands first. NaN counts
// as larger than everything.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/graph/attribute_defaults.h"
#include "core/ops/element_order.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/lines.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

class TopK : public Kernel {
 public:
  explicit TopK(const Setup& setup)
      : axis_(int_of(setup.node, "axis")), largest_(setup.opset < 11 || int_of(setup.node, "largest") != 0) {
    const bool as_input = setup.opset >= 10;
    require_inputs(setup, as_input ? 2 : 1, as_input ? 2 : 1);
    if (!as_input) {
      const auto* k = setup.node.attribute<int64_t>("k");
      if (k == nullptr) invalid("The attribute k is missing.");
      fixed_ = *k;
    }
  }

  std::vector<size_t> value_inputs() const override { return fixed_ ? std::vector<size_t>{} : std::vector<size_t>{1}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    with_number_type(inputs[0].dtype(), [](auto) {});
    const Shape& x = inputs[0].shape();
    const int axis = axis_of(axis_, x);
    const int64_t k = fixed_ ? *fixed_ : integer_of(inputs[1], "K");
    if (k < 0 || k > x[axis])
      invalid("The best " + std::to_string(k) + " of axis " + std::to_string(axis) + " of the shape " + x.text() +
              " are asked for.");
    std::vector<int64_t> dims = x.dims();
    dims[static_cast<size_t>(axis)] = k;
    const Shape shape(std::move(dims));
    return {{inputs[0].dtype(), shape, Layout::kPlain}, {DType::kInt64, shape, Layout::kPlain}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return inputs[0].shape()[axis_of(axis_, inputs[0].shape())] * 8;
  }

  void run(const Call& call) const override {
    const Input& input = call.inputs[0];
    const auto compare = element_order(input);
    const auto bytes = static_cast<size_t>(bits_of(input.dtype()) / 8);
    const Output& shown = call.outputs[0].present() ? call.outputs[0] : call.outputs[1];
    const int axis = axis_of(axis_, input.shape());
    const Lines from = lines_along(*input.type, axis), to = lines_along(*shown.type, axis);
    auto* values = static_cast<std::byte*>(call.outputs[0].data);
    const bool wants_indices = call.outputs.size() > 1 && call.outputs[1].present();
    int64_t* indices = wants_indices ? call.outputs[1].values<int64_t>().data() : nullptr;
    auto* order = reinterpret_cast<int64_t*>(call.scratch.data());
    for (int64_t o = 0; o < from.outer; ++o)
      for (int64_t i = 0; i < from.inner; ++i) {
        const auto place = [&](int64_t k) { return (o * from.length + k) * from.inner + i; };
        std::iota(order, order + from.length, int64_t{0});
        std::partial_sort(order, order + to.length, order + from.length, [&](int64_t a, int64_t b) {
          const int sign = compare(place(a), place(b));
          return sign == 0 ? a < b : (sign > 0) == largest_;
        });
        for (int64_t k = 0; k < to.length; ++k) {
          const int64_t at = (o * to.length + k) * to.inner + i;
          if (values != nullptr)
            std::memcpy(values + static_cast<size_t>(at) * bytes,
                        input.data + static_cast<size_t>(place(order[k])) * bytes, bytes);
          if (indices != nullptr) indices[at] = order[k];
        }
      }
  }

 private:
  int64_t axis_;
  bool largest_;
  std::optional<int64_t> fixed_;
};

}  // namespace

std::vector<Op> top_k_ops() {
  return {{.domain = "", .type = "TopK", .prepare = make_kernel<TopK>}};
}

}  // namespace tersor::ops
