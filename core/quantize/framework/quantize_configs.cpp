// SPDX-License-Identifier: Apache-2.0
// The configurations that come with Tersor, and the registry that reads them from JSON.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/quantize_config.h"
#include "core/quant/bits.h"

namespace tersor::framework {

namespace {

using Ptr = QuantizeScope::Ptr;

LayerQuantizer make(RangeSource source, std::optional<int> num_bits, std::optional<bool> per_axis,
                    std::optional<bool> symmetric, bool narrow_range) {
  LayerQuantizer quantizer;
  quantizer.source = source;
  quantizer.num_bits = num_bits;
  quantizer.per_axis = per_axis;
  quantizer.symmetric = symmetric;
  quantizer.narrow_range = narrow_range;
  return quantizer;
}

/// What is common to the built-in ones: the weights put back must be as many and of the shapes that were taken.
class BuiltinConfig : public QuantizeConfig {
 public:
  void set_quantize_weights(Layer& layer, const std::vector<Tensor>& quantize_weights) const override {
    const Weights wanted = get_weights_and_quantizers(layer);
    if (wanted.size() != quantize_weights.size())
      throw Error(ErrorCode::kInvalidConfig,
                  "There are " + std::to_string(quantize_weights.size()) + " quantized weights for the " +
                      std::to_string(wanted.size()) + " of the layer \"" + layer.name + "\".",
                  "quantize_config");
    for (size_t k = 0; k < wanted.size(); ++k) put(layer, wanted[k].first.name, quantize_weights[k]);
  }
  void set_quantize_activations(Layer& layer, const std::vector<std::string>& quantize_activations) const override {
    if (quantize_activations.size() != get_activations_and_quantizers(layer).size())
      throw Error(ErrorCode::kInvalidConfig, "As many quantized activations as the layer has are needed.",
                  "quantize_config");
  }

 private:
  static void put(Layer& layer, const std::string& name, const Tensor& tensor) {
    for (LayerWeight& weight : layer.weights) {
      if (weight.name != name) continue;
      if (weight.value.shape() != tensor.shape())
        throw Error(ErrorCode::kInvalidConfig,
                    "The weight \"" + name + "\" of the layer \"" + layer.name + "\" has the shape " +
                        weight.value.shape().text() + ", its quantized form " + tensor.shape().text() + ".",
                    "quantize_config");
      weight.value = tensor;
    }
  }
};

/// Keys that are there, each read by its own function.
void check_keys(const Json& json, const std::vector<std::string>& allowed, const std::string& place) {
  if (!json.is_object()) detail::wrong_type(json, "an object", place);
  for (const auto& entry : json.items())
    if (std::find(allowed.begin(), allowed.end(), entry.key()) == allowed.end())
      detail::unknown_key(entry.key(), allowed, place);
}

/// A configuration of which nothing is said quantizes nothing, which is for NoOpQuantizeConfig to say.
void require_some(const Json& json, const char* class_name, const std::vector<std::string>& members,
                  const std::string& place) {
  if (json.is_object() && json.empty())
    throw Error(
        ErrorCode::kInvalidConfig,
        std::string(class_name) + " without a config says nothing to quantize: it lacks " + joined(members) + ".",
        place, "Give at least one of them in \"config\", or name the class NoOpQuantizeConfig.");
}

template <class T>
void read_member(const Json& json, const char* key, T& value, const std::string& place) {
  if (json.contains(key)) from_json(json[key], value, place + "." + key);
}

/// Weights LastValue symmetric narrow, per axis where the layer slides a window; activations and outputs MovingAverage;
/// all of 8 bits where the platform has these.
class DefaultQuantizeConfig : public BuiltinConfig {
 public:
  std::vector<std::string> weight_attrs, activation_attrs;
  bool quantize_output = false;

