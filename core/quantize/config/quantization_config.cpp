// SPDX-License-Identifier: Apache-2.0
#include "core/config/quantization_config.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <vector>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/config/contradictions.h"
#include "core/config/names_elsewhere.h"
#include "core/quant/quantizer.h"

namespace tersor::config {

namespace {

using quant::QuantizationMethod;
using quant::ThresholdSelectionMethod;

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

/// The member's type without the optional around it.
template <class T>
using Plain = typename Unwrapped<T>::type;

template <class T>
const T* present(const T& value) {
  return &value;
}
template <class T>
const T* present(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

std::string text_of(double number, bool whole) {
  return whole ? std::to_string(std::llround(number)) : to_text(Json(number), false);
}

template <class One>
void check_limits(const QuantizationConfig& config, const One& one, const std::string& place) {
  using Value = Plain<std::remove_cvref_t<decltype(config.*(one.member))>>;
  if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
    const Value* value = present(config.*(one.member));
    if (value == nullptr) return;
    const double number = static_cast<double>(*value);
    const FieldLimits& limits = one.limits;
    const bool low = limits.minimum && number < *limits.minimum, high = limits.maximum && number > *limits.maximum;
    if (!low && !high) return;
    constexpr bool kWhole = std::is_integral_v<Value>;
    const std::string from = limits.minimum ? text_of(*limits.minimum, kWhole) : "",
                      to = limits.maximum ? text_of(*limits.maximum, kWhole) : "";
    throw Error(ErrorCode::kInvalidConfig,
                "Found " + to_text(tersor::to_json(*value), false) + " where a " +
                    (kWhole ? "whole number " : "number ") +
                    (to.empty() ? "of at least " + from : "from " + from + " to " + to) + " is expected.",
                detail::join_place(place, one.name));
  }
}

/// The words of an enum's values that act in this version in the field of that name.
std::vector<std::string> acting_words(QuantizationMethod, std::string_view) {
  std::vector<std::string> words;
  for (const QuantizationMethod one : quant::acting_methods()) words.emplace_back(enum_word(one));
  for (const auto one : {QuantizationMethod::kLutPotQuantizer, QuantizationMethod::kLutSymQuantizer})
    words.emplace_back(enum_word(one));
  return words;
}
std::vector<std::string> acting_words(BiasCorrectionMethod, std::string_view) {
  return {std::string(enum_word(BiasCorrectionMethod::kMeasured)),
          std::string(enum_word(BiasCorrectionMethod::kAnalytic))};
}
template <class Enum>
std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (const auto& [value, word] : EnumWords<Enum>::words) words.emplace_back(word);
  return words;
}
std::vector<std::string> acting_words(IoTypes, std::string_view) {
  return all_words<IoTypes>();
}
std::vector<std::string> acting_words(Preference, std::string_view) {
  return all_words<Preference>();
}
std::vector<std::string> acting_words(MpDistance, std::string_view) {
  return all_words<MpDistance>();
}
std::vector<std::string> acting_words(MpMetricNormalization, std::string_view) {
  return all_words<MpMetricNormalization>();
}
std::vector<std::string> acting_words(RoundingType, std::string_view) {
  return all_words<RoundingType>();
}
std::vector<std::string> acting_words(MpDistanceWeighting, std::string_view) {
  return all_words<MpDistanceWeighting>();
}
std::vector<std::string> acting_words(ThresholdSelectionMethod, std::string_view field) {
  std::vector<std::string> words;
  for (const ThresholdSelectionMethod one :
       field == "weights_threshold_method" ? quant::weight_selection_methods() : quant::activation_selection_methods())
    words.emplace_back(enum_word(one));
  return words;
}

Error acts_on_default_only(const std::string& name, const Json& value, const Json& otherwise) {
  return Error(ErrorCode::kInvalidConfig,
               name + " is " + to_text(value, false) + ", but this version acts on its default only.", "config." + name,
               "Leave it at " + to_text(otherwise, false) + ".");
}

Error does_not_act(const std::string& name, std::string_view word, const std::vector<std::string>& words) {
  return Error(ErrorCode::kInvalidConfig, name + " is " + std::string(word) + ", which does not act in this field.",
               "config." + name, "Use one of: " + joined(words) + ".");
}

template <class One>
void check_field_acts(const QuantizationConfig& config, const One& one) {
  static const QuantizationConfig defaults, documented = requirement_defaults();
  const auto& value = config.*(one.member);
  if (!one.limits.acts && !(value == defaults.*(one.member)) && !(value == documented.*(one.member)))
    throw acts_on_default_only(one.name, tersor::to_json(value), tersor::to_json(defaults.*(one.member)));
  using Value = Plain<std::remove_cvref_t<decltype(value)>>;
  if constexpr (std::is_enum_v<Value>) {
    const Value* chosen = present(value);
    if (chosen == nullptr) return;
    const std::vector<std::string> words = acting_words(*chosen, one.name);
    if (std::find(words.begin(), words.end(), enum_word(*chosen)) == words.end())
      throw does_not_act(one.name, enum_word(*chosen), words);
  }
}

struct FieldType {
  const char* name;
  bool nullable;
  Json choices;            // null but for an enum
  Json members = nullptr;  // of an object of fields: a list of {name, type, nullable, choices, meaning}
};

template <class Member>
FieldType type_of(const char* field);

/// A list of numbers, of texts, or of objects of fields.
template <class Item>
FieldType list_of(bool nullable);

/// ResourceUtilization has infinity where JSON has null.
template <class Owner>
Json members_of() {
  constexpr bool is_target = std::is_same_v<Owner, ResourceUtilization>;
  Json members = Json::array();
  for_each_field<Owner>([&](const auto& one) {
    const Owner defaults{};
    const auto type = type_of<std::remove_cvref_t<decltype(defaults.*(one.member))>>(one.name);
    members.push_back({{"name", one.name},
                       {"type", type.name},
                       {"nullable", type.nullable || is_target},
                       {"choices", type.choices},
                       {"default", is_target ? Json(nullptr) : tersor::to_json(defaults.*(one.member))},
                       {"members", type.members},
                       {"meaning", one.meaning}});
  });
  return members;
}

template <class Item>
FieldType list_of(bool nullable) {
  if constexpr (HasFields<Item>) return {"objects", nullable, nullptr, members_of<Item>()};
  return {std::is_same_v<Item, std::string> ? "texts" : "integers", nullable, nullptr};
}

template <class Member>
FieldType type_of(const char* field) {
  using Value = Plain<Member>;
  constexpr bool nullable = !std::is_same_v<Member, Value>;
  if constexpr (std::is_enum_v<Value>) return {"enum", nullable, acting_words(Value{}, field)};
  if constexpr (std::is_same_v<Value, JsonText>) return {"object", true, nullptr};
  if constexpr (std::is_same_v<Value, OutputRoles>) return {"object", true, all_words<OutputKind>()};
  if constexpr (HasFields<Value>) return {"object", true, nullptr, members_of<Value>()};
  if constexpr (detail::IsVector<Value>::value) return list_of<typename Value::value_type>(nullable);
  return {std::is_same_v<Value, bool> ? "bool" : std::is_integral_v<Value> ? "int" : "number", nullable, nullptr};
}

Json describe(const char* name, FieldType type, Json otherwise, const FieldLimits& limits, const char* meaning) {
  const NamesElsewhere names = names_elsewhere(name);
  const auto bound = [](const std::optional<double>& limit) { return limit ? Json(*limit) : Json(nullptr); };
  return Json{{"name", name},
              {"type", type.name},
              {"nullable", type.nullable},
              {"default", std::move(otherwise)},
              {"choices", std::move(type.choices)},
              {"minimum", bound(limits.minimum)},
              {"maximum", bound(limits.maximum)},
              {"meaning", meaning},
              {"acts", limits.acts},
              {"members", std::move(type.members)},
              {"mct", names.mct},
              {"ort", names.ort}};
}

quant::Criterion criterion(ThresholdSelectionMethod method, const QuantizationConfig& config) {
  quant::Criterion made;
  made.method = method;
  made.p = config.l_p_value;
  made.percentile = config.percentile;
  made.min_threshold = config.min_threshold;
  return made;
}

/// Forty names would bury the one that is meant.
void require_field(const std::string& key, const std::string& place) {
  std::vector<std::string> names;
  for_each_field<QuantizationConfig>([&](const auto& one) { names.emplace_back(one.name); });
  if (std::find(names.begin(), names.end(), canonical_name(key)) != names.end()) return;
  const std::string_view ours = field_named_elsewhere(key);
  const std::string near = nearest_name(key, names);
  throw Error(ErrorCode::kInvalidConfig, "There is no field \"" + shortened(key) + "\" here.", place,
              !ours.empty()   ? "It is \"" + std::string(ours) + "\" here."
              : !near.empty() ? "Did you mean \"" + near + "\"?"
                              : "tersor config --schema and docs/configuration.md have the fields.");
}

void read_entry(const std::string& key, const Json& value, QuantizationConfig& config, const std::string& place) {
  require_field(key, place);
  Json entry = Json::object();
  // The requirement document's default of z_threshold, which JSON has no number for.
  if (key == "custom_tpc_opset_to_layer" && !value.is_object() && !value.is_null())
    detail::wrong_type(value, "an object", detail::join_place(place, key));
  entry[key] = key == "z_threshold" && value == "inf" ? Json(nullptr) : value;
  tersor::from_json(entry, config, place);
  for_each_field<QuantizationConfig>([&](const auto& one) {
    if (key == one.name || canonical_name(key) == one.name) check_limits(config, one, place);
  });
}

}  // namespace

