// SPDX-License-Identifier: Apache-2.0
// ONNX's own cases (a model of one operator with inputs and expected outputs), and the rule of comparison of ONNX's
// runner.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/onnx/read.h"
#include "core/onnx/read_tensor.h"
#include "core/run/control.h"
#include "core/run/program.h"
#include "tests/support/shared.h"

namespace tersor::test {

/// The list of cases and the folder they lie in; none where it is absent.
struct ConformanceCases {
  std::string folder;
  Json cases;

  static std::optional<ConformanceCases> find() {
    const auto index = shared_file("onnx-node-tests/index.json");
    if (!index) return std::nullopt;
    const auto bytes = read_file(*index);
    return ConformanceCases{
        index->substr(0, index->rfind('/')),
        parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "index.json")["cases"]};
  }
  std::string folder_of(const Json& entry) const { return folder + "/" + entry["case"].get<std::string>() + "/"; }
  Model model_of(const Json& entry) const {
    return onnx::read(onnx::Source::of(read_file(folder_of(entry) + "model.onnx")));
  }
};

inline Tensor read_case_tensor(const std::string& path) {
  const onnx::Source source = onnx::Source::of(read_file(path));
  const onnx::ExternalData nothing;
  onnx::ExternalFiles external(nothing);
  const std::string_view text(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size());
  return onnx::read_tensor(text, source, external).tensor;
}

inline bool close(double got, double want) {
  if (std::isnan(want) || std::isinf(want)) return std::isnan(want) ? std::isnan(got) : got == want;
  return std::abs(got - want) <= 1e-7 + 1e-3 * std::abs(want);
}

/// Fourier transforms: an expected 0 allows no float32 result the relative rule, so errors are measured by the range.
inline bool within_range(const std::vector<double>& got, const std::vector<double>& want) {
  double most = 0, error = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    most = std::max(most, std::abs(want[k]));
    error = std::max(error, std::abs(got[k] - want[k]));
  }
  return error <= 1e-6 * most;
}

/// Empty when they agree.
inline std::string difference(const Tensor& got, const Tensor& want, bool by_range) {
  if (got.dtype() != want.dtype())
    return "type " + std::string(name_of(got.dtype())) + " for " + std::string(name_of(want.dtype()));
  if (!(got.shape() == want.shape())) return "shape " + got.shape().text() + " for " + want.shape().text();
  if (bits_of(got.dtype()) < 8) return got == want ? "" : "other bits";
  const std::vector<double> a = got.to_doubles(), b = want.to_doubles();
  if (by_range && within_range(a, b)) return "";
  for (size_t k = 0; k < a.size(); ++k)
    if (!close(a[k], b[k]))
      return "element " + std::to_string(k) + " is " + std::to_string(a[k]) + " for " + std::to_string(b[k]);
  return "";
}

/// Every node has an operator.
inline bool all_known(const Model& model, const ops::Registry& registry = ops::standard()) {
  for (const Node& node : model.graph.nodes())
    if (run::control_op(node) == nullptr &&
        registry.find(node.domain, node.op_type, model.opset(node.domain)) == nullptr)
      return false;
  return true;
}

/// Empty when the case passes.
inline std::string run_case(const Json& entry, const Model& model, const std::string& data,
                            const ops::Registry& registry = ops::standard()) {
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < entry["inputs"].size(); ++k)
    inputs.push_back(read_case_tensor(data + "input_" + std::to_string(k) + ".pb"));
  std::vector<Tensor> outputs;
  try {
    run::Runner runner(run::Program::compile(model, registry));
    outputs = runner.run(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  const bool by_range = entry["op"] == "DFT" || entry["op"] == "STFT";
  if (outputs.size() != entry["outputs"].size()) return std::to_string(outputs.size()) + " outputs";
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Tensor want = read_case_tensor(data + "output_" + std::to_string(k) + ".pb");
    const std::string what = difference(outputs[k], want, by_range);
    if (!what.empty()) return "output " + std::to_string(k) + ": " + what;
  }
  return "";
}

}  // namespace tersor::test
