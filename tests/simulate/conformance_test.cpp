// SPDX-License-Identifier: Apache-2.0
// ONNX's own cases of the quantized operators, with every runtime's kernels. All their numbers are exact.
#include <set>

#include "core/onnx/read.h"
#include "core/onnx/read_tensor.h"
#include "tests/simulate/builder.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

Tensor case_tensor(const std::string& path) {
  const onnx::Source source = onnx::Source::of(read_file(path));
  const onnx::ExternalData nothing;
  onnx::ExternalFiles external(nothing);
  const std::string_view text(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size());
  return onnx::read_tensor(text, source, external).tensor;
}

void check_case(const std::string& folder, const Json& entry) {
  const Model model = onnx::read(onnx::Source::of(read_file(folder + "model.onnx")));
  const std::string data = folder + "test_data_set_0/";
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < entry["inputs"].size(); ++k)
    inputs.push_back(case_tensor(data + "input_" + std::to_string(k) + ".pb"));
  for (Profile profile : kAllProfiles) {
    INFO(entry["case"].get<std::string>() << ", " << key_of(profile));
    run::Runner runner(run::Program::compile(model, registry(profile)));
    const std::vector<Tensor> outputs = runner.run(inputs);
    REQUIRE(outputs.size() == entry["outputs"].size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Tensor want = case_tensor(data + "output_" + std::to_string(k) + ".pb");
      REQUIRE(outputs[k].dtype() == want.dtype());
      REQUIRE(outputs[k].shape() == want.shape());
      REQUIRE(outputs[k].to_doubles() == want.to_doubles());
    }
  }
}

}  // namespace

TEST_CASE("ONNX's cases of quantized operators pass with every runtime's kernels") {
  const auto index = shared_file("onnx-node-tests/index.json");
  if (!index) return;
  static const std::set<std::string> kOperators = {"ConvInteger",   "DequantizeLinear", "DynamicQuantizeLinear",
                                                   "MatMulInteger", "QLinearConv",      "QLinearMatMul",
                                                   "QuantizeLinear"};
  const auto bytes = read_file(*index);
  const Json cases = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "index.json")["cases"];
  std::set<std::string> seen;
  for (const Json& entry : cases) {
    const std::string name = entry["case"], op = entry["op"];
    if (kOperators.count(op) == 0) continue;
    seen.insert(op);
    check_case(index->substr(0, index->rfind('/')) + "/" + name + "/", entry);
  }
  REQUIRE(seen == kOperators);
}
