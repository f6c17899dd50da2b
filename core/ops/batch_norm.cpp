// SPDX-License-Identifier: Apache-2.0
// BatchNormalization outside training: y = x * a + b per channel, with a = scale / sqrt(var + epsilon) and
// b = bias - mean * a, computed in double and rounded once.
#include <cmath>

#include "core/kernels/elementwise.h"
#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

class BatchNormalization : public Kernel {
 public:
  explicit BatchNormalization(Setup& setup) : epsilon_(setup.node.float_or("epsilon", 1e-5f)), clamp_(setup.clamp) {
    require_inputs(setup, 5, 5);
    if (setup.node.int_or("training_mode", 0) != 0 || setup.has_output(1))
      unsupported("BatchNormalization in training mode is not supported.", "Export the model in inference mode.");
    std::vector<std::vector<float>> parameters;
    for (size_t k = 1; k <= 4; ++k) {
      const Tensor* constant = setup.constant(k);
      if (constant == nullptr || constant->dtype() != DType::kFloat32) return;
      const std::vector<double> values = constant->to_doubles();
      parameters.emplace_back(values.begin(), values.end());
      if (parameters.back().size() != parameters[0].size()) return;  // infer() says what is wrong
    }
    if (parameters[0].empty()) return;
    factors_.resize(parameters[0].size() * 2);
    combine(parameters[0].data(), parameters[1].data(), parameters[2].data(), parameters[3].data(),
            parameters[0].size(), factors_.data());
    for (size_t k = 1; k <= 4; ++k) setup.absorb(k);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    forms[0].layout = inputs[0].type->layout;
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    const Shape& x = inputs[0].shape();
    const int64_t channels = x.rank() > 1 ? x[1] : 1;
    for (size_t k = 1; k <= 4; ++k) {
      require_type(inputs[k], {DType::kFloat32}, "of parameters");
      if (x.rank() < 1 || inputs[k].shape().rank() != 1 || inputs[k].elements() != channels)
        invalid("A parameter has the shape " + inputs[k].shape().text() + "; the input has " + x.text() + ".");
    }
    return {*inputs[0].type};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return factors_.empty() ? inputs[1].elements() * 8 : 0;
  }

  void run(const Call& call) const override {
    const TensorType& type = *call.inputs[0].type;
    const int rank = type.shape.rank();
    const int64_t channels = rank > 1 ? type.shape[1] : 1;
    const float* factors = factors_.data();
    if (factors_.empty()) {
      auto* fresh = reinterpret_cast<float*>(call.scratch.data());
      const auto values = [&](size_t k) { return call.inputs[k].values<float>().data(); };
      combine(values(1), values(2), values(3), values(4), static_cast<size_t>(channels), fresh);
      factors = fresh;
    }
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    if (channels == 0 || type.shape.elements() == 0) return;
    if (type.layout == Layout::kChannelsLast || rank <= 2) {
      const kernels::Bounds bounds = clamp_ ? kernels::Bounds{clamp_->low, clamp_->high} : kernels::Bounds{};
      return kernels::scale_channels(x, static_cast<size_t>(type.shape.elements() / channels),
                                     static_cast<size_t>(channels), factors, factors + channels, bounds, y);
    }
    const int64_t inner = type.shape.elements(2, rank);
    for (int64_t n = 0; n < type.shape[0]; ++n)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t k = 0; k < inner; ++k, ++x, ++y) *y = *x * factors[c] + factors[channels + c];
    if (clamp_)
      apply_clamp(*clamp_, DType::kFloat32, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()));
  }

 private:
  /// factors: a of every channel, then b.
  void combine(const float* scale, const float* bias, const float* mean, const float* variance, size_t channels,
               float* factors) const {
    for (size_t c = 0; c < channels; ++c) {
      const double a =
          static_cast<double>(scale[c]) / std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(epsilon_));
      factors[c] = static_cast<float>(a);
      factors[channels + c] = static_cast<float>(static_cast<double>(bias[c]) - static_cast<double>(mean[c]) * a);
    }
  }

  float epsilon_;
  std::optional<Clamp> clamp_;
  std::vector<float> factors_;
};

}  // namespace

std::vector<Op> batch_norm_ops() {
  return {{.domain = "",
           .type = "BatchNormalization",
           .since = 7,
           .prepare = [](Setup& setup) { return std::make_unique<BatchNormalization>(setup); },
           .takes_clamp = true}};
}

}  // namespace tersor::ops
