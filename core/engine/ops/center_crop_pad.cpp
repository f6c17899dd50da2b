// SPDX-License-Identifier: Apache-2.0
// CenterCropPad: the middle of the input, or the input in the middle of zeros.
#include <algorithm>
#include <cstring>

#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/integer_list.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

class CenterCropPad : public Kernel {
 public:
  explicit CenterCropPad(const Setup& setup) {
    require_inputs(setup, 2, 2);
    if (const auto* axes = setup.node.attribute<std::vector<int64_t>>("axes")) axes_ = *axes;
  }

  std::vector<size_t> value_inputs() const override { return {1}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "input_data");
    std::vector<int64_t> dims = inputs[0].shape().dims();
    const std::vector<int64_t> wanted = integers_of(inputs[1], "shape");
    std::vector<int64_t> axes;
    for (int axis = 0; !axes_ && axis < inputs[0].shape().rank(); ++axis) axes.push_back(axis);
    if (axes_) axes = *axes_;
    axes_of(axes, inputs[0].shape().rank());
    if (axes.size() != wanted.size())
      invalid("The input shape is " + text_of(wanted) + " for " + std::to_string(axes.size()) + " axes.");
    for (size_t k = 0; k < axes.size(); ++k) dims[static_cast<size_t>(axis_of(axes[k], inputs[0].shape()))] = wanted[k];
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape &in = call.inputs[0].shape(), &out = call.outputs[0].shape();
    const auto bytes = static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8);
    if (out.elements() == 0) return;
    std::memset(call.outputs[0].data, 0, static_cast<size_t>(call.outputs[0].type->bytes()));
    const std::vector<int64_t> from = row_major_strides(in.dims()), to = row_major_strides(out.dims());
    int64_t first_from = 0, first_to = 0;
    std::vector<CopyAxis> axes;
    for (int k = 0; k < in.rank(); ++k) {
      const auto at = static_cast<size_t>(k);
      first_from += std::max<int64_t>(0, in[k] - out[k]) / 2 * from[at];
      first_to += std::max<int64_t>(0, out[k] - in[k]) / 2 * to[at];
      axes.push_back({std::min(in[k], out[k]), from[at], to[at]});
    }
    copy_strided(call.inputs[0].data + static_cast<size_t>(first_from) * bytes,
                 call.outputs[0].data + static_cast<size_t>(first_to) * bytes, axes, bytes);
  }

 private:
  std::optional<std::vector<int64_t>> axes_;
};

}  // namespace

std::vector<Op> center_crop_pad_ops() {
  return {{.domain = "", .type = "CenterCropPad", .since = 18, .prepare = make_kernel<CenterCropPad>}};
}

}  // namespace tersor::ops
