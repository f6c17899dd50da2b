// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/torch_layers.h"

#include <algorithm>
#include <cstdlib>

#include "tests/vectors/recorded_graph.h"

namespace tersor::vectors {

namespace {

using Ints = std::vector<int64_t>;

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n\t'"), end = text.find_last_not_of(" \n\t'");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Parts between the commas that stand in no bracket.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : text) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  if (trimmed(parts.back()).empty()) parts.pop_back();
  return parts;
}

struct LayerWriter {
  Graph& graph;
  const TorchLayer& layer;
  const ValueId input;
  const std::string& output;
  const std::map<std::string, Tensor>& state;

  using Named = std::vector<std::pair<std::string, Attribute>>;

  ValueId node(const char* type, std::vector<ValueId> inputs, const Named& attributes, bool is_last = true) const {
    Node one;
    one.op_type = type;
    one.inputs = std::move(inputs);
    one.outputs = {is_last ? graph.add_value(output, DType::kFloat32) : graph.add_unique_value(output + "_part")};
    one.name = graph.name_of(one.outputs[0]);
    for (const auto& [key, value] : attributes) one.attributes[key] = value;
    const ValueId made = one.outputs[0];
    graph.append(std::move(one));
    return made;
  }
  /// Invalid where the state has none.
  ValueId constant(const char* name) const {
    const auto found = state.find(name);
    return found == state.end() ? ValueId{} : graph.add_initializer(output + "_" + name, found->second);
  }
  ValueId needed(const char* name) const {
    if (state.count(name) == 0) throw NotReadable("the state of \"" + layer.text + "\" has no " + name);
    return constant(name);
  }
  ValueId scalar(double value) const {
    return graph.add_initializer(output + "_bound", Tensor::scalar(static_cast<float>(value)));
  }
  size_t spatial() const { return static_cast<size_t>(layer.type[layer.type.size() - 2] - '0'); }
};

using Write = ValueId (*)(const LayerWriter&);

/// The same on both sides of every axis.
Ints both_sides(const Ints& pads) {
  Ints all = pads;
  all.insert(all.end(), pads.begin(), pads.end());
  return all;
}

LayerWriter::Named window_attributes(const LayerWriter& w) {
  const TorchLayer& layer = w.layer;
  LayerWriter::Named attributes{{"strides", layer.ints("stride", w.spatial(), 1)},
                                {"dilations", layer.ints("dilation", w.spatial(), 1)},
                                {"group", layer.ints("groups", 1, 1)[0]}};
  const std::string padding = layer.find("padding").value_or("0");
  if (layer.find("padding_mode").value_or("zeros") != "zeros") throw NotReadable("padding_mode in " + layer.text);
  if (padding == "same")
    attributes.emplace_back("auto_pad", std::string("SAME_UPPER"));
  else
    attributes.emplace_back("pads", both_sides(layer.ints("padding", w.spatial(), 0)));
  return attributes;
}

ValueId write_convolution(const LayerWriter& w) {
  const bool transposed = w.layer.type.rfind("ConvTranspose", 0) == 0;
  LayerWriter::Named attributes = window_attributes(w);
  if (transposed) attributes.emplace_back("output_padding", w.layer.ints("output_padding", w.spatial(), 0));
  std::vector<ValueId> inputs{w.input, w.needed("weight")};
  if (const ValueId bias = w.constant("bias"); bias.valid()) inputs.push_back(bias);
  return w.node(transposed ? "ConvTranspose" : "Conv", inputs, attributes);
}

ValueId write_linear(const LayerWriter& w) {
  std::vector<ValueId> inputs{w.input, w.needed("weight")};
  if (const ValueId bias = w.constant("bias"); bias.valid()) inputs.push_back(bias);
  return w.node("Gemm", inputs, {{"transB", int64_t{1}}});
}

ValueId write_batch_norm(const LayerWriter& w) {
  const auto filled = [&](const char* name, float value) {
    if (const ValueId there = w.constant(name); there.valid()) return there;
    const auto channels = static_cast<size_t>(w.layer.made_channels());
    return w.graph.add_initializer(w.output + "_" + name,
                                   tensor_of(std::vector<double>(channels, value), {static_cast<int64_t>(channels)}));
  };
  return w.node("BatchNormalization",
                {w.input, filled("weight", 1), filled("bias", 0), w.needed("running_mean"), w.needed("running_var")},
                {{"epsilon", static_cast<float>(w.layer.real("eps", 1e-5))}});
}

ValueId write_clip(const LayerWriter& w) {
  const bool relu6 = w.layer.type == "ReLU6";
  const double low = relu6 ? 0 : w.layer.real("min_val", -1, 0), high = relu6 ? 6 : w.layer.real("max_val", 1, 1);
  return w.node("Clip", {w.input, w.scalar(low), w.scalar(high)}, {});
}

ValueId write_silu(const LayerWriter& w) {
  return w.node("Mul", {w.input, w.node("Sigmoid", {w.input}, {}, false)}, {});
}

ValueId write_prelu(const LayerWriter& w) {
  const auto found = w.state.find("weight");
  if (found == w.state.end()) throw NotReadable("the state of \"" + w.layer.text + "\" has no weight");
  const Tensor& slope = found->second;
  return w.node("PRelu",
                {w.input, w.graph.add_initializer(w.output + "_slope", slope.reshaped(Shape{slope.elements(), 1, 1}))},
                {});
}

ValueId write_flatten(const LayerWriter& w) {
  if (w.layer.real("end_dim", -1, 1) != -1 || w.layer.real("start_dim", 1, 0) != 1) throw NotReadable(w.layer.text);
  return w.node("Flatten", {w.input}, {{"axis", int64_t{1}}});
}

ValueId write_softmax(const LayerWriter& w) {
  return w.node(w.layer.type.c_str(), {w.input}, {{"axis", w.layer.ints("dim", 1, 1)[0]}});
}

ValueId write_pool(const LayerWriter& w) {
  const TorchLayer& layer = w.layer;
  const Ints kernel = layer.ints("kernel_size", w.spatial(), 1, 0);
  const bool largest = layer.type.rfind("Max", 0) == 0;
  LayerWriter::Named attributes{{"kernel_shape", kernel},
                                {"strides", layer.find("stride", 1) && *layer.find("stride", 1) != "None"
                                                ? layer.ints("stride", w.spatial(), 1, 1)
                                                : kernel},
                                {"pads", both_sides(layer.ints("padding", w.spatial(), 0, 2))},
                                {"ceil_mode", int64_t{layer.flag("ceil_mode", false)}}};
  if (largest)
    attributes.emplace_back("dilations", layer.ints("dilation", w.spatial(), 1, 3));
  else
    attributes.emplace_back("count_include_pad", int64_t{layer.flag("count_include_pad", true)});
  return w.node(largest ? "MaxPool" : "AveragePool", {w.input}, attributes);
}

ValueId write_adaptive_pool(const LayerWriter& w) {
  for (const int64_t size : w.layer.ints("output_size", w.spatial(), 0, 0))
    if (size != 1) throw NotReadable(w.layer.text);
  return w.node(w.layer.type.rfind("AdaptiveMax", 0) == 0 ? "GlobalMaxPool" : "GlobalAveragePool", {w.input}, {});
}

ValueId write_zero_pad(const LayerWriter& w) {
  const Ints torch = w.layer.ints("padding", 4, 0, 0);  // left, right, top, bottom
  const Ints sides{0, 0, torch[2], torch[0], 0, 0, torch[3], torch[1]};
  return w.node("Pad", {w.input, w.graph.add_initializer(w.output + "_pads", Tensor::of<int64_t>(Shape{8}, sides))},
                {});
}

/// One real attribute of the same meaning.
ValueId write_with_alpha(const LayerWriter& w) {
  const bool leaky = w.layer.type == "LeakyReLU";
  const char* type = leaky ? "LeakyRelu" : w.layer.type == "ELU" ? "Elu" : "Celu";
  const double alpha = leaky ? w.layer.real("negative_slope", 0.01, 0) : w.layer.real("alpha", 1, 0);
  return w.node(type, {w.input}, {{"alpha", static_cast<float>(alpha)}});
}

ValueId write_gelu(const LayerWriter& w) {
  return w.node("Gelu", {w.input}, {{"approximate", w.layer.find("approximate").value_or("none")}});
}

ValueId write_hard_sigmoid(const LayerWriter& w) {
  return w.node("HardSigmoid", {w.input}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
}

/// Without anything to say about it.
constexpr std::pair<const char*, const char*> kPlain[] = {
    {"ReLU", "Relu"},         {"Sigmoid", "Sigmoid"},   {"Tanh", "Tanh"},         {"Hardswish", "HardSwish"},
    {"Mish", "Mish"},         {"Softplus", "Softplus"}, {"Softsign", "Softsign"}, {"SELU", "Selu"},
    {"Identity", "Identity"}, {"Dropout", "Identity"},  {"Dropout2d", "Identity"}};

constexpr std::pair<const char*, Write> kLayers[] = {{"Conv1d", write_convolution},
                                                     {"Conv2d", write_convolution},
                                                     {"Conv3d", write_convolution},
                                                     {"ConvTranspose1d", write_convolution},
                                                     {"ConvTranspose2d", write_convolution},
                                                     {"Linear", write_linear},
                                                     {"BatchNorm1d", write_batch_norm},
                                                     {"BatchNorm2d", write_batch_norm},
                                                     {"ReLU6", write_clip},
                                                     {"Hardtanh", write_clip},
                                                     {"SiLU", write_silu},
                                                     {"PReLU", write_prelu},
                                                     {"Flatten", write_flatten},
                                                     {"Softmax", write_softmax},
                                                     {"LogSoftmax", write_softmax},
                                                     {"MaxPool1d", write_pool},
                                                     {"MaxPool2d", write_pool},
                                                     {"AvgPool2d", write_pool},
                                                     {"AdaptiveAvgPool1d", write_adaptive_pool},
                                                     {"AdaptiveAvgPool2d", write_adaptive_pool},
                                                     {"AdaptiveMaxPool2d", write_adaptive_pool},
                                                     {"ZeroPad2d", write_zero_pad},
                                                     {"ELU", write_with_alpha},
                                                     {"CELU", write_with_alpha},
                                                     {"LeakyReLU", write_with_alpha},
                                                     {"GELU", write_gelu},
                                                     {"Hardsigmoid", write_hard_sigmoid}};

}  // namespace

TorchLayer TorchLayer::parse(const std::string& text) {
  TorchLayer layer;
  layer.text = text;
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open)
    throw NotReadable("\"" + text + "\" is no layer");
  layer.type = trimmed(text.substr(0, open));
  for (const std::string& part : split(text.substr(open + 1, close - open - 1))) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos)
      layer.values.push_back(trimmed(part));
    else
      layer.named[trimmed(part.substr(0, equals))] = trimmed(part.substr(equals + 1));
  }
  return layer;
}

