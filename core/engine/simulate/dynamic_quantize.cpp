// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/dynamic_quantize.h"

#include "core/ops/refuse.h"
#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

namespace {

/// Outputs: the codes, their scale, their zero point.
class DynamicQuantizeLinear : public ops::Kernel {
 public:
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    ops::require_type(inputs[0], {DType::kFloat32}, "x");
    return {{DType::kUint8, inputs[0].shape()}, {DType::kFloat32, Shape{}}, {DType::kUint8, Shape{}}};
  }

  void run(const ops::Call& call) const override {
    const auto x = call.inputs[0].values<float>();
    const Grid grid = dynamic_grid(x);
    const auto wanted = [&](size_t k) { return k < call.outputs.size() && call.outputs[k].present(); };
    if (wanted(0)) {
      const auto y = raw_bytes(call.outputs[0]);
      for (size_t i = 0; i < x.size(); ++i) y[i] = quantize(x[i], grid);
    }
    if (wanted(1)) call.outputs[1].values<float>()[0] = grid.scale;
    if (wanted(2)) call.outputs[2].values<uint8_t>()[0] = static_cast<uint8_t>(grid.zero_point);
  }
};

}  // namespace

Grid dynamic_grid(std::span<const float> values) {
  float least = 0, most = 0;
  for (float value : values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const float scale = most == least ? 1.0f : (most - least) / 255.0f;
  const float zero_point = 0.0f - least / scale;
  const float bounded = zero_point >= 0 ? std::min(zero_point, 255.0f) : 0.0f;
  return {scale, static_cast<int32_t>(round_half_even(bounded)), false};
}

std::unique_ptr<const ops::Kernel> prepare_dynamic_quantize_linear(ops::Setup& setup, Profile) {
  ops::require_inputs(setup, 1, 1);
  return std::make_unique<DynamicQuantizeLinear>();
}

}  // namespace tersor::simulate
