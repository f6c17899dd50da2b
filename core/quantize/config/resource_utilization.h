// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"

namespace tersor::config {

/// The resources that a quantized model takes, or may take at most. In a target, finite numbers are limits.
struct ResourceUtilization {
  double weights_memory = std::numeric_limits<double>::infinity();
  double activation_memory = std::numeric_limits<double>::infinity();
  double total_memory = std::numeric_limits<double>::infinity();
  double bops = std::numeric_limits<double>::infinity();

  /// True if all numbers of `taken` are within this target; false for NaN.
  bool is_satisfied_by(const ResourceUtilization& taken) const;
  /// The names of the numbers that are limits.
  std::vector<std::string> restricted() const;

  static constexpr auto fields() {
    using R = ResourceUtilization;
    return std::make_tuple(field("weights_memory", &R::weights_memory, "Bytes of the quantized weights."),
                           field("activation_memory", &R::activation_memory,
                                 "Bytes of the activations that exist at the same time, at most."),
                           field("total_memory", &R::total_memory, "Bytes of weights and activations together."),
                           field("bops", &R::bops, "Bit operations of one run."));
  }
  bool operator==(const ResourceUtilization&) const = default;
};

/// JSON has no infinity: null, or a missing number, is no limit. Error kInvalidConfig for a number below 0.
Json to_json(const ResourceUtilization& utilization);
void from_json(const Json& json, ResourceUtilization& utilization, const std::string& place);

}  // namespace tersor::config
