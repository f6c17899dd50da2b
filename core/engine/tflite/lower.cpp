// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/lower.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/tensor/rounding.h"
#include "core/tflite/kernels_16.h"
#include "core/tflite/lowering.h"
#include "core/tflite/value_shapes.h"

namespace tersor::tflite {

namespace {

Quantization grid_of(const QuantizationNode& node) {
  return {node.scales, node.zero_points, 0};
}

std::vector<std::optional<Dims>> shapes_of(const Model& model) {
  if (auto shapes = value_shapes(model)) return *std::move(shapes);
  throw Error(ErrorCode::kUnsupportedModel,
              "An input has a free dimension beside its batch; a .tflite file has fixed shapes.", {},
              "Give the model fixed sizes.");
}

}  // namespace

Lowering::Lowering(const Model& model, bool keeps_codes)
    : model_(model),
      keeps_codes_(keeps_codes),
      graph_(model.graph),
      uses_(model.graph),
      values_(quantized_values(graph_, uses_)),
      shapes_(shapes_of(model)),
      done_(graph_.nodes().size()) {}

void Lowering::refuse(const Site& site, const std::string& message, const std::string& hint) const {
  throw Error(ErrorCode::kUnsupportedModel, message, place_of(site.node, site.index), hint);
}

const Dims& Lowering::shape_of(ValueId value) const {
  const auto& shape = shapes_[static_cast<size_t>(value.index)];
  if (shape) return *shape;
  throw Error(ErrorCode::kUnsupportedModel,
              "The shape of \"" + graph_.name_of(value) + "\" is not known before the model runs.", {},
              "A .tflite file has fixed shapes.");
}

std::optional<ConstantValue> Lowering::constant_of(ValueId value) const {
  if (!value.valid()) return std::nullopt;
  if (const Tensor* tensor = graph_.initializer(value)) return ConstantValue{tensor->aligned(), std::nullopt};
  auto quantized = dequantized(graph_, uses_, value);
  const Tensor* raw = quantized ? graph_.initializer(quantized->raw) : nullptr;
  if (raw == nullptr) return std::nullopt;
  return ConstantValue{raw->aligned(), std::move(quantized)};
}

std::optional<Dims> Lowering::numbers_of(const Site& site, size_t input) const {
  if (input >= site.node.inputs.size() || !site.node.inputs[input].valid()) return std::nullopt;
  const Tensor* tensor = graph_.initializer(site.node.inputs[input]);
  if (tensor == nullptr || !is_integer(tensor->dtype()))
    refuse(site, "Its input " + std::to_string(input) + " is no constant of whole numbers; here it has to be one.");
  return tensor->to_int64s();
}

int32_t Lowering::tensor(const std::string& name, const Dims& shape, DType dtype, Quantization grid) {
  NetworkTensor made{name, {}, dtype, std::move(grid)};
  for (const int64_t dim : shape) {
    if (dim > std::numeric_limits<int32_t>::max())
      throw Error(ErrorCode::kUnsupportedModel, "The tensor \"" + name + "\" is too large for a .tflite file.");
    made.shape.push_back(static_cast<int32_t>(dim));
  }
  network_.tensors.push_back(std::move(made));
  return static_cast<int32_t>(network_.tensors.size()) - 1;
}

int32_t Lowering::constant(const std::string& name, Tensor data, Quantization grid) {
  const int32_t made = tensor(name, data.shape().dims(), data.dtype(), std::move(grid));
  network_.tensors.back().data = std::move(data);
  return made;
}

int32_t Lowering::numbers(const Dims& values) {
  const auto [entry, is_new] = numbers_.try_emplace(values, -1);
  if (!is_new) return entry->second;
  std::vector<int32_t> narrow;
  for (const int64_t value : values) narrow.push_back(static_cast<int32_t>(value));
  const Shape shape{static_cast<int64_t>(narrow.size())};
  return entry->second = constant("numbers_" + std::to_string(numbers_.size()),
                                  Tensor::of<int32_t>(shape, std::span<const int32_t>(narrow)));
}

int32_t Lowering::variable(const std::string& name, const Dims& shape, DType dtype, Quantization grid) {
  const int32_t made = tensor(name, shape, dtype, std::move(grid));
  network_.tensors.back().is_variable = true;
  return made;
}

int32_t Lowering::append(Code code, std::vector<int32_t> inputs, NetworkTensor output, Options options,
                         std::vector<int32_t> intermediates) {
  network_.tensors.push_back(std::move(output));
  const auto made = static_cast<int32_t>(network_.tensors.size()) - 1;
  producer_[made] = network_.operators.size();
  network_.operators.push_back({code, std::move(inputs), {made}, std::move(options), {}, std::move(intermediates)});
  return made;
}

void Lowering::need_kernel(const Site& site, Code code) const {
  if (site.in_16_bits() && !runs_on_16_bits(code))
    refuse(site, std::string(kind_of(code).name) + " takes no int16 in TensorFlow Lite Micro.",
           "Keep the node in float, or quantize for tflite-micro, whose activations are of 8 bits.");
}

Held Lowering::emit_fixed(const Site& site, Code code, std::vector<int32_t> inputs, const AxisOrder& order,
                          const Quantization& grid, Options options) {
  need_kernel(site, code);
  NetworkTensor output{site.name, {}, site.dtype, site.in_integers ? grid : Quantization{}};
  for (const int64_t dim : in_order(result_shape(site), order)) output.shape.push_back(static_cast<int32_t>(dim));
  output.order = order;
  const int32_t made = append(code, std::move(inputs), std::move(output), std::move(options));
  return {site.in_integers ? requantize(made, site.grid, site.dtype, site.name) : made, order};
}

Held Lowering::emit(const Site& site, Code code, std::vector<int32_t> inputs, const AxisOrder& order, Options options) {
  return emit_fixed(site, code, std::move(inputs), order, site.grid, std::move(options));
}

int32_t Lowering::requantize(int32_t tensor, const Quantization& grid, DType dtype, const std::string& name) {
  if (at(tensor).quantization == grid && at(tensor).dtype == dtype) return tensor;
  NetworkTensor output{name + "_requantized", at(tensor).shape, dtype, grid};
  output.order = at(tensor).order;
  return append(Code::kQuantize, {tensor}, std::move(output));
}

int32_t Lowering::in_axis_order(const Held& held, const Dims& shape, const AxisOrder& order) {
  if (held.is_jumbled()) {
    const AxisOrder plain = plain_order(held.before.size());
    const int32_t sorted = in_axis_order({held.tensor, held.before_order}, held.before, plain);
    const Held reshaped = reshape({sorted, plain}, held.before, shape, at(held.tensor).name);
    return in_axis_order(reshaped, shape, order);
  }
  if (held.order == order) return held.tensor;
  const auto [entry, is_new] = rearranged_.try_emplace({held.tensor, order}, -1);
  if (!is_new) return entry->second;
  const NetworkTensor& from = at(held.tensor);
  const Dims dims = in_order(shape, order);
  NetworkTensor output{from.name + "_transposed", {dims.begin(), dims.end()}, from.dtype, from.quantization};
  int32_t made = 0;
  if (lie_alike(shape, held.order, order)) {
    made = reshape({held.tensor, plain_order(order.size())}, in_order(shape, held.order), dims, from.name).tensor;
  } else {
    Dims positions;
    for (const int axis : order) positions.push_back(position_of(held.order, axis));
    made = append(Code::kTranspose, {held.tensor, numbers(positions)}, std::move(output));
  }
  return rearranged_[{held.tensor, order}] = made;
}

Held Lowering::reshape(const Held& held, const Dims& from, const Dims& to, const std::string& name) {
  if (from == to) return held;
  if (held.is_jumbled())
    return reshape({in_axis_order(held, from, plain_order(from.size())), plain_order(from.size())}, from, to, name);
  const auto order = order_after_reshape(from, held.order, to);
  // Elements that are out of order stay where they are until somebody asks for another order than his own.
  Held result{held.tensor, order.value_or(plain_order(to.size()))};
  if (!order) {
    result.before = from;
    result.before_order = held.order;
    return result;
  }
  const Dims dims = in_order(to, *order);
  if (in_order(from, held.order) == dims) return result;
  int32_t source = held.tensor;
  if (const auto made = producer_.find(source); made != producer_.end()) {
    const Operator& before = network_.operators[made->second];
    if (before.code == Code::kReshape) source = before.inputs[0];
  }
  NetworkTensor output{name, {dims.begin(), dims.end()}, at(source).dtype, at(source).quantization};
  output.order = *order;
  if (output.shape == at(source).shape) return {source, *order};
  Options options;
  options.new_shape = output.shape;
  result.tensor = append(Code::kReshape, {source, numbers(dims)}, std::move(output), std::move(options));
  return result;
}

Held Lowering::floats_of(ValueId value) {
  if (const auto found = held_.find(value); found != held_.end()) return found->second;
  const auto codes = codes_of_.find(value);
  if (codes == codes_of_.end())
    throw Error(ErrorCode::kUnsupportedModel, "\"" + graph_.name_of(value) + "\" is a constant where none can stand.");
  Held held = held_.at(codes->second);
  NetworkTensor output{graph_.name_of(value), at(held.tensor).shape, DType::kFloat32};
  output.order = held.order;
  held.tensor = append(Code::kDequantize, {held.tensor}, std::move(output));
  return held_[value] = held;
}

Held Lowering::operand(const Site& site, size_t input) {
  const ValueId value = site.node.inputs[input];
  if (const auto constant_value = constant_of(value)) {
    const AxisOrder order = plain_order(constant_value->tensor.shape().dims().size());
    return {spread_operand(site, input, order), order};
  }
  const auto codes = codes_of_.find(value);
  if (site.in_integers && codes != codes_of_.end()) return held_.at(codes->second);
  return floats_of(value);
}

int32_t Lowering::operand_in(const Site& site, size_t input, const AxisOrder& order) {
  return in_axis_order(operand(site, input), shape_of(site.node.inputs[input]), order);
}

int32_t Lowering::spread_operand(const Site& site, size_t input, const AxisOrder& order) {
  const ValueId value = site.node.inputs[input];
  Dims dims = shape_of(value);
  const Dims own = dims;
  dims.insert(dims.begin(), order.size() - std::min(order.size(), dims.size()), 1);
  const auto found = constant_of(value);
  if (!found) return in_axis_order(reshape(operand(site, input), own, dims, graph_.name_of(value)), dims, order);
  Quantization grid;
  Tensor data = found->tensor;
  if (found->quantized) {
    grid = grid_of(*found->quantized);
    if (site.in_16_bits() && data.dtype() == DType::kInt8 && grid.zero_point == Dims{0})
      data = integers(DType::kInt16, data.shape(), data.to_int64s());
    if (grid.scale.size() != 1 || (site.in_integers && data.dtype() != site.code_type()))
      refuse(site, "Its constant \"" + graph_.name_of(value) + "\" is no " +
                       std::string(tersor::name_of(site.code_type())) + " tensor of one scale.");
    if (!site.in_integers) {
      std::vector<float> floats;
      for (const int64_t code : data.to_int64s())
        floats.push_back(grid.scale[0] * static_cast<float>(code - grid.zero_point[0]));
      data = Tensor::of<float>(data.shape(), std::span<const float>(floats));
      grid = {};
    }
  } else if (site.in_integers && data.dtype() == DType::kFloat32) {
    float largest = 0;
    for (const float one : data.data<float>()) largest = std::max(largest, std::abs(one));
    const float scale = largest > 0 ? largest / (site.in_16_bits() ? 32767 : 127) : 1;
    std::vector<int64_t> codes;
    for (const float one : data.data<float>()) codes.push_back(static_cast<int64_t>(round_half_even(one / scale)));
    data = integers(site.code_type(), data.shape(), codes);
    grid = {{scale}, {0}, 0};
  }
  return constant(graph_.name_of(value), rearranged(data.reshaped(Shape(dims)), order), std::move(grid));
}

/// The operators that the value comes to first, but for those that work on each element alone, want pictures with their
/// channels last.
bool Lowering::wants_channels_last(ValueId value) const {
  static constexpr std::string_view kWindows[] = {
      "Conv",   "ConvTranspose", "MaxPool",      "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
      "Resize", "DepthToSpace",  "SpaceToDepth", "LpPool",      "GlobalLpPool"};
  static constexpr std::string_view kOrdered[] = {"Transpose", "Reshape", "Flatten", "Gemm", "MatMul", "Squeeze"};
  std::vector<ValueId> open = {value};
  std::set<ValueId> seen = {value};
  while (!open.empty()) {
    const ValueId now = open.back();
    open.pop_back();
    for (const size_t reader : uses_.reader_indices(now)) {
      const Node& node = graph_.nodes()[reader];
      const auto named = [&](std::string_view type) { return node.op_type == type; };
      if (std::any_of(std::begin(kWindows), std::end(kWindows), named)) return true;
      if (std::any_of(std::begin(kOrdered), std::end(kOrdered), named)) continue;
      for (const ValueId output : node.outputs)
        if (output.valid() && seen.insert(output).second) open.push_back(output);
    }
  }
  return false;
}

void Lowering::lower_inputs() {
  for (const ValueId input : graph_.inputs) {
    const Dims& shape = shape_of(input);
    const AxisOrder order = wants_channels_last(input) ? channels_last(shape.size()) : plain_order(shape.size());
    const auto quantizer = quantized(graph_, uses_, input);
    const DType declared = graph_.value(input).dtype;
    const DType dtype = quantizer ? quantizer->quantize.dtype : declared;
    network_.inputs.push_back(tensor(graph_.name_of(input), in_order(shape, order), dtype,
                                     quantizer ? grid_of(quantizer->quantize) : Quantization{}));
    network_.tensors.back().order = order;
    held_[quantizer ? quantizer->quantize.raw : input] = {network_.inputs.back(), order};
    if (quantizer) done_[quantizer->index] = true;
  }
}

bool Lowering::lower_quantizer(const Node& node) {
  if (const auto restored = as_quantization(graph_, node, "DequantizeLinear")) {
    if (graph_.initializer(restored->raw) == nullptr) codes_of_[restored->real] = restored->raw;
    return true;
  }
  const auto quantizer = as_quantization(graph_, node, "QuantizeLinear");
  if (!quantizer) return false;
  const auto codes = codes_of_.find(quantizer->real);
  Held held = codes != codes_of_.end() ? held_.at(codes->second) : floats_of(quantizer->real);
  held.tensor = requantize(held.tensor, grid_of(*quantizer), quantizer->dtype, graph_.name_of(quantizer->real));
  held_[quantizer->raw] = held;
  return true;
}

void Lowering::lower_node(const Node& node, size_t index) {
  if (done_[index] || lower_quantizer(node)) return;
  const Rule* rule = find_rule(node);
  if (rule == nullptr)
    refuse({node, index}, "TensorFlow Lite has no operator for " + node.op_type + ", or Tersor does not know it yet.",
           "Cut the model before this node, and compute the rest outside.");
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    ValueId output = node.outputs[k];
    if (!output.valid() || uses_.reader_count(output) == 0) continue;
    Site site{node, index, k};
    const NodeArithmetic made = arithmetic_of(graph_, uses_, node, k, values_);
    site.in_integers = made.in_integers;
    site.activation = made.activation;
    if (made.follower != nullptr) {
      output = made.follower->outputs[0];
      done_[*uses_.producer_index(output)] = true;
    }
    site.name = graph_.name_of(output);
    const auto quantizer = quantized(graph_, uses_, output);
    if (site.in_integers && quantizer) {
      site.grid = grid_of(quantizer->quantize);
      site.dtype = quantizer->quantize.dtype;
      const bool is_wide = site.dtype == DType::kInt16 && site.grid.zero_point[0] == 0;
      if ((site.dtype != DType::kInt8 && !is_wide) || !quantizer->quantize.per_tensor())
        refuse(site,
               "Its output is quantized to " + std::string(name_of(site.dtype)) +
                   "; here it has to be int8 with one scale, or int16 with the zero point 0.",
               "Quantize for one of the platforms tflite-micro, tflite and tflite-micro-16x8.");
      for (const ValueId input : node.inputs)
        if (const auto codes = codes_of_.find(input); codes != codes_of_.end())
          if (const DType given = at(held_.at(codes->second).tensor).dtype; given != site.dtype)
            refuse(site, "Its input is of " + std::string(name_of(given)) + " and its output of " +
                             std::string(name_of(site.dtype)) + "; TensorFlow Lite Micro wants one type.");
      done_[quantizer->index] = true;
      held_[quantizer->quantize.raw] = rule->lower(*this, site);
    } else {
      held_[output] = rule->lower(*this, site);
    }
  }
}

