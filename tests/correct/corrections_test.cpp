// SPDX-License-Identifier: Apache-2.0
// What statistics and samples correct before a model is written: equalized channels, measured biases, front ends in
// float.
#include <algorithm>
#include <memory>

#include "core/job/tersor.h"
#include "core/report/corrections.h"
#include "core/report/report_of.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/named_model.h"
#include "tests/support/run_sweep.h"

namespace corrections_test {
using namespace tersor;
using test::NamedModel;
using test::sample;
using test::sqnr;
using test::statistics_of;
using Ints = std::vector<int64_t>;

namespace {

std::shared_ptr<const Job> job_of(const Model& model, const config::QuantizationConfig& config = {},
                                  const char* platform = tpc::kDefaultPlatform.data()) {
  return test::job_of(model, platform, config);
}

/// The statistics with what the sweep measures, its samples in `parts` parts that take turns.
calibrate::Statistics measured(const Job& job, calibrate::Statistics statistics, size_t parts) {
  REQUIRE(test::run_sweep(
      job, statistics, [&](size_t k) { return sample(job, k); }, parts));
  return statistics;
}

/// Depthwise layers between pointwise ones; channel c of each is louder by loudness^c.
Model separable(double loudness, bool clips = false) {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 4, 8, 8}).weight("w1", {6, 4, 1, 1}).weight("b1", {6}).weight("w2", {6, 1, 3, 3});
  model.weight("w3", {5, 6, 1, 1}).node("Conv", {"x", "w1", "b1"}, {"c1"});
  if (clips)
    model.constant("low", Tensor::scalar(0.0f))
        .constant("high", Tensor::scalar(6.0f))
        .node("Clip", {"c1", "low", "high"}, {"r1"});
  else
    model.node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2"}, {"c2"}, {{"pads", pads}, {"group", int64_t{6}}}).node("Relu", {"c2"}, {"r2"});
  model.node("Conv", {"r2", "w3"}, {"y"}).output("y");
  for (const char* name : {"w1", "b1"}) model.scale_along(name, 0, loudness);
  model.scale_along("w3", 1, 1 / loudness);
  return model.build();
}

}  // namespace

TEST_CASE("unlike channels are equalized and the float model stays what it is") {
  const auto job = job_of(separable(0.3));
  const calibrate::Statistics statistics = statistics_of(*job);
  const Draft decided = draft(*job, statistics);
  const auto regions = test::equalized_regions(*job, statistics);
  REQUIRE(test::places(decided, test::kEqualization) == static_cast<int64_t>(regions.size()));
  REQUIRE_FALSE(regions.empty());
  for (const ptq::EqualizedRegion& region : regions) {
    REQUIRE(region.noise_ratio <= 0.8);
    REQUIRE(region.scales.size() == 6);
  }
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(job->model, decided.model, sample(*job, k)) < 1e-5);

  config::QuantizationConfig off;
  off.activation_channel_equalization = false;
  const auto plain = job_of(separable(0.3), off);
  calibrate::Statistics with = statistics, without = statistics_of(*plain);
  with = measured(*job, with, 1);
  without = measured(*plain, without, 1);
  REQUIRE(sqnr(*job, quantize(*job, with).model) > sqnr(*plain, quantize(*plain, without).model) + 4);
}

TEST_CASE("before a Relu or Clip nothing is watched, and the bias there is corrected all the same") {
  const auto clips = GENERATE(false, true);
  const auto watches = [](const Job& job, const char* name) {
    return std::any_of(job.requests.begin(), job.requests.end(), [&](const auto& one) { return one.name == name; });
  };
  const auto job = job_of(separable(0.3, clips));
  REQUIRE(watches(*job, "r1"));
  REQUIRE_FALSE(watches(*job, "c1"));
  const calibrate::Statistics statistics = measured(*job, statistics_of(*job), 1);
  for (const char* name : {"c1", "c2", "y"})
    REQUIRE(std::any_of(statistics.measured.outputs.begin(), statistics.measured.outputs.end(),
                        [&](const auto& one) { return one.name == name; }));

  config::QuantizationConfig keeps;  // which compares deviations before it
  keeps.weights_second_moment_correction = true;
  REQUIRE(watches(*job_of(separable(0.3, clips), keeps), "c1"));
}

