// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"

namespace tersor::config {

/// What a quantized model takes, or may take at most. As a target a number is a restriction where it is finite.
struct ResourceUtilization {
  double weights_memory = std::numeric_limits<double>::infinity();
  double activation_memory = std::numeric_limits<double>::infinity();
  double total_memory = std::numeric_limits<double>::infinity();
  double bops = std::numeric_limits<double>::infinity();

  /// Whether `taken` is within this target in every number; NaN is not.
  bool is_satisfied_by(const ResourceUtilization& taken) const;
  /// The names of the numbers that are restrictions.
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

/// JSON has no infinity: null, or a number left out, is no restriction. Error kInvalidConfig for one below 0.
Json to_json(const ResourceUtilization& utilization);
void from_json(const Json& json, ResourceUtilization& utilization, const std::string& place);

}  // namespace tersor::config
