// SPDX-License-Identifier: Apache-2.0
#include "core/report/range_remarks.h"

#include <cmath>

#include "core/quant/quantizer.h"
#include "tests/catch.h"

using namespace tersor;
using quant::QuantizationMethod;

namespace {

quant::Histogram spiky() {
  std::vector<float> values(20000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 200) * 0.005f;
  quant::Histogram histogram;
  histogram.add(values);
  return histogram;
}

quant::QuantizationParams up_to(double high, int n_bits = 8) {
  const quant::Range range{0, high};
  return quant::params_of_ranges(QuantizationMethod::kUniform, {n_bits, false, false}, std::span(&range, 1));
}

/// x -> Gemm "g" -> y with one weight, and a plan that gives x and the weight these ranges.
struct Case {
  Graph graph;
  ptq::Placement placement;
  ptq::QuantizationPlan plan;
  calibrate::Statistics statistics;

  Case(double high, double weight_threshold) {
    const ValueId x = graph.add_value("x", DType::kFloat32), w = graph.add_value("w", DType::kFloat32);
    graph.inputs = {x};
    graph.set_initializer(w, Tensor::of<float>({2, 2}, {0.9f, -0.8f, 0.3f, 0.5f}));
    Node node;
    node.op_type = "Gemm";
    node.name = "g";
    node.inputs = {x, w};
    node.outputs = {graph.add_value("y", DType::kFloat32)};
    const NodeId id = graph.append(std::move(node));
    placement.roles.resize(1);
    ptq::ActivationPlan activation;
    activation.tensor.value = x;
    activation.params = up_to(high);
    plan.activations.push_back(activation);
    ptq::KernelPlan kernel;
    kernel.node = id;
    kernel.op.weight = w;
    const quant::Range range{-weight_threshold, weight_threshold};
    kernel.weight = quant::params_of_ranges(QuantizationMethod::kSymmetric, {8, true, true}, std::span(&range, 1));
    plan.kernels.push_back(kernel);
    calibrate::TensorStatistics seen;
    seen.name = "x";
    seen.histogram = spiky();
    statistics.tensors.push_back(seen);
  }

  std::vector<Diagnostic> remarks() const { return report::range_remarks(graph, placement, plan, statistics); }
};

}  // namespace

TEST_CASE("the ratio that a grid leaves is that of its noise") {
  // Uniform values in [0, 1): power 1/3, noise step^2 / 12.
  REQUIRE(report::expected_sqnr_db(spiky(), up_to(1)) == Approx(10 * std::log10(4 * 255.0 * 255.0)).margin(1.5));
  REQUIRE(report::expected_sqnr_db(spiky(), up_to(0.2)) < 4);
}

TEST_CASE("ranges that fit are not remarked on, clipped and coarse ones are, by tensor and node") {
  REQUIRE(Case(1, 0.9).remarks().empty());
  const std::vector<Diagnostic> clipped = Case(0.2, 0.9).remarks();
  REQUIRE(clipped.size() == 1);
  REQUIRE(clipped[0].code == "coarse_range");
  REQUIRE(clipped[0].place == "x");
  const std::vector<Diagnostic> coarse = Case(1, 200).remarks();
  REQUIRE(coarse.size() == 1);
  REQUIRE_THAT(coarse[0].message, Catch::Contains("weight \"w\" of Gemm \"g\""));
  REQUIRE(coarse[0].place == "g");
  // A job's own notes stand before them, the file's warnings first.
  const Case both(0.2, 200);
  const auto all = report::remarks_of({{"file", "a", "", ""}}, {{"note", "b", "", ""}}, both.graph, both.placement,
                                      both.plan, both.statistics);
  REQUIRE(all.size() == 4);
  REQUIRE(all[0].code == "file");
  REQUIRE(all[1].code == "note");
}