TEST_CASE("the fewer bits weights have, the less is moved into them") {
  const auto moved = [](int bits) {
    config::QuantizationConfig config;
    config.weights_n_bits = bits;
    const auto job = job_of(separable(0.5), config, "imx500");
    double alpha = 0;
    for (const ptq::EqualizedRegion& region : test::equalized_regions(*job, statistics_of(*job))) alpha += region.alpha;
    return alpha;
  };
  REQUIRE(moved(8) > 0);
  REQUIRE(moved(4) < moved(8));
}

TEST_CASE("a quantized file says by what its tensors are scaled") {
  const auto job = job_of(separable(0.3));
  calibrate::Statistics statistics = statistics_of(*job);
  statistics = measured(*job, statistics, 1);
  const QuantizeResult result = quantize(*job, statistics);
  std::string text;
  for (const auto& [key, value] : result.model.metadata)
    if (key == ptq::kChannelScales) text = value;
  const auto scales = ptq::read_channel_scales(text);
  for (const ptq::EqualizedRegion& region : test::equalized_regions(*job, statistics))
    for (const auto& [value, span] : region.values)
      if (result.draft.placement.find(value) != nullptr)
        REQUIRE(scales.at(job->model.graph.name_of(value)) == region.scales_of(value));
}

TEST_CASE("of few samples channels are raised less") {
  const auto job = job_of(separable(0.3));
  const auto raised_most = [&](uint64_t samples) {
    double least = 1;
    for (const ptq::EqualizedRegion& region : test::equalized_regions(*job, statistics_of(*job, samples)))
      least = std::min(least, *std::min_element(region.scales.begin(), region.scales.end()));
    return least;
  };
  REQUIRE(raised_most(16) < raised_most(4));
  REQUIRE(raised_most(4) < 1);
  REQUIRE(raised_most(1) >= raised_most(4));
}

TEST_CASE("like channels and channels at a Clip's bound are left alone") {
  NamedModel alike;
  alike.input("x", {1, 4, 8, 8}).weight("w1", {6, 4, 1, 1}, 0.99f, 1.0f).weight("w2", {5, 6, 1, 1});
  alike.node("Conv", {"x", "w1"}, {"c1"}).node("Relu", {"c1"}, {"r1"}).node("Conv", {"r1", "w2"}, {"y"}).output("y");
  const auto like = job_of(alike.build());
  REQUIRE(test::places(draft(*like, statistics_of(*like)), test::kEqualization) == 0);
  const auto clipped = job_of(separable(0.3, true));
  const calibrate::Statistics statistics = statistics_of(*clipped);
  const Draft decided = draft(*clipped, statistics);
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(clipped->model, decided.model, sample(*clipped, k)) < 1e-5);
}

TEST_CASE("measured shifts do not depend on who saw which sample, and survive the file") {
  const auto job = job_of(separable(0.6));
  calibrate::Statistics statistics = statistics_of(*job);
  const calibrate::Statistics once = measured(*job, statistics, 1);
  REQUIRE(once.measured.outputs.size() == 3);
  REQUIRE(measured(*job, statistics, 3) == once);
  statistics = once;
  REQUIRE(calibrate::read(calibrate::write(statistics)) == statistics);
  REQUIRE(sweep(*job, draft(*job, statistics)) == nullptr);
}

TEST_CASE("measured bias correction needs the samples and says so") {
  const auto job = job_of(separable(0.6));
  const calibrate::Statistics statistics = statistics_of(*job);
  REQUIRE_THROWS_WITH(quantize(*job, statistics, draft(*job, statistics)),
                      Catch::Matchers::Contains("weights_bias_correction_method"));
}

TEST_CASE("after the measured correction the means are those of the float model") {
  config::QuantizationConfig config;
  config.weights_per_channel_threshold = false;  // rough weights: large shifts
  const auto job = job_of(separable(0.8), config);
  calibrate::Statistics statistics = statistics_of(*job);
  statistics = measured(*job, statistics, 1);
  config.weights_bias_correction = false;
  const auto plain = job_of(separable(0.8), config);
  const double with = sqnr(*job, quantize(*job, statistics).model),
               without = sqnr(*plain, quantize(*plain, statistics_of(*plain)).model);
  REQUIRE(with > without);
}

