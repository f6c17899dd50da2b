// SPDX-License-Identifier: Apache-2.0
// The trainable quantizers that come with Tersor, one file of this folder for each identifier.
#pragma once

#include "core/trainable/soft_rounding.h"
#include "core/trainable/step_quantizer.h"

namespace tersor::trainable {

/// Straight through: rounding and range let the gradient pass to the weights, whose thresholds stay as they are.
class STEWeightQATQuantizer : public StepQuantizer {
 public:
  static const QuantizerMark kMark;
  explicit STEWeightQATQuantizer(TrainableQuantizerWeightsConfig config, bool freeze_quant_params = false);
};

/// The same for activations, whose thresholds learn. (MCT's derivative by a threshold has the wrong sign beyond the
/// range, for it lets the range pass there as well; here it is that of the values.)
class STEActivationQATQuantizer : public StepQuantizer {
 public:
  static const QuantizerMark kMark;
  explicit STEActivationQATQuantizer(TrainableQuantizerActivationConfig config, bool freeze_quant_params = false);
};

/// Learned step size (Esser et al. 2020): thresholds or ranges learn together with the weights.
class LSQWeightQATQuantizer : public StepQuantizer {
 public:
  static const QuantizerMark kMark;
  explicit LSQWeightQATQuantizer(TrainableQuantizerWeightsConfig config, bool freeze_quant_params = false);
};

class LSQActivationQATQuantizer : public StepQuantizer {
 public:
  static const QuantizerMark kMark;
  explicit LSQActivationQATQuantizer(TrainableQuantizerActivationConfig config, bool freeze_quant_params = false);
};

/// Rounding that is learned (AdaRound): see soft_rounding.h.
class SoftRoundingWeightGPTQQuantizer : public BaseTrainableQuantizer {
 public:
  static const QuantizerMark kMark;
  explicit SoftRoundingWeightGPTQQuantizer(TrainableQuantizerWeightsConfig config, bool freeze_quant_params = false);

  /// Starts at another rounding than the nearest, such as one that makes up for the errors of other weights: the hard
  /// output becomes `rounded`, values on the grid, and the training output lies as near to the weights as that allows,
  /// within 0.45 steps of it. Error kInvalidArgument for other sizes than that of the weight.
  void start_at(std::span<const float> weights, std::span<const float> rounded);

  double regularize(double beta, double factor) override;
  /// Alpha of each weight, in the order of the tensor.
  Variable& alpha() { return *alpha_; }
  /// h of each weight as alpha is now.
  std::span<const float> h();

 protected:
  void initialize(std::span<const float> values, const Shape& shape) override;
  void quantize(std::span<const float> inputs, std::span<float> outputs, bool training) override;
  void differentiate(std::span<const float> inputs, std::span<const float> by_output,
                     std::span<float> by_input) override;
  std::unique_ptr<InferableQuantizer> to_inferable() const override;

 private:
  /// Floor and alpha of weight i, of channel c, at `steps` steps.
  void start(size_t i, size_t c, double steps);

  quant::IntegerGrid grid_;
  quant::ChannelBlocks blocks_;
  std::vector<quant::Range> ranges_;
  quant::EvenSteps steps_;
  std::vector<float> floor_, sigmoid_, h_, power_;
  Variable* alpha_ = nullptr;
};

}  // namespace tersor::trainable
