// SPDX-License-Identifier: Apache-2.0
#include "core/config/contradictions.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace tersor::config {

namespace {

using quant::QuantizationMethod;
using quant::ThresholdSelectionMethod;
using C = QuantizationConfig;
using Fields = std::vector<std::string_view>;

/// What holds where `when` does: the fields `excluded` ask for the opposite, the fields `idle` for nothing.
struct Rule {
  Fields decided_by;  // the fields that `when` reads
  bool (*when)(const C&);
  Fields excluded;
  Fields idle;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {{"enable_weights_quantization"},
       [](const C& c) { return c.enable_weights_quantization == false; },
       {"weights_quantization_method", "weights_n_bits", "weights_per_channel_threshold", "weights_block_size"},
       {"weights_threshold_method", "weights_second_moment_correction", "weights_bias_correction_method", "effort"}},
      {{"enable_activation_quantization"},
       [](const C& c) { return c.enable_activation_quantization == false; },
       {"activation_quantization_method", "activation_n_bits"},
       {"activation_threshold_method", "z_threshold", "relu_unbound_correction", "input_scaling",
        "shift_negative_activation_correction", "activation_bias_correction", "softmax_shift",
        "concat_threshold_update"}},
      {{"shift_negative_activation_correction"},
       [](const C& c) { return !c.shift_negative_activation_correction; },
       {},
       {"shift_negative_ratio", "shift_negative_threshold_recalculation", "shift_negative_params_search"}},
      {{"shift_negative_params_search"},
       [](const C& c) { return c.shift_negative_params_search; },
       {},
       {"shift_negative_threshold_recalculation"}},
      {{"activation_bias_correction"},
       [](const C& c) { return !c.activation_bias_correction; },
       {},
       {"activation_bias_correction_threshold"}},
      {{"weights_bias_correction"},
       [](const C& c) { return !c.weights_bias_correction; },
       {},
       {"weights_bias_correction_method", "effort"}},
      {{"weights_bias_correction_method"},
       [](const C& c) { return c.weights_bias_correction && !c.measures_bias(); },
       {},
       {"effort"}},
      {{"activation_threshold_method", "weights_threshold_method"},
       [](const C& c) {
         return c.activation_threshold_method != ThresholdSelectionMethod::kLp &&
                c.weights_threshold_method != ThresholdSelectionMethod::kLp;
       },
       {},
       {"l_p_value"}},
      {{"activation_threshold_method"},
       [](const C& c) { return c.activation_threshold_method != ThresholdSelectionMethod::kPercentile; },
       {},
       {"percentile"}},
      // They use up the room that a range without a free zero point leaves.
      {{"activation_quantization_method"},
       [](const C& c) { return c.activation_quantization_method == QuantizationMethod::kUniform; },
       {},
       {"relu_unbound_correction", "input_scaling", "shift_negative_activation_correction"}},
      {{"activation_quantization_method"},
       [](const C& c) { return c.activation_quantization_method == QuantizationMethod::kSymmetric; },
       {},
       {"relu_unbound_correction"}},
  };
  return all;
}

/// Of a configuration as JSON.
const Json& value_of(const Json& config, std::string_view field) {
  return config.at(std::string(field));
}

std::string said(const Json& config, std::string_view field) {
  const Json& value = value_of(config, field);
  return std::string(field) + " = " + (value.is_string() ? value.get<std::string>() : to_text(value, false));
}

std::string said(const Json& config, const Fields& fields) {
  std::vector<std::string> all;
  for (const std::string_view one : fields) all.push_back(said(config, one));
  return joined(all);
}

bool equal(const Json& a, const Json& b, std::string_view field) {
  return value_of(a, field) == value_of(b, field);
}

/// Whether some node may have another value of the field than the configuration says.
bool differs_by_node(const std::vector<Override>& overrides, std::string_view field) {
  return std::any_of(overrides.begin(), overrides.end(), [&](const Override& one) {
    if (!one.quantize_config.empty()) return true;
    if (one.config.empty()) return false;
    const Json given = parse_json(one.config, "overrides");
    return std::any_of(given.items().begin(), given.items().end(),
                       [&](const auto& entry) { return canonical_name(entry.key()) == field; });
  });
}

void find_empty(const std::vector<Override>& overrides, Faults& faults) {
  for (size_t k = 0; k < overrides.size(); ++k) {
    const Override& one = overrides[k];
    const bool sets_fields = !one.config.empty() && !parse_json(one.config, "overrides").empty();
    if (!sets_fields && one.quantize_config.empty() && one.trainable_quantizer.empty() && !one.annotate)
      faults.add(Error(ErrorCode::kInvalidConfig,
                       "An override that changes nothing: it has neither fields in its config, nor quantize_config, "
                       "trainable_quantizer or annotate.",
                       "overrides[" + std::to_string(k) + "]",
                       "For example: \"config\": {\"enable_weights_quantization\": false}"));
  }
}

/// The rules that hold for all nodes.
void for_each_rule(const C& config, const std::vector<Override>& overrides,
                   const std::function<void(const Rule&)>& visit) {
  for (const Rule& rule : rules())
    if (rule.when(config) && std::none_of(rule.decided_by.begin(), rule.decided_by.end(),
                                          [&](std::string_view field) { return differs_by_node(overrides, field); }))
      visit(rule);
}

}  // namespace

void find_contradictions(const C& config, const std::vector<Override>& overrides, const C& unasked,
                         const std::string& place, Faults& faults) {
  const Json given = to_json(config), defaults = to_json(C()), silent = to_json(unasked);
  for_each_rule(config, overrides, [&](const Rule& rule) {
    for (const std::string_view field : rule.excluded)
      if (!equal(given, defaults, field) && !equal(given, silent, field))
        faults.add(Error(ErrorCode::kInvalidConfig,
                         said(given, field) + " contradicts " + said(given, rule.decided_by) + ".",
                         detail::join_place(place, field),
                         "Leave " + std::string(field) + " out, or change " + std::string(rule.decided_by[0]) + "."));
  });
}

void check_settings(const C& config, const std::vector<Override>& overrides) {
  Faults faults;
  find_inert(config, faults);
  find_contradictions(config, overrides, requirement_defaults(), "config", faults);
  find_empty(overrides, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The configuration", "config");
}

std::vector<Diagnostic> idle_settings(const C& config, const std::vector<Override>& overrides) {
  const Json given = to_json(config), defaults = to_json(C()), documented = to_json(requirement_defaults());
  std::vector<Diagnostic> remarks;
  Fields told;
  const auto tell = [&](Fields& idle, std::string_view field) {
    if (std::find(told.begin(), told.end(), field) != told.end()) return;
    idle.push_back(field);
    told.push_back(field);
  };
  for_each_rule(config, overrides, [&](const Rule& rule) {
    Fields idle;
    // Those that check_settings() lets pass because the requirement document has them.
    for (const std::string_view field : rule.excluded)
      if (!equal(given, defaults, field)) tell(idle, field);
    for (const std::string_view field : rule.idle)
      if (!equal(given, defaults, field) && !equal(given, documented, field)) tell(idle, field);
    if (idle.empty()) return;
    remarks.push_back({"no_effect",
                       said(given, idle) + (idle.size() == 1 ? " has" : " have") + " no effect with " +
                           said(given, rule.decided_by) + ".",
                       "config." + std::string(idle[0]), "Leave it out, or change what switches it off."});
  });
  return remarks;
}

}  // namespace tersor::config