TEST_CASE("what feeds a logarithm stays in float; what feeds a normalisation does not") {
  NamedModel spectrum;
  spectrum.input("x", {1, 64}).weight("w1", {64, 32}).node("MatMul", {"x", "w1"}, {"s"}).node("Mul", {"s", "s"}, {"p"});
  spectrum.constant("tiny", Tensor::scalar(1e-6f)).node("Add", {"p", "tiny"}, {"q"}).node("Log", {"q"}, {"l"});
  spectrum.weight("w2", {32, 8}).node("MatMul", {"l", "w2"}, {"y"}).output("y");
  const auto job = job_of(spectrum.build());
  const Draft decided = draft(*job, statistics_of(*job));
  REQUIRE(decided.placement.roles[0].role == ptq::Role::kFloat);
  REQUIRE_THAT(decided.placement.roles[0].reason, Catch::Matchers::Contains("Log"));
  REQUIRE(decided.placement.roles.back().has_kernel());

  NamedModel features;
  features.input("x", {1, 64}).weight("w", {64, 32}).node("MatMul", {"x", "w"}, {"s"}).node("Mul", {"s", "s"}, {"p"});
  features.constant("tiny", Tensor::scalar(1e-6f)).node("Add", {"p", "tiny"}, {"q"}).node("Log", {"q"}, {"y"});
  const auto nothing = job_of(features.output("y").build());
  try {
    draft(*nothing, statistics_of(*nothing));
    FAIL("nothing is left to quantize");
  } catch (const Error& error) {
    REQUIRE(error.place.find("MatMul") != std::string::npos);
    REQUIRE(error.message.find("would lose too much") != std::string::npos);
    REQUIRE(error.hint.find("--keep-float none") != std::string::npos);
  }

  NamedModel norm;
  norm.input("x", {1, 64}).weight("w1", {64, 32}).node("MatMul", {"x", "w1"}, {"s"}).node("Mul", {"s", "s"}, {"p"});
  norm.node("ReduceMean", {"p"}, {"m"}, {{"axes", Ints{-1}}}).node("Sqrt", {"m"}, {"d"}).node("Div", {"s", "d"}, {"n"});
  norm.weight("w2", {32, 8}).node("MatMul", {"n", "w2"}, {"y"}).output("y");
  const auto other = job_of(norm.build());
  for (const ptq::NodeRole& role : draft(*other, statistics_of(*other)).placement.roles)
    REQUIRE(role.reason.find("magnifies") == std::string::npos);
  REQUIRE(expected_coverage(*other, 0).may_stay_float == 0);
}

namespace {

/// Adds y = x gate(x) in the operators that exporters write for it.
void gated(NamedModel& model, const std::string& form, const std::string& x, const std::string& y) {
  const auto named = [&](const char* part) { return y + part; };
  if (form == "HardSwish") {
    model.node("HardSwish", {x}, {y});
  } else if (form == "Clip") {
    model.node("Add", {x, "three"}, {named("a")}).node("Clip", {named("a"), "zero", "six"}, {named("b")});
    model.node("Mul", {x, named("b")}, {named("c")}).node("Div", {named("c"), "six"}, {y});
  } else if (form == "Erf") {
    model.node("Div", {x, "root"}, {named("a")}).node("Erf", {named("a")}, {named("b")});
    model.node("Add", {named("b"), "one"}, {named("c")}).node("Mul", {x, named("c")}, {named("d")});
    model.node("Mul", {named("d"), "half"}, {y});
  } else {
    model.node(form.c_str(), {x}, {named("a")}).node("Mul", {x, named("a")}, {y});
  }
}

/// Pointwise Conv, Swish, depthwise Conv, Swish, pointwise Conv; channels are up to 30 times as loud as others.
Model swishes(const std::string& form) {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("b1", {8}).weight("w2", {8, 1, 3, 3});
  for (const auto& [name, value] : std::vector<std::pair<const char*, float>>{
           {"zero", 0.0f}, {"half", 0.5f}, {"one", 1.0f}, {"root", 1.41421356f}, {"three", 3.0f}, {"six", 6.0f}})
    model.constant(name, Tensor::scalar<float>(value));
  model.weight("w3", {5, 8, 1, 1}).node("Conv", {"x", "w1", "b1"}, {"c1"});
  gated(model, form, "c1", "m1");
  model.node("Conv", {"m1", "w2"}, {"c2"}, {{"pads", pads}, {"group", int64_t{8}}});
  gated(model, form, "c2", "m2");
  model.node("Conv", {"m2", "w3"}, {"y"}).output("y");
  model.scale_along("w1", 0, 1.6).scale_along("w3", 1, 0.6);
  return model.build();
}

}  // namespace

