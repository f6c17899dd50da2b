// SPDX-License-Identifier: Apache-2.0
// quantize MODEL.onnx OUT.onnx: for a platform of one's own, with a QuantizeConfig of one's own.
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "core/job/tersor.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"

using namespace tersor;

/// Weights of 4 bits for a layer, and its output as the platform has it by default.
struct FourBitWeights : framework::QuantizeConfig {
  using Layer = framework::Layer;
  Weights get_weights_and_quantizers(const Layer& layer) const override {
    return {{layer.kernel(), framework::LastValueQuantizer(4, true, true)}};
  }
  Activations get_activations_and_quantizers(const Layer&) const override { return {}; }
  void set_quantize_weights(Layer& layer, const std::vector<Tensor>& weights) const override {
    layer.weights[0].value = weights[0];
  }
  void set_quantize_activations(Layer&, const std::vector<std::string>&) const override {}
  std::vector<framework::LayerQuantizer> get_output_quantizers(const Layer&) const override { return {}; }
  Json get_config() const override { return Json::object(); }
  std::string class_name() const override { return "FourBitWeights"; }
};

/// A built-in platform whose Gemm may also have weights of 4 bits: two candidates, the first of which is the base.
tpc::TargetPlatformCapabilities my_platform() {
  auto platform = tpc::get_target_platform_capabilities("ort-cpu");
  platform.name = "mine";
  for (tpc::OperatorsSet& set : platform.tp_model.operator_set) {
    if (set.name != "FullyConnected") continue;
    const tpc::OpQuantizationConfig eight = set.qc_options->base_config();
    const auto four = eight.clone_and_edit(
        [](auto& config) { config.attr_weights_configs_mapping.at("kernel_attr").weights_n_bits = 4; });
    set.qc_options = tpc::QuantizationConfigOptions({eight, four}, eight);
  }
  return platform;
}

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "usage: quantize MODEL.onnx OUT.onnx\n", 2;
  std::ifstream in(argv[1], std::ios::binary);
  std::vector<char> file((std::istreambuf_iterator<char>(in)), {});
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  auto model = std::make_shared<const OpenedModel>(open_model(onnx::Source::of({bytes, bytes + file.size()})));

  auto scope = std::make_shared<framework::QuantizeScope>();
  scope->add("FourBitWeights", [](auto&&...) { return std::make_shared<FourBitWeights>(); });
  Settings settings{my_platform(), {}};
  settings.quantize_scope = scope;
  config::Override four_bits;
  four_bits.type = "Gemm";
  four_bits.quantize_config = R"({"class_name": "FourBitWeights"})";
  settings.overrides = {four_bits};
  settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;  // no second pass
  const auto job = prepare(model, settings);

  const uint64_t count = 8;
  calibrate::Calibrator calibrator = calibrator_of(*job, count);
  for (uint64_t k = 0; k < count; ++k) {
    Tensor sample = Tensor::make(DType::kFloat32, {1, 3, 48, 48});  // put a sample of your own here
    size_t i = 0;
    for (float& value : sample.mutable_data<float>()) value = std::sin(0.01f * static_cast<float>(i++ * (k + 1)));
    calibrator.add({k, samples::sample_digest({&sample, 1})}, "sample " + std::to_string(k), {&sample, 1});
  }
  const QuantizeResult result = quantize(*job, calibrator.statistics());
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(result.bytes.data()), static_cast<std::streamsize>(result.bytes.size()));
  std::cout << model->file_bytes << " bytes became " << result.bytes.size() << "\n";
} catch (const Error& error) {
  std::cerr << error.place << ": " << error.message << " " << error.hint << "\n";
  return 1;
}