std::optional<std::string> TorchLayer::find(const char* name, int place) const {
  if (const auto found = named.find(name); found != named.end()) return found->second;
  if (place < 0 || static_cast<size_t>(place) >= values.size()) return std::nullopt;
  return values[static_cast<size_t>(place)];
}

double TorchLayer::real(const char* name, double otherwise, int place) const {
  const auto found = find(name, place);
  return found ? std::strtod(found->c_str(), nullptr) : otherwise;
}

std::vector<int64_t> TorchLayer::ints(const char* name, size_t count, int64_t otherwise, int place) const {
  std::string found = find(name, place).value_or(std::to_string(otherwise));
  std::erase_if(found, [](char letter) { return letter == '(' || letter == ')'; });
  Ints all;
  for (const std::string& part : split(found)) all.push_back(std::strtoll(part.c_str(), nullptr, 10));
  if (all.size() == 1) all.resize(count, all[0]);
  if (all.size() != count) throw NotReadable(std::string(name) + " in " + text);
  return all;
}

bool TorchLayer::flag(const char* name, bool otherwise) const {
  const auto found = find(name);
  return found ? *found == "True" : otherwise;
}

int64_t TorchLayer::wanted_channels() const {
  if (type == "Linear") return -1;  // as many as Flatten leaves of channels and places
  const bool has = type.rfind("Conv", 0) == 0 || type.rfind("BatchNorm", 0) == 0;
  return has ? ints("in_channels", 1, -1, 0)[0] : -1;
}

int64_t TorchLayer::made_channels() const {
  if (type == "Linear") return ints("out_features", 1, -1, 1)[0];
  if (type.rfind("BatchNorm", 0) == 0) return wanted_channels();
  return type.rfind("Conv", 0) == 0 ? ints("out_channels", 1, -1, 1)[0] : -1;
}

ValueId append_layer(Graph& graph, const TorchLayer& layer, ValueId input, const std::string& output,
                     const std::map<std::string, Tensor>& state) {
  const LayerWriter writer{graph, layer, input, output, state};
  for (const auto& [name, type] : kPlain)
    if (layer.type == name) return writer.node(type, {input}, {});
  for (const auto& [name, write] : kLayers)
    if (layer.type == name) return write(writer);
  throw NotReadable("no operator is known here for the layer \"" + layer.text + "\"");
}

}  // namespace tersor::vectors