namespace {

config::QuantizationConfig accurate() {
  config::QuantizationConfig config;
  config.prefer = config::Preference::kAccuracy;
  return config;
}

}  // namespace

namespace {

/// The outputs of Convs whose channels are stretched to the same integers.
std::vector<std::string> stretched_outputs(const Draft& decided) {
  const std::string suffix = "_stretched";
  std::vector<std::string> names;
  for (const Node& node : decided.model.graph.nodes()) {
    const std::string& name = decided.model.graph.name_of(node.outputs[0]);
    if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      names.push_back(name);
  }
  return names;
}

}  // namespace

TEST_CASE("around a Swish each channel is scaled to its quantizer, whose scale stays one") {
  const std::string form = GENERATE("Sigmoid", "HardSigmoid", "HardSwish", "Clip", "Erf");
  const uint64_t samples = GENERATE(uint64_t{4}, uint64_t{40});
  INFO(form << ", " << samples);
  const auto job = job_of(swishes(form), accurate());
  calibrate::Statistics statistics = statistics_of(*job, samples);
  const Draft decided = draft(*job, statistics);
  REQUIRE(stretched_outputs(decided).size() == 2);
  REQUIRE(test::places(decided, "split_scales") == 4);  // and two tensors are scaled before they are quantized
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(job->model, decided.model, sample(*job, k)) < 1e-5);
  statistics = measured(*job, statistics, 1);
  const Model quantized = quantize(*job, statistics).model;
  int per_axis = 0;
  for (const Node& node : quantized.graph.nodes())
    per_axis += node.is("DequantizeLinear") && quantized.graph.initializer(node.inputs[0]) == nullptr &&
                        quantized.graph.initializer(node.inputs[1])->shape().rank() == 1
                    ? 1
                    : 0;
  REQUIRE(per_axis == 0);
  REQUIRE(test::count(quantized, "Add") == test::count(job->model, "Add") + 2);
  const int64_t more = test::count(quantized, "Mul") - test::count(job->model, "Mul");
  REQUIRE(more >= 2);
  REQUIRE(more <= 4);

  config::QuantizationConfig off = accurate();
  off.split_scales = false;
  const auto plain = job_of(swishes(form), off);
  calibrate::Statistics without = statistics_of(*plain, samples);
  without = measured(*plain, without, 1);
  REQUIRE(sqnr(*job, quantized) > sqnr(*plain, quantize(*plain, without).model) + 2);
}

TEST_CASE("what a Conv writes before a Swish takes all integers, from end to end") {
  const auto job = job_of(swishes("Sigmoid"), accurate());
  const Draft decided = draft(*job, statistics_of(*job));
  REQUIRE(stretched_outputs(decided).size() == 2);
  for (const std::string& name : stretched_outputs(decided)) {
    const ptq::ActivationPlan* plan = decided.plan.find(*decided.model.graph.find(name));
    REQUIRE(plan != nullptr);
    REQUIRE(plan->params.zero_point[0] == 128);
    REQUIRE(plan->params.scale[0] == Approx(-decided.statistics.find(name)->histogram.min() / 128).epsilon(1e-6));
  }
}

