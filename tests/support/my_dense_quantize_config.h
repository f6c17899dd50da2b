// SPDX-License-Identifier: Apache-2.0
// The QuantizeConfig of TFMOT's document, word for word as far as C++ and ONNX allow.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/framework/quantize_config.h"

namespace tersor::framework {

/// The document's example, for a Gemm or a MatMul with its Add.
class MyDenseQuantizeConfig : public QuantizeConfig {
 public:
  Weights get_weights_and_quantizers(const Layer& layer) const override {
    return {{layer.kernel(), LastValueQuantizer()}};
  }
  Activations get_activations_and_quantizers(const Layer& layer) const override {
    return {{layer.activation, MovingAverageQuantizer()}};
  }
  void set_quantize_weights(Layer& layer, const std::vector<Tensor>& quantize_weights) const override {
    layer.weights[0].value = quantize_weights[0];
  }
  void set_quantize_activations(Layer& layer, const std::vector<std::string>& quantize_activations) const override {
    layer.activation = quantize_activations[0];
  }
  // Does not quantize output, since we return an empty list.
  std::vector<LayerQuantizer> get_output_quantizers(const Layer&) const override { return {}; }
  Json get_config() const override { return Json::object(); }
  std::string class_name() const override { return "MyDenseQuantizeConfig"; }
};

}  // namespace tersor::framework
