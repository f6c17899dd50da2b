// SPDX-License-Identifier: Apache-2.0
// effort: Gram matrices of the kernels' inputs, and weights rounded by them.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/quant/quantizer.h"
#include "core/samples/sample_digest.h"
#include "core/sweep/round_weights.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"
#include "tests/support/run_sweep.h"

using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

constexpr uint64_t kSamples = 24;

std::shared_ptr<const Job> job_of(const Model& model, int effort) {
  const std::vector<std::byte> bytes = onnx::write(model);
  config::QuantizationConfig config;
  config.effort = effort;
  config.weights_per_channel_threshold = false;  // rough weights, where rounding matters
  return prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                 {tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config});
}

/// Neighbouring columns of a smooth input rise and fall together.
std::vector<Tensor> sample(const Job& job, uint64_t k) {
  std::vector<Tensor> inputs = test::random_inputs(job.model, static_cast<uint32_t>(k + 1));
  float last = 0;
  for (float& x : inputs[0].mutable_data<float>()) x = last = 0.9f * last + 0.3f * x;
  return inputs;
}

calibrate::Statistics statistics_of(const Job& job, uint64_t samples = kSamples) {
  calibrate::Calibrator calibrator = calibrator_of(job, samples);
  for (uint64_t k = 0; k < samples; ++k)
    calibrator.add({k, samples::sample_digest(sample(job, k))}, "", sample(job, k));
  return calibrator.statistics();
}

calibrate::Statistics rounded_statistics(const Job& job, size_t parts = 1) {
  calibrate::Statistics statistics = statistics_of(job);
  test::run_sweep(
      job, statistics, [&](size_t k) { return sample(job, k); }, parts);
  return statistics;
}

double sqnr(const Job& job, const Model& quantized) {
  run::Runner exact(run::Program::compile(job.opened->model, ops::standard()));
  run::Runner rounded(run::Program::compile(quantized, ops::standard()));
  double signal = 0, noise = 0;
  for (uint64_t k = 1000; k < 1010; ++k) {
    const Tensor a = exact.run(sample(job, k))[0], b = rounded.run(sample(job, k))[0];
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      signal += std::pow(a.data<float>()[i], 2);
      noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

/// A strided Conv with padding, a depthwise one and a Gemm.
Model net() {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 2, 12, 12}).weight("w1", {8, 2, 3, 3}).weight("b1", {8}).weight("w2", {8, 1, 3, 3});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}, {"strides", Ints{2, 2}}}).node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2"}, {"c2"}, {{"pads", pads}, {"group", int64_t{8}}}).node("Relu", {"c2"}, {"r2"});
  model.node("Flatten", {"r2"}, {"f"}).weight("w3", {288, 5}).weight("b3", {5});
  model.node("Gemm", {"f", "w3", "b3"}, {"y"}).output("y");
  // Quiet channels beside a loud one: a step that all share is wide for them.
  for (const char* name : {"w1", "b1", "w2"}) model.scale_along(name, 0, 0.5);
  model.scale_along("w3", 1, 0.3);
  return model.build();
}

}  // namespace

namespace {

Tensor wave(const Shape& shape, uint64_t k) {
  Tensor tensor = Tensor::make(DType::kFloat32, shape);
  float place = static_cast<float>(k);
  for (float& x : tensor.mutable_data<float>()) x = 2 * std::sin(place += 0.7f);
  return tensor;
}

run::LaidTensor channels_last(const Tensor& plain) {
  const ops::TensorType type{plain.dtype(), plain.shape(), ops::Layout::kChannelsLast};
  run::LaidTensor laid{Tensor::make(plain.dtype(), Shape(ops::physical_dims(type))), type.layout};
  ops::convert_layout({type.dtype, type.shape, ops::Layout::kPlain}, plain.bytes().data(), type.layout,
                      laid.tensor.mutable_bytes().data());
  return laid;
}

/// Of a 3x3 Conv with a padding of 1: the products of columns by group, at i * columns + j.
struct Products {
  int64_t stride, groups;

