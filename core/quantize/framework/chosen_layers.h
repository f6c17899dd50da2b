// SPDX-License-Identifier: Apache-2.0
// The layers that overrides choose, for QuantizeConfigs whose methods are JavaScript or Python: the package calls these
// for each layer, and what they return comes back as data.
#pragma once

#include <vector>

#include "core/config/recipe.h"
#include "core/framework/quantize_config.h"

namespace tersor::framework {

/// Those that number `which` of the overrides chooses in the prepared graph, in its order. Error kInvalidConfig for a
/// filter that cannot be read, or an override that matches no node.
std::vector<Layer> chosen_layers(const Graph& graph, std::vector<config::Override> overrides, size_t which);

}  // namespace tersor::framework
