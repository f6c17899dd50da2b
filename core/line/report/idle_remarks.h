// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/decide/rewrite.h"

namespace tersor::report {

/// A remark for each setting that was asked for and has changed nothing: a correction that found no place, with the
/// reason, and what concerns activations where none is quantized. Fields at their default, or at that of the
/// requirement document, were not asked for.
std::vector<Diagnostic> idle_remarks(const config::QuantizationConfig& config,
                                     const std::vector<ptq::Rewrite>& rewrites, const ptq::QuantizationPlan& plan);

}  // namespace tersor::report
