// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "core/base/fields.h"

namespace tersor::report {

/// What a function of the caller's own (core/evaluate/own_metric.h) says of both models' outputs.
struct OwnEvaluation {
  std::string metric;
  int64_t count = 0;
  double in_float = 0, quantized = 0;
  double standard_error = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("metric", &OwnEvaluation::metric, "Name of the function."),
                           field("count", &OwnEvaluation::count, "Samples that it was called with."),
                           field("float", &OwnEvaluation::in_float, "What it says of the float model; more is better."),
                           field("quantized", &OwnEvaluation::quantized, "What it says of the quantized model."),
                           field("standard_error", &OwnEvaluation::standard_error,
                                 "Standard error of the difference of both, by the jackknife of 16 parts."));
  }
};

}  // namespace tersor::report
