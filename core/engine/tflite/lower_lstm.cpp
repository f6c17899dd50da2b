// SPDX-License-Identifier: Apache-2.0
// An LSTM of one direction as UNIDIRECTIONAL_SEQUENCE_LSTM. Weights are quantized here, one scale for each gate and
// operand; a scale of the cell follows from how far it can come.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/attribute_defaults.h"
#include "core/tensor/rounding.h"
#include "core/tflite/lstm_weights.h"
#include "core/tflite/rules.h"

namespace tersor::tflite {

namespace {

constexpr const char* kCut = "Cut the model before this node, and compute the rest outside.";
/// ONNX has the gates i, o, f, c.
constexpr size_t kGateInOnnx[kLstmGates] = {0, 2, 3, 1};
/// Steps of the cell: from 2^-15 to 2^-11, which holds it at +-16, where tanh has long been 1.
constexpr int kFinestCell = -15, kCoarsestCell = -11;

bool is_zero(const Tensor& tensor) {
  const auto numbers = tensor.data<float>();
  return std::all_of(numbers.begin(), numbers.end(), [](float one) { return one == 0; });
}

bool has_input(const Node& node, size_t input) {
  return input < node.inputs.size() && node.inputs[input].valid();
}

/// Its state comes from outside, or its last cell is read, which TensorFlow Lite's LSTM keeps for itself.
bool shows_state(Lowering& graph, const Node& node) {
  for (const size_t state : {size_t{5}, size_t{6}}) {
    const auto given = has_input(node, state) ? graph.constant_of(node.inputs[state]) : std::nullopt;
    if (has_input(node, state) && (!given || !is_zero(floats_of(*given)))) return true;
  }
  return node.outputs.size() > 2 && node.outputs[2].valid() && graph.is_read(node.outputs[2]);
}

void check_can_be_written(Lowering& graph, const Site& site, const LstmSizes& sizes) {
  const Node& node = site.node;
  if (string_of(node, "direction") != "forward")
    graph.refuse(site, "TensorFlow Lite Micro has LSTMs of the direction forward alone.", kCut);
  if (const auto* names = node.attribute<std::vector<std::string>>("activations"))
    if (*names != std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"})
      graph.refuse(site, "TensorFlow Lite's LSTM has the activations Sigmoid, Tanh and Tanh.", kCut);
  constexpr float kMostOfSums = 8;
  if (int_of(node, "input_forget") != 0 || node.float_or("clip", kMostOfSums) < kMostOfSums || has_input(node, 7))
    graph.refuse(site, "TensorFlow Lite Micro's LSTM has no peepholes, no coupled gates and no clip below 8.", kCut);
  if (const auto lengths = graph.numbers_of(site, 4))
    for (const int64_t length : *lengths)
      if (length != sizes.steps) graph.refuse(site, "Its sequences are of several lengths.", kCut);
}

}  // namespace

std::vector<GateWeights> gates_of(Lowering& graph, const Site& site, const LstmSizes& sizes) {
  const auto floats = [&](size_t input) {
    const auto found = graph.constant_of(site.node.inputs[input]);
    if (!found) graph.refuse(site, "Its weight is no constant; TensorFlow Lite's kernels need one.", kCut);
    return floats_of(*found);
  };
  const Tensor w = floats(1), r = floats(2);
  const Tensor b = has_input(site.node, 3) ? floats(3) : Tensor::make(DType::kFloat32, Shape{1, 8 * sizes.units});
  std::vector<GateWeights> gates;
  for (const size_t at : kGateInOnnx) {
    const auto units = static_cast<size_t>(sizes.units), inputs = static_cast<size_t>(sizes.inputs);
    const auto rows = w.data<float>().subspan(at * units * inputs, units * inputs);
    const auto state_rows = r.data<float>().subspan(at * units * units, units * units);
    GateWeights& gate = gates.emplace_back();
    gate.input.assign(rows.begin(), rows.end());
    gate.state.assign(state_rows.begin(), state_rows.end());
    for (size_t u = at * units; u < (at + 1) * units; ++u)
      gate.bias.push_back(static_cast<double>(b.data<float>()[u]) + b.data<float>()[u + kLstmGates * units]);
  }
  return gates;
}

namespace {

/// How far from 0 the sums of a unit can come, where inputs are in the grid and states in [-1, 1].
double reach_of(const GateWeights& gate, size_t unit, double farthest) {
  double reach = std::abs(gate.bias[unit]);
  const size_t units = gate.bias.size(), inputs = gate.input.size() / units;
  for (size_t k = 0; k < inputs; ++k) reach += farthest * std::abs(double{gate.input[unit * inputs + k]});
  for (size_t k = 0; k < units; ++k) reach += std::abs(double{gate.state[unit * units + k]});
  return reach;
}

}  // namespace

double cell_reach(const std::vector<GateWeights>& gates, double farthest, int64_t steps, double first) {
  constexpr double kEnough = 1 << 12;
  double most = first;
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (size_t u = 0; u < gates[0].bias.size(); ++u) {
    const double added = sigmoid(reach_of(gates[0], u, farthest)) * std::tanh(reach_of(gates[2], u, farthest));
    const double kept = sigmoid(reach_of(gates[1], u, farthest));
    double cell = first;
    for (int64_t t = 0; t < steps && cell < kEnough; ++t) most = std::max(most, cell = kept * cell + added);
  }
  return most;
}

namespace {

/// The finest steps, a power of two, in which 16 bits hold a cell that reaches so far.
float cell_scale(double reach) {
  int exponent = kFinestCell;
  while (exponent < kCoarsestCell && reach > std::ldexp(1, 15 + exponent)) ++exponent;
  return static_cast<float>(std::ldexp(1, exponent));
}

/// Writes the constants of an LSTM, in integers or floats as the site is.
class LstmWriter {
 public:
  LstmWriter(Lowering& graph, const Site& site, const LstmSizes& sizes) : graph_(graph), site_(site), sizes_(sizes) {}

