// SPDX-License-Identifier: Apache-2.0
// Inputs of MatMul and Gemm whose channels are moved and scaled before they are quantized.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/correct/row_scales.h"
#include "core/job/tersor.h"
#include "core/report/compare.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/named_model.h"
#include "tests/support/rewrites.h"

namespace smooth_inputs_test {
using namespace tersor;
using test::NamedModel;
using test::sample;
using test::statistics_of;

namespace {

constexpr const char* kSmoothing = "activation_smoothing";

std::shared_ptr<const Job> job_of(const Model& model, bool smooths = true,
                                  const char* platform = tpc::kDefaultPlatform.data()) {
  config::QuantizationConfig config = test::plain_config();
  config.activation_smoothing = smooths;
  return test::job_of(model, platform, config);
}

struct Form {
  bool residual = false;  // the norm's output is read in float too
  bool adds = true;       // a bias that an offset can join
  bool shared = false;    // another product has the weight
};

/// A normalization whose channels are unlike in reach and middle, and a product that makes them alike again.
Model norm(const Form& form) {
  NamedModel model;
  model.input("x", {1, 24, 16}).weight("g", {16}).weight("b", {16}).weight("w", {16, 12}).weight("c", {12});
  model.weight("v", {12, 16}).scale_along("g", 0, 1.5).scale_along("b", 0, 1.4).scale_along("w", 0, 1 / 1.5);
  model.node("LayerNormalization", {"x", "g", "b"}, {"n"}).node("MatMul", {"n", "w"}, {"p"});
  if (form.adds) model.node("Add", {"p", "c"}, {"q"});
  const std::string product = form.adds ? "q" : "p";
  model.node("Sigmoid", {product}, {"s"}).node("MatMul", {"s", "v"}, {"r"});
  if (form.shared) model.node("MatMul", {"x", "w"}, {"o"}).output("o");
  if (form.residual) return model.node("Add", {"n", "r"}, {"y"}).output("y").build();
  return model.output("r").build();
}

/// Rows of unlike loudness, the values of which are of either sign or of one, and a product that tells the quiet ones
/// apart. `opset` decides how ReduceMax takes its axes.
Model rows_of(bool one_sided, int64_t opset = 13, int64_t rows = 64) {
  NamedModel model;
  model.input("x", {1, rows, 128}).weight("g", {1, rows, 1}, 1, 1.1f).scale_along("g", 1, 1.15);
  model.weight("w", {128, 256}).weight("c", {256}).weight("v", {256, 16}).node("Mul", {"x", "g"}, {"m"});
  if (one_sided) model.node("Softplus", {"m"}, {"n"});
  model.node("MatMul", {one_sided ? "n" : "m", "w"}, {"p"}).node("Add", {"p", "c"}, {"q"});
  Model built = model.node("Sigmoid", {"q"}, {"s"}).node("MatMul", {"s", "v"}, {"r"}).output("r").build();
  for (OpsetImport& import : built.opset_imports) import.version = opset;
  return built;
}

std::shared_ptr<const Job> rows_job(const Model& model, config::Preference prefer) {
  config::QuantizationConfig config = test::plain_config();
  config.activation_smoothing = true;
  config.prefer = prefer;
  return test::job_of(model, tpc::kDefaultPlatform.data(), config);
}

int64_t more(const Draft& decided, const Job& job, const char* type) {
  return test::count(decided.model, type) - test::count(job.model, type);
}

}  // namespace

TEST_CASE("unlike channels before a product are moved and scaled, and the float model stays what it is") {
  const bool residual = GENERATE(false, true), adds = GENERATE(false, true);
  INFO(residual << adds);
  const Model model = norm({residual, adds});
  const auto job = job_of(model);
  const Draft decided = draft(*job, statistics_of(*job));
  REQUIRE(test::places(decided, kSmoothing) >= 1);
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(job->model, decided.model, sample(*job, k)) < 1e-5);
  // A normalization that nothing else reads takes it up; an offset needs a bias to go to.
  REQUIRE((more(decided, *job, "Mul") > 0) == residual);
  REQUIRE((more(decided, *job, "Add") > 0) == (residual && adds));
  const auto off = job_of(model, false);
  REQUIRE(test::places(draft(*off, statistics_of(*off)), kSmoothing) == 0);
  REQUIRE(test::sqnr(*job, quantize(*job, statistics_of(*job)).model) >
          test::sqnr(*off, quantize(*off, statistics_of(*off)).model) + 3);
}

