// SPDX-License-Identifier: Apache-2.0
#include "core/framework/platform_layers.h"

#include <algorithm>
#include <map>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/framework/document_layers.h"
#include "core/tpc/read.h"

namespace tersor::framework {

namespace {

/// What the settings say of operator sets: an object.
Json custom_sets(const config::QuantizationConfig& settings) {
  const Json custom = to_json(settings.custom_tpc_opset_to_layer);
  return custom.is_null() ? Json::object() : custom;
}

std::string platform_place(const std::string& set) {
  return "platform.tp_model.operator_set \"" + set + "\".layers";
}
std::string settings_place(const std::string& set) {
  return "config.custom_tpc_opset_to_layer." + set;
}

std::vector<LayerFilterParams> read_layers(const Json& list, const std::string& place, Faults& faults) {
  std::vector<LayerFilterParams> layers;
  faults.attempt([&] {
    if (!list.is_array()) detail::wrong_type(list, "a list of layers", place);
    for (size_t k = 0; k < list.size(); ++k)
      faults.attempt([&] {
        const LayerFilterParams layer = read_layer_filter(list[k], place + "[" + std::to_string(k) + "]");
        for (LayerFilterParams& one : onnx_operators(layer)) layers.push_back(std::move(one));
      });
  });
  return layers;
}

/// The ONNX input that a set's mapping names: one of the operator's weights.
std::string read_attribute(const Json& json, const std::string& type, const std::string& place) {
  std::vector<std::string> known, types;
  for (const auto& [general, inputs] : onnx_attributes()) {
    if (const auto found = inputs.find(type); found != inputs.end()) known.push_back(found->second);
    for (const auto& one : inputs)
      if (std::find(types.begin(), types.end(), one.first) == types.end()) types.push_back(one.first);
  }
  if (known.empty())
    throw Error(ErrorCode::kInvalidPlatform, "\"" + shortened(type) + "\" is no operator with a kernel.", place,
                suggestion(type, types) + "There are " + joined(types) + ".");
  if (!json.is_string()) detail::wrong_type(json, "the name of an input", place);
  const auto name = json.get<std::string>();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(ErrorCode::kInvalidPlatform, "\"" + shortened(name) + "\" is no weight of " + type + ".", place,
                "Name " + joined(known) + ", which is how ONNX calls its weights.");
  return name;
}

AttrMapping read_attr_mapping(const Json& json, const std::string& place, Faults& faults) {
  static const std::vector<std::string> kGeneral = {"kernel_attr", "bias_attr", "pos_attr"};
  AttrMapping mapping;
  faults.attempt([&] {
    if (!json.is_object()) detail::wrong_type(json, "an object", place);
    for (const auto& general : json.items())
      faults.attempt([&] {
        const std::string& name = general.key();
        if (std::find(kGeneral.begin(), kGeneral.end(), name) == kGeneral.end())
          throw Error(ErrorCode::kInvalidPlatform, "\"" + shortened(name) + "\" is no general name of a weight.", place,
                      suggestion(name, kGeneral) + "There are " + joined(kGeneral) + ".");
        if (!general.value().is_object()) detail::wrong_type(general.value(), "an object", place + "." + name);
        for (const auto& one : general.value().items())
          faults.attempt([&] {
            mapping[name][one.key()] =
                read_attribute(one.value(), one.key(), place + "." + name + "." + shortened(one.key()));
          });
      });
  });
  return mapping;
}

std::string mapping_place(const std::string& set) {
  return "platform.tp_model.operator_set \"" + set + "\".attr_mapping";
}

Json mapping_in_file(const tpc::OperatorsSet& set) {
  return set.attr_mapping.empty() ? Json::object()
                                  : parse_json(set.attr_mapping, set.name, ErrorCode::kInvalidPlatform);
}

Json layers_in_file(const tpc::OperatorsSet& set) {
  return set.layers.empty() ? Json::array() : parse_json(set.layers, set.name, ErrorCode::kInvalidPlatform);
}

Error unknown_set(const std::string& set, const std::string& place) {
  return Error(
      ErrorCode::kInvalidPlatform, "No layers are known for the operator set \"" + set + "\".", place,
      "Say with its \"layers\", or in custom_tpc_opset_to_layer, which operators it stands for, or take it out.");
}

void throw_if_any(const Faults& faults) {
  faults.throw_if_any(ErrorCode::kInvalidPlatform, "The platform", "platform");
}

}  // namespace

tpc::TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place,
                                              const config::QuantizationConfig& settings) {
  const OperationsToLayers known = onnx_layers();
  const Json custom = custom_sets(settings);
  return tpc::read_platform(text, place,
                            [&](const tpc::OperatorsSet& set, const std::string& set_place, Faults& faults) {
                              read_layers(layers_in_file(set), set_place + ".layers", faults);
                              read_attr_mapping(mapping_in_file(set), set_place + ".attr_mapping", faults);
                              if (set.layers.empty() && known.find(set.name) == nullptr && !custom.contains(set.name))
                                faults.add(unknown_set(set.name, set_place));
                            });
}

