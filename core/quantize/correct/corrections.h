// SPDX-License-Identifier: Apache-2.0
// The corrections of post-training quantization, as a list: each has a field of QuantizationConfig that switches it on,
// says what it reads of the statistics, and stands where it acts. What gathers statistics, drafts a plan, tries what
// gains and reports asks the list, so that a correction is a file of its own and a line here.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// What is gathered of a tensor for a correction, beyond its extremes.
struct CorrectionReads {
  bool channels = false;        // means and extremes of each channel
  bool kernel_outputs = false;  // of what lies between a kernel and its fused activation, too
  bool bins = false;            // the histogram
};

struct Correction {
  /// Of QuantizationConfig; it switches the correction on, or, where it is no bool, the correction reads it.
  std::string_view field;
  bool config::QuantizationConfig::*is_on = nullptr;  // null: always
  CorrectionReads reads = {};
  /// Rewrites the model with its statistics, before parameters are chosen; null for those that act on the plan alone.
  /// None where there is nothing to say.
  std::optional<Rewrite> (*apply)(CorrectedModel&, const config::QuantizationConfig&) = nullptr;
  /// Marks in the plan what the sweep over the samples is to measure for it; null for most. None where there is nothing
  /// to say.
  std::optional<Rewrite> (*mark)(QuantizationPlan&) = nullptr;
  /// Of one that is on by default: what switching it off may cost, a clause.
  std::string_view cost_of_leaving_out = "";
  /// It is taken back where it does not gain on samples held aside.
  bool is_tried = false;

  /// Whoever prefers something else goes without it.
  std::optional<config::Preference> only_for = {};

  bool is_switched_off(const config::QuantizationConfig& config) const { return is_on != nullptr && !(config.*is_on); }
  bool is_wanted(const config::QuantizationConfig& config) const {
    return !is_switched_off(config) && (!only_for || config.prefer == *only_for);
  }
};

/// Those with `apply` in the order in which they act, on the float model. The others act where their values are found:
/// the biases by formula when weights are chosen (choose_weights.cpp), the measured ones in the sweep (sweep.cpp).
std::span<const Correction> corrections();

/// Applies those that `config` asks for. `attach` makes an attachment of the model as it is by then.
void apply_corrections(CorrectedModel& model, const config::QuantizationConfig& config,
                       const std::function<framework::Attachment(const Graph&)>& attach);

}  // namespace tersor::ptq
