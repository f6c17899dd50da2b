// SPDX-License-Identifier: Apache-2.0
#include "core/framework/platform_layers.h"

#include <algorithm>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/tpc/read.h"

namespace tersor::framework {

namespace {

/// The layers that the set itself names.
std::vector<LayerFilterParams> own_layers(const tpc::OperatorsSet& set, const std::string& place, Faults& faults) {
  std::vector<LayerFilterParams> layers;
  if (set.layers.empty()) return layers;
  const Json list = parse_json(set.layers, place, ErrorCode::kInvalidPlatform);
  for (size_t k = 0; k < list.size(); ++k)
    faults.attempt([&] { layers.push_back(read_layer_filter(list[k], place + "[" + std::to_string(k) + "]")); });
  return layers;
}

std::string layers_place(const std::string& set) {
  return "platform.tp_model.operator_set \"" + set + "\".layers";
}

Error unknown_set(const std::string& set, const std::string& place) {
  return Error(ErrorCode::kInvalidPlatform, "No layers are known for the operator set \"" + set + "\".", place,
               "Say with its \"layers\" which operators it stands for, or take it out.");
}

}  // namespace

tpc::TargetPlatformCapabilities read_platform(std::string_view text, const std::string& place) {
  const OperationsToLayers known = onnx_layers();
  return tpc::read_platform(text, place,
                            [&](const tpc::OperatorsSet& set, const std::string& set_place, Faults& faults) {
                              own_layers(set, set_place + ".layers", faults);
                              if (set.layers.empty() && known.find(set.name) == nullptr)
                                faults.add(unknown_set(set.name, set_place));
                            });
}

OperationsToLayers layers_of(const tpc::TargetPlatformCapabilities& platform, OperationsToLayers known) {
  Faults faults;
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set)
    if (!set.layers.empty()) known.set({set.name, own_layers(set, layers_place(set.name), faults), {}});
  faults.throw_if_any(ErrorCode::kInvalidPlatform, "The platform", "platform");
  return known;
}

void check_sets_known(const tpc::TargetPlatformCapabilities& platform, const OperationsToLayers& layers) {
  Faults faults;
  for (const tpc::OperatorsSet& set : platform.tp_model.operator_set)
    if (layers.find(set.name) == nullptr) faults.add(unknown_set(set.name, "platform.tp_model.operator_set"));
  faults.throw_if_any(ErrorCode::kInvalidPlatform, "The platform", "platform");
}

void check_layers(const tpc::TargetPlatformCapabilities& platform, const std::vector<std::string>& known) {
  const OperationsToLayers layers = layers_of(platform, {});
  Faults faults;
  for (const OperationsSetToLayers& set : layers.op_sets_to_layers)
    for (size_t k = 0; k < set.layers.size(); ++k) {
      const std::string& type = set.layers[k].layer;
      if (type.find("::") != std::string::npos || std::find(known.begin(), known.end(), type) != known.end()) continue;
      faults.add(Error(ErrorCode::kInvalidPlatform, "\"" + type + "\" is no operator.",
                       layers_place(set.op_set_name) + "[" + std::to_string(k) + "]",
                       suggestion(type, known) + "Name an operator of ONNX, or one that the model has."));
    }
  faults.throw_if_any(ErrorCode::kInvalidPlatform, "The platform", "platform");
}

}  // namespace tersor::framework