  void add(const Tensor& codes, int zero_point, std::vector<int64_t>& to) const {
    const Shape& shape = codes.shape();
    const int64_t size = shape[2], places = size / stride, channels = shape[1] / groups, columns = channels * 9;
    to.resize(static_cast<size_t>(groups * columns * columns));
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t p = 0; p < places * places; ++p) {
        std::vector<int64_t> row(static_cast<size_t>(columns));
        for (int64_t column = 0; column < columns; ++column) {
          const int64_t y = p / places * stride - 1 + column % 9 / 3, x = p % places * stride - 1 + column % 3;
          const int64_t channel = group * channels + column / 9;
          if (y >= 0 && y < size && x >= 0 && x < size)
            row[static_cast<size_t>(column)] =
                codes.data<uint8_t>()[static_cast<size_t>((channel * size + y) * size + x)] - zero_point;
        }
        for (size_t i = 0; i < row.size(); ++i)
          for (size_t j = 0; j < row.size(); ++j)
            to[(static_cast<size_t>(group) * row.size() + i) * row.size() + j] += row[i] * row[j];
      }
  }
};

}  // namespace

namespace {

/// In steps of each channel, as a kernel's float input is counted.
Tensor codes_of(const Tensor& values, const std::vector<float>& steps) {
  Tensor codes = Tensor::make(DType::kUint8, values.shape());
  const size_t positions = values.data<float>().size() / steps.size();
  for (size_t i = 0; i < values.data<float>().size(); ++i)
    codes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(
        128 + std::clamp(std::nearbyint(values.data<float>()[i] / steps[i / positions]), -127.0f, 127.0f));
  return codes;
}

}  // namespace

TEST_CASE("Gram matrices are those of the kernels' inputs in 8 bits, however these lie") {
  const auto job = job_of(net(), 1);
  const Draft decided = draft(*job, statistics_of(*job));
  const Graph& graph = decided.model.graph;
  const struct {
    size_t kernel;
    Shape shape;
    Products products;
  } cases[] = {{0, Shape{1, 2, 12, 12}, {2, 1}}, {1, Shape{1, 8, 6, 6}, {1, 8}}};
  for (const auto& one : cases)
    for (const bool in_float : {false, true}) {
      const ptq::KernelPlan& planned = decided.plan.kernels[one.kernel];
      const Node& node = *graph.find(planned.node);
      const auto& params = decided.plan.find(node.inputs[0])->params;
      const Tensor& weight = *graph.initializer(planned.op.weight);
      const ptq::GramKernel conv =
          in_float ? ptq::GramKernel(node, planned, weight, *decided.statistics.find(graph.name_of(node.inputs[0])))
                   : ptq::GramKernel(node, planned, weight, params);
      REQUIRE(conv.steps.empty() != in_float);
      REQUIRE(static_cast<int64_t>(conv.blocks.size()) == one.products.groups);
      ptq::GramCounter counter(conv), other(conv);
      std::vector<int64_t> expected[2];
      for (uint64_t k = 0; k < kSamples; ++k) {
        const Tensor values = wave(one.shape, k);
        const Tensor codes = in_float ? codes_of(values, conv.steps) : quant::quantize(values, params);
        const Tensor& seen = in_float ? values : codes;
        (k < 5 ? counter : other).add(k, k % 3 == 0 ? run::LaidTensor{seen} : channels_last(seen), 36);
        one.products.add(codes, conv.zero_point, expected[k % 2]);
      }
      ptq::GramSums sums = other.take();
      sums.add(counter.take());
      for (int half = 0; half < 2; ++half)
        for (size_t block = 0; block < conv.blocks.size(); ++block) {
          const ptq::GramView view = sums.view(half, conv, block);
          const auto size = static_cast<size_t>(conv.blocks[block].size);
          REQUIRE(view.rows == 36 * kSamples / 2);
          for (size_t i = 0, at = 0; i < size; ++i)
            for (size_t j = 0; j <= i; ++j, ++at)
              REQUIRE(view.products[at] == expected[half][(block * size + i) * size + j]);
        }
    }
}

TEST_CASE("of a wide picture only so many rows are looked at") {
  const auto job = job_of(net(), 1);
  const Draft decided = draft(*job, statistics_of(*job));
  const Graph& graph = decided.model.graph;
  const ptq::KernelPlan& planned = decided.plan.kernels[0];
  const auto& params = decided.plan.find(graph.inputs[0])->params;
  const ptq::GramKernel conv(*graph.find(planned.node), planned, *graph.initializer(planned.op.weight), params);
  REQUIRE(conv.rows_per_sample(1) >= 1024);
  REQUIRE(conv.rows_per_sample(1 << 20) == 1);
  ptq::GramCounter counter(conv);
  for (uint64_t k = 0; k < 400; ++k) counter.add(k, {quant::quantize(sample(*job, k % kSamples)[0], params)}, 10);
  // 36 rows in steps of 4: 9 of each sample, all of them one after another.
  const ptq::GramSums sums = counter.take();
  for (int half = 0; half < 2; ++half) REQUIRE(sums.view(half, conv, 0).rows == 9 * 200);
}

