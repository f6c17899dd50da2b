// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and SpaceToDepth: blocks of channels become blocks of pixels and back, in whatever layout.
#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

class SpaceDepth : public Kernel {
 public:
  SpaceDepth(const Setup& setup, bool to_space) : to_space_(to_space), block_(setup.node.int_or("blocksize", 0)) {
    require_inputs(setup, 1, 1);
    if (block_ < 1 || block_ > 1 << 20) invalid("The attribute blocksize is " + std::to_string(block_) + ".");
    const std::string mode = string_of(setup.node, "mode");
    if (mode != "DCR" && mode != "CRD") invalid("The attribute mode is \"" + mode + "\"; it must be DCR or CRD.");
    channels_first_ = mode == "CRD";
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_rank(inputs[0], 4, "input");
    if (bits_of(inputs[0].dtype()) < 8)
      unsupported("The type " + std::string(name_of(inputs[0].dtype())) + " is not supported.");
    const Shape& s = inputs[0].shape();
    const bool fits = to_space_ ? s[1] % (block_ * block_) == 0 : s[2] % block_ == 0 && s[3] % block_ == 0;
    if (!fits) invalid("Blocks of " + std::to_string(block_) + " do not fit the shape " + s.text() + ".");
    const Shape to = to_space_ ? Shape{s[0], s[1] / (block_ * block_), s[2] * block_, s[3] * block_}
                               : Shape{s[0], s[1] * block_ * block_, s[2] / block_, s[3] / block_};
    return {{inputs[0].dtype(), to, inputs[0].type->layout}};
  }

  void run(const Call& call) const override {
    const TensorType &in = *call.inputs[0].type, &out = *call.outputs[0].type;
    const TensorType &deep = to_space_ ? in : out, &wide = to_space_ ? out : in;
    const std::vector<int64_t> d = logical_strides(deep), w = logical_strides(wide);
    const int64_t channels = wide.shape[1], block_step = channels_first_ ? 1 : channels;
    const int64_t channel_step = channels_first_ ? block_ * block_ : 1;
    // Axes: batch, channel, row, column, row within the block, column within the block.
    const int64_t lengths[6] = {wide.shape[0], channels, deep.shape[2], deep.shape[3], block_, block_};
    const int64_t deep_steps[6] = {d[0], d[1] * channel_step,        d[2],
                                   d[3], d[1] * block_step * block_, d[1] * block_step};
    const int64_t wide_steps[6] = {w[0], w[1], w[2] * block_, w[3] * block_, w[2], w[3]};
    std::vector<CopyAxis> axes;
    for (size_t k = 0; k < 6; ++k)
      axes.push_back(to_space_ ? CopyAxis{lengths[k], deep_steps[k], wide_steps[k]}
                               : CopyAxis{lengths[k], wide_steps[k], deep_steps[k]});
    copy_strided(call.inputs[0].data, call.outputs[0].data, axes, static_cast<size_t>(bits_of(in.dtype) / 8));
  }

 private:
  /// Steps in memory of N, C, H, W.
  static std::vector<int64_t> logical_strides(const TensorType& type) {
    const std::vector<int64_t> lying = row_major_strides(physical_dims(type));
    std::vector<int64_t> strides;
    for (int axis = 0; axis < 4; ++axis)
      strides.push_back(lying[static_cast<size_t>(physical_axis(axis, 4, type.layout))]);
    return strides;
  }

  bool to_space_;
  int64_t block_;
  bool channels_first_ = false;
};

}  // namespace

std::vector<Op> space_ops() {
  return {
      {.domain = "",
       .type = "DepthToSpace",
       .prepare = [](Setup& setup) { return std::make_unique<SpaceDepth>(setup, true); }},
      {.domain = "",
       .type = "SpaceToDepth",
       .prepare = [](Setup& setup) { return std::make_unique<SpaceDepth>(setup, false); }},
  };
}

}  // namespace tersor::ops
