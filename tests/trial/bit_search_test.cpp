// SPDX-License-Identifier: Apache-2.0
// Each operator's bits are chosen from its candidates within budgets, by sensitivities measured on samples.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/mixed/configurable.h"
#include "core/report/report_of.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/run_trial.h"

using namespace tersor;
using Catch::Matchers::Contains;
using test::NamedModel;

namespace {

/// Four convolutions of unlike sizes, with an Add.
Model net() {
  NamedModel model;
  model.input("x", {1, 4, 6, 6}).weight("a", {8, 4, 3, 3}).weight("b", {8, 8, 1, 1}).weight("c", {8, 8, 3, 3});
  model.weight("d", {5, 8, 1, 1});
  model.node("Conv", {"x", "a"}, {"p"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).node("Relu", {"p"}, {"pr"});
  model.node("Conv", {"pr", "b"}, {"q"}).node("Conv", {"pr", "c"}, {"r"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  model.node("Add", {"q", "r"}, {"s"}).node("Conv", {"s", "d"}, {"y"}).output("y");
  return model.build();
}

config::QuantizationConfig within(std::optional<double> weights_memory) {
  config::QuantizationConfig config = test::plain_config();
  config.holdout = false;
  config.target_resource_utilization.emplace();
  if (weights_memory) config.target_resource_utilization->weights_memory = *weights_memory;
  return config;
}

struct Searched {
  std::shared_ptr<const Job> job;
  calibrate::Statistics statistics;
  const calibrate::BitConfiguration& bits() const { return statistics.choices.bits; }
};

Searched searched(const Model& model, const char* platform, const config::QuantizationConfig& config,
                  size_t workers = 1, const calibrate::Choices* known = nullptr) {
  Searched done{test::job_of(model, platform, config), {}};
  done.statistics = test::statistics_of(*done.job);
  if (known != nullptr) done.statistics.choices = *known;
  const auto job = done.job;
  done.job = test::run_trial(
      job, done.statistics, [&](size_t k) { return test::sample(*job, k); }, workers);
  return done;
}

double bytes_of(const calibrate::BitConfiguration& bits, const std::vector<size_t>& choice) {
  const double elements[] = {8 * 4 * 9, 8 * 8, 8 * 8 * 9, 5 * 8};
  double bytes = 0;
  for (size_t k = 0; k < choice.size(); ++k)
    bytes += elements[k] * static_cast<double>(bits.operators[k].candidates[choice[k]].weights_n_bits) / 8;
  return bytes;
}

std::vector<size_t> chosen(const calibrate::BitConfiguration& bits) {
  std::vector<size_t> all;
  for (const auto& one : bits.operators) all.push_back(static_cast<size_t>(one.chosen));
  return all;
}

}  // namespace

TEST_CASE("weights have the bits that cost least within the budget, as trying every choice tells") {
  for (const double budget : {400.0, 600.0, 800.0}) {
    const Searched done = searched(net(), "imx500", within(budget));
    const calibrate::BitConfiguration& bits = done.bits();
    REQUIRE(bits.operators.size() == 4);
    std::vector<std::vector<double>> costs;
    for (const auto& one : bits.operators) {
      REQUIRE(one.candidates.size() == 3);
      auto& own = costs.emplace_back();
      for (const auto& candidate : one.candidates) own.push_back(candidate.sensitivity);
      REQUIRE(own[0] < own[1]);
      REQUIRE(own[1] < own[2]);
    }
    double least = 1e300;
    std::vector<size_t> best, tried(4);
    const std::function<void(size_t, double)> extend = [&](size_t k, double cost) {
      if (k == 4) {
        if (cost < least && bytes_of(bits, tried) <= budget) least = cost, best = tried;
        return;
      }
      for (tried[k] = 0; tried[k] < 3; ++tried[k]) extend(k + 1, cost + costs[k][tried[k]]);
      tried[k] = 0;
    };
    extend(0, 0);
    REQUIRE(chosen(bits) == best);
    REQUIRE(bits.taken.weights_memory == bytes_of(bits, best));
    REQUIRE(bits.gap == 0);
    const QuantizeResult result = quantize(*done.job, done.statistics);
    for (size_t k = 0; k < 4; ++k)
      REQUIRE(result.plan.kernels[k].weight.grid.n_bits == bits.operators[k].candidates[best[k]].weights_n_bits);
  }
}

TEST_CASE("interest points count what a change there does to the outputs, with one worker or several") {
  config::QuantizationConfig config = within(600);
  const Searched even = searched(net(), "imx500", config);
  config.mixed_precision_config.emplace();
  config.mixed_precision_config->distance_weighting_method = config::MpDistanceWeighting::kHessian;
  const Searched weighed = searched(net(), "imx500", config);
  REQUIRE(searched(net(), "imx500", config, 3).bits() == weighed.bits());
  size_t unlike = 0;
  for (size_t k = 0; k < 4; ++k) {
    const auto &one = weighed.bits().operators[k].candidates, &other = even.bits().operators[k].candidates;
    unlike += one.back().sensitivity != other.back().sensitivity ? 1 : 0;
    REQUIRE(one.back().sensitivity > one.front().sensitivity);
  }
  REQUIRE(unlike > 0);
}

TEST_CASE("with room for all every operator keeps the most bits, and a budget that nothing meets says what it takes") {
  const Searched done = searched(net(), "imx500", within(1e6));
  REQUIRE(chosen(done.bits()) == std::vector<size_t>(4, 0));
  REQUIRE(done.bits().most == done.bits().taken);
  const Searched loose = searched(net(), "imx500", within(std::nullopt));
  REQUIRE(loose.bits().empty());
  REQUIRE(quantize(*loose.job, loose.statistics).bytes.size() == quantize(*done.job, done.statistics).bytes.size());
  REQUIRE_THROWS_WITH(searched(net(), "imx500", within(100)), Contains("weights_memory") && Contains("at least"));
}

TEST_CASE("the choice is the same whatever the workers, and another budget needs no new measurement") {
  const Searched one = searched(net(), "imx500", within(600)), three = searched(net(), "imx500", within(600), 3);
  REQUIRE(one.bits() == three.bits());
  calibrate::Choices known = one.statistics.choices;
  for (auto& row : known.bits.operators)
    for (auto& candidate : row.candidates) candidate.sensitivity *= 2;  // to be told from new ones
  const Searched other = searched(net(), "imx500", within(500), 1, &known);
  REQUIRE(other.bits().operators[0].candidates[1].sensitivity == known.bits.operators[0].candidates[1].sensitivity);
  REQUIRE(other.bits().taken.weights_memory <= 500);
}

TEST_CASE("activations have fewer bits where most of them are there at once") {
  config::QuantizationConfig config = within(std::nullopt);
  config.target_resource_utilization->activation_memory = 1e6;
  const Searched loose = searched(net(), "any", config);
  config.target_resource_utilization->activation_memory = 0.7 * loose.bits().taken.activation_memory;
  const Searched tight = searched(net(), "any", config);
  REQUIRE(tight.bits().taken.activation_memory <= config.target_resource_utilization->activation_memory);
  std::set<int> bits;
  for (const ptq::ActivationPlan& one : quantize(*tight.job, tight.statistics).plan.activations)
    bits.insert(one.params.grid.n_bits);
  REQUIRE(bits == std::set<int>{4, 8});
}

TEST_CASE("bit operations are kept within their budget where weights and inputs both have a choice") {
  config::QuantizationConfig config = within(std::nullopt);
  config.target_resource_utilization->bops = 1e15;
  const Searched loose = searched(net(), "any", config);
  config.target_resource_utilization->bops = 0.4 * loose.bits().taken.bops;
  const Searched tight = searched(net(), "any", config);
  REQUIRE(tight.bits().taken.bops <= config.target_resource_utilization->bops);
  REQUIRE(tight.bits().taken.bops >= loose.bits().least.bops);
}

TEST_CASE("the operators that win most stay in float, on a platform of one number of bits") {
  config::QuantizationConfig config = within(std::nullopt);
  config.mixed_precision_config.emplace();
  config.prefer = config::Preference::kIntegers;
  const auto float_weights = [&](int64_t most) {
    config.mixed_precision_config->float_operators = most;
    const Searched done = searched(net(), "ort-cpu", config);
    const QuantizeResult result = quantize(*done.job, done.statistics);
    return std::pair(4 - static_cast<int64_t>(result.plan.kernels.size()), test::sqnr(*done.job, result.model));
  };
  const auto [none, before] = float_weights(0);
  const auto [one, after] = float_weights(1);
  REQUIRE(none == 0);
  REQUIRE(one == 1);
  REQUIRE(after > before);
}

TEST_CASE("a configuration that is given is taken, and refused where it does not fit") {
  config::QuantizationConfig config = within(std::nullopt);
  config.mixed_precision_config.emplace();
  config.mixed_precision_config->weights_n_bits = {8, 4, 2};
  config.mixed_precision_config->activation_n_bits = {8};
  config.mixed_precision_config->configuration_overwrite = {{2, 1, 0, 1}};
  const Searched done = searched(net(), "any", config);
  std::vector<int> bits;
  for (const ptq::KernelPlan& kernel : quantize(*done.job, done.statistics).plan.kernels)
    bits.push_back(kernel.weight.grid.n_bits);
  REQUIRE(bits == std::vector<int>{2, 4, 8, 4});
  config.mixed_precision_config->configuration_overwrite = {{2, 1, 0}};
  REQUIRE_THROWS_WITH(searched(net(), "any", config), Contains("has 4 operators"));
  config.mixed_precision_config->configuration_overwrite = {{2, 1, 0, 3}};
  REQUIRE_THROWS_WITH(searched(net(), "any", config), Contains("one of 3 candidates"));
}

TEST_CASE(
    "statistics without the search for these settings are refused rather than quantized as if there were no budget") {
  const auto job = test::job_of(net(), "imx500", within(600));
  const calibrate::Statistics statistics = test::statistics_of(*job);
  REQUIRE_THROWS_WITH(quantize(*job, statistics), Contains("needs the samples"));
}

TEST_CASE("kernels that share a weight have the same bits") {
  NamedModel model;
  model.input("x", {3, 8}).weight("w", {8, 8}).weight("v", {8, 4});
  model.node("MatMul", {"x", "w"}, {"p"}).node("Relu", {"p"}, {"pr"}).node("MatMul", {"pr", "w"}, {"q"});
  model.node("MatMul", {"q", "v"}, {"y"}).output("y");
  const Searched done = searched(model.build(), "imx500", within(50));
  REQUIRE(done.bits().operators.size() == 2);
  REQUIRE(done.bits().operators[0].shared_with.size() == 1);
  const auto& kernels = quantize(*done.job, done.statistics).plan.kernels;
  REQUIRE(kernels.size() == 3);
  REQUIRE(kernels[0].weight.grid.n_bits == kernels[1].weight.grid.n_bits);
  REQUIRE(done.bits().taken.weights_memory <= 50);
}

TEST_CASE("resources are counted on the graph as the platform fuses it") {
  const auto job = test::job_of(net(), "imx500", within({}));
  const mixed::UtilizationMeter meter(job->model, job->attachment, {});
  const config::ResourceUtilization taken = meter.all(meter.base());
  REQUIRE(taken.weights_memory == 8 * 4 * 9 + 8 * 8 + 8 * 8 * 9 + 5 * 8);
  REQUIRE(taken.bops == 8 * 8 * 36 * taken.weights_memory);
  // While the second Conv of pr runs, pr, q and r are there.
  REQUIRE(taken.activation_memory == 3 * 8 * 36);
  REQUIRE(taken.total_memory == taken.weights_memory + taken.activation_memory);
}

TEST_CASE("a transposed convolution multiplies each element that it reads, a convolution each that it writes") {
  NamedModel model;
  model.input("x", {1, 4, 5, 5}).weight("up", {4, 3, 3, 3}).weight("down", {2, 6, 3, 3});
  model.node("ConvTranspose", {"x", "up"}, {"p"}, {{"group", int64_t{2}}, {"strides", std::vector<int64_t>{2, 2}}});
  model.node("Relu", {"p"}, {"pr"}).node("Conv", {"pr", "down"}, {"y"}).output("y");
  const auto job = test::job_of(model.build(), "imx500", within({}));
  const mixed::UtilizationMeter meter(job->model, job->attachment, {});
  REQUIRE(meter.bops(meter.base()) == 64 * (4 * 25 * 3 * 9 + 2 * 9 * 9 * 6 * 9));
  REQUIRE(meter.all(meter.base()).activation_memory == 6 * 11 * 11 + 2 * 9 * 9);
}

TEST_CASE("sizes that the model leaves open are those of the samples") {
  NamedModel model;
  model.input("x", {1, 4, -1}).weight("w", {8, 4, 3}).node("Conv", {"x", "w"}, {"p"}).node("Relu", {"p"}, {"y"});
  const auto job = test::job_of(model.output("y").build(), "imx500", within({}));
  config::ResourceUtilization known;
  known.weights_memory = 8 * 4 * 3;
  REQUIRE(expected_resources(*job) == known);
  calibrate::Statistics seen;
  seen.samples.resize(2);
  calibrate::TensorStatistics& x = seen.tensors.emplace_back();
  x.name = "x", x.shape = Shape{1, 4, 10}, x.elements = 2 * 4 * 10;
  const mixed::UtilizationMeter same(job->model, job->attachment, seen);
  REQUIRE(same.bops(same.base()) == 64 * 8 * 8 * 4 * 3);
  REQUIRE(same.all(same.base()).activation_memory == 4 * 10 + 8 * 8);
}

TEST_CASE("scales of blocks count among the bytes of weights") {
  NamedModel model;
  model.input("x", {1, 64}).weight("w", {64, 8}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  config::QuantizationConfig config = test::plain_config();
  const auto bytes = [&](std::optional<int> block_size) {
    config.weights_block_size = block_size;
    const auto job = test::job_of(model.build(), "weight-only-int4", config);
    const mixed::UtilizationMeter meter(job->model, job->attachment, empty_statistics(*job));
    return meter.weights_memory(meter.base());
  };
  REQUIRE(bytes(std::nullopt) == 64 * 8 / 2);
  REQUIRE(bytes(16) == 64 * 8 / 2 + 4 * 4 * 8);
}

TEST_CASE("bits that save nothing, neither in the file nor on a device, are no candidates") {
  NamedModel model;
  model.input("x", {2, 64}).weight("w", {64, 48}).weight("v", {48, 8});
  model.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"r"}).node("MatMul", {"r", "v"}, {"y"}).output("y");
  const auto candidates = [&](const char* platform) {
    config::QuantizationConfig config = within(1e9);
    config.mixed_precision_config.emplace().weights_n_bits = {8, 4, 3, 2};
    const auto job = test::job_of(model.build(), platform, config);
    const auto operators = mixed::configurable_operators(job->model.graph, job->attachment, job->settings.config);
    std::vector<int> bits;
    if (operators.empty()) return bits;
    for (const mixed::OperatorBits& one : operators[0].bits) bits.push_back(one.weights);
    return bits;
  };
  REQUIRE(candidates("any") == std::vector<int>{8, 4, 3, 2});  // packed
  REQUIRE(candidates("weight-only-int4") == std::vector<int>{4, 3, 2});
  REQUIRE(candidates("weight-only-blocks") == std::vector<int>{8, 4});  // as int4
  REQUIRE(candidates("ort-matmul-nbits") == std::vector<int>{8, 4, 2});
  REQUIRE(candidates("imx500") == std::vector<int>{8, 4, 2});  // of the device
}
