// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/trainable_quantizers.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/trainable/quantizers/quantizers.h"

namespace tersor::trainable {

namespace {

constexpr const char* kBaseNames[] = {"BaseTrainableQuantizer", "BaseKerasTrainableQuantizer",
                                      "BasePytorchTrainableQuantizer"};

struct Config {
  JsonText quantization_config;
  std::optional<bool> is_weights, is_activations;
  bool freeze_quant_params = false;

  static constexpr auto fields() {
    return std::make_tuple(field("quantization_config", &Config::quantization_config, ""),
                           field("is_weights", &Config::is_weights, ""),
                           field("is_activations", &Config::is_activations, ""),
                           field("freeze_quant_params", &Config::freeze_quant_params, ""));
  }
};

struct Described {
  std::string class_name;
  std::string identifier;
  JsonText config;

  static constexpr auto fields() {
    return std::make_tuple(field("class_name", &Described::class_name, ""),
                           field("identifier", &Described::identifier, ""), field("config", &Described::config, ""));
  }
};

template <class C>
C read_as(const Json& json, const std::string& place) {
  C config;
  tersor::from_json(json, config, place);
  return config;
}

/// The flags say of which kind the config is; without them, its fields do.
TrainableQuantizerConfig read_config(const Config& config, const std::string& place) {
  const Json json = parse_json(config.quantization_config.text, place);
  const std::string at = detail::join_place(place, "quantization_config");
  if (!json.is_object()) detail::wrong_type(json, "an object", at);
  const bool is_weights = config.is_weights.value_or(json.contains("weights_quantization_method"));
  if (config.is_activations && *config.is_activations == is_weights)
    throw Error(ErrorCode::kInvalidConfig, "A quantizer is of weights or of activations: exactly one flag is true.",
                detail::join_place(place, "is_activations"));
  if (is_weights) return read_as<TrainableQuantizerWeightsConfig>(json, at);
  return read_as<TrainableQuantizerActivationConfig>(json, at);
}

}  // namespace

TrainableQuantizers::TrainableQuantizers() {
  add<STEWeightQATQuantizer>();
  add<STEActivationQATQuantizer>();
  add<LSQWeightQATQuantizer>();
  add<LSQActivationQATQuantizer>();
  add<SoftRoundingWeightGPTQQuantizer>();
}

void TrainableQuantizers::add(TrainableQuantizerClass added) {
  check(*added.mark);
  for (const TrainableQuantizerClass& one : classes_)
    if (one.mark->class_name == added.mark->class_name)
      throw Error(ErrorCode::kInvalidConfig,
                  "There are two trainable quantizers called " + added.mark->class_name + ".", "class_name");
  classes_.push_back(std::move(added));
}

std::vector<const QuantizerMark*> TrainableQuantizers::marks() const {
  std::vector<const QuantizerMark*> marks;
  for (const TrainableQuantizerClass& one : classes_) marks.push_back(one.mark);
  return marks;
}

const TrainableQuantizerClass& TrainableQuantizers::get_trainable_quantizer_class(QuantizationTarget target,
                                                                                  quant::QuantizationMethod method,
                                                                                  const std::string& identifier) const {
  const QuantizerMark* mark = &select(marks(), target, method, identifier);
  return *std::find_if(classes_.begin(), classes_.end(), [&](const auto& one) { return one.mark == mark; });
}

std::unique_ptr<BaseTrainableQuantizer> TrainableQuantizers::make(const TrainableQuantizerConfig& config,
                                                                  const std::string& identifier,
                                                                  bool freeze_quant_params) const {
  const TrainableQuantizerSettings settings = std::visit([](const auto& one) { return settings_of(one); }, config);
  return get_trainable_quantizer_class(settings.target, settings.method, identifier).make(config, freeze_quant_params);
}

std::unique_ptr<BaseTrainableQuantizer> TrainableQuantizers::from_config(const Json& json,
                                                                         const std::string& place) const {
  const auto described = read_as<Described>(json, place);
  const std::string inner = detail::join_place(place, "config");
  const auto read = read_as<Config>(parse_json(described.config.text, inner), inner);
  const TrainableQuantizerConfig config = read_config(read, inner);
  if (std::find(std::begin(kBaseNames), std::end(kBaseNames), described.class_name) != std::end(kBaseNames))
    return make(config, described.identifier.empty() ? "STE" : described.identifier, read.freeze_quant_params);
  return named(described.class_name, detail::join_place(place, "class_name")).make(config, read.freeze_quant_params);
}

const TrainableQuantizerClass& TrainableQuantizers::named(const std::string& class_name,
                                                          const std::string& place) const {
  std::vector<std::string> names;
  for (const TrainableQuantizerClass& one : classes_) {
    if (one.mark->class_name == class_name) return one;
    names.push_back(one.mark->class_name);
  }
  detail::unknown_word("trainable quantizer", class_name, names, place);
}

Json to_json(const BaseTrainableQuantizer& quantizer) {
  return Json{{"class_name", quantizer.mark().class_name}, {"config", quantizer.get_config()}};
}

}  // namespace tersor::trainable
