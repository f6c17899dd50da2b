// SPDX-License-Identifier: Apache-2.0
#include "core/framework/platform_layers.h"

#include <algorithm>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/names.h"
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
      faults.attempt([&] { layers.push_back(read_layer_filter(list[k], place + "[" + std::to_string(k) + "]")); });
  });
  return layers;
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
    if (!set.layers.empty())
      known.set({set.name, read_layers(layers_in_file(set), platform_place(set.name), faults), {}});
  }
  const Json custom = custom_sets(settings);
  for (const auto& entry : custom.items())
    faults.attempt([&] {
      const std::string& set = entry.key();
      if (std::find(sets.begin(), sets.end(), set) == sets.end())
        throw Error(ErrorCode::kInvalidPlatform, "The platform has no operator set \"" + shortened(set) + "\".",
                    settings_place(shortened(set)), suggestion(set, sets) + "It has: " + joined(sets) + ".");
      known.set({set, read_layers(entry.value(), settings_place(set), faults), {}});
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
      if (type.find("::") != std::string::npos || std::find(known.begin(), known.end(), type) != known.end()) continue;
      faults.add(
          Error(ErrorCode::kInvalidPlatform, "\"" + shortened(type) + "\" is no operator.",
                (custom.contains(name) ? settings_place(name) : platform_place(name)) + "[" + std::to_string(k) + "]",
                suggestion(type, known) + "Name an operator of ONNX, or one that the model has."));
    }
  throw_if_any(faults);
}

}  // namespace tersor::framework
