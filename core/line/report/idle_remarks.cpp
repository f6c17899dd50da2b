// SPDX-License-Identifier: Apache-2.0
#include "core/report/idle_remarks.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace tersor::report {

namespace {

/// Fields that say something of activations alone, by the beginnings of their names.
constexpr std::string_view kOfActivations[] = {"activation_", "shift_negative_", "relu_unbound_",     "input_scaling",
                                               "z_threshold", "softmax_shift",   "concat_threshold_", "percentile"};

bool is_of_activations(std::string_view field) {
  return std::any_of(std::begin(kOfActivations), std::end(kOfActivations),
                     [&](std::string_view begin) { return field.substr(0, begin.size()) == begin; });
}

Diagnostic without_effect(const std::string& field, const std::string& why) {
  return {"setting_without_effect", why, "config." + field, ""};
}

}  // namespace

std::vector<Diagnostic> idle_remarks(const config::QuantizationConfig& config,
                                     const std::vector<ptq::Rewrite>& rewrites, const ptq::QuantizationPlan& plan) {
  static const Json defaults = to_json(config::QuantizationConfig{}),
                    documented = to_json(config::requirement_defaults());
  const Json set = to_json(config);
  // Where all is as the preset of the documents has it, nobody asked for its single fields.
  bool is_preset = true;
  for (const auto& [field, value] : documented.items())
    is_preset = is_preset && (value == defaults.at(field) || set.at(field) == value);
  const auto is_asked_for = [&](const std::string& field) {
    return set.contains(field) && set.at(field) != defaults.at(field) &&
           !(is_preset && set.at(field) == documented.at(field));
  };
  std::vector<Diagnostic> remarks;
  const bool quantizes_none = plan.activations.empty();
  for (const auto& [field, value] : set.items())
    if (quantizes_none && is_of_activations(field) && is_asked_for(field))
      remarks.push_back(without_effect(field, "It has no effect, as no activation is quantized."));
  const bool by_tables =
      !plan.kernels.empty() && std::all_of(plan.kernels.begin(), plan.kernels.end(),
                                           [](const ptq::KernelPlan& one) { return one.table.has_value(); });
  if (by_tables && is_asked_for("weights_threshold_method"))
    remarks.push_back(without_effect("weights_threshold_method",
                                     "It has no effect: every weight has a table, whose entries lie where the weights "
                                     "are and leave no range to choose."));
  if (config.accuracy_level && plan.float_weights != tpc::FloatWeights::kMatMulNBits)
    remarks.push_back(without_effect("accuracy_level", "It has no effect: the platform writes no MatMulNBits."));
  for (const ptq::Rewrite& one : rewrites) {
    const std::string field(one.field);
    if (one.places > 0 || !is_asked_for(field) || (quantizes_none && is_of_activations(field))) continue;
    remarks.push_back(without_effect(field, one.what));
  }
  return remarks;
}

}  // namespace tersor::report
