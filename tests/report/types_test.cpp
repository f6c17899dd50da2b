// SPDX-License-Identifier: Apache-2.0
// The report's members are listed once, in fields(): docs/report.schema.json and the package's types are made of that
// list. With TERSOR_WRITE_DOCS set the tests write both files anew.
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "core/report/graph_view.h"
#include "core/report/range_choices.h"
#include "core/report/report.h"
#include "core/report/weight_channels.h"
#include "tests/catch.h"
#include "tests/report/described.h"

using namespace tersor;

namespace {

using test::Description;

Description described() {
  Description all({{"Choices", "Trial"}, {"Tuning", "Training"}, {"HistogramView", "Histogram"}});
  all.visit<report::Report>();
  return all;
}

void is_file(const std::string& path, const std::string& wanted) {
  if (std::getenv("TERSOR_WRITE_DOCS") != nullptr) std::ofstream(path, std::ios::binary) << wanted;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream found;
  found << file.rdbuf();
  INFO(path << " is stale: TERSOR_WRITE_DOCS=1 ctest --preset native -R report writes it anew");
  const bool is_current = found.str() == wanted;
  CHECK(is_current);
}

/// Types that say more than the core's: written by hand, or a list of two as a pair.
const std::set<std::string> kByHand = {"EvaluationResult",
                                       "Interval",
                                       "LabelOrder",
                                       "Metric",
                                       "Doubt",
                                       "Agreement",
                                       "Diagnostic",
                                       "QuantizationMethod",
                                       "ThresholdSelectionMethod"};
const std::set<std::string> kPairs = {"range", "seen"};

std::string typescript(const Description& all) {
  std::ostringstream text;
  text << "// SPDX-License-Identifier: Apache-2.0\n"
          "// Made from the core's list of members by tests/report/types_test.cpp: do not edit.\n\n"
          "import type { QuantizationMethod, ThresholdSelectionMethod } from '../requirements.js';\n"
          "import type { Diagnostic } from './errors.js';\n"
          "import type { Agreement, EvaluationResult } from './evaluation.js';\n";
  for (const auto& [name, words] : all.words) {
    if (kByHand.count(name) != 0) continue;
    text << "\nexport type " << name << " = ";
    for (size_t k = 0; k < words.size(); ++k) text << (k == 0 ? "'" : " | '") << words[k] << "'";
    text << ";\n";
  }
  for (const auto& [name, members] : all.structs) {
    if (kByHand.count(name) != 0) continue;
    text << "\nexport interface " << name << " {\n";
    for (const auto& member : members) {
      std::string type = member.typescript;
      const size_t list = type.find("readonly number[]");
      if (list != std::string::npos && kPairs.count(member.name) != 0)
        type.replace(list, 17, "readonly [number, number]");
      text << "  /** " << member.meaning << " */\n  readonly " << member.name << ": " << type << ";\n";
    }
    text << "}\n";
  }
  return text.str();
}

Json schema_of(const test::DescribedStruct& described) {
  Json properties = Json::object(), required = Json::array();
  for (const auto& member : described.members) {
    properties[member.name] = member.schema;
    required.push_back(member.name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}};
}

std::string schema(const Description& all) {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Tersor report"},
               {"description", "The result of a quantization, its costs, and how they were measured."}};
  root.update(schema_of(all.structs.back()));
  Json parts = Json::object();
  for (size_t k = 0; k + 1 < all.structs.size(); ++k) parts[all.structs[k].name] = schema_of(all.structs[k]);
  root["$defs"] = parts;
  return to_text(root) + "\n";
}

}  // namespace

TEST_CASE("the types of the package have the members of the report, and of what is asked of a model") {
  Description all = described();
  all.visit<report::GraphView>();
  all.visit<report::RuntimeNode>();
  all.visit<report::WeightChannels>();
  all.visit<report::RangeChoice>();
  is_file("wasm/src/types/report.ts", typescript(all));
}

TEST_CASE("the schema of the report has its members") {
  is_file("docs/report.schema.json", schema(described()));
}
