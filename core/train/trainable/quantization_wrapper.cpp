// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/quantization_wrapper.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/kernel_operand.h"
#include "core/graph/uses.h"

namespace tersor::trainable {

namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) {
  throw Error(ErrorCode::kInvalidConfig, message, "quantization_wrapper", hint);
}

std::string text_of(const WeightKey& key) {
  const auto* name = std::get_if<std::string>(&key);
  return name != nullptr ? "\"" + *name + "\"" : "at place " + std::to_string(std::get<int>(key));
}

const Node& node_of(const Graph& graph, NodeId id) {
  const Node* node = graph.find(id);
  TERSOR_CHECK(node != nullptr);
  return *node;
}

/// Which input of the node a key means; none where there is no such one.
std::optional<size_t> slot_of(const Graph& graph, const Node& node, const WeightKey& key) {
  if (const int* place = std::get_if<int>(&key)) {
    if (*place < 0 || static_cast<size_t>(*place) >= node.inputs.size()) return std::nullopt;
    return static_cast<size_t>(*place);
  }
  const auto operand = framework::kernel_operand(graph, node);
  const std::string& name = std::get<std::string>(key);
  if (operand && name == "kernel") return operand->kernel;
  if (operand && name == "bias") return operand->bias;
  return std::nullopt;
}

QuantizationWrapper::Weight detached(const Graph& graph, const Node& node, const WeightKey& key,
                                     std::unique_ptr<BaseTrainableQuantizer> quantizer) {
  const std::string& label = graph.label_of(node);
  const auto slot = slot_of(graph, node, key);
  const Tensor* constant = slot && node.inputs[*slot].valid() ? graph.initializer(node.inputs[*slot]) : nullptr;
  if (constant == nullptr || constant->dtype() != DType::kFloat32)
    refuse("The node \"" + label + "\" (" + node.op_type + ") has no float32 constant " + text_of(key) + ".",
           "Name \"kernel\" or \"bias\", or a place among its inputs.");
  if (quantizer == nullptr) refuse("The weight " + text_of(key) + " of \"" + label + "\" has no quantizer.");
  if (quantizer->mark().quantization_target != QuantizationTarget::kWeights)
    refuse("The quantizer of the weight " + text_of(key) + " of \"" + label + "\" is one of activations.");
  const Tensor source = constant->aligned();
  const auto values = source.data<float>();
  QuantizationWrapper::Weight weight;
  weight.key = key;
  weight.value = node.inputs[*slot];
  weight.shape = source.shape();
  const std::string name = graph.name_of(weight.value);
  quantizer->initialize_quantization(values, source.shape().dims(), name);
  weight.variable = {name, VariableGroup::WEIGHTS, {values.begin(), values.end()}, {}, true};
  weight.variable.gradient.assign(values.size(), 0.0f);
  weight.variable.is_trainable = quantizer->get_trainable_variables(VariableGroup::WEIGHTS).empty();
  weight.quantized.resize(values.size());
  weight.quantizer = std::move(quantizer);
  return weight;
}

