// SPDX-License-Identifier: Apache-2.0
// The list of all corrections of post-training quantization. Each entry names the field of QuantizationConfig that
// switches the correction on and the statistics that it reads, and stands where it acts in the order. The code that
// gathers statistics, drafts plans, runs trials and reports iterates over the list. So a new correction is a file of
// its own and a line in the list.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// The statistics of a tensor that a correction needs besides its extremes.
struct CorrectionReads {
  bool channels = false;        // means and extremes per channel
  bool kernel_outputs = false;  // also those of tensors between a kernel and its fused activation
  bool bins = false;            // the histogram
};

/// An entry of the list.
struct Correction {
  /// The field of QuantizationConfig that switches the correction on, or that the correction reads if it is no bool.
  std::string_view field;
  bool config::QuantizationConfig::*is_on = nullptr;  // null: always
  CorrectionReads reads = {};
  /// Rewrites the model and its statistics before parameters are chosen. Null for corrections that change only the
  /// plan. Returns nothing if there is nothing to report.
  std::optional<Rewrite> (*apply)(CorrectedModel&, const config::QuantizationConfig&) = nullptr;
  /// Marks in the plan what the sweep over the samples must measure; null for most corrections. Returns nothing if
  /// there is nothing to report.
  std::optional<Rewrite> (*mark)(QuantizationPlan&) = nullptr;
  /// For a correction that is on by default: a clause that says what switching it off may cost.
  std::string_view cost_of_leaving_out = "";
  /// True if the correction is taken back when the model is better without it on samples held out.
  bool is_tried = false;

  /// If set, the correction acts only for this preference.
  std::optional<config::Preference> only_for = {};

  bool is_switched_off(const config::QuantizationConfig& config) const { return is_on != nullptr && !(config.*is_on); }
  bool is_wanted(const config::QuantizationConfig& config) const {
    return !is_switched_off(config) && (!only_for || config.prefer == *only_for);
  }
};

/// All corrections. Those with `apply` are in the order in which they act on the float model. The others act where
/// their values are computed: biases by formula when weights are chosen (choose_weights.cpp), measured biases in the
/// sweep (sweep.cpp).
std::span<const Correction> corrections();

/// Applies the corrections that `config` asks for. `attach` makes an attachment of the current graph.
void apply_corrections(CorrectedModel& model, const config::QuantizationConfig& config,
                       const std::function<framework::Attachment(const Graph&)>& attach);

}  // namespace tersor::ptq