TEST_CASE("inputs are left alone where smoothing would not be taken up or not pay") {
  const auto places = [](const Model& model, const char* platform = tpc::kDefaultPlatform.data()) {
    const auto job = job_of(model, true, platform);
    return draft(*job, statistics_of(*job)).model.graph.find("n_smoothed") ? 1 : 0;
  };
  REQUIRE(places(norm({.shared = true})) == 0);
  REQUIRE(places(norm({}), "tflite") == 0);  // every output is quantized there
  NamedModel even;
  even.input("x", {1, 24, 16}).weight("w", {16, 12}).node("Softplus", {"x"}, {"s"}).node("MatMul", {"s", "w"}, {"y"});
  const auto job = job_of(even.output("y").build());
  REQUIRE(test::places(draft(*job, statistics_of(*job)), kSmoothing) == 0);
}

TEST_CASE("rows of unlike loudness have a scale each, and the float model stays what it is") {
  const bool one_sided = GENERATE(false, true);
  const int64_t opset = GENERATE(13, 18);
  INFO(one_sided << " " << opset);
  const Model model = rows_of(one_sided, opset);
  const auto job = rows_job(model, config::Preference::kBalanced), quick = rows_job(model, config::Preference::kSpeed);
  const Draft decided = draft(*job, statistics_of(*job));
  REQUIRE(more(decided, *job, "ReduceMax") == 1);
  REQUIRE(more(decided, *job, "Abs") == (one_sided ? 0 : 1));
  REQUIRE(more(draft(*quick, statistics_of(*quick)), *quick, "ReduceMax") == 0);
  for (uint64_t k = 0; k < 3; ++k)
    REQUIRE(test::relative_difference(job->model, decided.model, sample(*job, k)) < 1e-5);
  const Model quantized = quantize(*job, statistics_of(*job)).model;
  const auto off = job_of(model, false);
  REQUIRE(test::sqnr(*job, quantized) > test::sqnr(*off, quantize(*off, statistics_of(*off)).model) + 3);
  run::Runner simulated(simulate::compile(quantized, simulate::Profile::kX64));
  const Tensor of_zeros = simulated.run(sample(*job, 0, 0))[0];
  const auto y = of_zeros.data<float>();
  REQUIRE(std::all_of(y.begin(), y.end(), [](float one) { return std::isfinite(one); }));
}

TEST_CASE("a product too small for the nodes of a scale per row goes without") {
  const auto job = rows_job(rows_of(true, 13, 32), config::Preference::kAccuracy);
  REQUIRE(more(draft(*job, statistics_of(*job)), *job, "ReduceMax") == 0);
}

TEST_CASE("how far rows reach is bounded by how often values do") {
  using ptq::mean_square_of_reach;
  using ptq::RowScale;
  const auto of = [](const std::vector<float>& values) {
    quant::Histogram histogram;
    histogram.add(values);
    return histogram;
  };
  const auto near = [](double value) { return Approx(value).epsilon(0.01); };
  const quant::Histogram one_loud = of({8, 1, 1, 1, 1, 1, 1, 1}), each_loud = of({-8, 1, 8, 1, -8, 1, 8, 1});
  REQUIRE(mean_square_of_reach(one_loud, 0, RowScale::kTwoSided, 2) == near(0.25 + 0.75 / 64));
  REQUIRE(mean_square_of_reach(each_loud, 0, RowScale::kTwoSided, 2) == near(1));
  REQUIRE(mean_square_of_reach(each_loud, -8, RowScale::kOneSided, 2) == near(0.5 + 0.5 * 81 / 256));
  REQUIRE(mean_square_of_reach(of({0, 0}), 0, RowScale::kTwoSided, 2) == 1);
}

TEST_CASE("the error by layer names a smoothed input as the float model does") {
  const bool by_row = GENERATE(false, true);
  const auto job = by_row ? rows_job(rows_of(true), config::Preference::kBalanced) : job_of(norm({.residual = true}));
  const QuantizeResult result = quantize(*job, statistics_of(*job));
  report::Comparer comparer(report::CompareProgram::make(job->opened->model, result.model, simulate::Profile::kX64));
  comparer.add(0, sample(*job, 7));
  const report::Comparison comparison = comparer.result();
  const auto row = std::find_if(comparison.layers.begin(), comparison.layers.end(),
                                [](const report::LayerRow& one) { return one.output == "n"; });
  REQUIRE(row != comparison.layers.end());
  REQUIRE(row->op == (by_row ? "Softplus" : "LayerNormalization"));
  REQUIRE(row->accumulated_sqnr_db);
  REQUIRE(*row->accumulated_sqnr_db > 30);
}

}  // namespace smooth_inputs_test
