// SPDX-License-Identifier: Apache-2.0
// Inputs of MatMul and Gemm whose channels are moved and scaled before they are quantized.
#include <algorithm>
#include <string>

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

TEST_CASE("the error by layer names a smoothed input as the float model does") {
  const auto job = job_of(norm({.residual = true}));
  const QuantizeResult result = quantize(*job, statistics_of(*job));
  report::Comparer comparer(report::CompareProgram::make(job->opened->model, result.model, simulate::Profile::kX64));
  comparer.add(0, sample(*job, 7));
  const report::Comparison comparison = comparer.result();
  const auto row = std::find_if(comparison.layers.begin(), comparison.layers.end(),
                                [](const report::LayerRow& one) { return one.output == "n"; });
  REQUIRE(row != comparison.layers.end());
  REQUIRE(row->op == "LayerNormalization");
  REQUIRE(row->accumulated_sqnr_db);
  REQUIRE(*row->accumulated_sqnr_db > 30);
}

}  // namespace smooth_inputs_test