  int32_t weight(const std::string& name, const std::vector<float>& weights, int64_t depth) {
    const Shape shape{sizes_.units, depth};
    if (!site_.in_integers) return graph_.constant(name, Tensor::of<float>(shape, std::span<const float>(weights)));
    constexpr float kHighest = 127;
    float largest = 0;
    for (const float one : weights) largest = std::max(largest, std::abs(one));
    const float scale = largest > 0 ? largest / kHighest : 1 / kHighest;
    std::vector<int8_t> codes;
    for (const float one : weights)
      codes.push_back(static_cast<int8_t>(std::clamp(round_half_even(one / scale), -kHighest, kHighest)));
    return graph_.constant(name, Tensor::of<int8_t>(shape, std::span<const int8_t>(codes)), {{scale}, {0}, 0});
  }

  int32_t bias(const std::string& name, const std::vector<double>& bias, int32_t x, int32_t weight) {
    const Shape shape{sizes_.units};
    if (!site_.in_integers) {
      const std::vector<float> floats(bias.begin(), bias.end());
      return graph_.constant(name, Tensor::of<float>(shape, std::span<const float>(floats)));
    }
    const float scale = graph_.at(x).quantization.scale[0] * graph_.at(weight).quantization.scale[0];
    std::vector<int32_t> codes;
    for (const double one : bias) {
      const double code = round_half_even(one / scale);
      constexpr double kRoom = 255.0 * 127;  // of one product
      if (!(std::abs(code) + kRoom * static_cast<double>(sizes_.inputs) < std::numeric_limits<int32_t>::max()))
        graph_.refuse(site_, "The sums of its gates may pass 32 bits.", kCut);
      codes.push_back(static_cast<int32_t>(code));
    }
    return graph_.constant(name, Tensor::of<int32_t>(shape, std::span<const int32_t>(codes)), {{scale}, {0}, 0});
  }

  /// As LiteRT wants them: four empty ones, and one with the scale of the state.
  std::vector<int32_t> intermediates(const Quantization& state) {
    if (!site_.in_integers) return {};
    std::vector<int32_t> made;
    for (int k = 0; k < 4; ++k)
      made.push_back(graph_.tensor(site_.name + "_scale_" + std::to_string(k), {0}, DType::kFloat32, {}));
    made.push_back(graph_.tensor(site_.name + "_scale_4", {0}, DType::kInt8, state));
    return made;
  }