void append(std::vector<Variable*>& to, const std::vector<Variable*>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

QuantizationWrapper::QuantizationWrapper(const Graph& graph, NodeId node, Quantizers quantizers) : node_(node) {
  const Node& wrapped = node_of(graph, node);
  name_ = graph.label_of(wrapped);
  if (quantizers.empty()) refuse("The wrapper of \"" + name_ + "\" has no quantizers.");
  for (const auto& one : quantizers)
    if (one.first.index() != quantizers[0].first.index())
      refuse("The wrapper of \"" + name_ + "\" has weights by name and by place; they are either.");
  std::stable_sort(quantizers.begin(), quantizers.end(), [](const auto& a, const auto& b) {
    return a.first.index() == 1 && std::get<int>(a.first) < std::get<int>(b.first);
  });
  for (auto& [key, quantizer] : quantizers) {
    for (const Weight& one : weights_)
      if (one.key == key) refuse("The wrapper of \"" + name_ + "\" has the weight " + text_of(key) + " twice.");
    weights_.push_back(detached(graph, wrapped, key, std::move(quantizer)));
    scratch_.resize(std::max(scratch_.size(), weights_.back().quantized.size()));
  }
  quantize_weights(true);
}

const QuantizationWrapper::Weight& QuantizationWrapper::weight(const WeightKey& key) const {
  for (const Weight& one : weights_)
    if (one.key == key) return one;
  refuse("The wrapper of \"" + name_ + "\" has no weight " + text_of(key) + ".");
}

void QuantizationWrapper::quantize_weights(bool training) {
  for (Weight& one : weights_) {
    if (one.quantizer != nullptr)
      one.quantizer->call(one.variable.value, one.quantized, training);
    else
      one.quantized = one.variable.value;  // on its grid, or not quantized
  }
}

void QuantizationWrapper::gradient(size_t k, std::span<const float> by_quantized) {
  Weight& one = weights_.at(k);
  if (one.quantizer == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "The weights of \"" + name_ + "\" were converted and are not trained.");
  const auto by_weight = std::span<float>(scratch_).first(one.quantized.size());
  one.quantizer->gradient(one.variable.value, by_quantized, one.variable.is_trainable ? by_weight : std::span<float>());
  if (!one.variable.is_trainable) return;
  for (size_t i = 0; i < by_weight.size(); ++i) one.variable.gradient[i] += by_weight[i];
}

double QuantizationWrapper::regularize(double beta, double factor) {
  double sum = 0;
  for (Weight& one : weights_)
    if (one.quantizer != nullptr) sum += one.quantizer->regularize(beta, factor);
  return sum;
}

std::vector<Variable*> QuantizationWrapper::get_trainable_variables(VariableGroup group) {
  std::vector<Variable*> found;
  for (Weight& one : weights_) {
    if (one.quantizer == nullptr) continue;
    if (group == VariableGroup::WEIGHTS && one.variable.is_trainable) found.push_back(&one.variable);
    append(found, one.quantizer->get_trainable_variables(group));
  }
  return found;
}

void QuantizationWrapper::convert_to_inferable_quantizers() {
  quantize_weights(false);
  for (Weight& one : weights_) {
    if (one.quantizer == nullptr) continue;
    one.inferable = one.quantizer->convert2inferable();
    if (one.inferable != nullptr) one.inferable->call(one.quantized, one.shape, one.quantized);
    one.variable.value = one.quantized;
    one.variable.is_trainable = false;
    one.quantizer = nullptr;
  }
}

void QuantizationWrapper::apply(Graph& graph) {
  quantize_weights(false);
  const Uses uses(graph);
  Node* node = graph.find(node_);
  TERSOR_CHECK(node != nullptr);
  for (Weight& one : weights_) {
    Tensor tensor = Tensor::of<float>(one.shape, one.quantized);
    if (uses.reader_count(one.value) == 1) {
      graph.set_initializer(one.value, std::move(tensor));
      continue;
    }
    const ValueId own = graph.add_initializer(graph.name_of(one.value), std::move(tensor));
    std::replace(node->inputs.begin(), node->inputs.end(), one.value, own);
    one.value = own;
  }
}

Json QuantizationWrapper::get_config() const {
  Json quantizers = Json::object();
  for (const Weight& one : weights_) {
    const auto* name = std::get_if<std::string>(&one.key);
    const std::string key = name != nullptr ? *name : std::to_string(std::get<int>(one.key));
    quantizers[key] = one.quantizer != nullptr   ? to_json(*one.quantizer)
                      : one.inferable != nullptr ? to_json(*one.inferable)
                                                 : Json(nullptr);
  }
  return Json{{"layer", name_}, {"weights_quantizers", quantizers}};
}

QuantizationWrapper QuantizationWrapper::from_config(const Graph& graph, const Json& json,
                                                     const TrainableQuantizers& classes, const std::string& place) {
  struct Described {
    std::string layer;
    std::map<std::string, JsonText> weights_quantizers;
    static constexpr auto fields() {
      return std::make_tuple(field("layer", &Described::layer, ""),
                             field("weights_quantizers", &Described::weights_quantizers, ""));
    }
  };
  Described described;
  tersor::from_json(json, described, place);
  for (const Node& node : graph.nodes()) {
    if (graph.label_of(node) != described.layer) continue;
    Quantizers quantizers;
    for (const auto& [key, text] : described.weights_quantizers) {
      const std::string at = detail::join_place(detail::join_place(place, "weights_quantizers"), key);
      const bool is_place = !key.empty() && key.size() < 9 &&
                            std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
      quantizers.emplace_back(is_place ? WeightKey(std::stoi(key)) : WeightKey(key),
                              classes.from_config(parse_json(text.text, at), at));
    }
    return QuantizationWrapper(graph, node.id, std::move(quantizers));
  }
  throw Error(ErrorCode::kInvalidConfig, "There is no node \"" + described.layer + "\".",
              detail::join_place(place, "layer"));
}

ActivationQuantizationHolder::ActivationQuantizationHolder(const Graph& graph, ValueId value,
                                                           std::unique_ptr<BaseTrainableQuantizer> quantizer)
    : ActivationQuantizationHolder(graph, value, std::move(quantizer), false) {}

ActivationQuantizationHolder::ActivationQuantizationHolder(const Graph& graph, ValueId value,
                                                           std::unique_ptr<BaseTrainableQuantizer> quantizer,
                                                           bool quantization_bypass)
    : value_(value),
      name_(graph.name_of(value)),
      quantizer_(std::move(quantizer)),
      quantization_bypass_(quantization_bypass) {
  const bool fits = quantizer_ != nullptr && quantizer_->mark().quantization_target == QuantizationTarget::kActivation;
  if (fits) return;
  throw Error(ErrorCode::kInvalidConfig,
              "The holder of \"" + name_ + "\" has " +
                  (quantizer_ == nullptr ? "no quantizer" : "a quantizer of weights") +
                  " where exactly one of activations is expected.",
              "activation_holder_quantizer");
}

void ActivationQuantizationHolder::initialize_quantization(std::span<const float> values,
                                                           std::span<const int64_t> shape) {
  TERSOR_CHECK(quantizer_ != nullptr);
  quantizer_->initialize_quantization(values, shape, name_);
}

void ActivationQuantizationHolder::call(std::span<const float> inputs, std::span<float> outputs, bool training) {
  if (!quantization_bypass_ && quantizer_ != nullptr) return quantizer_->call(inputs, outputs, training);
  if (!quantization_bypass_ && inferable_ != nullptr) return inferable_->call(inputs, outputs);
  if (inputs.size() != outputs.size())
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(outputs.size()) + " outputs for " +
                                                 std::to_string(inputs.size()) + " values.");
  if (inputs.data() != outputs.data()) std::copy(inputs.begin(), inputs.end(), outputs.begin());
}