  Weights get_weights_and_quantizers(const Layer& layer) const override {
    Weights all;
    for (const std::string& name : weight_attrs)
      all.emplace_back(layer.weight(name),
                       LastValueQuantizer({}, layer.type == "Conv" ? std::optional(true) : std::nullopt, true, true));
    return all;
  }
  Activations get_activations_and_quantizers(const Layer& layer) const override {
    return activation_attrs.empty() ? Activations{} : Activations{{layer.activation, MovingAverageQuantizer()}};
  }
  std::vector<LayerQuantizer> get_output_quantizers(const Layer&) const override {
    return quantize_output ? std::vector<LayerQuantizer>{MovingAverageQuantizer()} : std::vector<LayerQuantizer>{};
  }
  Json get_config() const override {
    return Json{
        {"weight_attrs", weight_attrs}, {"activation_attrs", activation_attrs}, {"quantize_output", quantize_output}};
  }
  std::string class_name() const override { return "DefaultQuantizeConfig"; }

  static Ptr read(const Json& json, const QuantizeScope&, const std::string& place) {
    auto config = std::make_shared<DefaultQuantizeConfig>();
    check_keys(json, {"weight_attrs", "activation_attrs", "quantize_output"}, place);
    require_some(json, "DefaultQuantizeConfig", {"weight_attrs", "activation_attrs", "quantize_output"}, place);
    read_member(json, "weight_attrs", config->weight_attrs, place);
    read_member(json, "activation_attrs", config->activation_attrs, place);
    read_member(json, "quantize_output", config->quantize_output, place);
    return config;
  }
};

class NoOpQuantizeConfig : public BuiltinConfig {
 public:
  Weights get_weights_and_quantizers(const Layer&) const override { return {}; }
  Activations get_activations_and_quantizers(const Layer&) const override { return {}; }
  std::vector<LayerQuantizer> get_output_quantizers(const Layer&) const override { return {}; }
  Json get_config() const override { return Json::object(); }
  std::string class_name() const override { return "NoOpQuantizeConfig"; }

  static Ptr read(const Json& json, const QuantizeScope&, const std::string& place) {
    check_keys(json, {}, place);
    return std::make_shared<NoOpQuantizeConfig>();
  }
};

/// Another configuration without its weights and activations.
class OutputOnlyConfig : public BuiltinConfig {
 public:
  explicit OutputOnlyConfig(Ptr inner) : inner_(std::move(inner)) {}
  Weights get_weights_and_quantizers(const Layer&) const override { return {}; }
  Activations get_activations_and_quantizers(const Layer&) const override { return {}; }
  std::vector<LayerQuantizer> get_output_quantizers(const Layer& layer) const override {
    return inner_->get_output_quantizers(layer);
  }
  Json get_config() const override { return Json{{"quantize_config", to_json(*inner_)}}; }
  std::string class_name() const override { return "OutputOnlyConfig"; }

  static Ptr read(const Json& json, const QuantizeScope& scope, const std::string& place) {
    check_keys(json, {"quantize_config"}, place);
    return std::make_shared<OutputOnlyConfig>(
        scope.from_config(json.value("quantize_config", Json()), place + ".quantize_config"));
  }

 private:
  Ptr inner_;
};

/// Another configuration whose outputs have a fixed range.
class FixedQuantizeConfig : public BuiltinConfig {
 public:
  FixedQuantizeConfig(Ptr inner, LayerQuantizer fixed) : inner_(std::move(inner)), fixed_(std::move(fixed)) {}
  Weights get_weights_and_quantizers(const Layer& layer) const override {
    return inner_->get_weights_and_quantizers(layer);
  }
  Activations get_activations_and_quantizers(const Layer& layer) const override {
    Activations all = inner_->get_activations_and_quantizers(layer);
    for (auto& [activation, quantizer] : all) quantizer = fixed_;
    return all;
  }
  std::vector<LayerQuantizer> get_output_quantizers(const Layer& layer) const override {
    return std::vector<LayerQuantizer>(inner_->get_output_quantizers(layer).size(), fixed_);
  }
  Json get_config() const override {
    Json config{{"quantize_config", to_json(*inner_)}};
    if (fixed_.num_bits) config["num_bits"] = *fixed_.num_bits;
    config["init_min"] = *fixed_.init_min;
    config["init_max"] = *fixed_.init_max;
    config["narrow_range"] = fixed_.narrow_range;
    return config;
  }
  std::string class_name() const override { return "FixedQuantizeConfig"; }

