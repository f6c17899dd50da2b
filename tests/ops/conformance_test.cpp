// SPDX-License-Identifier: Apache-2.0
// ONNX's own cases, one operator each: every case must pass, or be listed below with the reason. The rule of comparison
// is that of ONNX's runner.
#include <cstdio>
#include <map>
#include <set>

#include "tests/catch.h"
#include "tests/support/conformance_cases.h"

using namespace tersor;

namespace {

/// Cases that are not expected to pass, and why.
const std::map<std::string, std::string>& exceptions() {
  static const std::map<std::string, std::string> list = {
      {"test_resize_downsample_scales_cubic_align_corners",
       "the corners are aligned by the output's size, as ONNX's text and ONNX Runtime have it; the case takes the size "
       "before it is rounded down"},
  };
  return list;
}

/// Integer operators are no float operators: they run with the registry of core/simulate, whose tests have their cases.
bool is_integer_operator(const std::string& type) {
  const std::set<std::string> types = {"ConvInteger", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv",
                                       "QLinearMatMul"};
  return types.count(type) != 0;
}

struct Score {
  int passed = 0, known = 0, present = 0;
};

}  // namespace

TEST_CASE("ONNX's conformance cases pass") {
  const auto given = test::ConformanceCases::find();
  if (!given) return;
  std::map<std::string, Score> scores;
  std::set<std::string> excused;
  for (const Json& entry : given->cases) {
    const std::string name = entry["case"];
    Score& score = scores[entry["op"]];
    ++score.present;
    const Model model = given->model_of(entry);
    if (!test::all_known(model)) {
      INFO(name << " has an operator that the engine does not know");
      CHECK(is_integer_operator(entry["op"]));
      continue;
    }
    ++score.known;
    const std::string what = test::run_case(entry, model, given->folder_of(entry) + "test_data_set_0/");
    const auto exception = exceptions().find(name);
    if (what.empty()) ++score.passed;
    if (exception != exceptions().end()) {
      excused.insert(name);
      INFO(name << " passes, but is listed: " << exception->second);
      CHECK(!what.empty());
      continue;
    }
    INFO(name << ": " << what);
    CHECK(what.empty());
  }
  CHECK(excused.size() == exceptions().size());
  Score all;
  for (const auto& [op, score] : scores) {
    if (score.known != 0) std::printf("%s %d/%d ", op.c_str(), score.passed, score.present);
    all.passed += score.passed;
    all.known += score.known;
    all.present += score.present;
  }
  std::printf("\nconformance cases: %d passed of %d that can run, %d present\n", all.passed, all.known, all.present);
  CHECK(all.known > 0);
}
