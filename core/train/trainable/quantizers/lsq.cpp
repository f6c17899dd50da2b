// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/quantizers/quantizers.h"

namespace tersor::trainable {

using enum quant::QuantizationMethod;

namespace {

constexpr StepRule kRule{.range_passes = false, .trains_range = true, .scales_gradient = true};

}  // namespace

const QuantizerMark LSQWeightQATQuantizer::kMark{
    "LSQWeightQATQuantizer", QuantizationTarget::kWeights, {kPowerOfTwo, kSymmetric, kUniform}, "LSQ"};
const QuantizerMark LSQActivationQATQuantizer::kMark{
    "LSQActivationQATQuantizer", QuantizationTarget::kActivation, {kPowerOfTwo, kSymmetric, kUniform}, "LSQ"};

LSQWeightQATQuantizer::LSQWeightQATQuantizer(TrainableQuantizerWeightsConfig config, bool freeze_quant_params)
    : StepQuantizer(kMark, std::move(config), freeze_quant_params, kRule) {}

LSQActivationQATQuantizer::LSQActivationQATQuantizer(TrainableQuantizerActivationConfig config,
                                                     bool freeze_quant_params)
    : StepQuantizer(kMark, std::move(config), freeze_quant_params, kRule) {}

}  // namespace tersor::trainable
