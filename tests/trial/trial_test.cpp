// SPDX-License-Identifier: Apache-2.0
// Corrections earn their place on samples held aside, and one sample among many does not set a range.
#include "tests/catch.h"

#include <algorithm>

#include "core/calibrate/statistics.h"
#include "core/correct/limit_outliers.h"
#include "tests/support/corrected.h"
#include "tests/support/run_trial.h"

namespace trial_test {
using namespace tersor;
using test::NamedModel;

namespace {

constexpr int64_t kInputs = 24, kHidden = 16;

/// An LSTM whose first input is tiny and has weights that set the scales of all rows, and a Gemm after it; the LSTM may
/// lie in both branches of an If.
Model recurrent_net(bool in_branches = false) {
  NamedModel model;
  model.input("x", {5, 1, kInputs}).weight("w", {1, 4 * kHidden, kInputs}).weight("r", {1, 4 * kHidden, kHidden});
  model.scale_along("w", 2, 0.5).weight("b", {1, 8 * kHidden});
  const auto add_layer = [](NamedModel& to) {
    to.node("LSTM", {"x", "w", "r", "b"}, {"", "last"}, {{"hidden_size", kHidden}});
  };
  if (in_branches) {
    NamedModel branch;
    add_layer(branch);
    const auto body = std::make_shared<const Graph>(branch.output("last").build().graph);
    model.node("ReduceMean", {"x"}, {"mean"}, {{"keepdims", int64_t{0}}});
    model.constant("zero", Tensor::scalar(0.0f)).node("Greater", {"mean", "zero"}, {"is_above"});
    model.node("If", {"is_above"}, {"last"}, {{"then_branch", body}, {"else_branch", body}});
  } else {
    add_layer(model);
  }
  model.weight("v", {kHidden, 4});
  model.constant("shape", Tensor::of<int64_t>({2}, std::vector<int64_t>{1, kHidden}));
  model.node("Reshape", {"last", "shape"}, {"flat"}).node("MatMul", {"flat", "v"}, {"y"}).output("y");
  return model.build();
}

/// The later an input, the smaller its weights and the larger its values.
std::vector<Tensor> recurrent_sample(const Job& job, uint64_t k) {
  std::vector<Tensor> inputs = test::sample(job, k);
  const auto x = inputs[0].mutable_data<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] *= std::ldexp(1.0f, static_cast<int>(i % kInputs));
  return inputs;
}

template <class Sample>
calibrate::Statistics gathered(const Job& job, uint64_t samples, Sample sample) {
  calibrate::Calibrator calibrator = calibrator_of(job, samples);
  for (uint64_t k = 0; k < samples; ++k) calibrator.add({k, samples::sample_digest(sample(k))}, "", sample(k));
  return calibrator.statistics();
}

Model convolution() {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3});
  return model.node("Conv", {"x", "w"}, {"y"}).output("y").build();
}

}  // namespace

TEST_CASE("weights whose 8 bits cost the outputs too much stay in float, found by trying, whatever the workers") {
  const auto job = test::job_of(recurrent_net(), "ort-cpu", test::plain_config());
  const auto sample = [&](size_t k) { return recurrent_sample(*job, k); };
  const calibrate::Statistics plain = gathered(*job, 40, sample);
  calibrate::Statistics one = plain, three = plain;
  const auto chosen = test::run_trial(job, one, sample);
  test::run_trial(job, three, sample, 3);
  REQUIRE(one.choices == three.choices);
  REQUIRE(one.choices.in_float == std::vector<std::string>{"w"});
  REQUIRE(one.choices.held == 10);
  REQUIRE(one.choices.others == 24);
  const QuantizeResult before = quantize(*job, plain), after = quantize(*chosen, one);
  REQUIRE(test::count(before.model, "Cast") == test::count(after.model, "Cast") + 1);
  // What was asked for is what the recipe says.
  REQUIRE(after.recipe == before.recipe);
  // The statistics file has the choices, and nobody tries twice.
  REQUIRE(calibrate::read(calibrate::write(one)) == one);
  REQUIRE(!Trial::is_wanted(*job, one));
}

TEST_CASE("so do those that bodies read") {
  const auto job = test::job_of(recurrent_net(true), "ort-cpu", test::plain_config());
  const auto sample = [&](size_t k) { return recurrent_sample(*job, k); };
  calibrate::Statistics statistics = gathered(*job, 40, sample);
  const auto chosen = test::run_trial(job, statistics, sample);
  REQUIRE(statistics.choices.in_float == std::vector<std::string>{"w"});
  const QuantizeResult result = quantize(*chosen, statistics);
  const auto is_float = [&](const char* name) {
    const auto value = result.model.graph.find(name);
    return value && result.model.graph.initializer(*value) != nullptr;
  };
  REQUIRE(is_float("w"));
  REQUIRE(!is_float("r"));
}

