// SPDX-License-Identifier: Apache-2.0
// Finds settings that contradict each other. Recipes and presets write every field out, so a field at its default, or
// at that of the requirement document, contradicts nothing.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/faults.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"

namespace tersor::config {

/// Adds a fault for each field that asks for what another field rules out, such as bits of weights that are not
/// quantized. A field whose value is that in `unasked` was not requested. `overrides` may permit for single nodes what
/// is ruled out for all others.
void find_contradictions(const QuantizationConfig& config, const std::vector<Override>& overrides,
                         const QuantizationConfig& unasked, const std::string& place, Faults& faults);

/// Throws all faults together as Error kInvalidConfig: those of check_acts(), contradictions, and overrides that change
/// nothing.
void check_settings(const QuantizationConfig& config, const std::vector<Override>& overrides = {});

/// Remarks on fields that were set but have no effect with the other settings, such as the ratio of a correction that
/// is off.
std::vector<Diagnostic> idle_settings(const QuantizationConfig& config, const std::vector<Override>& overrides);

}  // namespace tersor::config
