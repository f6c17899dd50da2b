// SPDX-License-Identifier: Apache-2.0
// Trainable quantizers of even steps: POWER_OF_TWO, SYMMETRIC and UNIFORM, of weights and of activations, with one
// range or one per channel. What a range is made of are variables: "threshold" t, or "range_min" a and "range_max" b.
//   y = scale * (rne(x / scale) within [low, high]), scale and ends as core/quant has them for the range:
//   POWER_OF_TWO takes the least power of two from t on, UNIFORM the range from a to b with 0 in it
// Derivatives by the variables, with dy/dscale of step_slopes.h, N = 2^n_bits - 1 and g the gradient scale:
//   dy/dt = g dy/dscale dscale/dt;  POWER_OF_TWO: its exponent's rounding lets the gradient pass, a factor of 2^k / t
//   dy/da = g (-rest / N within, 1 below, 0 above),  dy/db = g (rest / N within, 0 below, 1 above)
// A variable that has left its limits (t below min_threshold, a above 0, b below 0) gets no derivative that would take
// it further.
#pragma once

#include <cstdint>
#include <vector>

#include "core/quant/even_steps.h"
#include "core/trainable/base_trainable_quantizer.h"

namespace tersor::trainable {

/// How a class of them learns.
struct StepRule {
  bool range_passes = false;    // dy/dx is 1 beyond the range as well
  bool trains_range = true;     // else the variables stay as they are
  bool scales_gradient = true;  // g is lsq_gradient_scale(), else 1
};

/// 1 / sqrt(q_max * count), which makes steps of a threshold as large as those of weights. `count`: of a weight the
/// values that share the range, of an activation those of one sample. Error kInvalidArgument below 1. Source: LSQ,
/// section 2.2.
double lsq_gradient_scale(const quant::IntegerGrid& grid, int64_t count);

class StepQuantizer : public BaseTrainableQuantizer {
 public:
  const quant::IntegerGrid& grid() const { return grid_; }

 protected:
  template <class Config>
  StepQuantizer(const QuantizerMark& mark, Config config, bool freeze_quant_params, StepRule rule)
      : BaseTrainableQuantizer(mark, std::move(config), freeze_quant_params), rule_(rule) {}

  void initialize(std::span<const float> values, const Shape& shape) override;
  void quantize(std::span<const float> inputs, std::span<float> outputs, bool training) override;
  void differentiate(std::span<const float> inputs, std::span<const float> by_output,
                     std::span<float> by_input) override;
  std::unique_ptr<InferableQuantizer> to_inferable() const override;

  /// The steps for the variables as they are now.
  const quant::EvenSteps& update_steps();
  quant::ChannelBlocks blocks_for(size_t values) const;

 private:
  struct Sums {
    double rest = 0, below = 0, above = 0;  // of derivatives by the output, times these of StepSlopes
  };

  bool is_uniform() const { return settings().method == quant::QuantizationMethod::kUniform; }
  quant::Range range(size_t channel) const;
  void sum_slopes(std::span<const float> inputs, std::span<const float> by_output, std::span<float> by_input);
  void add_to_variables();

  StepRule rule_;
  const quant::Quantizer* quantizer_ = nullptr;
  quant::IntegerGrid grid_;
  std::optional<int> axis_;
  quant::ChannelBlocks blocks_;  // of the shape at initialization
  double gradient_scale_ = 1;
  Variable *low_ = nullptr, *high_ = nullptr;  // range_min and range_max; or none, and the threshold
  quant::EvenSteps steps_;
  std::vector<Sums> sums_;
};

}  // namespace tersor::trainable
