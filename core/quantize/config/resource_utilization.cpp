// SPDX-License-Identifier: Apache-2.0
#include "core/config/resource_utilization.h"

#include <cmath>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/base/json.h"

namespace tersor::config {

bool ResourceUtilization::is_satisfied_by(const ResourceUtilization& taken) const {
  bool satisfied = true;
  for_each_field<ResourceUtilization>(
      [&](const auto& one) { satisfied &= taken.*(one.member) <= this->*(one.member); });
  return satisfied;
}

std::vector<std::string> ResourceUtilization::restricted() const {
  std::vector<std::string> names;
  for_each_field<ResourceUtilization>([&](const auto& one) {
    if (std::isfinite(this->*(one.member))) names.emplace_back(one.name);
  });
  return names;
}

Json to_json(const ResourceUtilization& utilization) {
  Json json = Json::object();
  for_each_field<ResourceUtilization>([&](const auto& one) {
    const double number = utilization.*(one.member);
    json[one.name] = std::isfinite(number) ? Json(number) : Json(nullptr);
  });
  return json;
}

void from_json(const Json& json, ResourceUtilization& utilization, const std::string& place) {
  if (!json.is_object()) detail::wrong_type(json, "an object", place);
  std::vector<std::string> allowed;
  for_each_field<ResourceUtilization>([&](const auto& one) { allowed.emplace_back(one.name); });
  std::map<std::string, std::optional<double>> given;
  tersor::from_json(json, given, place);
  for (const auto& [name, number] : given) {
    if (number && *number < 0)
      throw Error(ErrorCode::kInvalidConfig, "A negative number where a budget is expected.",
                  detail::join_place(place, name));
    bool known = false;
    for_each_field<ResourceUtilization>([&, key = name, value = number](const auto& one) {
      if (key != one.name) return;
      known = true;
      utilization.*(one.member) = value.value_or(std::numeric_limits<double>::infinity());
    });
    if (!known) detail::unknown_key(name, allowed, place);
  }
}

}  // namespace tersor::config
