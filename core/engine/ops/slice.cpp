// SPDX-License-Identifier: Apache-2.0
// Slice and Split: parts of a tensor, in whatever layout it lies.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/ops/families.h"
#include "core/ops/integer_list.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

/// Where a part begins on each axis (logical), and in which steps it goes.
struct Window {
  std::vector<int64_t> first;
  std::vector<int64_t> step;
};

/// Copies the window of `input` that fills `output`; both lie in the same layout.
void copy_window(const Input& input, const Window& window, const Output& output) {
  const int rank = input.shape().rank();
  const std::vector<int64_t> from = row_major_strides(physical_dims(*input.type));
  const std::vector<int64_t> to_dims = physical_dims(*output.type);
  const std::vector<int64_t> to = row_major_strides(to_dims);
  std::vector<CopyAxis> axes;
  int64_t offset = 0;
  for (int k = 0; k < rank; ++k) {
    const auto at = static_cast<size_t>(k);
    const auto logical = static_cast<size_t>(logical_axis(k, rank, input.type->layout));
    axes.push_back({to_dims[at], window.step[logical] * from[at], to[at]});
    offset += window.first[logical] * from[at];
  }
  if (output.elements() == 0) return;
  const auto bytes = static_cast<size_t>(bits_of(input.dtype()) / 8);
  copy_strided(input.data + static_cast<size_t>(offset) * bytes, output.data, axes, bytes);
}

class Slice : public AnyLayoutKernel {
 public:
  /// Of what `front` gives, whose other inputs come before those of this one.
  explicit Slice(const Setup& setup, std::unique_ptr<const Kernel> front = nullptr, size_t inputs = 1)
      : front_(static_cast<const Slice*>(front.release())),
        skipped_(inputs - 1),
        starts_(setup, 1, "starts"),
        ends_(setup, 2, "ends"),
        axes_(setup, 3, "axes"),
        steps_(setup, 4, "steps") {
    require_inputs(setup, 1, 5);
    if (!starts_.given() || !ends_.given()) invalid("The starts or ends are missing.");
  }

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    for (const IntegerList* list : {&starts_, &ends_, &axes_, &steps_}) list->append_to(inputs);
    for (size_t& input : inputs) input += skipped_;
    if (front_ != nullptr)
      for (const size_t input : front_->value_inputs()) inputs.push_back(input);
    return inputs;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    if (bits_of(inputs[0].dtype()) < 8)
      unsupported("The type " + std::string(name_of(inputs[0].dtype())) + " is not supported.");
    std::vector<int64_t> dims = inputs[0].shape().dims();
    window(inputs, dims);
    return {{inputs[0].dtype(), Shape(std::move(dims)), inputs[0].type->layout}};
  }

  void run(const Call& call) const override {
    std::vector<int64_t> dims = call.inputs[0].shape().dims();
    copy_window(call.inputs[0], window(call.inputs, dims), call.outputs[0]);
  }

 private:
  /// Turns `dims` from the input's into the output's.
  Window window(std::span<const Input> inputs, std::vector<int64_t>& dims) const {
    Window result = front_ != nullptr
                        ? front_->window(inputs, dims)
                        : Window{std::vector<int64_t>(dims.size(), 0), std::vector<int64_t>(dims.size(), 1)};
    inputs = inputs.subspan(skipped_);
    const std::vector<int64_t> starts = starts_.values(inputs), ends = ends_.values(inputs);
    std::vector<int64_t> axes = axes_.values(inputs), steps = steps_.values(inputs);
    if (!axes_.given())
      for (size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<int64_t>(k));
    if (!steps_.given()) steps.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
      invalid("Starts, ends, axes and steps have " + std::to_string(starts.size()) + ", " +
              std::to_string(ends.size()) + ", " + std::to_string(axes.size()) + " and " +
              std::to_string(steps.size()) + " elements; they must be as many.");
    const auto rank = static_cast<int>(dims.size());
    axes_of(axes, rank);
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto axis = static_cast<size_t>(axes[k] < 0 ? axes[k] + rank : axes[k]);
      if (steps[k] == 0) invalid("A step of 0 is not allowed.");
      const bool forward = steps[k] > 0;
      const int64_t dim = dims[axis], lowest = forward ? 0 : -1, highest = forward ? dim : dim - 1;
      // A negative place counts from the end; what lies outside is moved to the nearest end.
      const auto placed = [&](int64_t place, int64_t least) {
        return place < 0 ? std::max(place < -dim ? -1 : place + dim, least) : std::min(place, highest);
      };
      const int64_t start = starts[k] < -dim ? 0 : placed(starts[k], 0);
      const int64_t end = ends[k] < -dim ? lowest : placed(ends[k], lowest);
      const int64_t span = forward ? end - start : start - end;
      const int64_t step = std::clamp<int64_t>(steps[k], -std::max<int64_t>(dim, 1), std::max<int64_t>(dim, 1));
      const int64_t stride = forward ? step : -step;
      dims[axis] = dim == 0 || span <= 0 ? 0 : (span + stride - 1) / stride;
      result.first[axis] += start * result.step[axis];
      result.step[axis] *= step;
    }
    return result;
  }

  std::unique_ptr<const Slice> front_;
  size_t skipped_;  // inputs between input 0 and the others of this one
  IntegerList starts_, ends_, axes_, steps_;
};

