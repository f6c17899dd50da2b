// SPDX-License-Identifier: Apache-2.0
// The types that a struct with fields() is made of, for other languages: TypeScript interfaces and JSON Schema.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/json.h"

namespace tersor::test {

/// A member: its type in TypeScript and as JSON Schema, and its meaning.
struct DescribedMember {
  std::string name, typescript, meaning;
  Json schema;
};

struct DescribedStruct {
  std::string name;
  std::vector<DescribedMember> members;
};

/// An enum of words, under the name that TypeScript has for it.
struct DescribedWords {
  std::string name;
  std::vector<std::string> words;
};

/// All structs and enums that `visit` meets, each after those it needs.
class Description {
 public:
  /// Where the package has another name than the core.
  struct Renamed {
    std::string_view core, package;
  };
  explicit Description(std::vector<Renamed> renamed) : renamed_(std::move(renamed)) {}

  template <HasFields T>
  const std::string& visit() {
    const std::string name = name_of<T>();
    const auto known = std::find_if(structs.begin(), structs.end(), [&](const auto& one) { return one.name == name; });
    if (known != structs.end()) return known->name;
    DescribedStruct described{name, {}};
    for_each_field<T>([&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(std::declval<T>().*(field.member))>;
      auto [typescript, schema] = type_of<Member>();
      schema["description"] = field.meaning;
      described.members.push_back({field.name, typescript, field.meaning, schema});
    });
    structs.push_back(std::move(described));
    return structs.back().name;
  }

  std::vector<DescribedStruct> structs;
  std::vector<DescribedWords> words;

 private:
  struct Type {
    std::string typescript;
    Json schema;
  };

  template <class T>
  std::string name_of() const {
    std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = tersor::report::RangeRow; ...]"
    text.remove_prefix(text.find("T = ") + 4);
    text = text.substr(0, text.find_first_of(";]"));
    text.remove_prefix(text.rfind(':') + 1);
    for (const Renamed& one : renamed_)
      if (one.core == text) return std::string(one.package);
    return std::string(text);
  }

  template <class T>
  Type type_of() {
    if constexpr (HasFields<T>) {
      const std::string name = visit<T>();
      return {name, {{"$ref", "#/$defs/" + name}}};
    } else if constexpr (std::is_enum_v<T>) {
      const std::string name = name_of<T>();
      if (std::none_of(words.begin(), words.end(), [&](const auto& one) { return one.name == name; }))
        words.push_back({name, enum_words<T>()});
      return {name, {{"enum", enum_words<T>()}}};
    } else if constexpr (detail::IsOptional<T>::value) {
      const Type inner = type_of<typename T::value_type>();
      return {inner.typescript + " | null", {{"anyOf", Json::array({{{"type", "null"}}, inner.schema})}}};
    } else if constexpr (detail::IsVector<T>::value) {
      const Type inner = type_of<typename T::value_type>();
      const bool joined = inner.typescript.find('|') != std::string::npos;
      return {"readonly " + (joined ? "(" + inner.typescript + ")" : inner.typescript) + "[]",
              {{"type", "array"}, {"items", inner.schema}}};
    } else if constexpr (detail::IsMap<T>::value) {
      const Type inner = type_of<typename T::mapped_type>();
      return {"Readonly<Record<string, " + inner.typescript + ">>",
              {{"type", "object"}, {"additionalProperties", inner.schema}}};
    } else if constexpr (std::is_same_v<T, bool>) {
      return {"boolean", {{"type", "boolean"}}};
    } else if constexpr (std::is_integral_v<T>) {
      return {"number", {{"type", "integer"}}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {"number", {{"type", "number"}}};
    } else {
      static_assert(std::is_same_v<T, std::string>, "no type in other languages");
      return {"string", {{"type", "string"}}};
    }
  }

  std::vector<Renamed> renamed_;
};

}  // namespace tersor::test