bool QuantizationConfig::mixes_precisions() const {
  const bool by_budget = target_resource_utilization && !target_resource_utilization->restricted().empty();
  const bool by_config = mixed_precision_config && (mixed_precision_config->configuration_overwrite ||
                                                    mixed_precision_config->float_operators.value_or(0) > 0);
  return by_budget || by_config;
}

std::vector<Preference> QuantizationConfig::contestants() const {
  using P = Preference;
  if (!holdout || prefer == P::kIntegers) return {prefer};
  if (prefer == P::kBalanced) return {P::kBalanced, P::kAccuracy};
  return {P::kBalanced, P::kSpeed, P::kAccuracy, P::kSize, P::kIntegers};
}

quant::Criterion QuantizationConfig::activation_criterion() const {
  quant::Criterion made = criterion(activation_threshold_method, *this);
  if (z_threshold) made.z_threshold = *z_threshold;
  return made;
}

quant::Criterion QuantizationConfig::weights_criterion() const {
  return criterion(weights_threshold_method, *this);
}

QuantizationConfig requirement_defaults() {
  QuantizationConfig config;
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kMse;
  config.weights_threshold_method = quant::ThresholdSelectionMethod::kMse;
  config.activation_channel_equalization = false;
  config.keep_float_automatically = false;
  config.split_scales = config.activation_smoothing = false;
  config.effort = 0;
  config.prefer = Preference::kIntegers;
  config.holdout = false;
  config.l_p_value = 2;
  config.activation_quantization_method = QuantizationMethod::kPowerOfTwo;
  config.weights_quantization_method = QuantizationMethod::kPowerOfTwo;
  config.activation_n_bits = 8;
  config.weights_n_bits = 8;
  config.weights_per_channel_threshold = true;
  config.enable_weights_quantization = true;
  config.enable_activation_quantization = true;
  return config;
}