void Lowering::lower_outputs() {
  for (const ValueId output : graph_.outputs) {
    const auto codes = codes_of_.find(output);
    Held held = codes != codes_of_.end() ? held_.at(codes->second) : floats_of(output);
    const AxisOrder plain = plain_order(shape_of(output).size());
    // Whoever reads the file knows two orders.
    const bool is_usual = held.order == plain || held.order == channels_last(plain.size()) ||
                          lie_alike(shape_of(output), held.order, plain);
    if (held.is_jumbled() || !is_usual) held = {in_axis_order(held, shape_of(output), plain), plain};
    network_.outputs.push_back(held.tensor);
    NetworkTensor& tensor = network_.tensors[static_cast<size_t>(held.tensor)];
    const bool is_input =
        std::find(network_.inputs.begin(), network_.inputs.end(), held.tensor) != network_.inputs.end();
    if (!is_input) tensor.name = graph_.name_of(output);
    tensor.order = held.order;
  }
}

/// Operators and tensors that nothing reads.
void Lowering::remove_unread() {
  std::vector<bool> read(network_.tensors.size());
  for (const std::vector<int32_t>* ends : {&network_.inputs, &network_.outputs})
    for (const int32_t end : *ends) read[static_cast<size_t>(end)] = true;
  std::vector<Operator> kept;
  for (size_t k = network_.operators.size(); k-- > 0;) {
    Operator& op = network_.operators[k];
    if (!read[static_cast<size_t>(op.outputs[0])]) continue;
    for (const std::vector<int32_t>* list : {&op.inputs, &op.intermediates})
      for (const int32_t one : *list)
        if (one >= 0) read[static_cast<size_t>(one)] = true;
    kept.push_back(std::move(op));
  }
  network_.operators.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  std::vector<int32_t> place(network_.tensors.size(), -1);
  std::vector<NetworkTensor> tensors;
  for (size_t k = 0; k < place.size(); ++k) {
    if (!read[k]) continue;
    place[k] = static_cast<int32_t>(tensors.size());
    tensors.push_back(std::move(network_.tensors[k]));
  }
  network_.tensors = std::move(tensors);
  const auto renumber = [&](std::vector<int32_t>& list) {
    for (int32_t& one : list)
      if (one >= 0) one = place[static_cast<size_t>(one)];
  };
  renumber(network_.inputs);
  renumber(network_.outputs);
  for (Operator& op : network_.operators) {
    renumber(op.inputs);
    renumber(op.outputs);
    renumber(op.intermediates);
  }
}

Network Lowering::run() {
  network_.name = graph_.name;
  lower_inputs();
  for (size_t k = 0; k < graph_.nodes().size(); ++k) lower_node(graph_.nodes()[k], k);
  lower_outputs();
  remove_unread();
  return std::move(network_);
}

Network lower(const Model& model, bool keeps_codes) {
  return Lowering(model, keeps_codes).run();
}

}  // namespace tersor::tflite
