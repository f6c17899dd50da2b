// SPDX-License-Identifier: Apache-2.0
#include "core/framework/framework_info.h"

#include <algorithm>
#include <set>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/framework/document_layers.h"

namespace tersor::framework {

namespace {

template <class T>
std::optional<T> read_optional(const Json& json, const std::string& place) {
  std::optional<T> value;
  from_json(json, value, place);
  return value;
}

/// A list of two, as in [0, null].
template <class T>
std::pair<std::optional<T>, std::optional<T>> read_pair(const Json& json, const std::string& place) {
  if (!json.is_array() || json.size() != 2) detail::wrong_type(json, "a list of two, each a number or null", place);
  return {read_optional<T>(json[0], place + "[0]"), read_optional<T>(json[1], place + "[1]")};
}

/// Calls `one(key, value, place)` for each entry of an object; every fault is kept.
template <class One>
void each(const Json& json, const std::string& place, Faults& faults, One&& one) {
  if (!json.is_object()) detail::wrong_type(json, "an object", place);
  for (const auto& entry : json.items())
    faults.attempt([&] { one(entry.key(), entry.value(), detail::join_place(place, entry.key())); });
}

using Quantizers = std::map<quant::QuantizationMethod, const quant::Quantizer*>;

Quantizers read_quantizers(const Json& json, const std::string& place, Faults& faults) {
  Quantizers mapping;
  each(json, place, faults, [&](const std::string& key, const Json& value, const std::string& at) {
    const auto method = enum_from_word<quant::QuantizationMethod>(key, at);
    quant::QuantizationMethod name{};
    from_json(value, name, at);
    try {
      mapping[method] = &quant::quantizer_of(name);
    } catch (const Error& error) {
      throw error.within(at);
    }
  });
  return mapping;
}

std::map<std::string, ValueBounds> read_bounds(const Json& json, const std::string& place, Faults& faults) {
  std::map<std::string, ValueBounds> mapping;
  each(json, place, faults, [&](const std::string& key, const Json& value, const std::string& at) {
    const auto [low, high] = read_pair<double>(value, at);
    if (low && high && *low > *high)
      throw Error(ErrorCode::kInvalidConfig, "The lower bound is above the upper one.", at);
    mapping[key] = {low, high};
  });
  return mapping;
}

std::map<std::string, KernelChannels> read_channels(const Json& json, const std::string& place, Faults& faults) {
  std::map<std::string, KernelChannels> mapping;
  each(json, place, faults, [&](const std::string& key, const Json& value, const std::string& at) {
    const auto [output, input] = read_pair<int>(value, at);
    const KernelChannels channels = onnx_axes(key, {output, input}, at);
    for (const std::string& type : onnx_types(key)) mapping[type] = channels;
  });
  return mapping;
}

std::map<std::string, ValueBounds> by_operator(const std::map<std::string, ValueBounds>& by_layer) {
  std::map<std::string, ValueBounds> mapping;
  for (const auto& [name, bounds] : by_layer)
    for (const std::string& type : onnx_types(name)) mapping[type] = bounds;
  return mapping;
}

std::vector<std::string> read_operators(const Json& json, const std::string& place) {
  std::vector<std::string> names, types;
  from_json(json, names, place);
  for (const std::string& name : names)
    for (std::string& type : onnx_types(name))
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(std::move(type));
  return types;
}

void read_field(const std::string& key, const Json& value, FrameworkInfo& info, const std::string& at, Faults& faults) {
  if (key == "kernel_ops")
    info.kernel_ops = read_operators(value, at);
  else if (key == "activation_ops")
    info.activation_ops = read_operators(value, at);
  else if (key == "no_quantization_ops")
    info.no_quantization_ops = read_operators(value, at);
  else if (key == "activation_quantizer_mapping")
    info.activation_quantizer_mapping = read_quantizers(value, at, faults);
  else if (key == "weights_quantizer_mapping")
    info.weights_quantizer_mapping = read_quantizers(value, at, faults);
  else if (key == "kernel_channels_mapping")
    info.kernel_channels_mapping = read_channels(value, at, faults);
  else if (key == "activation_min_max_mapping")
    info.activation_min_max_mapping = read_bounds(value, at, faults);
  else if (key == "layer_min_max_mapping")
    info.layer_min_max_mapping = by_operator(read_bounds(value, at, faults));
  else
    detail::unknown_key(
        key,
        {"kernel_ops", "activation_ops", "no_quantization_ops", "activation_quantizer_mapping",
         "weights_quantizer_mapping", "kernel_channels_mapping", "activation_min_max_mapping", "layer_min_max_mapping"},
        at.substr(0, at.size() - key.size() - 1));
}

template <class T>
Json pair(const std::optional<T>& first, const std::optional<T>& second) {
  return Json::array({tersor::to_json(first), tersor::to_json(second)});
}

Json write_bounds(const std::map<std::string, ValueBounds>& mapping) {
  Json json = Json::object();
  for (const auto& [key, bounds] : mapping) json[key] = pair(bounds.low, bounds.high);
  return json;
}

Json write_quantizers(const Quantizers& mapping) {
  Json json = Json::object();
  for (const auto& [method, quantizer] : mapping)
    json[std::string(enum_word(method))] = std::string(enum_word(quantizer->method));
  return json;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// An operator is in one list of those given at most: what is left alone has no kernel and no output to quantize.
void check_lists(const Json& json, const FrameworkInfo& info, const std::string& place, Faults& faults) {
  if (!json.contains("no_quantization_ops")) return;
  const std::set<std::string> alone(info.no_quantization_ops.begin(), info.no_quantization_ops.end());
  const auto check = [&](const char* key, const std::vector<std::string>& list) {
    if (!json.contains(key)) return;
    for (const std::string& type : list)
      if (alone.count(type) != 0)
        faults.add(Error(ErrorCode::kInvalidConfig, shortened(type) + " is to be quantized and left alone.",
                         detail::join_place(place, key), "Take it out of this list or out of no_quantization_ops."));
  };
  check("kernel_ops", info.kernel_ops);
  check("activation_ops", info.activation_ops);
}

template <class Mapping>
std::vector<std::string> keys_of(const Mapping& mapping) {
  std::vector<std::string> keys;
  for (const auto& one : mapping) keys.push_back(one.first);
  return keys;
}

}  // namespace

FrameworkInfo read_framework_info(const Json& json, const std::string& place, FrameworkInfo start) {
  Faults faults;
  if (!json.is_object()) detail::wrong_type(json, "an object", place);
  for (const auto& entry : json.items())
    faults.attempt(
        [&] { read_field(entry.key(), entry.value(), start, detail::join_place(place, entry.key()), faults); });
  check_lists(json, start, place, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The FrameworkInfo", place);
  return start;
}

void check_operators(const FrameworkInfo& info, const std::vector<std::string>& known, const std::string& place) {
  std::vector<std::string> functions;
  for (const std::string& type : known) functions.push_back(lower_case(type));
  Faults faults;
  const auto check = [&](const char* field, const std::vector<std::string>& names,
                         const std::vector<std::string>& candidates, const char* what) {
    for (const std::string& name : names)
      faults.attempt([&] {
        if (!is_among(candidates, name))
          throw Error(ErrorCode::kInvalidConfig, "\"" + shortened(name) + "\" is no " + what + ".",
                      detail::join_place(place, field),
                      suggestion(name, candidates) + "Name an operator of ONNX, or one that the model has.");
      });
  };
  check("kernel_ops", info.kernel_ops, known, "operator");
  check("activation_ops", info.activation_ops, known, "operator");
  check("no_quantization_ops", info.no_quantization_ops, known, "operator");
  check("kernel_channels_mapping", keys_of(info.kernel_channels_mapping), known, "operator");
  check("activation_min_max_mapping", keys_of(info.activation_min_max_mapping), functions,
        "activation function, by its operator's name in lower case");
  check("layer_min_max_mapping", keys_of(info.layer_min_max_mapping), known, "operator");
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The FrameworkInfo", place);
}

Json to_json(const FrameworkInfo& info) {
  Json channels = Json::object();
  for (const auto& [key, axes] : info.kernel_channels_mapping) channels[key] = pair(axes.output_axis, axes.input_axis);
  return Json{{"kernel_ops", info.kernel_ops},
              {"activation_ops", info.activation_ops},
              {"no_quantization_ops", info.no_quantization_ops},
              {"activation_quantizer_mapping", write_quantizers(info.activation_quantizer_mapping)},
              {"weights_quantizer_mapping", write_quantizers(info.weights_quantizer_mapping)},
              {"kernel_channels_mapping", channels},
              {"activation_min_max_mapping", write_bounds(info.activation_min_max_mapping)},
              {"layer_min_max_mapping", write_bounds(info.layer_min_max_mapping)}};
}

}  // namespace tersor::framework
