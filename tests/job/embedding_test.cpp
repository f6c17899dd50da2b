// SPDX-License-Identifier: Apache-2.0
// Embeddings: large tables whose rows a Gather takes. Codes with a scale for each row, and only the rows restored.
#include "tests/catch.h"

#include <set>

#include "core/export/apply_plan.h"
#include "tests/support/corrected.h"

namespace embedding_test {
using namespace tersor;
using test::count;
using test::NamedModel;

namespace {

struct Form {
  int64_t rows = 400, length = 48;
  bool is_read_elsewhere = false;
};

/// ArgMax, Gather, Gemm: each sample takes four rows of a table whose last rows are fifty times as loud as its first.
Model model_of(const Form& form) {
  NamedModel model;
  model.input("x", {4, form.rows}).weight("table", {form.rows, form.length}).scale_along("table", 0, 1.01);
  model.weight("w", {form.length, 5}).weight("b", {5});
  model.node("ArgMax", {"x"}, {"ids"}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  model.node("Gather", {"table", "ids"}, {"rows"}).node("Gemm", {"rows", "w", "b"}, {"y"}).output("y").output("rows");
  if (form.is_read_elsewhere) model.node("ReduceMean", {"table"}, {"mean"}).output("mean");
  return model.build();
}

QuantizeResult quantized(const Form& form, const char* platform,
                         const config::QuantizationConfig& config = test::plain_config()) {
  config::QuantizationConfig larger = config;
  larger.allow_larger_file = true;
  const auto job = test::job_of(model_of(form), platform, larger);
  return quantize(*job, test::statistics_of(*job));
}

const Tensor* stored(const Model& model, const char* name) {
  const auto id = model.graph.find(name);
  return id ? model.graph.initializer(*id) : nullptr;
}

/// Of the rows taken, as part of the row's largest number where `by_row`.
double largest_difference(const Form& form, const Model& made, bool by_row) {
  const Model model = model_of(form);
  run::Runner exact(run::Program::compile(model, ops::standard())), own(run::Program::compile(made, ops::standard()));
  const auto inputs = test::random_inputs(model);
  const Tensor wanted = exact.run(inputs)[1], got = own.run(inputs)[1];
  const auto length = static_cast<size_t>(form.length);
  double worst = 0;
  for (size_t row = 0; row < 4; ++row) {
    const auto a = wanted.data<float>().subspan(row * length, length),
               b = got.data<float>().subspan(row * length, length);
    double loudest = 0, difference = 0;
    for (size_t k = 0; k < length; ++k) {
      loudest = std::max<double>(loudest, std::fabs(a[k]));
      difference = std::max<double>(difference, std::fabs(a[k] - b[k]));
    }
    worst = std::max(worst, by_row ? difference / loudest : difference);
  }
  return worst;
}

}  // namespace

TEST_CASE("an embedding is stored in int8, and the rows that are taken lie within half a step of their own") {
  for (const char* platform : {"ort-cpu", "ort-cpu-avx2", "ort-web", "weight-only-int8", "weight-only-int4"}) {
    INFO(platform);
    const Form form;
    const QuantizeResult result = quantized(form, platform);
    REQUIRE(stored(result.model, "table") == nullptr);
    const Tensor* codes = stored(result.model, "table_quantized");
    REQUIRE((codes != nullptr && codes->dtype() == DType::kInt8 && codes->elements() == form.rows * form.length));
    REQUIRE(stored(result.model, "table_scale")->elements() == form.rows);
    REQUIRE(count(result.model, "Gather") == 2);

    REQUIRE(largest_difference(form, result.model, true) <= 0.501 / 127);
  }
}

TEST_CASE("a table that two Gathers read is stored once, and no two nodes have one name") {
  NamedModel model;
  model.input("x", {4, 400}).input("z", {2, 400}).weight("table", {400, 48}).weight("w", {48, 5}).weight("b", {5});
  for (const std::string way : {"x", "z"}) {
    model.node("ArgMax", {way}, {"ids_" + way}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
    model.node("Gather", {"table", "ids_" + way}, {"rows_" + way});
    model.node("Gemm", {"rows_" + way, "w", "b"}, {"y_" + way}).output("y_" + way);
  }
  const auto job = test::job_of(model.build(), "ort-cpu", test::plain_config());
  const Model made = quantize(*job, test::statistics_of(*job)).model;
  REQUIRE(count(made, "Gather") == 4);
  REQUIRE(stored(made, "table_quantized") != nullptr);
  REQUIRE(stored(made, "table_quantized_2") == nullptr);
  std::set<std::string> names;
  for (const Node& node : made.graph.nodes())
    if (!node.name.empty()) REQUIRE(names.insert(node.name).second);
}

TEST_CASE("an embedding with one scale, and one with zero points, are restored too") {
  const Form form;
  const auto job = test::job_of(model_of(form), "ort-cpu", test::plain_config());
  ptq::QuantizationPlan plan = quantize(*job, test::statistics_of(*job)).plan;
  REQUIRE(plan.constants.size() == 1);
  quant::QuantizationParams& params = plan.constants[0].params;
  for (size_t k = 0; k < params.scale.size(); ++k) {
    params.zero_point[k] = static_cast<int32_t>(k % 5) - 2;
    params.scale[k] *= 1.05f;
  }
  const Model by_row = ptq::apply_plan(job->model, plan);
  REQUIRE(count(by_row, "Sub") == 1);
  REQUIRE(count(by_row, "Gather") == 3);
  REQUIRE(largest_difference(form, by_row, true) <= 1.05 * 0.501 / 127);

  const float largest = *std::max_element(params.scale.begin(), params.scale.end());
  params.channel_axis.reset();
  params.scale = {largest};
  params.zero_point = {2};
  const Model whole = ptq::apply_plan(job->model, plan);
  REQUIRE(count(whole, "Gather") == 1);
  REQUIRE(count(whole, "Sub") + count(whole, "Cast") == 0);
  REQUIRE(largest_difference(form, whole, false) <= 0.501 * largest);
}

TEST_CASE("a table that is small, narrow, read elsewhere or kept in float stays as it is") {
  Form small, narrow, shared;
  small.rows = 300;  // 14,400 numbers
  narrow.rows = 4000, narrow.length = 8;
  shared.is_read_elsewhere = true;
  for (const Form& form : {small, narrow, shared}) {
    const QuantizeResult result = quantized(form, "ort-cpu");
    REQUIRE(result.plan.constants.empty());
    REQUIRE(stored(result.model, "table")->dtype() == DType::kFloat32);
  }
  const std::vector<std::byte> bytes = onnx::write(model_of({}));
  const auto opened = std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes)));
  config::Override kept;
  kept.type = "Gather";
  kept.config = R"({"enable_weights_quantization": false})";
  config::QuantizationConfig config = test::plain_config();
  config.allow_larger_file = true;
  const auto job = prepare(opened, {tpc::get_target_platform_capabilities("ort-cpu"), config, {kept}});
  REQUIRE(quantize(*job, test::statistics_of(*job)).plan.constants.empty());
}

TEST_CASE("a Gather of an embedding says why it is float") {
  const QuantizeResult result = quantized({}, "ort-cpu");
  bool said = false;
  for (const ptq::NodeOutcome& outcome : result.plan.outcomes)
    said = said || outcome.reason.find("table is stored in integers") != std::string::npos;
  REQUIRE(said);
}

}  // namespace embedding_test
