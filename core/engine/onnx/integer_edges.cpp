// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/integer_edges.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/graph/edit.h"
#include "core/tensor/float16.h"

namespace tersor::onnx {

namespace {

/// Of one quantizer of 8 bits for the whole tensor.
struct Params {
  float scale = 0;
  int32_t zero_point = 0;
  DType type = DType::kUint8;
  bool operator==(const Params&) const = default;

  /// The same values by integers of the other type.
  Params as(DType other) const {
    const int32_t shift = other == type ? 0 : other == DType::kUint8 ? 128 : -128;
    return {scale, zero_point + shift, other};
  }
};

std::optional<Params> params_of(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 3 || node.outputs.size() != 1) return std::nullopt;
  const Tensor *scale = graph.initializer(node.inputs[1]), *zero_point = graph.initializer(node.inputs[2]);
  if (scale == nullptr || zero_point == nullptr || scale->dtype() != DType::kFloat32) return std::nullopt;
  if (scale->elements() != 1 || zero_point->elements() != 1) return std::nullopt;
  const DType type = zero_point->dtype();
  if (type != DType::kInt8 && type != DType::kUint8) return std::nullopt;
  return Params{static_cast<float>(scale->to_doubles()[0]), static_cast<int32_t>(zero_point->to_int64s()[0]), type};
}

/// Of the quantizers that read an input; they have the same parameters.
std::optional<Params> params_after(const Graph& graph, const Uses& uses, ValueId input) {
  std::optional<Params> found;
  for (const size_t reader : uses.reader_indices(input)) {
    const Node& node = graph.nodes()[reader];
    if (!node.is("QuantizeLinear")) continue;
    const auto params = params_of(graph, node);
    if (!params || (found && !(*found == *params))) return std::nullopt;
    found = params;
  }
  return found;
}

/// Of the DequantizeLinear that makes an output.
std::optional<Params> params_before(const Graph& graph, const Uses& uses, ValueId output) {
  const auto maker = uses.producer_index(output);
  if (!maker || !graph.nodes()[*maker].is("DequantizeLinear")) return std::nullopt;
  return params_of(graph, graph.nodes()[*maker]);
}

/// A QuantizeLinear or DequantizeLinear, named after `stem`.
Node quantizer(Graph& graph, const char* type, const std::string& stem, ValueId from, ValueId to,
               const Params& params) {
  Node node;
  node.op_type = type;
  node.name = stem + "_edge_" + type;
  const Tensor zero_point = params.type == DType::kUint8 ? Tensor::scalar(static_cast<uint8_t>(params.zero_point))
                                                         : Tensor::scalar(static_cast<int8_t>(params.zero_point));
  node.inputs = {from, graph.add_initializer(stem + "_edge_scale", Tensor::of<float>(Shape{}, {params.scale})),
                 graph.add_initializer(stem + "_edge_zero_point", zero_point)};
  node.outputs = {to};
  return node;
}

/// Gives the value another name, which none has yet, and a new one of `type` its own.
ValueId take_name(Graph& graph, ValueId value, DType type) {
  const std::string name = graph.name_of(value);
  std::string other = name + (type == DType::kFloat32 ? "_integers" : "_float32");
  while (graph.find(other)) other += "_";
  graph.rename(value, other);
  return graph.add_value(name, type, graph.value(value).shape);
}

/// Each pixel, preprocessed and quantized, is its own code.
bool has_pixels_as_codes(const Params& params, const PixelScale& pixels) {
  if (pixels.mean.elements() != 1 || pixels.deviation.elements() != 1) return false;
  const float mean = pixels.mean.data<float>()[0], deviation = pixels.deviation.data<float>()[0];
  for (int pixel = 0; pixel < 256; ++pixel) {
    const float steps = (static_cast<float>(pixel) - mean) / deviation / params.scale;
    if (std::nearbyint(steps) + static_cast<float>(params.zero_point) != static_cast<float>(pixel)) return false;
  }
  return true;
}

/// The scale by which the nodes that make_pixel_input() writes preprocess the input, and what they make.
struct OpenedPixels {
  PixelScale scale;
  ValueId floats;
  std::vector<NodeId> nodes;
};

std::optional<OpenedPixels> pixels_after(const Graph& graph, const Uses& uses, ValueId input) {
  OpenedPixels found;
  ValueId value = input;
  for (const char* type : {"Cast", "Sub", "Div"}) {
    if (uses.reader_indices(value).size() != 1) return std::nullopt;
    const Node& node = graph.nodes()[uses.reader_indices(value)[0]];
    if (!node.is(type) || node.inputs[0] != value || node.outputs.size() != 1) return std::nullopt;
    if (node.inputs.size() == 2) {
      const Tensor* constant = graph.initializer(node.inputs[1]);
      if (constant == nullptr || constant->dtype() != DType::kFloat32) return std::nullopt;
      (node.is("Sub") ? found.scale.mean : found.scale.deviation) = constant->aligned();
    }
    found.nodes.push_back(node.id);
    value = node.outputs[0];
  }
  found.floats = value;
  return found;
}

Json entry_of(const Params& params) {
  return Json{{"type", std::string(name_of(params.type))}, {"scale", params.scale}, {"zero_point", params.zero_point}};
}

}  // namespace

