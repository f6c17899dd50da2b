// SPDX-License-Identifier: Apache-2.0
// Pad: constant, edge, reflect and wrap; a negative pad cuts. Works in whatever layout the input lies.
#include <algorithm>
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/integer_list.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

enum class Mode { kConstant, kEdge, kReflect, kWrap };

Mode mode_of(const std::string& word) {
  if (word == "constant") return Mode::kConstant;
  if (word == "edge") return Mode::kEdge;
  if (word == "reflect") return Mode::kReflect;
  if (word == "wrap") return Mode::kWrap;
  invalid("The attribute mode is \"" + word + "\"; it must be constant, edge, reflect or wrap.");
}

/// The place in [0, dim) that `place`, left of 0 or right of dim - 1, repeats.
int64_t source_of(int64_t place, int64_t dim, Mode mode) {
  if (mode == Mode::kEdge || dim == 1) return std::clamp<int64_t>(place, 0, dim - 1);
  const int64_t period = mode == Mode::kWrap ? dim : 2 * (dim - 1);
  int64_t at = place % period;
  if (at < 0) at += period;
  return at < dim ? at : period - at;
}

class Pad : public AnyLayoutKernel {
 public:
  explicit Pad(const Setup& setup)
      : mode_(mode_of(string_of(setup.node, "mode"))),
        value_(float_of(setup.node, "value")),
        pads_(setup, 1, "pads"),
        axes_(setup, 3, "axes") {
    require_inputs(setup, 1, 4);
    if (!pads_.given()) invalid("The pads are missing.");
  }

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    pads_.append_to(inputs);
    axes_.append_to(inputs);
    return inputs;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& from = inputs[0].shape();
    if (bits_of(inputs[0].dtype()) < 8)
      unsupported("The type " + std::string(name_of(inputs[0].dtype())) + " is not supported.");
    if (inputs.size() > 2 && inputs[2].present()) {
      require_same_type(inputs[0], inputs[2]);
      if (inputs[2].elements() != 1)
        invalid("The constant value has the shape " + inputs[2].shape().text() + "; it must be a scalar.");
    } else if (value_ != 0 && inputs[0].dtype() != DType::kFloat32) {
      unsupported("A pad value other than 0 is supported for float32 only.");
    }
    const auto [before, after] = pads(inputs);
    std::vector<int64_t> dims;
    for (int axis = 0; axis < from.rank(); ++axis) {
      const auto k = static_cast<size_t>(axis);
      const int64_t dim = from[axis] + before[k] + after[k];
      const int64_t kept = from[axis] + std::min<int64_t>(0, before[k]) + std::min<int64_t>(0, after[k]);
      if (dim < 0 || (mode_ != Mode::kConstant && (from[axis] == 0 || (mode_ == Mode::kWrap && kept < 1)) && dim > 0))
        invalid("The pads " + std::to_string(before[k]) + " and " + std::to_string(after[k]) + " do not fit axis " +
                std::to_string(axis) + " of the shape " + from.text() + ".");
      dims.push_back(dim);
    }
    return {{inputs[0].dtype(), Shape(std::move(dims)), inputs[0].type->layout}};
  }

  void run(const Call& call) const override {
    const Input& input = call.inputs[0];
    const auto bytes = static_cast<size_t>(bits_of(input.dtype()) / 8);
    if (call.outputs[0].elements() == 0) return;
    if (mode_ == Mode::kConstant) {
      fill(call, bytes);
      if (input.elements() != 0) copy_inside(call, bytes);
    } else {
      copy_repeated(call, bytes);
    }
  }

 private:
  static constexpr int64_t kMostPad = int64_t{1} << 47;

  /// Pads before and after each logical axis.
  std::pair<std::vector<int64_t>, std::vector<int64_t>> pads(std::span<const Input> inputs) const {
    const int rank = inputs[0].shape().rank();
    const std::vector<int64_t> given = pads_.values(inputs);
    std::vector<int64_t> axes = axes_.values(inputs);
    if (!axes_.given())
      for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
    axes_of(axes, rank);
    if (given.size() != 2 * axes.size())
      invalid("The pads " + text_of(given) + " do not fit " + std::to_string(axes.size()) + " axes.");
    std::pair<std::vector<int64_t>, std::vector<int64_t>> result;
    result.first.assign(static_cast<size_t>(rank), 0);
    result.second.assign(static_cast<size_t>(rank), 0);
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto axis = static_cast<size_t>(axes[k] < 0 ? axes[k] + rank : axes[k]);
      const int64_t before = given[k], after = given[k + axes.size()];
      if (std::min(before, after) < -kMostPad || std::max(before, after) > kMostPad)
        invalid("The pads " + text_of(given) + " are out of range.");
      result.first[axis] = before;
      result.second[axis] = after;
    }
    return result;
  }

  void fill(const Call& call, size_t bytes) const {
    const bool given = call.inputs.size() > 2 && call.inputs[2].present();
    std::byte value[8] = {};
    if (given)
      std::memcpy(value, call.inputs[2].data, bytes);
    else if (call.inputs[0].dtype() == DType::kFloat32)
      std::memcpy(value, &value_, sizeof value_);
    const auto total = static_cast<size_t>(call.outputs[0].elements());
    std::byte* to = call.outputs[0].data;
    std::memcpy(to, value, bytes);
    for (size_t done = 1; done < total; done *= 2)
      std::memcpy(to + done * bytes, to, std::min(done, total - done) * bytes);
  }

  void copy_inside(const Call& call, size_t bytes) const {
    const TensorType& from = *call.inputs[0].type;
    const int rank = from.shape.rank();
    const auto [before, after] = pads(call.inputs);
    const std::vector<int64_t> dims = physical_dims(from);
    const std::vector<int64_t> source = row_major_strides(dims);
    const std::vector<int64_t> target = row_major_strides(physical_dims(*call.outputs[0].type));
    std::vector<CopyAxis> axes;
    int64_t read = 0, write = 0;
    for (int k = 0; k < rank; ++k) {
      const auto at = static_cast<size_t>(k);
      const auto logical = static_cast<size_t>(logical_axis(k, rank, from.layout));
      const int64_t cut_before = std::max<int64_t>(0, -before[logical]),
                    cut_after = std::max<int64_t>(0, -after[logical]);
      axes.push_back({std::max<int64_t>(0, dims[at] - cut_before - cut_after), source[at], target[at]});
      read += cut_before * source[at];
      write += std::max<int64_t>(0, before[logical]) * target[at];
    }
    for (const CopyAxis& axis : axes)
      if (axis.length == 0) return;
    copy_strided(call.inputs[0].data + static_cast<size_t>(read) * bytes,
                 call.outputs[0].data + static_cast<size_t>(write) * bytes, axes, bytes);
  }

  void copy_repeated(const Call& call, size_t bytes) const {
    const TensorType& from = *call.inputs[0].type;
    const int rank = from.shape.rank();
    const auto [before, after] = pads(call.inputs);
    const std::vector<int64_t> dims = physical_dims(from), to = physical_dims(*call.outputs[0].type);
    const std::vector<int64_t> strides = row_major_strides(dims);
    std::vector<std::vector<int64_t>> offsets(dims.size());  // by axis and place in the output
    for (int k = 0; k < rank; ++k) {
      const auto at = static_cast<size_t>(k);
      const auto logical = static_cast<size_t>(logical_axis(k, rank, from.layout));
      // What is cut off does not come around again.
      const int64_t cut = mode_ == Mode::kWrap ? std::max<int64_t>(0, -before[logical]) : 0;
      const int64_t left = mode_ == Mode::kWrap ? dims[at] - cut - std::max<int64_t>(0, -after[logical]) : dims[at];
      for (int64_t place = 0; place < to[at]; ++place)
        offsets[at].push_back((cut + source_of(place - before[logical] - cut, left, mode_)) * strides[at]);
    }
    std::vector<size_t> index(dims.size(), 0);
    std::byte* target = call.outputs[0].data;
    for (int64_t left = call.outputs[0].elements(); left > 0; --left, target += bytes) {
      int64_t offset = 0;
      for (size_t k = 0; k < index.size(); ++k) offset += offsets[k][index[k]];
      std::memcpy(target, call.inputs[0].data + static_cast<size_t>(offset) * bytes, bytes);
      for (size_t k = index.size(); k-- > 0;) {
        if (++index[k] < offsets[k].size()) break;
        index[k] = 0;
      }
    }
  }

  Mode mode_;
  float value_;
  IntegerList pads_, axes_;
};

}  // namespace

std::vector<Op> pad_ops() {
  return {{.domain = "", .type = "Pad", .since = 2, .prepare = make_kernel<Pad>}};
}

}  // namespace tersor::ops
