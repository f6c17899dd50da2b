// SPDX-License-Identifier: Apache-2.0
// JSON of structs that list their fields, with errors that name path, value and what was expected.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/base/json_text.h"
#include "core/base/names.h"

namespace tersor {

/// Parses text; Error `code` names line, column and what was expected there.
Json parse_json(std::string_view text, std::string_view place, ErrorCode code = ErrorCode::kInvalidConfig);

/// The text of a value: indented by 2 where `pretty`, else compact. Deterministic; infinities and NaN are refused.
std::string to_text(const Json& json, bool pretty = true);

namespace detail {

/// An empty object with room for so many members, and one more member of it, whose key it does not have yet.
Json object_for(size_t members);
void append(Json& object, const char* key, Json value);
[[noreturn]] void wrong_type(const Json& found, std::string_view expected, std::string_view place);
[[noreturn]] void unknown_key(std::string_view key, const std::vector<std::string>& allowed, std::string_view place);
std::string join_place(std::string_view place, std::string_view key);
int64_t read_integer(const Json& json, int64_t low, int64_t high, std::string_view place);
double read_number(const Json& json, std::string_view place);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
}  // namespace detail

/// JSON of a bool, number, string, JsonText, enum with words, optional (null = none), vector, string map, or struct
/// with fields.
template <class T>
Json to_json(const T& value) {
  if constexpr (HasFields<T>) {
    Json json = detail::object_for(std::tuple_size_v<decltype(T::fields())>);
    for_each_field<T>([&](const auto& one) { detail::append(json, one.name, to_json(value.*(one.member))); });
    return json;
  } else if constexpr (std::is_same_v<T, JsonText>) {
    return parse_json(value.text, "");
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(enum_word(value));
  } else if constexpr (detail::IsOptional<T>::value) {
    return value ? to_json(*value) : Json(nullptr);
  } else if constexpr (detail::IsVector<T>::value) {
    Json json = Json::array();
    for (const auto& one : value) json.push_back(to_json(one));
    return json;
  } else if constexpr (detail::IsMap<T>::value) {
    Json json = Json::object();
    for (const auto& [key, one] : value) json[key] = to_json(one);
    return json;
  } else {
    return Json(value);
  }
}

/// Reads into `value`. A struct keeps the members that the object does not name; an unknown key, a wrong type or an
/// unknown word is Error kInvalidConfig whose place is `place` extended by the path.
template <class T>
void from_json(const Json& json, T& value, const std::string& place) {
  if constexpr (HasFields<T>) {
    if (!json.is_object()) detail::wrong_type(json, "an object", place);
    for (const auto& entry : json.items()) {
      const std::string& key = entry.key();
      bool known = false;
      for_each_field<T>([&](const auto& one) {
        if (known || (key != one.name && canonical_name(key) != one.name)) return;
        known = true;
        from_json(entry.value(), value.*(one.member), detail::join_place(place, one.name));
      });
      if (known) continue;
      std::vector<std::string> allowed;
      for_each_field<T>([&](const auto& one) { allowed.emplace_back(one.name); });
      detail::unknown_key(key, allowed, place);
    }
  } else if constexpr (std::is_same_v<T, JsonText>) {
    value.text = to_text(json, false);
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string()) detail::wrong_type(json, std::string("a ") + EnumWords<T>::kind, place);
    value = enum_from_word<T>(json.get_ref<const std::string&>(), place);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) detail::wrong_type(json, "true or false", place);
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    // Numbers of JSON end at int64, also where T goes further.
    constexpr uint64_t kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
    constexpr int64_t kHigh = kMost > INT64_MAX ? INT64_MAX : static_cast<int64_t>(kMost);
    value = static_cast<T>(detail::read_integer(json, std::numeric_limits<T>::min(), kHigh, place));
  } else if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(detail::read_number(json, place));
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) detail::wrong_type(json, "a text", place);
    value = json.get<std::string>();
  } else if constexpr (detail::IsOptional<T>::value) {
    if (json.is_null()) {
      value.reset();
    } else {
      typename T::value_type inner{};
      from_json(json, inner, place);
      value = std::move(inner);
    }
  } else if constexpr (detail::IsVector<T>::value) {
    if (!json.is_array()) detail::wrong_type(json, "a list", place);
    value.clear();
    for (size_t i = 0; i < json.size(); ++i) {
      value.emplace_back();
      from_json(json[i], value.back(), place + "[" + std::to_string(i) + "]");
    }
  } else {
    static_assert(detail::IsMap<T>::value, "no JSON form for this type");
    if (!json.is_object()) detail::wrong_type(json, "an object", place);
    value.clear();
    for (const auto& [key, item] : json.items()) from_json(item, value[key], detail::join_place(place, key));
  }
}

/// The error as its four fields.
Json error_to_json(const Error& error);

}  // namespace tersor
