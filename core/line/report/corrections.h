// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/decide/rewrite.h"
#include "core/graph/graph.h"
#include "core/passes/pipeline.h"

namespace tersor::report {

/// A step of the recipe that changed something, or that was asked for and gives the reason for changing nothing (0
/// places).
struct Correction {
  std::string name;
  int64_t places = 0;
  std::string gained;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &Correction::name, "The field of QuantizationConfig that switches it."),
        field("places", &Correction::places,
              "Regions, layers or operators that it changed; 0 where it was switched off."),
        field("gained", &Correction::gained, "What it gained, or may cost to leave out, in a sentence."));
  }
};

/// Returns the corrections in the order in which they act. `prepared` has the changes of each pass over the float
/// graph.
std::vector<Correction> corrections_of(const std::vector<passes::PassResult>& prepared,
                                       const std::vector<ptq::Rewrite>& rewrites, const ptq::QuantizationPlan& plan);

/// The steps of the default recipe that the settings switch off, each with what that may cost; they have 0 places.
std::vector<Correction> left_out(const config::QuantizationConfig& config);

}  // namespace tersor::report
