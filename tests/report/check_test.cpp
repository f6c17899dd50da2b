// SPDX-License-Identifier: Apache-2.0
#include "core/report/check.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using report::check_of;

namespace {

report::Report with_answers(int64_t in_float, int64_t quantized, int64_t count) {
  report::Report report;
  report.samples.evaluation = count;
  report.evaluation.in_float.emplace().correct = in_float;
  report.evaluation.quantized.emplace().correct = quantized;
  report.evaluation.in_float->count = report.evaluation.quantized->count = count;
  return report;
}

report::OutputComparison output(const char* name, std::optional<double> sqnr_db, std::optional<double> mse) {
  report::OutputComparison one;
  one.name = name;
  one.sqnr_db = sqnr_db;
  one.mse = mse;
  return one;
}

}  // namespace

TEST_CASE("lost points are those of right answers where there are labels, and the bound is kept by what equals it") {
  const report::Report report = with_answers(975, 965, 1000);
  REQUIRE(check_of(report, {1.0, {}}).passed);
  REQUIRE_FALSE(check_of(report, {0.99, {}}).passed);
  const report::Check check = check_of(report, {0.5, {}});
  REQUIRE(check.rows.size() == 1);
  REQUIRE(check.rows[0].what == "right answers");
  REQUIRE(check.rows[0].in_float == 97.5);
  REQUIRE(check.rows[0].quantized == 96.5);
  REQUIRE(check.rows[0].lost == 1.0);
  REQUIRE(report::failures_of(check) ==
          std::vector<std::string>{"right answers: 1.00 points lost, at most 0.5 are allowed"});
  REQUIRE(check_of(with_answers(2, 3, 3), {0.0, {}}).passed);  // better than float
  REQUIRE(check_of(with_answers(3, 2, 3), {100.0 / 3, {}}).passed);
}

TEST_CASE("without labels each output loses the answers that are not the float model's") {
  report::Report report;
  report.comparison.emplace().outputs = {output("classes", 20, 1), output("values", 31, 1)};
  report.comparison->outputs[0].kept = evaluate::Agreement{98, 100};
  const report::Check check = check_of(report, {1.0, {}});
  REQUIRE_FALSE(check.passed);
  REQUIRE(check.rows.size() == 3);
  REQUIRE(check.rows[0].what == "same answers of \"classes\"");
  REQUIRE(check.rows[0].lost == 2.0);
  REQUIRE_FALSE(check.rows[0].passed);
  REQUIRE(check.rows[1].passed);  // no limit of SQNR
  REQUIRE(check_of(report, {2.0, {}}).passed);
}

TEST_CASE("the SQNR is that of every output; an exact one is above every limit, one that is not finite below") {
  report::Report report;
  report.comparison.emplace().outputs = {output("a", 30, 1e-3), output("b", {}, 0)};
  REQUIRE(check_of(report, {{}, 30.0}).passed);
  REQUIRE_FALSE(check_of(report, {{}, 30.1}).passed);
  report.comparison->outputs.push_back(output("c", {}, {}));
  const report::Check check = check_of(report, {{}, 20.0});
  REQUIRE(report::failures_of(check) ==
          std::vector<std::string>{"SQNR of \"c\": no finite figure, at least 20 dB is asked for"});
}

TEST_CASE("a limit that nothing is judged by is an error") {
  report::Report report;
  report.comparison.emplace().outputs = {output("values", 31, 1)};
  for (const report::CheckLimits& limits : {report::CheckLimits{}, report::CheckLimits{1.0, {}}}) {
    try {
      check_of(report, limits);
      FAIL("no error");
    } catch (const Error& error) {
      REQUIRE(error.code == ErrorCode::kInvalidArgument);
    }
  }
}

TEST_CASE("without answers the SQNR alone decides") {
  report::Report report;
  report.comparison.emplace().outputs = {output("values", 31, 1)};
  REQUIRE(check_of(report, {1.0, 30.0}).passed);
  REQUIRE_FALSE(check_of(report, {1.0, 32.0}).passed);
}

TEST_CASE("JUnit has a case for each row with a limit, and names of outputs are text") {
  report::Report report = with_answers(10, 9, 10);
  report.comparison.emplace().outputs = {output("a<\"&\x01", 10, 1)};
  const std::string xml = report::junit_xml(check_of(report, {10.0, 30.0}), "m<odel");
  REQUIRE_THAT(xml, Catch::Contains("<testsuite name=\"m&lt;odel\" tests=\"2\" failures=\"1\">"));
  REQUIRE_THAT(xml, Catch::Contains("<testcase classname=\"tersor.check\" name=\"right answers\"/>"));
  REQUIRE_THAT(xml,
               Catch::Contains("name=\"SQNR of &quot;a&lt;&quot;&amp;?&quot;\">\n      <failure message=\"SQNR of "));
  const std::string one = report::junit_xml(check_of(report, {10.0, {}}), "m");
  REQUIRE_THAT(one, Catch::Contains("tests=\"1\" failures=\"0\""));
}