class Split : public AnyLayoutKernel {
 public:
  explicit Split(const Setup& setup)
      : sizes_(setup, 1, "split"),
        axis_(setup.node.int_or("axis", 0)),
        parts_(setup.node.outputs.size()),
        uneven_(setup.opset >= 18) {
    require_inputs(setup, 1, 2);
    const bool counted = setup.node.attribute<int64_t>("num_outputs") != nullptr;
    if (uneven_ && counted == sizes_.given())
      invalid(counted ? "Both the input split and the attribute num_outputs are given; only one may be."
                      : "Neither the input split nor the attribute num_outputs is given.");
    const int64_t declared = setup.node.int_or("num_outputs", static_cast<int64_t>(parts_));
    if (declared != static_cast<int64_t>(parts_))
      invalid("The attribute num_outputs is " + std::to_string(declared) + "; the node has " + std::to_string(parts_) +
              " outputs.");
  }

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    sizes_.append_to(inputs);
    return inputs;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& from = inputs[0].shape();
    if (bits_of(inputs[0].dtype()) < 8)
      unsupported("The type " + std::string(name_of(inputs[0].dtype())) + " is not supported.");
    const int axis = axis_of(axis_, from);
    std::vector<TensorType> types;
    for (const int64_t size : sizes(inputs, from[axis])) {
      std::vector<int64_t> dims = from.dims();
      dims[static_cast<size_t>(axis)] = size;
      types.push_back({inputs[0].dtype(), Shape(std::move(dims)), inputs[0].type->layout});
    }
    return types;
  }

  void run(const Call& call) const override {
    const Shape& from = call.inputs[0].shape();
    const auto axis = static_cast<size_t>(axis_of(axis_, from));
    Window window{std::vector<int64_t>(from.dims().size(), 0), std::vector<int64_t>(from.dims().size(), 1)};
    const std::vector<int64_t> all = sizes(call.inputs, from[static_cast<int>(axis)]);
    for (size_t k = 0; k < all.size(); ++k) {
      if (k < call.outputs.size() && call.outputs[k].present()) copy_window(call.inputs[0], window, call.outputs[k]);
      window.first[axis] += all[k];
    }
  }

 private:
  std::vector<int64_t> sizes(std::span<const Input> inputs, int64_t dim) const {
    if (!sizes_.given()) {
      const auto parts = static_cast<int64_t>(parts_);
      if (!uneven_ && dim % parts != 0)
        invalid("An axis of " + std::to_string(dim) + " cannot be split into " + std::to_string(parts) +
                " equal parts, and the sizes of unequal ones are not given.");
      const int64_t size = (dim + parts - 1) / parts;
      std::vector<int64_t> sizes(parts_, size);
      sizes.back() = dim - size * (parts - 1);
      if (sizes.back() < 0)
        invalid("An axis of " + std::to_string(dim) + " cannot be split into " + std::to_string(parts) + " parts.");
      return sizes;
    }
    std::vector<int64_t> sizes = sizes_.values(inputs);
    int64_t total = 0;
    bool fits = sizes.size() == parts_;
    for (const int64_t size : sizes) {
      fits = fits && size >= 0 && size <= dim - total;
      total += fits ? size : 0;
    }
    if (!fits || total != dim)
      invalid("An axis of " + std::to_string(dim) + " cannot be split into " + text_of(sizes) + " for " +
              std::to_string(parts_) + " outputs.");
    return sizes;
  }

  IntegerList sizes_;
  int64_t axis_;
  size_t parts_;
  bool uneven_;  // the last part may be smaller
};

std::unique_ptr<const Kernel> prepare_after(Setup& setup, std::unique_ptr<const Kernel> front, size_t inputs) {
  return std::make_unique<Slice>(setup, std::move(front), inputs);
}

}  // namespace

std::vector<Op> slice_ops() {
  return {
      {.domain = "", .type = "Slice", .prepare = make_kernel<Slice>, .prepare_after = prepare_after},
      {.domain = "", .type = "Split", .since = 2, .prepare = make_kernel<Split>},
  };
}

}  // namespace tersor::ops
