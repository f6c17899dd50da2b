// SPDX-License-Identifier: Apache-2.0
#include "core/tune/own_quantizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/quant/even_steps.h"
#include "core/quant/quantizer.h"

namespace tersor::tune {

using quant::QuantizationMethod;
using trainable::Variable;
using trainable::VariableGroup;

namespace {

trainable::QuantizationWrapper wrapped(const Graph& graph, const ptq::KernelPlan& kernel,
                                       std::unique_ptr<trainable::BaseTrainableQuantizer> quantizer) {
  trainable::QuantizationWrapper::Quantizers quantizers;
  quantizers.emplace_back(static_cast<int>(kernel.op.weight_slot), std::move(quantizer));
  return {graph, kernel.node, std::move(quantizers)};
}

}  // namespace

OwnQuantizer::OwnQuantizer(const Graph& graph, const ptq::KernelPlan& kernel,
                           std::unique_ptr<trainable::BaseTrainableQuantizer> quantizer, std::span<const float> rounded)
    : wrapper_(wrapped(graph, kernel, std::move(quantizer))),
      kernel_(kernel),
      class_name_(weight().quantizer->mark().class_name) {
  for (const Variable* variable : variables()) {
    adam_.emplace_back(variable->value.size());
    units_.push_back(units_of(*variable));
  }
  if (adam_.empty()) refuse("trains no variable", "Make one, or leave the weight itself to be trained.");
  in_training();
  take_params();
  values_.assign(rounded.begin(), rounded.end());
  params_ = kernel.weight;
}

void OwnQuantizer::refuse(const std::string& what, const std::string& hint) const {
  throw Error(
      ErrorCode::kInvalidConfig,
      "The trainable quantizer " + class_name_ + " of the weight \"" + weight().variable.name + "\" " + what + ".",
      "overrides.trainable_quantizer", hint);
}

std::vector<Variable*> OwnQuantizer::variables() const {
  std::vector<Variable*> all = wrapper_.get_trainable_variables(VariableGroup::WEIGHTS);
  const std::vector<Variable*> more = wrapper_.get_trainable_variables(VariableGroup::QPARAMS);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<float> OwnQuantizer::units_of(const Variable& variable) const {
  std::vector<float> units;
  if (&variable == &weight().variable) {
    units.resize(variable.value.size());
    quant::for_each_element(quant::channel_blocks(weight().shape, kernel_.weight.channel_axis),
                            [&](size_t i, size_t c) { units[i] = kernel_.weight.scale[c]; });
  } else if (variable.group == VariableGroup::WEIGHTS) {
    units.push_back(1);
  } else {
    for (const float one : variable.value) units.push_back(one == 0 ? 1 : std::fabs(one));
  }
  return units;
}

std::vector<float> OwnQuantizer::in_training() {
  wrapper_.quantize_weights(true);
  for (const float one : weight().quantized)
    if (!std::isfinite(one)) refuse("gave a value that is not finite", "Try a smaller learning rate.");
  return weight().quantized;
}

/// Those of the quantizer of inference, where the plan's kernel can have them.
void OwnQuantizer::take_params() {
  const auto inferable = weight().quantizer->convert2inferable();
  const auto params = inferable ? inferable->params(weight().shape.rank()) : std::nullopt;
  if (!params) refuse("becomes a quantizer of inference that has no even steps", "Return one of the plan's method.");
  const quant::QuantizationParams& plan = kernel_.weight;
  const QuantizationMethod power = QuantizationMethod::kPowerOfTwo;
  if (params->method != plan.method && (params->method != power || plan.method != QuantizationMethod::kSymmetric))
    refuse("becomes a quantizer of inference of " + std::string(enum_word(params->method)) +
               ", and the platform stores the weight by " + std::string(enum_word(plan.method)),
           "Return one of that method.");
  const bool is_one = params->scale.size() == 1;
  if (!is_one && (params->scale.size() != plan.scale.size() || params->channel_axis != plan.channel_axis))
    refuse("becomes a quantizer of inference with " + std::to_string(params->scale.size()) +
               " thresholds, and the platform stores " + std::to_string(plan.scale.size()),
           "Return per_channel and channel_axis as the quantizer's configuration has them.");
  wrapper_.quantize_weights(false);
  values_.resize(weight().quantized.size());
  inferable->call(weight().quantized, weight().shape, values_);
  const Tensor codes = quant::quantize(Tensor::of<float>(weight().shape, values_), *params);
  for (const int64_t code : codes.to_int64s())
    if (code < plan.grid.q_min() || code > plan.grid.q_max())
      refuse("becomes a quantizer of inference whose codes reach " + std::to_string(code) +
                 ", and the platform stores " + std::to_string(plan.grid.q_min()) + " to " +
                 std::to_string(plan.grid.q_max()),
             plan.grid.narrow ? "Return one of the same bits with narrow_range." : "Return one of the same bits.");
  for (size_t o = 0; o < kernel_.bias.size(); ++o)
    if (const size_t c = kernel_.scale_index(o); !kernel_.bias_fits(kernel_.bias[o], params->scale[is_one ? 0 : c]))
      refuse("becomes a quantizer of inference of so small a step that the bias of channel " + std::to_string(o) +
                 " does not fit into 32 bits",
             "Try a smaller learning rate, or a min_threshold.");
  params_ = *params;
}

std::vector<float> OwnQuantizer::in_file() {
  if (is_stepped_) take_params();
  return values_;
}

calibrate::RoundedWeight OwnQuantizer::rounded() const {
  const Tensor codes = quant::quantize(Tensor::of<float>(weight().shape, values_), params_);
  std::vector<int8_t> bytes;
  for (const int64_t code : codes.to_int64s()) bytes.push_back(static_cast<int8_t>(code));
  std::vector<float> scales = params_.scale;
  scales.resize(kernel_.weight.scale.size(), scales[0]);
  return {weight().variable.name, std::move(scales), std::move(bytes), 1};
}

void OwnQuantizer::step(std::span<const float> by, int64_t count, const Rates& rates, double beta, double factor) {
  const std::vector<Variable*> all = variables();
  for (Variable* variable : all) std::fill(variable->gradient.begin(), variable->gradient.end(), 0.0f);
  wrapper_.gradient(0, by);
  wrapper_.regularize(beta, factor);
  for (size_t k = 0; k < all.size(); ++k) {
    const bool is_weight = all[k] == &weight().variable, is_parameter = all[k]->group == VariableGroup::QPARAMS;
    const double rate = is_weight ? rates.of_weight : is_parameter ? rates.of_parameters : rates.of_variables;
    adam_[k].step(count, rate, units_[k], all[k]->gradient, all[k]->value);
  }
  is_stepped_ = true;
}

void OwnQuantizer::write(ByteWriter& to) const {
  const std::vector<Variable*> all = variables();
  to.put(static_cast<int64_t>(is_stepped_));
  for (size_t k = 0; k < all.size(); ++k) {
    to.put(all[k]->value);
    to.put(adam_[k].first());
    to.put(adam_[k].second());
  }
}

bool OwnQuantizer::read(ByteReader& from) {
  is_stepped_ = from.get<int64_t>() != 0;
  const std::vector<Variable*> all = variables();
  for (size_t k = 0; k < all.size(); ++k)
    for (std::vector<float>* values : {&all[k]->value, &adam_[k].first(), &adam_[k].second()}) {
      std::vector<float> found = from.get_all<float>();
      if (found.size() != values->size()) return false;
      *values = std::move(found);
    }
  return true;
}

}  // namespace tersor::tune
