// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/quantizers/quantizers.h"

namespace tersor::trainable {

using enum quant::QuantizationMethod;

const QuantizerMark STEWeightQATQuantizer::kMark{
    "STEWeightQATQuantizer", QuantizationTarget::kWeights, {kPowerOfTwo, kSymmetric, kUniform}, "STE"};
const QuantizerMark STEActivationQATQuantizer::kMark{
    "STEActivationQATQuantizer", QuantizationTarget::kActivation, {kPowerOfTwo, kSymmetric, kUniform}, "STE"};

STEWeightQATQuantizer::STEWeightQATQuantizer(TrainableQuantizerWeightsConfig config, bool freeze_quant_params)
    : StepQuantizer(kMark, std::move(config), freeze_quant_params,
                    {.range_passes = true, .trains_range = false, .scales_gradient = false}) {}

STEActivationQATQuantizer::STEActivationQATQuantizer(TrainableQuantizerActivationConfig config,
                                                     bool freeze_quant_params)
    : StepQuantizer(kMark, std::move(config), freeze_quant_params,
                    {.range_passes = true, .trains_range = true, .scales_gradient = false}) {}

}  // namespace tersor::trainable
