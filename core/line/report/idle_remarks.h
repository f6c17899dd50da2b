// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/decide/rewrite.h"

namespace tersor::report {

/// A remark for each requested setting that changed nothing: a correction that found no place, with the reason, and
/// settings for activations if none is quantized. Fields at their default, or at that of the requirement document,
/// count as not requested.
std::vector<Diagnostic> idle_remarks(const config::QuantizationConfig& config,
                                     const std::vector<ptq::Rewrite>& rewrites, const ptq::QuantizationPlan& plan);

}  // namespace tersor::report