  static Ptr read(const Json& json, const QuantizeScope& scope, const std::string& place) {
    check_keys(json, {"quantize_config", "num_bits", "init_min", "init_max", "narrow_range"}, place);
    Json quantizer = json;
    quantizer.erase("quantize_config");
    return std::make_shared<FixedQuantizeConfig>(
        scope.from_config(json.value("quantize_config", Json()), place + ".quantize_config"),
        read_layer_quantizer(Json{{"class_name", "FixedQuantizer"}, {"config", quantizer}}, place));
  }

 private:
  Ptr inner_;
  LayerQuantizer fixed_;
};

/// A configuration as data.
class LayerQuantizeConfig : public BuiltinConfig {
 public:
  std::map<std::string, LayerQuantizer> weights;
  std::optional<LayerQuantizer> activation;
  std::vector<LayerQuantizer> outputs;

  Weights get_weights_and_quantizers(const Layer& layer) const override {
    Weights all;
    for (const auto& [name, quantizer] : weights) all.emplace_back(layer.weight(name), quantizer);
    return all;
  }
  Activations get_activations_and_quantizers(const Layer& layer) const override {
    return activation ? Activations{{layer.activation, *activation}} : Activations{};
  }
  std::vector<LayerQuantizer> get_output_quantizers(const Layer&) const override { return outputs; }
  Json get_config() const override {
    Json of_weights = Json::object(), of_outputs = Json::array();
    for (const auto& [name, quantizer] : weights) of_weights[name] = to_json(quantizer);
    for (const LayerQuantizer& one : outputs) of_outputs.push_back(to_json(one));
    return Json{{"weights", of_weights},
                {"activation", activation ? to_json(*activation) : Json(nullptr)},
                {"outputs", of_outputs}};
  }
  std::string class_name() const override { return "LayerQuantizeConfig"; }

  static Ptr read(const Json& json, const QuantizeScope&, const std::string& place) {
    auto config = std::make_shared<LayerQuantizeConfig>();
    check_keys(json, {"weights", "activation", "outputs"}, place);
    require_some(json, "LayerQuantizeConfig", {"weights", "activation", "outputs"}, place);
    const Json of_weights = json.value("weights", Json::object());
    if (!of_weights.is_object()) detail::wrong_type(of_weights, "an object", place + ".weights");
    for (const auto& entry : of_weights.items())
      config->weights[entry.key()] = read_layer_quantizer(entry.value(), place + ".weights." + entry.key());
    const Json of_activation = json.value("activation", Json());
    if (!of_activation.is_null()) config->activation = read_layer_quantizer(of_activation, place + ".activation");
    const Json of_outputs = json.value("outputs", Json::array());
    if (!of_outputs.is_array()) detail::wrong_type(of_outputs, "a list", place + ".outputs");
    for (size_t k = 0; k < of_outputs.size(); ++k)
      config->outputs.push_back(read_layer_quantizer(of_outputs[k], place + ".outputs[" + std::to_string(k) + "]"));
    return config;
  }
};

/// ByLayerQuantizeConfig {layers}: for each layer, by its name, another configuration.
class ByLayerQuantizeConfig : public QuantizeConfig {
 public:
  Weights get_weights_and_quantizers(const Layer& layer) const override {
    return of(layer).get_weights_and_quantizers(layer);
  }
  Activations get_activations_and_quantizers(const Layer& layer) const override {
    return of(layer).get_activations_and_quantizers(layer);
  }
  void set_quantize_weights(Layer& layer, const std::vector<Tensor>& quantize_weights) const override {
    of(layer).set_quantize_weights(layer, quantize_weights);
  }
  void set_quantize_activations(Layer& layer, const std::vector<std::string>& quantize_activations) const override {
    of(layer).set_quantize_activations(layer, quantize_activations);
  }
  std::vector<LayerQuantizer> get_output_quantizers(const Layer& layer) const override {
    return of(layer).get_output_quantizers(layer);
  }
  Json get_config() const override {
    Json layers = Json::object();
    for (const auto& [name, config] : layers_) layers[name] = to_json(*config);
    return Json{{"layers", layers}};
  }
  std::string class_name() const override { return "ByLayerQuantizeConfig"; }