TEST_CASE("what becomes a .tflite file is tried in the integers of that file") {
  // An ONNX file's LSTM has float weights.
  const auto held = [](FileFormat format) {
    Settings settings{tpc::get_target_platform_capabilities("tflite-micro"), test::plain_config()};
    settings.format = format;
    const std::vector<std::byte> bytes = onnx::write(recurrent_net());
    const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings);
    const auto sample = [&](size_t k) { return test::sample(*job, k); };
    calibrate::Statistics statistics = gathered(*job, 24, sample);
    test::run_trial(job, statistics, sample);
    return statistics.choices;
  };
  const calibrate::Choices of_onnx = held(FileFormat::kOnnx), of_tflite = held(FileFormat::kTflite);
  REQUIRE(of_tflite.sqnr_db < of_onnx.sqnr_db - 1);
  REQUIRE(of_tflite.sqnr_db > 20);
  REQUIRE(of_tflite.settings != of_onnx.settings);
}

TEST_CASE("nothing is tried with few samples, where settings say so, or on statistics of parts") {
  const auto sample = [](const Job& job) { return [&](size_t k) { return test::sample(job, k); }; };
  const auto job = test::job_of(convolution(), "ort-cpu", {});
  REQUIRE(!Trial::is_wanted(*job, gathered(*job, 15, sample(*job))));
  calibrate::Statistics all = gathered(*job, 16, sample(*job));
  REQUIRE(Trial::is_wanted(*job, all));
  config::QuantizationConfig config;
  config.holdout = false;
  const auto without = test::job_of(convolution(), "ort-cpu", config);
  REQUIRE(!Trial::is_wanted(*without, all));
  test::run_trial(job, all, sample(*job));
  REQUIRE(all.choices.held == 8);
  calibrate::Statistics more = empty_statistics(*job);
  calibrate::merge(more, all);
  REQUIRE(more.choices == calibrate::Choices{});
}

TEST_CASE("a field that says something else than its default is not tried") {
  config::QuantizationConfig config;
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kMse;
  const auto job = test::job_of(convolution(), "ort-cpu", config);
  const auto sample = [&](size_t k) { return test::sample(*job, k); };
  calibrate::Statistics statistics = gathered(*job, 24, sample);
  test::run_trial(job, statistics, sample);
  for (const calibrate::TriedChange& one : statistics.choices.tried)
    REQUIRE(one.change.find("activation_threshold_method") == std::string::npos);
}

TEST_CASE("a sample that reaches far beyond all others does not set a range; two do") {
  const auto job = test::job_of(convolution(), "ort-cpu", {});
  const auto of_outliers = [&](uint64_t outliers) {
    return gathered(*job, 20, [&](uint64_t k) { return test::sample(*job, k, k < outliers ? 100.0f : 1.0f); });
  };
  const auto model_of = [&](uint64_t outliers) {
    return ptq::CorrectedModel{job->model, of_outliers(outliers), job->attachment, job->placement, {}};
  };
  ptq::CorrectedModel none = model_of(0), one = model_of(1), two = model_of(2);
  const double plain = none.statistics.find("x")->histogram.max();
  REQUIRE(!ptq::limit_outliers(none, {}));
  REQUIRE(ptq::limit_outliers(one, {})->places == 2);  // what the Conv reads and what it gives
  const calibrate::TensorStatistics& limited = *one.statistics.find("x");
  REQUIRE(limited.histogram.max() < 2.1 * plain);
  REQUIRE(limited.histogram.min() > -2.1 * plain);
  REQUIRE(limited.histogram.total() == limited.elements);
  for (const auto& channel : limited.channels) REQUIRE(channel.max < 2.1 * plain);
  REQUIRE(!ptq::limit_outliers(two, {}));
  // The files agree on the range that the others have.
  const auto range = [](const Draft& draft) { return draft.plan.activations[0].params.scale[0]; };
  REQUIRE(range(draft(*job, of_outliers(1))) < 3 * range(draft(*job, of_outliers(0))));
  REQUIRE(range(draft(*job, of_outliers(2))) > 3 * range(draft(*job, of_outliers(0))));
}

TEST_CASE("the farthest extremes are those of all samples, however parts are merged") {
  calibrate::ExtremeSums all, left, right;
  const float lows[] = {-3, -1, -7, -7, 0}, highs[] = {2, 9, 4, 8, 1};
  for (size_t k = 0; k < 5; ++k) {
    all.add(lows[k], highs[k]);
    (k == 2 ? left : right).add(lows[k], highs[k]);
  }
  REQUIRE(left.lowest == std::array<float, 2>{-7, -7});
  left.merge(right);
  REQUIRE(left == all);
  REQUIRE(all.lowest == std::array<float, 2>{-7, -7});
  REQUIRE(all.highest == std::array<float, 2>{9, 8});
}

}  // namespace trial_test