void ActivationQuantizationHolder::gradient(std::span<const float> inputs, std::span<const float> by_output,
                                            std::span<float> by_input) {
  if (is_converted_)
    throw Error(ErrorCode::kInvalidArgument, "The quantizer of \"" + name_ + "\" was converted and is not trained.");
  if (!quantization_bypass_) return quantizer_->gradient(inputs, by_output, by_input);
  if (!by_input.empty() && by_input.data() != by_output.data())
    std::copy(by_output.begin(), by_output.end(), by_input.begin());
}

double ActivationQuantizationHolder::regularize(double beta, double factor) {
  return quantizer_ == nullptr ? 0 : quantizer_->regularize(beta, factor);
}

std::vector<Variable*> ActivationQuantizationHolder::get_trainable_variables(VariableGroup group) {
  if (quantization_bypass_ || quantizer_ == nullptr) return {};
  return quantizer_->get_trainable_variables(group);
}

void ActivationQuantizationHolder::convert_to_inferable_quantizers() {
  if (is_converted_) return;
  inferable_ = quantizer_->convert2inferable();
  quantizer_ = nullptr;
  is_converted_ = true;
}

Json ActivationQuantizationHolder::get_config() const {
  Json json{{"value", name_}, {"quantization_bypass", quantization_bypass_}};
  json["activation_holder_quantizer"] = quantizer_ != nullptr   ? to_json(*quantizer_)
                                        : inferable_ != nullptr ? to_json(*inferable_)
                                                                : Json(nullptr);
  return json;
}

