// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/calibrator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/ops/registry.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using namespace tersor::calibrate;
using tersor::test::NamedModel;

namespace {

Model conv_model() {
  NamedModel model;
  model.input("x", {1, 3, 9, 7}).weight("w", {8, 3, 3, 3}).weight("b", {8});
  model.node("Conv", {"x", "w", "b"}, {"t"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).node("Relu", {"t"}, {"y"});
  return model.output("y").build();
}

std::vector<Request> requests_of(const Model& model) {
  return {{*model.graph.find("x"), "x", 1}, {*model.graph.find("t"), "t", 1}, {*model.graph.find("y"), "y", -1}};
}

std::shared_ptr<const run::Program> program_of(const Model& model) {
  run::ProgramOptions options;
  for (const Request& request : requests_of(model)) options.observed.push_back(request.value);
  return run::Program::compile(model, ops::standard(), options);
}

SampleRecord record(uint64_t index) {
  Sha256 sha;
  sha.update(std::to_string(index));
  return {index, sha.hex()};
}

Calibrator calibrator(const Model& model) {
  return Calibrator(program_of(model), requests_of(model), {std::string(64, 'a'), std::string(64, 'b'), "{}", "null"},
                    100);
}

std::vector<Tensor> sample(const Model& model, uint64_t index) {
  std::vector<Tensor> inputs = test::random_inputs(model, static_cast<uint32_t>(index + 1));
  // Ranges that grow and shrink from sample to sample, and values that are exactly zero.
  Tensor scaled = Tensor::make(DType::kFloat32, inputs[0].shape());
  const float scale = std::ldexp(1.0f, static_cast<int>(index * 7 % 11) - 5);
  const auto from = inputs[0].data<float>();
  auto to = scaled.mutable_data<float>();
  for (size_t k = 0; k < from.size(); ++k) to[k] = k % 13 == 0 ? -0.0f : from[k] * scale;
  return {scaled};
}

}  // namespace

TEST_CASE("a calibrator sees what the float model makes") {
  const Model model = conv_model();
  Calibrator watching = calibrator(model);
  run::ProgramOptions options;
  options.fetched = {*model.graph.find("t")};
  run::Runner runner(run::Program::compile(model, ops::standard(), options));
  quant::Histogram expected;
  double sum = 0, squares = 0;
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (uint64_t k = 0; k < 6; ++k) {
    const std::vector<Tensor> inputs = sample(model, k);
    watching.add(record(k), "sample", inputs);
    const Tensor t = runner.run(inputs)[1];
    expected.add(t.data<float>());
    for (const float x : t.data<float>().subspan(5 * 63, 63)) {  // channel 5
      sum += x;
      squares += static_cast<double>(x) * x;
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  const Statistics statistics = watching.statistics();
  const TensorStatistics& t = *statistics.find("t");
  REQUIRE(t.histogram == expected);
  REQUIRE(t.shape == Shape{1, 8, 9, 7});
  REQUIRE(t.channels.size() == 8);
  REQUIRE(t.channels[5].min == low);
  REQUIRE(t.channels[5].max == high);
  REQUIRE(t.channel_mean(5) == Approx(sum / (6 * 63)).epsilon(1e-6));
  REQUIRE(t.channel_mean_square(5) == Approx(squares / (6 * 63)).epsilon(1e-6));
  REQUIRE(statistics.find("y")->channels.empty());
  REQUIRE(statistics.find("x")->histogram.zeros() >= 6 * (3 * 63 / 13));
}

TEST_CASE("where samples differ in their number of channels none are kept, however the samples are shared out") {
  NamedModel named;
  const Model model = named.input("x", {1, -1, 4}).node("Relu", {"x"}, {"y"}).output("y").build();
  const std::vector<Request> requests = {{*model.graph.find("x"), "x", 1}};
  run::ProgramOptions options;
  options.observed = {requests[0].value};
  const auto program = run::Program::compile(model, ops::standard(), options);
  const Provenance provenance{std::string(64, 'a'), std::string(64, 'b'), "{}", "null"};
  const auto seen = [&](const std::vector<uint64_t>& which) {
    Calibrator calibrator(program, requests, provenance, 100);
    for (const uint64_t k : which) {
      Tensor x = Tensor::make(DType::kFloat32, Shape{1, k % 2 == 0 ? 3 : 5, 4});
      for (size_t i = 0; i < x.mutable_data<float>().size(); ++i)
        x.mutable_data<float>()[i] = static_cast<float>(i + k);
      calibrator.add(record(k), "sample", std::vector{x});
    }
    return calibrator.statistics();
  };
  REQUIRE(seen({0, 2}).tensors[0].channels.size() == 3);
  const Statistics all = seen({0, 1, 2, 3});
  REQUIRE(all.tensors[0].channels.empty());
  REQUIRE(all.tensors[0].histogram.total() == 4 * (3 + 5 + 3 + 5));
  for (const auto& [first, second] :
       {std::pair<std::vector<uint64_t>, std::vector<uint64_t>>{{0, 2}, {1, 3}}, {{0, 1}, {2, 3}}, {{3}, {0, 1, 2}}}) {
    Statistics merged = seen(first);
    merge(merged, seen(second));
    REQUIRE(write(merged) == write(all));
  }
}

TEST_CASE("calibrators that share the samples out gather the same bytes as one") {
  const Model model = conv_model();
  constexpr uint64_t kSamples = 24;
  Calibrator alone = calibrator(model);
  for (uint64_t k = 0; k < kSamples; ++k) alone.add(record(k), "sample", sample(model, k));
  const auto expected = write(alone.statistics());
  std::mt19937 random(17);
  for (size_t parts = 2; parts <= 5; ++parts) {
    std::vector<Calibrator> calibrators;
    for (size_t p = 0; p < parts; ++p) calibrators.push_back(calibrator(model));
    std::vector<uint64_t> order(kSamples);
    for (uint64_t k = 0; k < kSamples; ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), random);
    for (const uint64_t k : order) calibrators[random() % parts].add(record(k), "sample", sample(model, k));
    std::shuffle(calibrators.begin(), calibrators.end(), random);
    Statistics all = calibrators[0].statistics();
    for (size_t p = 1; p < parts; ++p) merge(all, calibrators[p].statistics());
    REQUIRE(write(all) == expected);
  }
}

TEST_CASE("an activation that is not finite is refused with sample and tensor") {
  NamedModel builder;
  builder.input("x", {1, 4}).constant("big", Tensor::scalar(3e38f)).node("Mul", {"x", "big"}, {"t"}).output("t");
  const Model model = builder.build();
  run::ProgramOptions options;
  options.observed = {*model.graph.find("t")};
  Calibrator watching(run::Program::compile(model, ops::standard(), options), {{options.observed[0], "t", 1}}, {}, 1);
  const std::vector<Tensor> inputs{Tensor::of<float>(Shape{1, 4}, {1, 2, 3, 4})};
  try {
    watching.add(record(0), "samples[0] \"cat\"", inputs);
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidSamples);
    REQUIRE(error.place == "samples[0] \"cat\"");
    REQUIRE(error.message == "The tensor \"t\" has an element that is infinite.");
  }
}

TEST_CASE("the bound on the memory of statistics holds") {
  const Model model = conv_model();
  Calibrator watching = calibrator(model);
  for (uint64_t k = 0; k < 4; ++k) watching.add(record(k), "sample", sample(model, k));
  int64_t bytes = 0;
  const Statistics statistics = watching.statistics();
  for (const TensorStatistics& tensor : statistics.tensors)
    bytes += static_cast<int64_t>(tensor.histogram.counts().size_bytes() +
                                  tensor.channels.size() * sizeof(ChannelStatistics));
  REQUIRE(2 * bytes <= Collector::bound_bytes(std::vector<int64_t>{3, 8, 0}));
}
