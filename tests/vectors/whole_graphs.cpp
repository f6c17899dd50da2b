// SPDX-License-Identifier: Apache-2.0
// A small graph that went through the reference's whole pipeline, taken through ours: what was chosen for every tensor
// and kernel, node by node, and the outputs.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"
#include "tests/support/rewrites.h"
#include "tests/support/run_sweep.h"
#include "tests/vectors/case.h"
#include "tests/vectors/graph_judge.h"

namespace tersor::vectors {

namespace {

constexpr const char* kPlatform = "imx500@v1";  // what the reference takes where nothing else is said

/// The reference's own defaults where they are not those of the requirement document, and what it does not have off.
config::QuantizationConfig reference_defaults() {
  config::QuantizationConfig config = config::preset("requirements");
  config.activation_quantization_method = config.weights_quantization_method = std::nullopt;
  config.activation_n_bits = config.weights_n_bits = std::nullopt;
  config.weights_per_channel_threshold = std::nullopt;
  config.enable_weights_quantization = config.enable_activation_quantization = std::nullopt;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  config.min_threshold = std::ldexp(1, -16);
  config.shift_negative_activation_correction = true;
  config.shift_negative_ratio = 0.05;
  config.linear_collapsing = config.residual_collapsing = true;
  return config;
}

bool is_our_field(const std::string& name) {
  for (const Json& field : config::describe_quantization_config())
    if (field["name"] == name || field["name"] == std::string(canonical_name(name))) return true;
  return false;
}

/// "QuantizationErrorMethod.MAE" is "MAE".
Json without_class(const Json& value) {
  if (!value.is_string()) return value;
  const std::string text = value.get<std::string>();
  return text.substr(text.rfind('.') + 1);
}

/// The settings of a case over the reference's defaults; `unknown` gets the fields that are not ours.
config::QuantizationConfig config_of(const Case& one, std::vector<std::string>& unknown) {
  config::QuantizationConfig config = reference_defaults();
  const Json changes = one.input.value("quantization_config", Json::object());
  for (const auto& [name, value] : changes.items()) {
    if (is_our_field(name))
      config = config::read_quantization_config(Json{{name, without_class(value)}}, "quantization_config", config);
    else
      unknown.push_back(name);
  }
  return config;
}

bool raises_activations(const Case& one) {
  return std::any_of(one.output["nodes"].begin(), one.output["nodes"].end(), [](const Json& node) {
    return node["name"].get<std::string>().find("_post_add") != std::string::npos;
  });
}

Verdict judge_through_line(const Case& one) {
  std::vector<std::string> remarks, unknown;
  config::QuantizationConfig config = config_of(one, unknown);
  if (!unknown.empty()) remarks.push_back("without " + joined(unknown) + ", no field of ours");
  const bool equalizes = config.activation_channel_equalization;
  if (equalizes)
    remarks.push_back("channels divided beforehand by the formula of 2.9; ours go by ranges (equalize_channels.h)");
  config.activation_channel_equalization = false;
  const RecordedGraph graph = read_recorded_graph(equalizes ? with_equalized_channels(one) : one);
  std::vector<std::vector<Tensor>> samples;
  for (const Tensor& sample : graph.samples) samples.push_back({sample});
  Line line = run_line(graph.model, samples, config);
  const int64_t shifted = test::places(line.result.draft, test::kShiftNegative);
  if (shifted > 0 && !raises_activations(one)) {
    remarks.push_back("without shift_negative_activation_correction, which raises " + std::to_string(shifted) +
                      " here: ours passes through pools that the reference's PyTorch side does not (2.10)");
    config.shift_negative_activation_correction = false;
    line = run_line(graph.model, samples, config);
  }
  Verdict found = GraphJudge(one, graph, config, line).judge();
  for (const std::string& remark : remarks) found.remark += (found.remark.empty() ? "" : "; ") + remark;
  return found;
}

}  // namespace

Line run_line(const Model& model, const std::vector<std::vector<Tensor>>& samples,
              const config::QuantizationConfig& config) {
  const std::vector<std::byte> bytes = onnx::write(model);
  Line line;
  line.job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                     {tpc::get_target_platform_capabilities_by_label(kPlatform), config});
  calibrate::Calibrator calibrator = calibrator_of(*line.job, samples.size());
  for (size_t k = 0; k < samples.size(); ++k)
    calibrator.add({k, samples::sample_digest(samples[k])}, "batches", samples[k]);
  calibrate::Statistics statistics = calibrator.statistics();
  test::run_sweep(*line.job, statistics, [&](size_t k) { return samples[k]; });
  line.result = quantize(*line.job, statistics);
  return line;
}

std::optional<Verdict> judge_graph(const Case& one) {
  if (one.function.find("core_runner") != 0) return std::nullopt;
  if (!one.output.contains("nodes")) return skipped("the reference stopped with an error; " + one.deviates);
  try {
    const Verdict found = judge_through_line(one);
    if (found.kind != Verdict::kFailed || one.deviates.empty()) return found;
    return skipped(one.deviates + "; expected " + found.expected + ", got " + found.got + "; " + found.remark);
  } catch (const NotReadable& reason) {
    return skipped(reason.what());
  } catch (const Error& error) {
    if (one.deviates.empty()) throw;
    return skipped(one.deviates + "; " + error.what());
  }
}

}  // namespace tersor::vectors
