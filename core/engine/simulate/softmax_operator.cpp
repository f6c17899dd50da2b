// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax in float, as the runtime computes them between DequantizeLinear and QuantizeLinear or after it
// the last DequantizeLinear.
#include "core/graph/attribute_defaults.h"
#include "core/ops/refuse.h"
#include "core/simulate/operator_parts.h"
#include "core/simulate/runtime_softmax.h"

namespace tersor::simulate {

namespace {

class FloatSoftmax : public ops::Kernel {
 public:
  FloatSoftmax(const ops::Setup& setup, Profile profile)
      : profile_(profile),
        logarithm_(setup.node.op_type == "LogSoftmax"),
        flattens_(setup.opset < 13),
        axis_(int_of(setup.node, "axis", setup.opset)) {
    ops::require_inputs(setup, 1, 1);
  }

  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    ops::require_type(inputs[0], {DType::kFloat32}, "input");
    lines(inputs[0].shape());
    return {*inputs[0].type};
  }

  int64_t scratch_bytes(std::span<const ops::Input> inputs, std::span<const ops::TensorType>) const override {
    return lines(inputs[0].shape()).length * static_cast<int64_t>(sizeof(float));
  }

  void run(const ops::Call& call) const override {
    const Lines l = lines(call.inputs[0].shape());
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const auto length = static_cast<size_t>(l.length);
    const std::span<float> line(reinterpret_cast<float*>(call.scratch.data()), length);
    for (int64_t o = 0; o < l.outer; ++o)
      for (int64_t i = 0; i < l.inner; ++i) {
        const int64_t first = o * l.length * l.inner + i;
        for (size_t k = 0; k < length; ++k) line[k] = x[first + static_cast<int64_t>(k) * l.inner];
        runtime_softmax(profile_, line, logarithm_, line);
        for (size_t k = 0; k < length; ++k) y[first + static_cast<int64_t>(k) * l.inner] = line[k];
      }
  }

 private:
  struct Lines {
    int64_t outer, length, inner;
  };
  Lines lines(const Shape& shape) const {
    const int rank = shape.rank();
    if (flattens_ && axis_ == rank) return {shape.elements(), 1, 1};
    const int axis = ops::axis_of(axis_, shape);
    if (flattens_) return {shape.elements(0, axis), shape.elements(axis, rank), 1};
    return {shape.elements(0, axis), shape[axis], shape.elements(axis + 1, rank)};
  }

  Profile profile_;
  bool logarithm_, flattens_;
  int64_t axis_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_softmax(ops::Setup& setup, Profile profile) {
  return std::make_unique<FloatSoftmax>(setup, profile);
}

}  // namespace tersor::simulate
