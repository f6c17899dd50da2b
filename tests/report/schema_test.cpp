// SPDX-License-Identifier: Apache-2.0
// docs/report.schema.json names the members that the report has.
#include <algorithm>
#include <set>
#include <string>

#include "core/base/json.h"
#include "core/report/report.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [key, value] : object.items()) names.insert(key);
  return names;
}

void same_members(const Json& written, const Json& schema) {
  REQUIRE(keys(written) == keys(schema.at("properties")));
  std::set<std::string> required;
  for (const Json& one : schema.at("required")) required.insert(one.get<std::string>());
  REQUIRE(required == keys(written));
  REQUIRE(schema.at("additionalProperties") == false);
}

}  // namespace

TEST_CASE("the schema of the report has its members, row by row") {
  const auto bytes = test::read_file("docs/report.schema.json");
  const Json schema = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "schema");
  const Json& parts = schema.at("$defs");
  same_members(to_json(report::Report()), schema);
  same_members(to_json(report::RangeRow()), parts.at("range"));
  same_members(to_json(report::ChangedSetting()), parts.at("changed_setting"));
  same_members(to_json(report::PaddingRow()), parts.at("padding"));
  same_members(to_json(report::LayerRow()), parts.at("layer"));
  same_members(to_json(report::OutputPart()), parts.at("output_part"));
  same_members(to_json(report::OutputComparison()), parts.at("output"));
  same_members(to_json(report::UnusualSample()), parts.at("unusual_sample"));
  same_members(to_json(report::Comparison()), parts.at("comparison"));
  same_members(to_json(report::Coverage()), parts.at("coverage"));
  same_members(to_json(report::FileFacts()), parts.at("file"));
  same_members(to_json(calibrate::Choices()), parts.at("trial"));
  same_members(to_json(calibrate::Tuning()), parts.at("training"));
  same_members(to_json(calibrate::TunedActivation()), parts.at("tuned_activation"));
  same_members(to_json(calibrate::Contestant()), parts.at("contestant"));
  same_members(to_json(calibrate::TriedChange()), parts.at("tried_change"));
  same_members(to_json(calibrate::BitConfiguration()), parts.at("bit_configuration"));
  same_members(to_json(calibrate::SearchedOperator()), parts.at("searched_operator"));
  same_members(to_json(calibrate::SearchedCandidate()), parts.at("searched_candidate"));
  same_members(to_json(calibrate::TakenResources()), parts.at("taken_resources"));
}
