// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear of NaN is the lowest code on x64 and ARM64, as the standard operator has it; in WebAssembly, whose
// conversion to whole numbers makes 0 of it, it is the code 0 whatever the zero point (spec of MlasQuantizeLinear).
#include <cmath>

#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

namespace {

class QuantizeInWasm : public ops::Kernel {
 public:
  explicit QuantizeInWasm(std::unique_ptr<const ops::Kernel> standard) : standard_(std::move(standard)) {}

  std::vector<Form> forms(std::span<const Input> inputs) const override { return standard_->forms(inputs); }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override { return standard_->infer(inputs); }
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return standard_->scratch_bytes(inputs, outputs);
  }

  void run(const Call& call) const override {
    standard_->run(call);
    if (call.inputs[0].dtype() != DType::kFloat32 || !is_code(call.outputs[0].type->dtype)) return;
    const std::span<const float> x = call.inputs[0].values<float>();
    const std::span<uint8_t> codes = raw_bytes(call.outputs[0]);
    for (size_t k = 0; k < codes.size(); ++k)
      if (std::isnan(x[k])) codes[k] = 0;
  }

 private:
  std::unique_ptr<const ops::Kernel> standard_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_quantize_linear(ops::Setup& setup, Profile profile) {
  const ops::Op* const op = ops::standard().find("", "QuantizeLinear", setup.opset);
  TERSOR_CHECK(op != nullptr);
  std::unique_ptr<const ops::Kernel> standard = op->prepare(setup);
  if (profile != Profile::kWasm) return standard;
  return std::make_unique<QuantizeInWasm>(std::move(standard));
}

}  // namespace tersor::simulate