 private:
  Lowering& graph_;
  const Site& site_;
  const LstmSizes& sizes_;
};

/// The operator: all states, their axes as those of X.
Held write_sequence(Lowering& graph, const Site& site, const LstmSizes& sizes, bool batch_first) {
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  Held x = graph.operand(site, 0);
  const AxisOrder plain = plain_order(3), swapped{1, 0, 2};
  if (x.is_jumbled() || (x.order != plain && x.order != swapped)) x = {graph.in_axis_order(x, shape, plain), plain};
  const NetworkTensor from = graph.at(x.tensor);
  const std::vector<GateWeights> gates = gates_of(graph, site, sizes);
  LstmWriter writer(graph, site, sizes);
  std::vector<int32_t> inputs(kLstmInputs, -1);
  inputs[0] = x.tensor;
  for (size_t k = 0; k < kLstmGates; ++k) {
    const std::string name = site.name + "_gate_" + std::to_string(k);
    inputs[kLstmWeights + k] = writer.weight(name + "_weight", gates[k].input, sizes.inputs);
    inputs[kLstmStateWeights + k] = writer.weight(name + "_state_weight", gates[k].state, sizes.units);
    inputs[kLstmBiases + k] = writer.bias(name + "_bias", gates[k].bias, x.tensor, inputs[kLstmWeights + k]);
  }
  Quantization state, cell;
  graph.need_kernel(site, Code::kUnidirectionalSequenceLstm);
  if (site.in_integers) {
    const Quantization& grid = from.quantization;
    const auto zero = static_cast<double>(grid.zero_point[0]);
    const double farthest = grid.scale[0] * std::max(127 - zero, zero + 128);
    // Of the last state alone the range of those before is not known.
    state = site.output == 0 ? site.grid : Quantization{{1.0F / 128}, {0}, 0};
    cell = {{cell_scale(cell_reach(gates, farthest, sizes.steps))}, {0}, 0};
  }
  const Dims of_state{sizes.batch, sizes.units};
  inputs[kLstmState] = graph.variable(site.name + "_state", of_state, from.dtype, state);
  inputs[kLstmCell] =
      graph.variable(site.name + "_cell", of_state, site.in_integers ? DType::kInt16 : DType::kFloat32, cell);
  Options options;
  options.activation = kTanhActivation;
  options.time_major = (x.order == plain) != batch_first ? 1 : 0;
  NetworkTensor output{site.name, from.shape, from.dtype, state};
  output.shape[2] = static_cast<int32_t>(sizes.units);
  const int32_t made = graph.append(Code::kUnidirectionalSequenceLstm, std::move(inputs), std::move(output),
                                    std::move(options), writer.intermediates(state));
  return {made, x.order};
}

Held last_state(Lowering& graph, const Site& site, const LstmSizes& sizes, const Held& sequence, int time) {
  if (sizes.steps == 1) return sequence;
  const NetworkTensor from = graph.at(sequence.tensor);
  const auto at = static_cast<size_t>(position_of(sequence.order, time));
  Dims begin(3, 0), end(from.shape.begin(), from.shape.end());
  begin[at] = sizes.steps - 1;
  NetworkTensor output{site.name, from.shape, from.dtype, from.quantization};
  output.shape[at] = 1;
  const std::vector<int32_t> inputs{sequence.tensor, graph.numbers(begin), graph.numbers(end),
                                    graph.numbers(Dims(3, 1))};
  return {graph.append(Code::kStridedSlice, inputs, std::move(output)), sequence.order};
}

/// As one operator.
Held whole_lstm(Lowering& graph, const Site& site, const LstmSizes& sizes, bool batch_first) {
  const Dims& x = graph.shape_of(site.node.inputs[0]);
  const int time = batch_first ? 1 : 0;
  Held& sequence = graph.sequence_of(site);
  if (sequence.tensor < 0) sequence = write_sequence(graph, site, sizes, batch_first);
  Dims from{x[0], x[1], sizes.units};
  Held made = sequence;
  if (site.output == 1) {
    made = last_state(graph, site, sizes, sequence, time);
    from[static_cast<size_t>(time)] = 1;
  }
  return graph.reshape(made, from, graph.result_shape(site), site.name);
}

}  // namespace

Held lower_lstm(Lowering& graph, const Site& site) {
  const Dims &x = graph.shape_of(site.node.inputs[0]), &w = graph.shape_of(site.node.inputs[1]);
  const bool batch_first = int_of(site.node, "layout") != 0;
  const int batch = batch_first ? 0 : 1, time = 1 - batch;
  const auto size = [&](int axis) { return x[static_cast<size_t>(axis)]; };
  const LstmSizes sizes{size(batch), size(time), x[2], w[1] / static_cast<int64_t>(kLstmGates)};
  check_can_be_written(graph, site, sizes);
  Held made = shows_state(graph, site.node) ? lower_unrolled_lstm(graph, site, sizes, batch_first)
                                            : whole_lstm(graph, site, sizes, batch_first);
  const NetworkTensor now = graph.at(made.tensor);
  if (site.in_integers) {
    made.tensor = graph.requantize(made.tensor, site.grid, site.dtype, site.name);
  } else if (now.dtype != DType::kFloat32) {
    made.tensor = graph.append(Code::kDequantize, {made.tensor}, {site.name, now.shape, DType::kFloat32});
  }
  return made;
}

}  // namespace tersor::tflite