TEST_CASE("convolutions along one axis have scales of their own around a Swish") {
  NamedModel model;
  model.input("x", {1, 4, 40}).weight("w1", {8, 4, 1}).weight("w2", {5, 8, 3});
  model.node("Conv", {"x", "w1"}, {"c"}).node("Sigmoid", {"c"}, {"g"}).node("Mul", {"c", "g"}, {"m"});
  model.node("Conv", {"m", "w2"}, {"y"}).output("y").scale_along("w1", 0, 1.6).scale_along("w2", 1, 0.6);
  const auto job = job_of(model.build(), accurate());
  const calibrate::Statistics statistics = statistics_of(*job);
  const Draft decided = draft(*job, statistics);
  REQUIRE(test::places(decided, "split_scales") == 2);  // the Conv's output is stretched, what the Mul gives is scaled
  REQUIRE(test::places(decided, test::kEqualization) == 1);
  REQUIRE(test::relative_difference(job->model, decided.model, sample(*job, 0)) < 1e-5);
  const Model quantized = quantize(*job, measured(*job, statistics, 1)).model;
  config::QuantizationConfig off = accurate();
  off.split_scales = false;
  const auto plain = job_of(model.build(), off);
  const Model without = quantize(*plain, measured(*plain, statistics_of(*plain), 1)).model;
  REQUIRE(sqnr(*job, quantized) > sqnr(*plain, without) + 2);
}

TEST_CASE("what else reads a Conv keeps it from having scales of its own") {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("w2", {5, 8, 1, 1}).weight("other", {1, 8, 8, 8});
  model.node("Conv", {"x", "w1"}, {"c"}).node("Sigmoid", {"c"}, {"g"}).node("Mul", {"c", "g"}, {"m"});
  model.node("Conv", {"m", "w2"}, {"y"}).node("Mul", {"c", "other"}, {"z"}).output("y").output("z");
  const auto job = job_of(model.build(), accurate());
  REQUIRE(stretched_outputs(draft(*job, statistics_of(*job))).empty());
}

namespace {

/// The lengths of the channels' halves, as of a spectrum; channels are up to `growth`^7 times as loud as others.
Model lengths(double growth, const char* function = "Sqrt") {
  NamedModel model;
  model.input("x", {1, 4, 40}).weight("w1", {16, 4, 1}).weight("w2", {5, 8, 1}).constant("two", Tensor::scalar(2.0f));
  model.constant("tiny", Tensor::scalar(1e-8f)).node("Conv", {"x", "w1"}, {"c"});
  model.node("Split", {"c"}, {"re", "im"}, {{"axis", int64_t{1}}}).node("Pow", {"re", "two"}, {"re2"});
  model.node("Mul", {"im", "im"}, {"im2"}).node("Add", {"re2", "im2"}, {"p"}).node("Add", {"p", "tiny"}, {"q"});
  model.node(function, {"q"}, {"l"}).node("Conv", {"l", "w2"}, {"y"}).output("y");
  model.scale_along("w1", 0, growth).scale_along("w2", 1, 1 / growth);
  return model.build();
}

}  // namespace

TEST_CASE("a length magnifies nothing, and a Conv that float nodes alone read has scales by channel") {
  const auto job = job_of(lengths(1.5), accurate());
  const calibrate::Statistics statistics = statistics_of(*job);
  const Draft decided = draft(*job, statistics);
  REQUIRE(stretched_outputs(decided).size() == 1);
  REQUIRE(test::relative_difference(job->model, decided.model, sample(*job, 0)) < 1e-5);
  const Model quantized = quantize(*job, measured(*job, statistics, 1)).model;
  for (const char* type : {"Add", "Mul"}) REQUIRE(test::count(quantized, type) == test::count(job->model, type) + 1);
  config::QuantizationConfig off = accurate();
  off.split_scales = false;
  const auto plain = job_of(lengths(1.5), off);
  const Model without = quantize(*plain, measured(*plain, statistics_of(*plain), 1)).model;
  REQUIRE(sqnr(*job, quantized) > sqnr(*plain, without) + 2);

  const auto logarithm = job_of(lengths(1.5, "Log"), accurate());
  REQUIRE(draft(*logarithm, statistics_of(*logarithm)).placement.roles[0].role == ptq::Role::kFloat);
  // what a forecast knows of it, before any sample
  const report::Coverage forecast = expected_coverage(*logarithm, 100'000), certain = expected_coverage(*job, 100'000);
  REQUIRE(forecast.may_stay_float == 1);
  REQUIRE(forecast.estimated_largest_bytes >= forecast.estimated_size_bytes);
  REQUIRE(certain.may_stay_float == 0);
  REQUIRE(certain.estimated_largest_bytes == certain.estimated_size_bytes);
  // where weights alone are integers, those of such a kernel stay float as well
  const auto weights_alone = job_of(lengths(1.5, "Log"), accurate(), "weight-only-int8");
  REQUIRE(expected_coverage(*weights_alone, 0).may_stay_float == 1);
  const auto alike = job_of(lengths(1), accurate());
  REQUIRE(stretched_outputs(draft(*alike, statistics_of(*alike))).empty());
}

