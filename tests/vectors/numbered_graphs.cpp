// SPDX-License-Identifier: Apache-2.0
// Numbered cases of rewrites: the case's layers as a model that goes through the pass, or through the whole line.
#include <map>

#include "core/passes/edit.h"
#include "core/passes/passes.h"
#include "tests/support/model_builder.h"
#include "tests/vectors/case.h"
#include "tests/vectors/graph_judge.h"

namespace tersor::vectors {

namespace {

using test::ModelBuilder;

constexpr double kFloat = 1e-6;  // weights are float32 here

ValueId constant(ModelBuilder& builder, const std::vector<double>& values, std::vector<int64_t> shape) {
  return builder.weight(tensor_of(values, std::move(shape)));
}

ValueId vector(ModelBuilder& builder, const Json& json) {
  const std::vector<double> values = numbers(json);
  return constant(builder, values, {static_cast<int64_t>(values.size())});
}

/// A Conv of one tap: rows are output channels.
ValueId pointwise(ModelBuilder& builder, ValueId x, const Json& w, const Json& b) {
  std::vector<int64_t> shape = shape_of(w);
  shape.insert(shape.end(), {1, 1});
  return builder.node("Conv", {x, constant(builder, numbers(w), shape), vector(builder, b)});
}

ValueId batch_norm(ModelBuilder& builder, ValueId x, const Json& input) {
  return builder.node("BatchNormalization",
                      {x, vector(builder, input["gamma"]), vector(builder, input["beta"]),
                       vector(builder, input["mean"]), vector(builder, input["var"])},
                      {{"epsilon", static_cast<float>(number(input["eps"]))}});
}

/// Weight and bias of the Conv that is left.
Verdict judge_conv(const Case& one, const Model& model) {
  if (model.graph.nodes().size() != 1) return verdict(false, "one node", std::to_string(model.graph.nodes().size()));
  const Node& conv = model.graph.nodes()[0];
  return both(compared(numbers(one.output["W"]), model.graph.initializer(conv.inputs[1])->to_doubles(), kFloat),
              compared(numbers(one.output["b"]), model.graph.initializer(conv.inputs[2])->to_doubles(), kFloat));
}

Verdict folded_batch_norm(const Case& one) {
  ModelBuilder builder;
  const ValueId conv = pointwise(builder, builder.input("x", {1, 2, 3, 3}), one.input["W"], one.input["b"]);
  builder.output(batch_norm(builder, conv, one.input));
  passes::fold_batch_norm(builder.model);
  return judge_conv(one, builder.model);
}

Verdict folded_forward(const Case& one) {
  ModelBuilder builder;
  const ValueId normed = batch_norm(builder, builder.input("x", {1, 2, 3, 3}), one.input);
  builder.output(pointwise(builder, normed, one.input["W_out_in"], one.input["b"]));
  passes::fold_batch_norm_forward(builder.model);
  return judge_conv(one, builder.model);
}

Verdict collapsed(const Case& one) {
  ModelBuilder builder;
  const Json& input = one.input;
  const ValueId first = pointwise(builder, builder.input("x", {1, 2, 3, 3}), input["W1_out_in"], input["b1"]);
  builder.output(pointwise(builder, first, input["W2_out_in"], input["b2"]));
  passes::collapse_linear(builder.model);
  return judge_conv(one, builder.model);
}

/// One sample through the line, with nothing on but what `config` asks for.
Line through_line(const Model& model, const std::vector<Tensor>& sample, config::QuantizationConfig config) {
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
  config.activation_channel_equalization = config.weights_bias_correction = false;
  return run_line(model, {sample}, config);
}

Verdict shifted_softmax(const Case& one) {
  const std::vector<double> bias = numbers(one.input["bias"]);
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1, 2});
  const ValueId logits =
      builder.node("Gemm", {x, constant(builder, {1, 0, 0, 1}, {2, 2}), vector(builder, one.input["bias"])});
  builder.output(builder.node("Softmax", {logits}));
  config::QuantizationConfig config;
  config.softmax_shift = true;
  const std::vector<double> sample{number(one.input["logits_min"]) - bias[0],
                                   number(one.input["logits_max"]) - bias[1]};
  const Line line = through_line(builder.model, {tensor_of(sample, {1, 2})}, config);
  const Graph& graph = line.result.draft.model.graph;
  const std::vector<double> got = graph.initializer(graph.nodes()[0].inputs[2])->to_doubles();
  return both(compared({number(one.output["shift"])}, {got[0] - bias[0]}, kFloat),
              compared(numbers(one.output["bias"]), got, kFloat));
}

Verdict updated_concat(const Case& one) {
  const std::vector<double> thresholds = numbers(one.input["producer_thresholds"]);
  ModelBuilder builder;
  std::vector<ValueId> parts;
  std::vector<Tensor> sample;
  for (const double threshold : thresholds) {
    const ValueId x = builder.input("x" + std::to_string(parts.size()), {1, 1, 1, 2});
    parts.push_back(pointwise(builder, x, Json{{1.0}}, Json{0.0}));
    sample.push_back(tensor_of({-threshold * 0.9, threshold * 0.9}, {1, 1, 1, 2}));
  }
  builder.output(builder.node("Concat", parts, {{"axis", int64_t{1}}}));
  config::QuantizationConfig config;
  config.concat_threshold_update = true;
  const Line line = through_line(builder.model, sample, config);
  std::vector<double> got;
  for (const ValueId part : parts) {
    const auto value = line.job->model.graph.find(builder.model.graph.name_of(part));
    const auto* plan = value ? line.result.plan.find(*value) : nullptr;
    got.push_back(plan != nullptr ? plan->params.scale[0] * 128 : 0);
  }
  return compared(numbers(one.output["producer_thresholds"]), got, kFloat);
}

Verdict shift_and_update(const Case& one) {
  return both(shifted_softmax(one), updated_concat(one));
}

}  // namespace

std::optional<Verdict> judge_numbered_graph(const Case& one) {
  using Rule = Verdict (*)(const Case&);
  static const std::map<std::string, Rule> rules = {
      {"V40", folded_batch_norm}, {"V41", folded_forward}, {"V42", collapsed}, {"V43", shift_and_update}};
  const auto rule = rules.find(one.id);
  if (!one.function.empty() || rule == rules.end()) return std::nullopt;
  return rule->second(one);
}

}  // namespace tersor::vectors