bool has_integer_form(const Graph& graph, const Uses& uses, ValueId edge) {
  const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), edge) != graph.inputs.end();
  const DType type = graph.value(edge).dtype;
  if ((type != DType::kFloat32 && type != DType::kUndefined) || (is_input && uses.is_output(edge))) return false;
  return is_input ? params_after(graph, uses, edge).has_value() : params_before(graph, uses, edge).has_value();
}

Json make_integer_input(Graph& graph, ValueId input, DType type) {
  const Params own = *params_after(graph, Uses(graph), input), params = own.as(type);
  const ValueId codes = take_name(graph, input, type);
  std::replace(graph.inputs.begin(), graph.inputs.end(), input, codes);
  const std::string stem = graph.name_of(codes);
  if (own.type == type) {
    std::vector<ValueId> same;
    for (const Node& node : graph.nodes())
      if (node.is("QuantizeLinear") && node.inputs[0] == input) same.push_back(node.outputs[0]);
    graph.erase_nodes([&](const Node& node) { return node.is("QuantizeLinear") && node.inputs[0] == input; });
    for (const ValueId value : same) replace_reads(graph, value, codes);
  }
  const bool is_read = std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return std::find(node.inputs.begin(), node.inputs.end(), input) != node.inputs.end();
  });
  if (is_read) graph.insert(0, quantizer(graph, "DequantizeLinear", stem, codes, input, params));
  graph.erase_unused_initializers();
  return entry_of(params);
}

Json make_pixel_input(Graph& graph, ValueId input, const PixelScale& pixels) {
  if (const auto own = params_after(graph, Uses(graph), input);
      own && has_pixels_as_codes(own->as(DType::kUint8), pixels))
    return make_integer_input(graph, input, DType::kUint8);
  const ValueId codes = take_name(graph, input, DType::kUint8);
  std::replace(graph.inputs.begin(), graph.inputs.end(), input, codes);
  const std::string stem = graph.name_of(codes);
  const auto node = [&](const char* type, std::vector<ValueId> inputs, ValueId output) {
    Node made;
    made.op_type = type;
    made.name = stem + "_pixels_" + type;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    return made;
  };
  const auto value = [&](const char* suffix) {
    std::string name = stem + suffix;
    while (graph.find(name)) name += "_";
    return graph.add_value(name, DType::kFloat32, graph.value(input).shape);
  };
  const ValueId floats = value("_pixels"), centered = value("_centered");
  Node cast = node("Cast", {codes}, floats);
  cast.attributes["to"] = int64_t{1};  // float32
  const ValueId mean = graph.add_initializer(stem + "_pixel_mean", pixels.mean),
                deviation = graph.add_initializer(stem + "_pixel_deviation", pixels.deviation);
  graph.insert(0, node("Div", {centered, deviation}, input));
  graph.insert(0, node("Sub", {floats, mean}, centered));
  graph.insert(0, std::move(cast));
  return Json{{"type", "pixels"}};
}

Json make_integer_output(Graph& graph, ValueId& output, DType type) {
  const Uses uses(graph);
  const Params own = *params_before(graph, uses, output), params = own.as(type);
  const Node maker = graph.nodes()[*uses.producer_index(output)];
  const std::string name = graph.name_of(output);
  const auto quantizes = uses.producer_index(maker.inputs[0]);
  const bool is_last = uses.reader_indices(output).empty();
  const ValueId real = output;
  output = take_name(graph, output, type);
  const bool takes_codes = own.type == type && quantizes && uses.reader_indices(maker.inputs[0]).size() == 1 &&
                           is_last && !uses.is_output(maker.inputs[0]);
  if (takes_codes) {
    for (ValueId& id : graph.nodes()[*quantizes].outputs)
      if (id == maker.inputs[0]) id = output;
    graph.erase_nodes([&](const Node& node) { return node.id == maker.id; });
    graph.erase_unused_initializers();
  } else {
    graph.append(quantizer(graph, "QuantizeLinear", name, real, output, params));
  }
  return entry_of(params);
}