TEST_CASE("a Conv whose integers a kernel meets keeps one scale") {
  const std::string between = GENERATE("Transpose", "Softmax", "Relu", "Where");
  INFO(between);
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("w2", {5, 8, 1, 1}).weight("other", {1, 8, 8, 8});
  model.node("Conv", {"x", "w1"}, {"c"}).node("Mul", {"c", "other"}, {"z"});
  if (between == "Where")
    model.node("Greater", {"c", "other"}, {"g"}).node("Where", {"g", "c", "other"}, {"b"});
  else
    model.node(between.c_str(), {"c"}, {"b"});
  model.node("Conv", {"b", "w2"}, {"y"}).output("y").output("z").scale_along("w1", 0, 1.6);
  const auto job = job_of(model.build(), accurate());
  REQUIRE(stretched_outputs(draft(*job, statistics_of(*job))).empty());
}

TEST_CASE("a model without a Swish has no split scales") {
  const auto job = job_of(separable(0.3), accurate());
  const Draft decided = draft(*job, statistics_of(*job));
  REQUIRE(test::places(decided, "split_scales") == 0);
}

TEST_CASE("a collapsed model is quantized with its own statistics, and the report names what is gone") {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 4, 8, 8}).weight("w1", {6, 4, 3, 3}).weight("b1", {6}).weight("w2", {4, 6, 1, 1});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}}).node("Conv", {"c1", "w2"}, {"c2"});
  model.weight("w3", {4, 4, 3, 3})
      .node("Conv", {"c2", "w3"}, {"c3"}, {{"pads", pads}})
      .node("Add", {"c3", "c2"}, {"y"});
  model.output("y");
  config::QuantizationConfig config;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  const auto plain = job_of(model.build(), config);
  config.linear_collapsing = config.residual_collapsing = true;
  const auto job = job_of(model.build(), config);
  REQUIRE(test::types_of(job->model) == "Conv Conv");
  const QuantizeResult result = quantize(*job, statistics_of(*job));
  REQUIRE_THROWS_AS(quantize(*job, statistics_of(*plain)), Error);
  // Two roundings fewer: what c1 and the first operand of the Add lost.
  REQUIRE(sqnr(*job, result.model) > sqnr(*plain, quantize(*plain, statistics_of(*plain)).model) + 1);
  const auto list = report::corrections_of(job->passes, result.draft.rewrites, result.plan);
  REQUIRE(list.size() >= 2);
  REQUIRE(list[0].name == "linear_collapsing");
  REQUIRE(list[0].gained.find("c2_node") != std::string::npos);
  REQUIRE(list[1].name == "residual_collapsing");
  REQUIRE(list[1].gained.find(" y_node.") != std::string::npos);
}

TEST_CASE("no activation has scales by channel, which ONNX Runtime refuses or takes a hundred times as long for") {
  const std::string type = GENERATE("Sigmoid", "LeakyRelu", "Tanh");
  const bool pools = GENERATE(false, true);
  INFO(type << ", " << pools);
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("w2", {5, 8, 1, 1});
  model.node("Conv", {"x", "w1"}, {"c"}).node(type, {"c"}, {"a"});
  if (pools) model.node("MaxPool", {"a"}, {"p"}, {{"kernel_shape", Ints{2, 2}}});
  model.node("Conv", {pools ? "p" : "a", "w2"}, {"y"}).output("y");
  model.scale_along("w1", 0, 1.6).scale_along("w2", 1, 0.6);
  const auto job = job_of(model.build(), accurate());
  const Graph graph = quantize(*job, measured(*job, statistics_of(*job, 20), 1)).model.graph;
  int by_channel = 0;
  for (const Node& node : graph.nodes())
    if (node.is("QuantizeLinear") || node.is("DequantizeLinear"))
      by_channel += graph.initializer(node.inputs[0]) == nullptr && graph.initializer(node.inputs[1])->elements() > 1;
  REQUIRE(by_channel == 0);
}

}  // namespace corrections_test