  static Ptr read(const Json& json, const QuantizeScope& scope, const std::string& place) {
    auto config = std::make_shared<ByLayerQuantizeConfig>();
    check_keys(json, {"layers"}, place);
    const Json layers = json.value("layers", Json::object());
    if (!layers.is_object()) detail::wrong_type(layers, "an object", place + ".layers");
    for (const auto& entry : layers.items())
      config->layers_[entry.key()] = scope.from_config(entry.value(), place + ".layers." + entry.key());
    return config;
  }

 private:
  const QuantizeConfig& of(const Layer& layer) const {
    const auto found = layers_.find(layer.name);
    if (found != layers_.end()) return *found->second;
    throw Error(ErrorCode::kInvalidConfig, "It does not say how the layer \"" + layer.name + "\" is quantized.",
                "quantize_config.layers", "Name it there, or choose fewer layers.");
  }

  std::map<std::string, Ptr> layers_;
};

struct QuantizerMembers {
  std::optional<int> num_bits;
  std::optional<bool> per_axis, symmetric, narrow_range;
  std::optional<double> init_min, init_max;
  std::optional<int> batch_size;
  static constexpr auto fields() {
    using Q = QuantizerMembers;
    return std::make_tuple(field("num_bits", &Q::num_bits, "Bits."),
                           field("per_axis", &Q::per_axis, "One range for each output channel."),
                           field("symmetric", &Q::symmetric, "A range around 0."),
                           field("narrow_range", &Q::narrow_range, "The lowest code is left out."),
                           field("init_min", &Q::init_min, "The lower end of a fixed range."),
                           field("init_max", &Q::init_max, "Its upper end."),
                           field("batch_size", &Q::batch_size, "The range follows batches of so many samples."));
  }
};

}  // namespace

LayerQuantizer LastValueQuantizer(std::optional<int> num_bits, std::optional<bool> per_axis,
                                  std::optional<bool> symmetric, bool narrow_range) {
  return make(RangeSource::kLastValue, num_bits, per_axis, symmetric, narrow_range);
}
LayerQuantizer MovingAverageQuantizer(std::optional<int> num_bits, std::optional<bool> per_axis,
                                      std::optional<bool> symmetric, bool narrow_range) {
  return make(RangeSource::kMovingAverage, num_bits, per_axis, symmetric, narrow_range);
}
LayerQuantizer AllValuesQuantizer(std::optional<int> num_bits, std::optional<bool> per_axis,
                                  std::optional<bool> symmetric, bool narrow_range) {
  return make(RangeSource::kAllValues, num_bits, per_axis, symmetric, narrow_range);
}
LayerQuantizer FixedQuantizer(double init_min, double init_max, std::optional<int> num_bits, bool narrow_range) {
  LayerQuantizer quantizer = make(RangeSource::kFixed, num_bits, {}, {}, narrow_range);
  quantizer.init_min = init_min;
  quantizer.init_max = init_max;
  return quantizer;
}

Json to_json(const LayerQuantizer& quantizer) {
  Json config = Json::object();
  if (quantizer.num_bits) config["num_bits"] = *quantizer.num_bits;
  if (quantizer.per_axis) config["per_axis"] = *quantizer.per_axis;
  if (quantizer.symmetric) config["symmetric"] = *quantizer.symmetric;
  config["narrow_range"] = quantizer.narrow_range;
  if (quantizer.init_min) config["init_min"] = *quantizer.init_min;
  if (quantizer.init_max) config["init_max"] = *quantizer.init_max;
  if (quantizer.batch_size) config["batch_size"] = *quantizer.batch_size;
  return Json{{"class_name", enum_word(quantizer.source)}, {"config", config}};
}

LayerQuantizer read_layer_quantizer(const Json& json, const std::string& place) {
  const Json name = json.is_object() ? json.value("class_name", Json()) : json;
  if (!name.is_string()) detail::wrong_type(json, "a quantizer, {\"class_name\": ..., \"config\": {...}}", place);
  if (json.is_object()) check_keys(json, {"class_name", "config"}, place);
  LayerQuantizer quantizer;
  quantizer.source = enum_from_word<RangeSource>(name.get<std::string>(), place);
  QuantizerMembers given;
  if (json.is_object() && json.contains("config")) from_json(json["config"], given, place + ".config");
  quantizer.num_bits = given.num_bits;
  quantizer.per_axis = given.per_axis;
  quantizer.symmetric = given.symmetric;
  quantizer.narrow_range = given.narrow_range.value_or(quantizer.narrow_range);
  quantizer.init_min = given.init_min;
  quantizer.init_max = given.init_max;
  quantizer.batch_size = given.batch_size;
  if (given.batch_size && *given.batch_size < 1)
    throw Error(ErrorCode::kInvalidConfig,
                "Found " + std::to_string(*given.batch_size) + " where a number of samples, 1 or more, is expected.",
                place + ".config.batch_size");
  if (!quant::is_number_of_bits(quantizer.bits()))
    throw Error(ErrorCode::kInvalidConfig,
                "Found " + std::to_string(quantizer.bits()) + " where 2 to 16 bits are expected.",
                place + ".config.num_bits");
  const bool fixed = quantizer.source == RangeSource::kFixed;
  if (fixed && (!given.init_min || !given.init_max || *given.init_min > *given.init_max))
    throw Error(ErrorCode::kInvalidConfig, "A FixedQuantizer needs init_min and init_max, in this order.", place);
  return quantizer;
}

QuantizeScope::QuantizeScope() {
  add("DefaultQuantizeConfig", DefaultQuantizeConfig::read);
  add("NoOpQuantizeConfig", NoOpQuantizeConfig::read);
  add("OutputOnlyConfig", OutputOnlyConfig::read);
  add("FixedQuantizeConfig", FixedQuantizeConfig::read);
  add("LayerQuantizeConfig", LayerQuantizeConfig::read);
  add("ByLayerQuantizeConfig", ByLayerQuantizeConfig::read);
}

void QuantizeScope::add(const std::string& class_name, Make maker) {
  classes_[class_name] = std::move(maker);
}

Ptr QuantizeScope::from_config(const Json& json, const std::string& place) const {
  const Json name = json.is_object() ? json.value("class_name", Json()) : json;
  if (!name.is_string()) detail::wrong_type(json, "{\"class_name\": ..., \"config\": {...}}", place);
  if (json.is_object()) check_keys(json, {"class_name", "config"}, place);
  const auto found = classes_.find(name.get<std::string>());
  if (found == classes_.end()) {
    std::string known;
    for (const auto& one : classes_) known += (known.empty() ? "" : ", ") + one.first;
    throw Error(ErrorCode::kInvalidConfig, "There is no QuantizeConfig called \"" + name.get<std::string>() + "\".",
                place, "Register the class, or use one of: " + known + ".");
  }
  return found->second(json.is_object() ? json.value("config", Json::object()) : Json::object(), *this,
                       place + ".config");
}

Json to_json(const QuantizeConfig& config) {
  return Json{{"class_name", config.class_name()}, {"config", config.get_config()}};
}

Ptr default_quantize_config(const Layer& layer) {
  static const std::vector<std::string> with_output = {"Add",         "Sub",
                                                       "Mul",         "Concat",
                                                       "AveragePool", "GlobalAveragePool",
                                                       "MaxPool",     "GlobalMaxPool",
                                                       "Reshape",     "Flatten",
                                                       "Transpose",   "Squeeze",
                                                       "Unsqueeze",   "BatchNormalization",
                                                       "LeakyRelu",   "PRelu",
                                                       "Relu",        "Clip",
                                                       "Resize",      "Upsample",
                                                       "Pad",         "Slice",
                                                       "Split",       "ReduceMean",
                                                       "Softmax",     "Sigmoid",
                                                       "Tanh",        "HardSwish",
                                                       "Gelu",        "Elu",
                                                       "Identity",    "Dropout"};
  auto config = std::make_shared<DefaultQuantizeConfig>();
  if (!layer.weights.empty()) {
    config->weight_attrs = {"kernel"};
    config->activation_attrs = {"activation"};
  } else if (std::find(with_output.begin(), with_output.end(), layer.type) != with_output.end()) {
    config->quantize_output = true;
  } else {
    throw Error(ErrorCode::kInvalidConfig,
                "The default scheme does not know how to quantize \"" + layer.name + "\", a " + layer.type + ".",
                "quantize_config", "Give it a QuantizeConfig.");
  }
  return config;
}

}  // namespace tersor::framework