TEST_CASE("rounding by what inputs have in common makes less noise, and more effort no more") {
  const auto plain = job_of(net(), 0);
  const double nearest = sqnr(*plain, quantize(*plain, rounded_statistics(*plain)).model);
  for (const int effort : {1, 2}) {
    const auto job = job_of(net(), effort);
    const calibrate::Statistics own = rounded_statistics(*job);
    REQUIRE_FALSE(own.rounded.weights.empty());
    for (const calibrate::RoundedWeight& weight : own.rounded.weights) REQUIRE(weight.noise_ratio < 0.98);
    REQUIRE(sqnr(*job, quantize(*job, own).model) > nearest + 1.5);
  }
}

TEST_CASE("rounded weights do not depend on who saw which sample, and survive the file") {
  for (const int effort : {1, 2}) {
    const auto job = job_of(net(), effort);
    const calibrate::Statistics once = rounded_statistics(*job);
    REQUIRE(rounded_statistics(*job, 5) == once);
    const calibrate::Statistics read = calibrate::read(calibrate::write(once));
    REQUIRE(read == once);
    REQUIRE(sweep(*job, draft(*job, read)) == nullptr);
    REQUIRE(quantize(*job, read).bytes == quantize(*job, once).bytes);
  }
}

TEST_CASE("effort needs the samples and rounding of its own plan: without them the recipe says that there is none") {
  const auto job = job_of(net(), 1), more = job_of(net(), 2), none = job_of(net(), 0);
  const calibrate::Statistics alone = statistics_of(*job), other = rounded_statistics(*job);
  REQUIRE(quantize(*job, alone).recipe.quantization_config.effort == 0);
  REQUIRE(quantize(*job, alone).bytes == quantize(*none, alone).bytes);
  REQUIRE(quantize(*more, other).bytes == quantize(*none, other).bytes);
  REQUIRE_THROWS_WITH(quantize(*job, alone, draft(*job, alone)), Catch::Matchers::Contains("effort"));
}

TEST_CASE("biases corrected without the samples are those of the nearest integers") {
  const auto job = job_of(net(), 1);
  Settings settings = job->settings;
  settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  const auto analytic = prepare(job->opened, settings);
  const calibrate::Statistics statistics = statistics_of(*analytic);
  REQUIRE(sweep(*analytic, draft(*analytic, statistics)) == nullptr);
  for (const ptq::KernelPlan& kernel : quantize(*analytic, statistics).plan.kernels) REQUIRE(kernel.codes.empty());
}

TEST_CASE("one sample is no ground to round by") {
  const auto job = job_of(net(), 2);
  calibrate::Statistics statistics = statistics_of(*job, 1);
  test::run_sweep(*job, statistics, [&](size_t k) { return sample(*job, k); });
  REQUIRE(statistics.rounded.weights.empty());
  REQUIRE_NOTHROW(quantize(*job, statistics));
}

TEST_CASE("weights by a table are rounded by what inputs have in common, to its entries") {
  const auto made = [](int effort) {
    const std::vector<std::byte> bytes = onnx::write(net());
    config::QuantizationConfig config;
    config.effort = effort;
    config.holdout = false;
    config.weights_quantization_method = quant::QuantizationMethod::kLutSymQuantizer;
    const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                             {tpc::get_target_platform_capabilities("weight-only-int4"), config});
    return std::pair(job, quantize(*job, rounded_statistics(*job)));
  };
  const auto [job, nearest] = made(0);
  const auto [other, rounded] = made(1);
  const auto has_codes = [](const ptq::KernelPlan& kernel) { return !kernel.codes.empty(); };
  REQUIRE(std::any_of(rounded.plan.kernels.begin(), rounded.plan.kernels.end(), has_codes));
  for (const ptq::KernelPlan& kernel : rounded.plan.kernels)
    for (const int8_t code : kernel.codes)
      REQUIRE(std::binary_search(kernel.table->table.begin(), kernel.table->table.end(), code));
  REQUIRE(sqnr(*job, rounded.model) > sqnr(*job, nearest.model) + 1);
  REQUIRE(rounded.bytes.size() < nearest.bytes.size() + 200);
}
