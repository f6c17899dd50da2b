// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/framework/layer_filter_params.h"

namespace tersor::framework {

/// General attribute name ("kernel_attr") to layer type to the ONNX name of that input ("W").
using AttrMapping = std::map<std::string, std::map<std::string, std::string>>;

/// The layers that an operator set of a platform stands for.
struct OperationsSetToLayers {
  std::string op_set_name;
  std::vector<LayerFilterParams> layers;
  /// Where it names a weight of a type, each weight of that type has the configuration of the name that it stands
  /// under, or else the default.
  AttrMapping attr_mapping;
};

/// All of them. A layer may stand in several sets; the platform in use has only some of these sets.
struct OperationsToLayers {
  std::vector<OperationsSetToLayers> op_sets_to_layers;

  /// Adds an entry, or replaces that of the same set.
  void set(OperationsSetToLayers entry);
  const OperationsSetToLayers* find(std::string_view op_set_name) const;
};

/// The weights of ONNX's operators.
const AttrMapping& onnx_attributes();

/// The ONNX mapping of the set names that platform tables use.
OperationsToLayers onnx_layers();

}  // namespace tersor::framework
