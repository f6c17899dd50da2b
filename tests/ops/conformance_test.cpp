// SPDX-License-Identifier: Apache-2.0
// ONNX's own cases, one operator each: every case whose operators are all registered must pass, or be listed below with
// the reason. The rule of comparison is that of ONNX's runner.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "core/base/json.h"
#include "core/onnx/read.h"
#include "core/onnx/read_tensor.h"
#include "core/run/control.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

const std::string kFolder = "onnx-node-tests/";

/// Cases that are not expected to pass, and why.
const std::map<std::string, std::string>& exceptions() {
  static const std::map<std::string, std::string> list = {
      {"test_batchnorm_epsilon_training_mode", "training is not supported"},
      {"test_batchnorm_example_training_mode", "training is not supported"},
      {"test_convtranspose_3d", "three spatial axes are not supported"},
      {"test_resize_downsample_scales_cubic_align_corners",
       "the corners are aligned by the output's size, as ONNX's text and ONNX Runtime have it; the case takes the size "
       "before it is rounded down"},
  };
  return list;
}

Tensor read_case_tensor(const std::string& path) {
  const onnx::Source source = onnx::Source::of(test::read_file(path));
  const onnx::ExternalData nothing;
  onnx::ExternalFiles external(nothing);
  const std::string_view text(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size());
  return onnx::read_tensor(text, source, external).tensor;
}

bool close(double got, double want) {
  if (std::isnan(want) || std::isinf(want)) return std::isnan(want) ? std::isnan(got) : got == want;
  return std::abs(got - want) <= 1e-7 + 1e-3 * std::abs(want);
}

/// Fourier transforms: an expected 0 allows no float32 result the relative rule, so errors are measured by the range.
bool within_range(const std::vector<double>& got, const std::vector<double>& want) {
  double most = 0, error = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    most = std::max(most, std::abs(want[k]));
    error = std::max(error, std::abs(got[k] - want[k]));
  }
  return error <= 1e-6 * most;
}

/// Empty when they agree.
std::string difference(const Tensor& got, const Tensor& want, bool by_range) {
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

bool all_known(const Model& model) {
  for (const Node& node : model.graph.nodes())
    if (run::control_op(node) == nullptr &&
        ops::standard().find(node.domain, node.op_type, model.opset(node.domain)) == nullptr)
      return false;
  return true;
}

/// Empty when the case passes.
std::string run_case(const Json& entry, const Model& model, const std::string& data) {
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < entry["inputs"].size(); ++k)
    inputs.push_back(read_case_tensor(data + "input_" + std::to_string(k) + ".pb"));
  std::vector<Tensor> outputs;
  try {
    run::Runner runner(run::Program::compile(model, ops::standard()));
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

struct Score {
  int passed = 0, known = 0, present = 0;
};

}  // namespace

TEST_CASE("ONNX's conformance cases pass") {
  const auto index = test::shared_file(kFolder + "index.json");
  if (!index) return;
  const auto bytes = test::read_file(*index);
  const Json cases = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "index.json")["cases"];
  std::map<std::string, Score> scores;
  std::set<std::string> excused;
  for (const Json& entry : cases) {
    const std::string name = entry["case"];
    Score& score = scores[entry["op"]];
    ++score.present;
    const std::string folder = index->substr(0, index->rfind('/')) + "/" + name + "/";
    const Model model = onnx::read(onnx::Source::of(test::read_file(folder + "model.onnx")));
    if (!all_known(model)) continue;
    ++score.known;
    const std::string what = run_case(entry, model, folder + "test_data_set_0/");
    const auto exception = exceptions().find(name);
    if (what.empty()) ++score.passed;
    if (exception != exceptions().end()) {
      excused.insert(name);
      INFO(name << " passes, but is listed: " << exception->second);
      CHECK(!what.empty());
      continue;
    }
    INFO(name << ": " << what);
    CHECK(what.empty());
  }
  CHECK(excused.size() == exceptions().size());
  Score all;
  for (const auto& [op, score] : scores) {
    if (score.known != 0) std::printf("%s %d/%d ", op.c_str(), score.passed, score.present);
    all.passed += score.passed;
    all.known += score.known;
    all.present += score.present;
  }
  std::printf("\nconformance cases: %d passed of %d that can run, %d present\n", all.passed, all.known, all.present);
  CHECK(all.known > 0);
}
