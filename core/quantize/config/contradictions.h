// SPDX-License-Identifier: Apache-2.0
// Settings that do not go together. A recipe and a preset write every field out, so a field at its default, or at that
// of the requirement document, contradicts nothing.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/faults.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"

namespace tersor::config {

/// A fault for each field that asks for what another one rules out: bits of weights that are not quantized. A field
/// with its value in `unasked` was not asked for. `overrides` may bring back for single nodes what holds for all
/// others.
void find_contradictions(const QuantizationConfig& config, const std::vector<Override>& overrides,
                         const QuantizationConfig& unasked, const std::string& place, Faults& faults);

/// What check_acts() refuses, what contradicts, and overrides that change nothing, all at once. Error kInvalidConfig.
void check_settings(const QuantizationConfig& config, const std::vector<Override>& overrides = {});

/// Remarks on fields that were set and have no effect beside the others, such as a ratio of a step that is off.
std::vector<Diagnostic> idle_settings(const QuantizationConfig& config, const std::vector<Override>& overrides);

}  // namespace tersor::config
