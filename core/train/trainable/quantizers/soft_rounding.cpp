// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/soft_rounding.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/kernels/transcendental.h"
#include "core/tensor/rounding.h"
#include "core/trainable/first_ranges.h"
#include "core/trainable/quantizers/quantizers.h"

namespace tersor::trainable {

using enum quant::QuantizationMethod;

namespace {

/// |x|^exponent. What the logarithm's rounding costs is no matter to a derivative; kernels::power() takes forty times
/// as long for more digits.
void raise(std::span<const float> x, float exponent, std::span<float> y) {
  if (exponent == 0) return std::fill(y.begin(), y.end(), 1.0f);
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::fabs(x[i]);
  kernels::apply(kernels::Function::kLog, y.data(), y.size(), y.data());
  for (float& one : y) one *= exponent;
  kernels::apply(kernels::Function::kExp, y.data(), y.size(), y.data());
}

}  // namespace

const QuantizerMark SoftRoundingWeightGPTQQuantizer::kMark{
    "SoftRoundingWeightGPTQQuantizer", QuantizationTarget::kWeights, {kPowerOfTwo, kSymmetric, kUniform}, "SOFT"};

SoftRoundingWeightGPTQQuantizer::SoftRoundingWeightGPTQQuantizer(TrainableQuantizerWeightsConfig config,
                                                                 bool freeze_quant_params)
    : BaseTrainableQuantizer(kMark, std::move(config), freeze_quant_params) {}

void SoftRoundingWeightGPTQQuantizer::initialize(std::span<const float> values, const Shape& shape) {
  FirstRanges first = first_ranges(settings(), values, shape, name());
  grid_ = first.grid;
  ranges_ = std::move(first.ranges);
  blocks_ = quant::channel_blocks(shape, first.axis);
  steps_.resize(blocks_.channels);
  const quant::Quantizer& quantizer = quant::quantizer_of(settings().method);
  for (size_t c = 0; c < blocks_.channels; ++c) steps_.set(c, quantizer, ranges_[c], grid_);
  for (auto* one : {&floor_, &sigmoid_, &h_, &power_}) one->assign(values.size(), 0.0f);
  alpha_ = &add_variable("alpha", VariableGroup::WEIGHTS, std::vector<float>(values.size()), true);
  quant::for_each_element(blocks_,
                          [&](size_t i, size_t c) { start(i, c, static_cast<double>(values[i]) / steps_.scale[c]); });
}

void SoftRoundingWeightGPTQQuantizer::start(size_t i, size_t c, double steps) {
  const double low = steps_.low[c], high = steps_.high[c], within = std::clamp(steps, low, high);
  floor_[i] = static_cast<float>(std::clamp(std::floor(steps), low - 1, high));  // beyond, the range decides
  alpha_->value[i] = static_cast<float>(soft_rounding_start(within - std::floor(within)));
}

void SoftRoundingWeightGPTQQuantizer::start_at(std::span<const float> weights, std::span<const float> rounded) {
  if (alpha_ == nullptr || weights.size() != floor_.size() || rounded.size() != floor_.size())
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(weights.size()) + " weights and " +
                                                 std::to_string(rounded.size()) + " rounded ones for " +
                                                 std::to_string(floor_.size()) + ".");
  constexpr double kMargin = 0.45;  // short of half a step, from where the hard output would be another
  quant::for_each_element(blocks_, [&](size_t i, size_t c) {
    const double scale = steps_.scale[c], code = round_half_even(rounded[i] / scale);
    start(i, c, std::clamp(weights[i] / scale, code - kMargin, code + kMargin));
  });
}

std::span<const float> SoftRoundingWeightGPTQQuantizer::h() {
  kernels::apply(kernels::Function::kSigmoid, alpha_->value.data(), sigmoid_.size(), sigmoid_.data());
  for (size_t i = 0; i < h_.size(); ++i) h_[i] = soft_rounding_of_sigmoid(sigmoid_[i]);
  return h_;
}

void SoftRoundingWeightGPTQQuantizer::quantize(std::span<const float>, std::span<float> outputs, bool training) {
  h();
  const float *const up = h_.data(), *const floors = floor_.data(), *const scales = steps_.scale.data(),
                     *const lows = steps_.low.data(), *const highs = steps_.high.data();
  float* const y = outputs.data();
  quant::for_each_element(blocks_, [=](size_t i, size_t c) {
    const float h = training ? up[i] : (up[i] >= 0.5f ? 1.0f : 0.0f);
    y[i] = soft_value(floors[i], h, scales[c], lows[c], highs[c]);
  });
}

void SoftRoundingWeightGPTQQuantizer::differentiate(std::span<const float>, std::span<const float> by_output,
                                                    std::span<float> by_input) {
  h();
  const float *const s = sigmoid_.data(), *const g = by_output.data(), *const scales = steps_.scale.data();
  float* const by_alpha = alpha_->gradient.data();
  quant::for_each_element(
      blocks_, [=](size_t i, size_t c) { by_alpha[i] += g[i] * scales[c] * soft_rounding_slope_of_sigmoid(s[i]); });
  std::fill(by_input.begin(), by_input.end(), 0.0f);  // the weights are not trained
}

double SoftRoundingWeightGPTQQuantizer::regularize(double beta, double factor) {
  if (!(beta > 0) || !std::isfinite(beta) || !std::isfinite(factor))
    throw Error(ErrorCode::kInvalidArgument, "Found the beta " + number_in_nine_digits(beta) + " and the factor " +
                                                 number_in_nine_digits(factor) +
                                                 " where a finite beta above 0 and a finite factor are expected.");
  if (alpha_ == nullptr) return 0;  // not enabled
  h();
  for (size_t i = 0; i < h_.size(); ++i) h_[i] = 2 * h_[i] - 1;
  raise(std::span<const float>(h_), static_cast<float>(beta - 1), power_);
  double sum = 0;
  const float slope = static_cast<float>(-2 * beta * factor);
  for (size_t i = 0; i < h_.size(); ++i) {
    sum += 1.0 - static_cast<double>(power_[i]) * std::fabs(h_[i]);
    const float by_h = h_[i] == 0 ? 0.0f : slope * std::copysign(power_[i], h_[i]);
    alpha_->gradient[i] += by_h * soft_rounding_slope_of_sigmoid(sigmoid_[i]);
  }
  return sum;
}

std::unique_ptr<InferableQuantizer> SoftRoundingWeightGPTQQuantizer::to_inferable() const {
  return inferable_of(settings(), grid_, ranges_, shape());
}

}  // namespace tersor::trainable
