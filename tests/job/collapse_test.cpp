// SPDX-License-Identifier: Apache-2.0
// Networks made to collapse, through the whole line: the verdict says so and names the cause, and the default holds.
#include "tests/catch.h"

#include "core/report/compare.h"
#include "core/report/histogram_view.h"
#include "core/report/ranges.h"
#include "core/report/report.h"
#include "core/report/verdict.h"
#include "tests/support/corrected.h"

namespace collapse_test {
using namespace tersor;
using Catch::Matchers::Contains;
using report::Usability;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

const std::map<std::string, Attribute> kPadded{{"pads", Ints{1, 1, 1, 1}}};

/// Conv, Relu, Conv with channels between them each 3 times as loud as the one before, and read the less.
Model one_loud_channel() {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 3, 3}).weight("b1", {8}).weight("w2", {8, 8, 3, 3});
  model.scale_along("w1", 0, 3).scale_along("b1", 0, 3).scale_along("w2", 1, 1.0 / 3);
  model.node("Conv", {"x", "w1", "b1"}, {"a"}, kPadded).node("Relu", {"a"}, {"r"});
  return model.node("Conv", {"r", "w2"}, {"y"}, kPadded).output("y").build();
}

/// Two branches, the second 1000 times as loud and read the less, tied by a Concat.
Model unlike_branches() {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 3, 3}).weight("w2", {3, 4, 3, 3}, -1000, 1000);
  std::vector<float> reading(8 * 11);
  for (size_t k = 0; k < reading.size(); ++k)
    reading[k] = (static_cast<float>(k * 37 % 23) - 11) * (k % 11 < 8 ? 0.1f : 0.0001f);
  model.constant("w3", Tensor::of<float>(Shape{8, 11, 1, 1}, reading));
  model.node("Conv", {"x", "w1"}, {"a"}, kPadded).node("Conv", {"x", "w2"}, {"b"}, kPadded);
  model.node("Concat", {"a", "b"}, {"c"}, {{"axis", int64_t{1}}});
  return model.node("Conv", {"c", "w3"}, {"y"}).output("y").build();
}

/// Filters that are 0, and one that is nearly.
Model dead_channels() {
  NamedModel model;
  std::vector<float> weights(8 * 4 * 9);
  for (size_t k = 0; k < weights.size(); ++k) {
    const size_t channel = k / 36;
    weights[k] = channel < 2 ? 0 : (static_cast<float>(k * 29 % 31) - 15) * (channel == 2 ? 1e-30f : 0.1f);
  }
  model.input("x", {1, 4, 8, 8}).constant("w1", Tensor::of<float>(Shape{8, 4, 3, 3}, weights));
  model.weight("w2", {8, 8, 3, 3});
  model.node("Conv", {"x", "w1"}, {"a"}, kPadded).node("Relu", {"a"}, {"r"});
  return model.node("Conv", {"r", "w2"}, {"y"}, kPadded).output("y").build();
}

/// One value of one sample in a thousand times the others' size.
std::vector<Tensor> with_outlier(std::vector<Tensor> inputs) {
  inputs[0].mutable_data<float>()[7] = 1000;
  return inputs;
}

report::Report reported(const Model& model, const config::QuantizationConfig& config, bool outlier = false) {
  const auto job = test::job_of(model, "ort-cpu", config);
  calibrate::Calibrator calibrator = calibrator_of(*job, 40);
  for (uint64_t k = 0; k < 40; ++k) {
    const auto inputs = outlier && k == 9 ? with_outlier(test::sample(*job, k)) : test::sample(*job, k);
    calibrator.add({k, samples::sample_digest(inputs)}, "", inputs);
  }
  const QuantizeResult result = quantize(*job, calibrator.statistics());
  report::Report report;
  report.ranges = report::ranges_of(result.draft.model.graph, result.plan, result.draft.statistics);
  report::Comparer comparer(report::CompareProgram::make(job->opened->model, result.model, simulate::Profile::kX64));
  for (uint64_t k = 1000; k < 1020; ++k) comparer.add(static_cast<int64_t>(k), test::sample(*job, k));
  report.comparison = comparer.result();
  report::add_histograms(*report.comparison, result.draft.statistics);
  report.settings = report::changed_settings(config);
  report.verdict = report::verdict_of(report);
  return report;
}

config::QuantizationConfig equalizing() {
  config::QuantizationConfig config = test::plain_config();
  config.activation_channel_equalization = true;
  return config;
}

}  // namespace

TEST_CASE("a channel that drowns the others is named, and equalization saves it") {
  const report::Report lost = reported(one_loud_channel(), test::plain_config());
  REQUIRE(lost.verdict->usability != Usability::kUsable);
  REQUIRE_THAT(lost.verdict->causes.at(0), Contains("\"r\"") && Contains("activation_channel_equalization"));
  REQUIRE(reported(one_loud_channel(), equalizing()).verdict->usability == Usability::kUsable);
}

TEST_CASE("a Concat of unlike parts is named, and equalization saves it") {
  const report::Report lost = reported(unlike_branches(), test::plain_config());
  REQUIRE(lost.verdict->usability != Usability::kUsable);
  REQUIRE_THAT(lost.verdict->causes.at(0), Contains("\"c\"") && Contains("Concat"));
  const report::Report saved = reported(unlike_branches(), equalizing());
  REQUIRE(saved.verdict->usability == Usability::kUsable);
  REQUIRE(saved.verdict->causes.empty());
}

TEST_CASE("an outlier among the samples is named where the range takes it in") {
  config::QuantizationConfig config = test::plain_config();
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
  const report::Report lost = reported(one_loud_channel(), config, true);
  REQUIRE(lost.verdict->usability != Usability::kUsable);
  const auto& causes = lost.verdict->causes;
  REQUIRE(std::any_of(causes.begin(), causes.end(), [](const std::string& one) { return one.find("Outliers") == 0; }));
}

TEST_CASE("dead channels collapse nothing and leave no figure that is not a number") {
  for (const auto& config : {test::plain_config(), equalizing()}) {
    const report::Report made = reported(dead_channels(), config);
    REQUIRE(made.verdict->usability == Usability::kUsable);
    for (const report::RangeRow& row : made.ranges)
      for (const double x : {row.range[0], row.range[1], row.scale[0], row.channel_unevenness.value_or(1)})
        REQUIRE(std::isfinite(x));
  }
}

}  // namespace collapse_test
