// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/base_trainable_quantizer.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"

namespace tersor::trainable {

namespace {

[[noreturn]] void refuse_sizes(const char* what, size_t found, size_t expected) {
  throw Error(ErrorCode::kInvalidArgument,
              "There are " + std::to_string(found) + " " + what + " for " + std::to_string(expected) + " values.");
}

}  // namespace

BaseTrainableQuantizer::BaseTrainableQuantizer(const QuantizerMark& mark, TrainableQuantizerWeightsConfig config,
                                               bool freeze_quant_params)
    : mark_(mark), config_(config), settings_(settings_of(config)), freeze_quant_params_(freeze_quant_params) {
  check_mark();
  validate(config);
}

BaseTrainableQuantizer::BaseTrainableQuantizer(const QuantizerMark& mark, TrainableQuantizerActivationConfig config,
                                               bool freeze_quant_params)
    : mark_(mark), config_(config), settings_(settings_of(config)), freeze_quant_params_(freeze_quant_params) {
  check_mark();
  validate(config);
}

void check_target(const QuantizerMark& mark, QuantizationTarget found) {
  if (mark.quantization_target == found) return;
  throw Error(ErrorCode::kInvalidConfig,
              mark.class_name + " is marked for the target " + std::string(enum_word(mark.quantization_target)) +
                  ", and was given a config of " + std::string(enum_word(found)) + ".",
              "quantization_config",
              mark.quantization_target == QuantizationTarget::kWeights ? "Give a TrainableQuantizerWeightsConfig."
                                                                       : "Give a TrainableQuantizerActivationConfig.");
}

void BaseTrainableQuantizer::check_mark() const {
  check(mark_);
  check_target(mark_, settings_.target);
  const auto& methods = mark_.quantization_method;
  if (std::find(methods.begin(), methods.end(), settings_.method) != methods.end()) return;
  std::vector<std::string> words;
  for (const quant::QuantizationMethod one : methods) words.emplace_back(enum_word(one));
  throw Error(ErrorCode::kInvalidConfig,
              mark_.class_name + " does not quantize by " + std::string(enum_word(settings_.method)) + ".",
              settings_.target == QuantizationTarget::kWeights ? "weights_quantization_method"
                                                               : "activation_quantization_method",
              "Its methods are: " + joined(words) + ".");
}

void BaseTrainableQuantizer::initialize_quantization(std::span<const float> values, std::span<const int64_t> shape,
                                                     std::string_view name) {
  Shape found(std::vector<int64_t>(shape.begin(), shape.end()));
  if (settings_.target == QuantizationTarget::kWeights && values.size() != static_cast<size_t>(found.elements()))
    throw Error(ErrorCode::kInvalidArgument,
                "A weight of shape " + found.text() + " was given " + std::to_string(values.size()) + " values.");
  for (const float one : values)
    if (!std::isfinite(one))
      throw Error(ErrorCode::kInvalidArgument, "A value of \"" + std::string(name) + "\" is not finite.");
  variables_.clear();
  name_ = name;
  shape_ = std::move(found);
  if (settings_.is_enabled) initialize(values, shape_);
  is_initialized_ = true;
}

void BaseTrainableQuantizer::check_ready(size_t values) const {
  if (!is_initialized_)
    throw Error(ErrorCode::kInvalidArgument, "The quantizer was called before initialize_quantization().");
  if (settings_.target == QuantizationTarget::kWeights && values != static_cast<size_t>(shape_.elements()))
    throw Error(ErrorCode::kInvalidArgument, "The weight \"" + name_ + "\" of shape " + shape_.text() + " came with " +
                                                 std::to_string(values) + " values.");
}

void BaseTrainableQuantizer::call(std::span<const float> inputs, std::span<float> outputs, bool training) {
  check_ready(inputs.size());
  if (outputs.size() != inputs.size()) refuse_sizes("outputs", outputs.size(), inputs.size());
  if (settings_.is_enabled) return quantize(inputs, outputs, training);
  if (outputs.data() != inputs.data()) std::copy(inputs.begin(), inputs.end(), outputs.begin());
}

void BaseTrainableQuantizer::gradient(std::span<const float> inputs, std::span<const float> by_output,
                                      std::span<float> by_input) {
  check_ready(inputs.size());
  if (by_output.size() != inputs.size()) refuse_sizes("derivatives", by_output.size(), inputs.size());
  if (!by_input.empty() && by_input.size() != inputs.size())
    refuse_sizes("places for derivatives", by_input.size(), inputs.size());
  if (settings_.is_enabled) return differentiate(inputs, by_output, by_input);
  if (!by_input.empty() && by_input.data() != by_output.data())
    std::copy(by_output.begin(), by_output.end(), by_input.begin());
}

double BaseTrainableQuantizer::regularize(double, double) {
  return 0;
}

std::unique_ptr<InferableQuantizer> BaseTrainableQuantizer::convert2inferable() const {
  if (!settings_.is_enabled) return nullptr;
  if (!is_initialized_)
    throw Error(ErrorCode::kInvalidArgument, "The quantizer was converted before initialize_quantization().");
  return to_inferable();
}

std::vector<Variable*> BaseTrainableQuantizer::get_trainable_variables(VariableGroup group) {
  std::vector<Variable*> found;
  for (Variable& one : variables_)
    if (one.is_trainable && one.group == group) found.push_back(&one);
  if (freeze_quant_params_ && group == VariableGroup::QPARAMS && !found.empty())
    throw Error(ErrorCode::kInvalidConfig,
                "freeze_quant_params is set, and " + mark_.class_name + " trains \"" + found[0]->name + "\".",
                "freeze_quant_params", "Make the variable with is_trainable = !freeze_quant_params().");
  return found;
}

Json BaseTrainableQuantizer::get_config() const {
  Json json;
  json["quantization_config"] = std::visit([](const auto& config) { return tersor::to_json(config); }, config_);
  json["is_weights"] = settings_.target == QuantizationTarget::kWeights;
  json["is_activations"] = settings_.target == QuantizationTarget::kActivation;
  json["freeze_quant_params"] = freeze_quant_params_;
  return json;
}

Variable& BaseTrainableQuantizer::add_variable(std::string_view name, VariableGroup group, std::vector<float> value,
                                               bool is_trainable) {
  std::vector<float> gradient(value.size(), 0.0f);
  return variables_.emplace_back(
      Variable{name_ + "/" + std::string(name), group, std::move(value), std::move(gradient), is_trainable});
}

}  // namespace tersor::trainable
