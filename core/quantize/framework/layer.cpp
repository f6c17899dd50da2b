// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/framework/kernel_operand.h"
#include "core/framework/overrides.h"
#include "core/framework/quantize_config.h"
#include "core/graph/operators.h"

namespace tersor::framework {

namespace {

/// Activation functions whose input is the point to quantize, as their output's range is known; of a gelu both are.
constexpr const char* kQuantizedAtInput[] = {"softmax", "sigmoid", "tanh", "gelu"};
constexpr const char* kQuantizedAtOutput[] = {"linear",    "relu",      "clip", "gelu",
                                              "hardswish", "leakyrelu", "elu",  "prelu"};

template <size_t N>
bool among(const std::string& word, const char* const (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_activation(const Node& node) {
  return has_trait(node, Trait::kActivation) || node.is("Softmax");
}

/// The node that alone reads the output of another.
const Node* only_reader(const Graph& graph, const Uses& uses, const Node& node) {
  if (node.outputs.empty() || !node.outputs[0].valid()) return nullptr;
  const ValueId out = node.outputs[0];
  if (uses.reader_count(out) != 1 || uses.is_output(out)) return nullptr;
  return &graph.nodes()[uses.reader_indices(out)[0]];
}

/// The constant of an Add that adds one value per column to the product.
const Tensor* added_bias(const Graph& graph, const Node& add, const Tensor& kernel) {
  for (const ValueId id : add.inputs) {
    const Tensor* constant = id.valid() ? graph.initializer(id) : nullptr;
    if (constant != nullptr && constant->dtype() == DType::kFloat32 && constant->shape().rank() == 1 &&
        kernel.shape().rank() == 2 && constant->elements() == kernel.shape()[1])
      return constant;
  }
  return nullptr;
}

[[noreturn]] void wrong(const Layer& layer, const std::string& what) {
  throw Error(ErrorCode::kInvalidConfig, "The QuantizeConfig of \"" + layer.name + "\" (" + layer.type + ") " + what,
              "quantize_config");
}

}  // namespace

const LayerWeight& Layer::weight(const std::string& weight_name) const {
  for (const LayerWeight& one : weights)
    if (one.name == weight_name) return one;
  throw Error(ErrorCode::kInvalidConfig,
              "The layer \"" + name + "\" (" + type + ") has no constant weight called \"" + weight_name + "\".",
              "quantize_config");
}

Layer layer_of(const Graph& graph, const Uses& uses, const Node& node) {
  Layer layer;
  layer.name = override_name(graph, node);
  layer.type = node.op_type;
  layer.activation = "linear";
  layer.node = node.id;
  layer.outputs = static_cast<size_t>(
      std::count_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id.valid(); }));
  const Node* last = &node;
  if (const auto operand = kernel_operand(graph, node)) {
    const Tensor& kernel = *graph.initializer(node.inputs[operand->kernel]);
    layer.weights.push_back({"kernel", kernel});
    if (operand->bias) layer.weights.push_back({"bias", *graph.initializer(node.inputs[*operand->bias])});
    const Node* add = node.is("MatMul") ? only_reader(graph, uses, node) : nullptr;
    const Tensor* bias = add != nullptr && add->is("Add") ? added_bias(graph, *add, kernel) : nullptr;
    if (bias != nullptr) {
      layer.weights.push_back({"bias", *bias});
      layer.bias_node = add->id;
      last = add;
    }
    const Node* next = only_reader(graph, uses, *last);
    if (next != nullptr && is_activation(*next)) {
      layer.activation = lower_case(next->op_type);
      layer.activation_node = next->id;
    }
  } else if (is_activation(node)) {
    layer.activation = lower_case(node.op_type);
  }
  return layer;
}

std::vector<NodeRequest> requests_of(const QuantizeConfig& config, const Layer& layer) {
  NodeRequest own{layer.node, std::nullopt, {}, !layer.weights.empty()};
  for (const auto& [weight, quantizer] : config.get_weights_and_quantizers(layer)) {
    const std::string& weight_name = layer.weight(weight.name).name;
    if (weight_name != "kernel")
      wrong(layer, "quantizes \"" + weight_name +
                       "\"; a bias is always written in 32 bits at the scale of the sums it is added to.");
    if (own.kernel) wrong(layer, "names \"" + weight_name + "\" twice.");
    own.kernel = quantizer;
  }
  const auto activations = config.get_activations_and_quantizers(layer);
  if (activations.size() > 1) wrong(layer, "names several activations; a layer has one.");
  if (!activations.empty() && activations[0].first != layer.activation)
    wrong(layer, "names the activation \"" + activations[0].first + "\", but that of the layer is \"" +
                     layer.activation + "\".");
  const auto outputs = config.get_output_quantizers(layer);
  if (outputs.size() > layer.outputs)
    wrong(layer, "names " + std::to_string(outputs.size()) + " output quantizers for " + std::to_string(layer.outputs) +
                     " outputs.");
  const bool at_input = among(layer.activation, kQuantizedAtInput),
             at_output = among(layer.activation, kQuantizedAtOutput);
  if (!activations.empty() && !at_input && !at_output)
    wrong(layer, "quantizes the activation \"" + layer.activation + "\", of which no point to quantize is known.");
  for (const LayerQuantizer& one : outputs)
    if (one.num_bits != outputs[0].num_bits || one.symmetric != outputs[0].symmetric)
      wrong(layer, "names output quantizers of unlike num_bits or symmetric; the outputs of a layer share them.");
  // `last`: the result of the operator itself. An output quantizer is that of the whole layer.
  std::vector<LayerQuantizer> of_layer = outputs, last;
  if (!activations.empty() && at_output && of_layer.empty()) of_layer = {activations[0].second};
  if (!activations.empty() && at_input) last = {activations[0].second};
  std::vector<NodeRequest> requests;
  if (layer.activation_node)
    requests.push_back({*layer.activation_node, std::nullopt, of_layer, false});
  else if (!of_layer.empty())
    last = of_layer;
  if (layer.bias_node)
    requests.push_back({*layer.bias_node, std::nullopt, last, false});
  else
    own.outputs = last;
  requests.push_back(own);
  return requests;
}

quant::Range shape_range(const LayerQuantizer& quantizer, double low, double high) {
  if (!quantizer.is_symmetric()) return {std::min(low, 0.0), std::max(high, 0.0)};
  const double codes = std::ldexp(1.0, quantizer.bits());
  const double ratio = quantizer.narrow_range ? -1.0 : -codes / (codes - 2);
  return {std::min(low, high * ratio), std::max(high, low / ratio)};
}

void quantize_layer(const QuantizeConfig& config, Layer& layer, std::optional<int> axis) {
  std::vector<Tensor> quantized;
  std::vector<Shape> shapes;
  for (const auto& [weight, quantizer] : config.get_weights_and_quantizers(layer)) {
    const Tensor source = weight.value.aligned();
    const auto channel_axis = quantizer.is_per_axis() && weight.name == "kernel" ? axis : std::nullopt;
    const auto method =
        quantizer.is_symmetric() ? quant::QuantizationMethod::kSymmetric : quant::QuantizationMethod::kUniform;
    const quant::IntegerGrid grid{quantizer.bits(), true, quantizer.narrow_range};
    quant::QuantizationParams params;
    if (quantizer.source == RangeSource::kFixed) {
      const quant::Range range = shape_range(quantizer, *quantizer.init_min, *quantizer.init_max);
      params = quant::params_of_ranges(method, grid, std::span(&range, 1));
    } else {
      quant::Criterion extremes;
      extremes.method = quant::ThresholdSelectionMethod::kNoClipping;
      params = quant::choose_weight_params(source, method, grid, channel_axis, extremes).params;
    }
    quantized.push_back(quant::fake_quantize(source, params));
    shapes.push_back(source.shape());
  }
  config.set_quantize_weights(layer, quantized);
  const auto after = config.get_weights_and_quantizers(layer);
  if (after.size() != quantized.size()) wrong(layer, "gives back another number of weights than it was given.");
  for (size_t k = 0; k < after.size(); ++k)
    if (after[k].first.value.shape() != shapes[k])
      wrong(layer, "gives the weight \"" + after[k].first.name + "\" another shape than " + shapes[k].text() + ".");
  std::vector<std::string> activations;
  for (const auto& one : config.get_activations_and_quantizers(layer)) activations.push_back(one.first);
  config.set_quantize_activations(layer, activations);
}

}  // namespace tersor::framework
