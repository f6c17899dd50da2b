// SPDX-License-Identifier: Apache-2.0
#include "core/ops/broadcast.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

/// Joins its inputs along one axis, in the layout that costs the fewest conversions.
class Concat : public Kernel {
 public:
  explicit Concat(const Setup& setup) {
    require_inputs(setup, 1, kAnyNumber);
    const auto* axis = setup.node.attribute<int64_t>("axis");
    if (axis == nullptr) invalid("The attribute axis is missing.");
    axis_ = *axis;
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    const Layout layout = shared_layout(inputs, inputs[0].shape().rank());
    for (size_t k = 0; k < forms.size(); ++k)
      if (inputs[k].shape().rank() == inputs[0].shape().rank()) forms[k].layout = layout;
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& first = inputs[0].shape();
    const int axis = axis_of(axis_, first);
    if (bits_of(inputs[0].dtype()) < 8)
      unsupported("The type " + std::string(name_of(inputs[0].dtype())) + " is not supported.");
    int64_t total = 0;
    for (const Input& input : inputs) {
      require_same_type(inputs[0], input);
      bool fits = input.shape().rank() == first.rank();
      for (int k = 0; fits && k < first.rank(); ++k) fits = k == axis || input.shape()[k] == first[k];
      if (!fits)
        invalid("The shapes " + first.text() + " and " + input.shape().text() + " cannot be joined along axis " +
                std::to_string(axis) + ".");
      total += input.shape()[axis];
    }
    std::vector<int64_t> dims = first.dims();
    dims[static_cast<size_t>(axis)] = total;
    return {{inputs[0].dtype(), Shape(std::move(dims)), inputs[0].type->layout}};
  }

  std::optional<size_t> alias(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return inputs.size() == 1 ? std::optional<size_t>(0) : std::nullopt;
  }

  void run(const Call& call) const override {
    const TensorType& to = *call.outputs[0].type;
    const int rank = to.shape.rank();
    const auto axis = static_cast<size_t>(physical_axis(axis_of(axis_, to.shape), rank, to.layout));
    const std::vector<int64_t> strides = row_major_strides(physical_dims(to));
    const auto bytes = static_cast<size_t>(bits_of(to.dtype) / 8);
    int64_t offset = 0;
    for (const Input& input : call.inputs) {
      const std::vector<int64_t> dims = physical_dims(*input.type);
      const std::vector<int64_t> from = row_major_strides(dims);
      std::vector<CopyAxis> axes;
      for (size_t k = 0; k < dims.size(); ++k) axes.push_back({dims[k], from[k], strides[k]});
      copy_strided(input.data, call.outputs[0].data + static_cast<size_t>(offset) * bytes, axes, bytes);
      offset += dims[axis] * strides[axis];
    }
  }

 private:
  int64_t axis_ = 0;
};

}  // namespace

std::vector<Op> concat_ops() {
  return {{.domain = "", .type = "Concat", .since = 4, .prepare = make_kernel<Concat>}};
}

}  // namespace tersor::ops