namespace {

template <class T, class Convert>
Tensor converted(const Tensor& floats, DType type, const Convert& convert) {
  Tensor result = Tensor::make(type, floats.shape());
  const auto from = floats.data<float>();
  const auto to = result.mutable_data<T>();
  for (size_t k = 0; k < from.size(); ++k) to[k] = convert(from[k], k);
  return result;
}

Tensor pixels_of(const PixelScale& scale, const Tensor& floats) {
  const auto means = scale.mean.data<float>(), deviations = scale.deviation.data<float>();
  const size_t channels = std::max(means.size(), deviations.size());
  const bool is_first = std::max(scale.mean.shape().rank(), scale.deviation.shape().rank()) == 3;
  const auto& dims = floats.shape().dims();
  const size_t step = is_first ? static_cast<size_t>(dims[dims.size() - 1] * dims[dims.size() - 2]) : 1;
  return converted<uint8_t>(floats, DType::kUint8, [&](float value, size_t k) {
    const size_t c = k / step % channels;
    const float pixel = value * deviations[c % deviations.size()] + means[c % means.size()];
    return static_cast<uint8_t>(std::clamp(std::nearbyint(pixel), 0.0f, 255.0f));
  });
}

}  // namespace

Tensor file_form(const Model& model, ValueId edge, const Tensor& floats) {
  const Graph& graph = model.graph;
  const auto found = model.narrow.find(graph.name_of(edge));
  if (found == model.narrow.end()) return floats;
  const DType type = found->second;
  if (const auto pixels = model.pixels.find(found->first); pixels != model.pixels.end())
    return pixels_of(pixels->second, floats);
  if (type == DType::kFloat16)
    return converted<uint16_t>(floats, type, [](float value, size_t) { return half_from_float(value); });
  const Uses uses(graph);
  const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), edge) != graph.inputs.end();
  const auto own = is_input ? params_after(graph, uses, edge) : params_before(graph, uses, edge);
  if (!own)
    throw Error(
        ErrorCode::kUnsupportedModel,
        "Values of " + std::string(name_of(type)) + " are not made here for the file's \"" + found->first + "\".",
        found->first, "Run the file with a program that has this type.");
  const Params params = own->as(type);
  const auto code = [&](float value) {
    return static_cast<int32_t>(std::clamp(std::nearbyint(value / params.scale), -1024.0f, 1024.0f)) +
           params.zero_point;
  };
  if (type == DType::kUint8)
    return converted<uint8_t>(
        floats, type, [&](float value, size_t) { return static_cast<uint8_t>(std::clamp(code(value), 0, 255)); });
  return converted<int8_t>(
      floats, type, [&](float value, size_t) { return static_cast<int8_t>(std::clamp(code(value), -128, 127)); });
}

void open_integer_edges(Model& model) {
  const auto entry =
      std::find_if(model.metadata.begin(), model.metadata.end(), [](const auto& one) { return one.first == kIoTypes; });
  if (entry == model.metadata.end()) return;
  Json edges;
  try {
    edges = parse_json(entry->second, std::string(kIoTypes));
  } catch (const Error&) {
    return;  // not of ours: the edges are integers, as the file has them
  }
  Graph& graph = model.graph;
  const auto is_named = [&](ValueId id) { return edges.is_object() && edges.contains(graph.name_of(id)); };
  const auto is_pixels = [&](ValueId id) {
    const Json& entry = edges[graph.name_of(id)];
    return entry.is_object() && entry.contains("type") && entry["type"] == "pixels";
  };
  for (ValueId& input : graph.inputs) {
    const Uses uses(graph);
    if (is_named(input) && is_pixels(input)) {
      const auto pixels = pixels_after(graph, uses, input);
      if (!pixels || graph.value(input).dtype != DType::kUint8) continue;
      graph.erase_nodes([&](const Node& node) {
        return std::find(pixels->nodes.begin(), pixels->nodes.end(), node.id) != pixels->nodes.end();
      });
      input = take_name(graph, input, DType::kFloat32);
      replace_reads(graph, pixels->floats, input);
      model.narrow[graph.name_of(input)] = DType::kUint8;
      model.pixels[graph.name_of(input)] = pixels->scale;
      continue;
    }
    std::optional<Params> params;
    for (const size_t reader : uses.reader_indices(input))
      if (const Node& node = graph.nodes()[reader]; node.is("DequantizeLinear")) params = params_of(graph, node);
    if (!is_named(input) || !params || params->type != graph.value(input).dtype) continue;
    const ValueId codes = input;
    input = take_name(graph, codes, DType::kFloat32);
    const std::string name = graph.name_of(input);
    model.narrow[name] = params->type;
    graph.insert(0, quantizer(graph, "QuantizeLinear", name, input, codes, *params));
  }
  const Uses now(graph);
  for (ValueId& output : graph.outputs) {
    const auto maker = now.producer_index(output);
    if (!maker || !is_named(output)) continue;
    const auto params = params_of(graph, graph.nodes()[*maker]);
    if (!graph.nodes()[*maker].is("QuantizeLinear") || !params) continue;
    const ValueId codes = output;
    output = take_name(graph, codes, DType::kFloat32);
    const std::string name = graph.name_of(output);
    model.narrow[name] = params->type;
    graph.append(quantizer(graph, "DequantizeLinear", name, codes, output, *params));
  }
}

}  // namespace tersor::onnx