QuantizationConfig preset(std::string_view name) {
  if (name == "requirements") return requirement_defaults();
  throw Error(ErrorCode::kInvalidConfig, "There is no preset \"" + shortened(name) + "\".", "preset",
              "There is \"requirements\", the defaults of the requirement document; without a preset ours hold.");
}

QuantizationConfig read_quantization_config(const Json& json, const std::string& place, QuantizationConfig start,
                                            Faults& faults) {
  if (!json.is_object()) {
    faults.attempt([&] { detail::wrong_type(json, "an object", place); });
    return start;
  }
  std::map<std::string_view, std::pair<std::string, Json>> seen;
  for (const auto& entry : json.items())
    faults.attempt([&] {
      const auto [first, is_new] = seen.try_emplace(canonical_name(entry.key()), entry.key(), entry.value());
      if (!is_new && first->second.second != entry.value())
        throw Error(ErrorCode::kInvalidConfig,
                    first->second.first + " and " + entry.key() + " are one field, and they say " +
                        shortened(to_text(first->second.second, false)) + " and " +
                        shortened(to_text(entry.value(), false)) + ".",
                    detail::join_place(place, entry.key()), "Give one of them.");
      read_entry(entry.key(), entry.value(), start, place);
    });
  return start;
}

QuantizationConfig read_quantization_config(const Json& json, const std::string& place, QuantizationConfig start) {
  Faults faults;
  QuantizationConfig config = read_quantization_config(json, place, std::move(start), faults);
  // Contradictions alone are left to check_settings(), which knows all settings.
  if (!faults.empty()) find_contradictions(config, {}, requirement_defaults(), place, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The configuration", place);
  return config;
}

QuantizationConfig read_quantization_config(std::string_view text, const std::string& place, QuantizationConfig start) {
  return read_quantization_config(parse_json(text, place), place, std::move(start));
}

void set_field(QuantizationConfig& config, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error(ErrorCode::kInvalidConfig, "\"" + shortened(assignment) + "\" is not of the form FIELD=VALUE.", "--set",
                "For example: --set activation_threshold_method=NOCLIPPING");
  const std::string text(assignment.substr(equals + 1));
  Json value = text;  // a bare word where it is no JSON
  try {
    value = parse_json(text, "config");
  } catch (const Error&) {
  }
  read_entry(std::string(assignment.substr(0, equals)), value, config, "config");
}

void set_fields(QuantizationConfig& config, const std::vector<std::string>& assignments, Faults& faults) {
  std::map<std::string, std::string> seen;
  for (const std::string& one : assignments)
    faults.attempt([&] {
      set_field(config, one);
      const size_t equals = one.find('=');
      const std::string field(canonical_name(one.substr(0, equals))), value = one.substr(equals + 1);
      const auto [first, is_new] = seen.emplace(field, value);
      if (!is_new && first->second != value)
        throw Error(ErrorCode::kInvalidConfig,
                    field + " is set to " + shortened(first->second) + " and to " + shortened(value) + ".",
                    "config." + field, "Set it once.");
    });
}

void find_inert(const QuantizationConfig& config, Faults& faults) {
  for_each_field<QuantizationConfig>([&](const auto& one) { faults.attempt([&] { check_field_acts(config, one); }); });
}

void check_acts(const QuantizationConfig& config) {
  Faults faults;
  find_inert(config, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The configuration", "config");
}

Json to_json(const QuantizationConfig& config) {
  return tersor::to_json<QuantizationConfig>(config);
}

Json describe_quantization_config() {
  Json list = Json::array();
  const QuantizationConfig defaults;
  for_each_field<QuantizationConfig>([&](const auto& one) {
    const auto& value = defaults.*(one.member);
    list.push_back(describe(one.name, type_of<std::remove_cvref_t<decltype(value)>>(one.name), tersor::to_json(value),
                            one.limits, one.meaning));
  });
  return list;
}

}  // namespace tersor::config