ActivationQuantizationHolder ActivationQuantizationHolder::from_config(const Graph& graph, const Json& json,
                                                                       const TrainableQuantizers& classes,
                                                                       const std::string& place) {
  struct Described {
    std::string value;
    bool quantization_bypass = false;
    JsonText activation_holder_quantizer;
    static constexpr auto fields() {
      return std::make_tuple(field("value", &Described::value, ""),
                             field("quantization_bypass", &Described::quantization_bypass, ""),
                             field("activation_holder_quantizer", &Described::activation_holder_quantizer, ""));
    }
  };
  Described described;
  tersor::from_json(json, described, place);
  const auto value = graph.find(described.value);
  if (!value)
    throw Error(ErrorCode::kInvalidConfig, "There is no value \"" + described.value + "\".",
                detail::join_place(place, "value"));
  const std::string at = detail::join_place(place, "activation_holder_quantizer");
  return {graph, *value, classes.from_config(parse_json(described.activation_holder_quantizer.text, at), at),
          described.quantization_bypass};
}

namespace {

/// The ranges of a plan as a quantizer of these classes takes them. A symmetric plan that is stored without a sign has
/// its zero point in the middle.
TrainableQuantizationParams starting_at(const quant::QuantizationParams& params) {
  TrainableQuantizationParams start;
  std::vector<double> lows, highs, thresholds;
  bool is_signed = false;
  for (size_t c = 0; c < params.scale.size(); ++c) {
    const quant::Range range = params.representable(c);
    is_signed |= range.low < 0;
    lows.push_back(range.low);
    highs.push_back(range.high);
  }
  if (params.method == quant::QuantizationMethod::kUniform) {
    start.range_min = std::move(lows);
    start.range_max = std::move(highs);
    return start;
  }
  const int bits = params.grid.n_bits;
  for (const float scale : params.scale)
    thresholds.push_back(scale *
                         (params.grid.narrow ? params.grid.q_max() : std::ldexp(1.0, is_signed ? bits - 1 : bits)));
  start.threshold = std::move(thresholds);
  start.is_signed = is_signed;
  start.narrow_range = params.grid.narrow;
  return start;
}

}  // namespace

TrainableQuantizerWeightsConfig weights_config_of(const quant::QuantizationParams& params, double min_threshold) {
  TrainableQuantizerWeightsConfig config;
  config.weights_quantization_method = params.method;
  config.weights_n_bits = params.grid.n_bits;
  config.weights_quantization_params = starting_at(params);
  config.weights_channels_axis = params.channel_axis.value_or(0);
  config.weights_per_channel_threshold = params.per_channel();
  config.min_threshold = min_threshold;
  return config;
}

TrainableQuantizerActivationConfig activation_config_of(const quant::QuantizationParams& params, double min_threshold) {
  TrainableQuantizerActivationConfig config;
  config.activation_quantization_method = params.method;
  config.activation_n_bits = params.grid.n_bits;
  config.activation_quantization_params = starting_at(params);
  config.min_threshold = min_threshold;
  return config;
}

}  // namespace tersor::trainable
