// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: y = x * a + b per channel, with a = scale / sqrt(var + epsilon) and b = bias - mean * a, computed
// in double and rounded once. In training mode mean and var are those of the input; exporters leave it where weights
// are standardized.
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/elementwise.h"
#include "core/kernels/moments.h"
#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

int64_t channels_of(const Shape& x) {
  return x.rank() > 1 ? x[1] : 1;
}

void check_inputs(std::span<const Input> inputs) {
  require_type(inputs[0], {DType::kFloat32}, "X");
  const Shape& x = inputs[0].shape();
  for (size_t k = 1; k <= 4; ++k) {
    require_type(inputs[k], {DType::kFloat32}, "of parameters");
    if (x.rank() < 1 || inputs[k].shape().rank() != 1 || inputs[k].elements() != channels_of(x))
      invalid("A parameter has the shape " + inputs[k].shape().text() + "; the input has " + x.text() + ".");
  }
}

class BatchNormalization : public AnyLayoutKernel {
 public:
  explicit BatchNormalization(Setup& setup) : epsilon_(float_of(setup.node, "epsilon")), clamp_(setup.clamp) {
    require_inputs(setup, 5, 5);
    if (setup.has_output(1)) invalid("It has several outputs, which only training mode has.");
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

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_inputs(inputs);
    return {*inputs[0].type};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return factors_.empty() ? inputs[1].elements() * 8 : 0;
  }

  void run(const Call& call) const override {
    const TensorType& type = *call.inputs[0].type;
    const int rank = type.shape.rank();
    const int64_t channels = channels_of(type.shape);
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

/// Training mode: y, and as further outputs the running mean and variance moved towards the batch's.
class BatchStatistics : public Kernel {
 public:
  explicit BatchStatistics(const Setup& setup)
      : epsilon_(float_of(setup.node, "epsilon")), momentum_(float_of(setup.node, "momentum")), clamp_(setup.clamp) {
    require_inputs(setup, 5, 5);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_inputs(inputs);
    const TensorType parameter{DType::kFloat32, inputs[3].shape(), Layout::kPlain};
    return {*inputs[0].type, parameter, parameter};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int64_t channels = channels_of(shape), batch = shape[0],
                  inner = shape.rank() > 2 ? shape.elements(2, shape.rank()) : 1;
    const auto n = static_cast<size_t>(inner);
    const float* x = call.inputs[0].values<float>().data();
    for (int64_t c = 0; c < channels; ++c) {
      const auto sum = [&](const auto& of_run) {
        double total = 0;
        for (int64_t b = 0; b < batch; ++b) total += of_run(x + (b * channels + c) * inner);
        return batch * inner == 0 ? 0.0 : total / static_cast<double>(batch * inner);
      };
      const double mean = sum([&](const float* run) { return kernels::sum_shifted(run, n, 0); });
      const double variance = sum([&](const float* run) { return kernels::sum_squares_shifted(run, n, mean); });
      const double factor = at(call, 1, c) / std::sqrt(variance + static_cast<double>(epsilon_));
      const auto a = static_cast<float>(factor), b = static_cast<float>(at(call, 2, c) - mean * factor);
      if (call.outputs[0].present()) {
        float* y = call.outputs[0].values<float>().data();
        for (int64_t k = 0; k < batch; ++k)
          for (int64_t i = (k * channels + c) * inner, end = i + inner; i < end; ++i) y[i] = x[i] * a + b;
      }
      move_towards(call, 1, c, mean);
      move_towards(call, 2, c, variance);
    }
    if (clamp_ && call.outputs[0].present())
      apply_clamp(*clamp_, DType::kFloat32, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()));
  }

 private:
  static double at(const Call& call, size_t input, int64_t c) {
    return static_cast<double>(call.inputs[input].values<float>()[static_cast<size_t>(c)]);
  }
  void move_towards(const Call& call, size_t output, int64_t c, double current) const {
    if (output >= call.outputs.size() || !call.outputs[output].present()) return;
    const auto momentum = static_cast<double>(momentum_);
    call.outputs[output].values<float>()[static_cast<size_t>(c)] =
        static_cast<float>(at(call, output + 2, c) * momentum + current * (1 - momentum));
  }

  float epsilon_, momentum_;
  std::optional<Clamp> clamp_;
};

std::unique_ptr<const Kernel> prepare(Setup& setup) {
  if (int_of(setup.node, "training_mode") != 0) return std::make_unique<BatchStatistics>(setup);
  return std::make_unique<BatchNormalization>(setup);
}

}  // namespace

std::vector<Op> batch_norm_ops() {
  return {{.domain = "", .type = "BatchNormalization", .since = 7, .prepare = prepare, .takes_clamp = true}};
}

}  // namespace tersor::ops