OperationsToLayers layers_of(const tpc::TargetPlatformCapabilities& platform,
                             const config::QuantizationConfig& settings, OperationsToLayers known) {
  Faults faults;
  std::vector<std::string> sets;
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set) {
    sets.push_back(set.name);
    const OperationsSetToLayers* by_name = known.find(set.name);
    OperationsSetToLayers entry{set.name, by_name != nullptr ? by_name->layers : std::vector<LayerFilterParams>(), {}};
    if (!set.layers.empty()) entry.layers = read_layers(layers_in_file(set), platform_place(set.name), faults);
    entry.attr_mapping = read_attr_mapping(mapping_in_file(set), mapping_place(set.name), faults);
    if (by_name != nullptr || !set.layers.empty()) known.set(std::move(entry));
  }
  const Json custom = custom_sets(settings);
  for (const auto& entry : custom.items())
    faults.attempt([&] {
      const std::string& set = entry.key();
      if (std::find(sets.begin(), sets.end(), set) == sets.end())
        throw Error(ErrorCode::kInvalidPlatform, "The platform has no operator set \"" + shortened(set) + "\".",
                    settings_place(shortened(set)), suggestion(set, sets) + "It has: " + joined(sets) + ".");
      const Json& given = entry.value();
      const OperationsSetToLayers* before = known.find(set);
      OperationsSetToLayers made{set, {}, before != nullptr ? before->attr_mapping : AttrMapping()};
      if (given.is_object()) {
        for (const auto& member : given.items())
          if (member.key() != "layers" && member.key() != "attr_mapping")
            detail::unknown_key(member.key(), {"layers", "attr_mapping"}, settings_place(set));
        made.attr_mapping = read_attr_mapping(given.value("attr_mapping", Json::object()),
                                              settings_place(set) + ".attr_mapping", faults);
      }
      made.layers = read_layers(given.is_object() ? given.value("layers", Json()) : given, settings_place(set), faults);
      known.set(std::move(made));
    });
  throw_if_any(faults);
  return known;
}

void check_sets_known(const tpc::TargetPlatformCapabilities& platform, const OperationsToLayers& layers) {
  Faults faults;
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set)
    if (layers.find(set.name) == nullptr) faults.add(unknown_set(set.name, "platform.tp_model.operator_set"));
  throw_if_any(faults);
}

void check_layers(const tpc::TargetPlatformCapabilities& platform, const config::QuantizationConfig& settings,
                  const std::vector<std::string>& known) {
  const OperationsToLayers layers = layers_of(platform, settings, {});
  const Json custom = custom_sets(settings);
  Faults faults;
  for (const OperationsSetToLayers& set : layers.op_sets_to_layers)
    for (size_t k = 0; k < set.layers.size(); ++k) {
      const std::string &type = set.layers[k].layer, &name = set.op_set_name;
      const std::string place =
          (custom.contains(name) ? settings_place(name) : platform_place(name)) + "[" + std::to_string(k) + "]";
      if (type.find("::") == std::string::npos && std::find(known.begin(), known.end(), type) == known.end())
        faults.add(Error(ErrorCode::kInvalidPlatform, "\"" + shortened(type) + "\" is no operator.", place,
                         suggestion(type, known) + "Name an operator of ONNX, or one that the model has."));
      const std::vector<std::string> attributes = possible_attributes(type);
      for (const std::string& asked : set.layers[k].attributes())
        if (!attributes.empty() && std::find(attributes.begin(), attributes.end(), asked) == attributes.end())
          faults.add(Error(ErrorCode::kInvalidPlatform,
                           type + " has no attribute \"" + shortened(asked) + "\" to filter by.", place,
                           suggestion(asked, attributes) + "It has: " + joined(attributes) + "."));
    }
  throw_if_any(faults);
}

}  // namespace tersor::framework
