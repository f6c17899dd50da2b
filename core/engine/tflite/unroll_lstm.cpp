// SPDX-License-Identifier: Apache-2.0
// An LSTM whose state comes from outside or is given out, one time step after the other: products, sums, sigmoids and
// tangents in int16, whatever the model's activations have. Nothing in between needs a range that samples have shown.
#include <algorithm>
#include <cmath>

#include "core/tensor/rounding.h"
#include "core/tflite/lstm_weights.h"
#include "core/tflite/rules.h"

namespace tersor::tflite {

namespace {

constexpr int64_t kMostSteps = 64;
/// Of sums before a sigmoid or tangent, which hold them at +-16.
constexpr float kSumScale = 1.0F / 2048;
constexpr float kUnitScale = 1.0F / 32768;
/// The gates of a row of sums: those behind a sigmoid, then that behind a tangent.
constexpr size_t kOrder[kLstmGates] = {0, 1, 3, 2};

class Unroller {
 public:
  Unroller(Lowering& graph, const Site& site, const LstmSizes& sizes)
      : graph_(graph), site_(site), sizes_(sizes), gates_(gates_of(graph, site, sizes)) {}

  /// The states behind each step [batch, units], then the last cell.
  std::vector<int32_t> states(bool batch_first) {
    int32_t x = wide(graph_.operand_in(site_, 0, batch_first ? AxisOrder{1, 0, 2} : plain_order(3)));
    x = reshaped(x, {sizes_.steps * sizes_.batch, sizes_.inputs});
    int32_t state = first(5), cell = first(6);
    const double reach = site_.in_integers ? cell_reach(gates_, farthest(x), sizes_.steps, farthest(cell)) : 0;
    const auto scale = static_cast<float>(std::max(reach, 1.0) / 32767);
    const int32_t of_inputs = weights(true), of_state = weights(false), bias = biases(x, of_inputs);
    const int64_t units = sizes_.units, batch = sizes_.batch;
    const int32_t sums =
        put(Code::kFullyConnected, {x, of_inputs, bias}, "_inputs", {sizes_.steps * batch, 4 * units}, kSumScale);
    std::vector<int32_t> made;
    for (int64_t step = 0; step < sizes_.steps; ++step) {
      const int32_t own = part(sums, {step * batch, 0}, {(step + 1) * batch, 4 * units});
      const int32_t from_state = put(Code::kFullyConnected, {state, of_state}, "_state", {batch, 4 * units}, kSumScale);
      const int32_t all = put(Code::kAdd, {own, from_state}, "_gates", {batch, 4 * units}, kSumScale);
      const int32_t open =
          put(Code::kLogistic, {part(all, {0, 0}, {batch, 3 * units})}, "_open", {batch, 3 * units}, kUnitScale);
      const int32_t fresh =
          put(Code::kTanh, {part(all, {0, 3 * units}, {batch, 4 * units})}, "_fresh", {batch, units}, kUnitScale);
      const auto gate = [&](int64_t k) { return part(open, {0, k * units}, {batch, (k + 1) * units}); };
      const int32_t added = put(Code::kMul, {gate(0), fresh}, "_added", {batch, units}, scale);
      const int32_t kept = put(Code::kMul, {gate(1), cell}, "_kept", {batch, units}, scale);
      cell = put(Code::kAdd, {kept, added}, "_cell", {batch, units}, scale);
      const int32_t bent = put(Code::kTanh, {cell}, "_bent", {batch, units}, kUnitScale);
      state = put(Code::kMul, {gate(2), bent}, "_hidden", {batch, units}, kUnitScale);
      made.push_back(state);
    }
    made.push_back(cell);
    return made;
  }

 private:
  Quantization grid(float scale) const { return site_.in_integers ? Quantization{{scale}, {0}, 0} : Quantization{}; }
  DType dtype() const { return site_.in_integers ? DType::kInt16 : DType::kFloat32; }

  int32_t put(Code code, std::vector<int32_t> inputs, const char* part_of, const Dims& shape, float scale,
              Options options = {}) {
    NetworkTensor output{site_.name + part_of, {shape.begin(), shape.end()}, dtype(), grid(scale)};
    return graph_.append(code, std::move(inputs), std::move(output), std::move(options));
  }

  /// Every code of 8 bits is one of 16.
  int32_t wide(int32_t tensor) {
    const NetworkTensor from = graph_.at(tensor);
    if (from.dtype != DType::kInt8) return tensor;
    return graph_.requantize(tensor, {{from.quantization.scale[0] / 128}, {0}, 0}, DType::kInt16, from.name);
  }

  int32_t reshaped(int32_t tensor, const Dims& dims) {
    const NetworkTensor from = graph_.at(tensor);
    Options options;
    options.new_shape = {dims.begin(), dims.end()};
    if (from.shape == options.new_shape) return tensor;
    NetworkTensor output{from.name + "_rows", options.new_shape, from.dtype, from.quantization};
    return graph_.append(Code::kReshape, {tensor, graph_.numbers(dims)}, std::move(output), std::move(options));
  }

  int32_t part(int32_t tensor, const Dims& begin, const Dims& end) {
    const NetworkTensor from = graph_.at(tensor);
    if (begin == Dims{0, 0} && end == Dims(from.shape.begin(), from.shape.end())) return tensor;
    return put(Code::kStridedSlice, {tensor, graph_.numbers(begin), graph_.numbers(end), graph_.numbers({1, 1})},
               "_part", {end[0] - begin[0], end[1] - begin[1]}, site_.in_integers ? from.quantization.scale[0] : 0);
  }

  /// The state or cell before the first step.
  int32_t first(size_t input) {
    const Dims shape{sizes_.batch, sizes_.units};
    const bool is_given = input < site_.node.inputs.size() && site_.node.inputs[input].valid();
    const auto given = is_given ? graph_.constant_of(site_.node.inputs[input]) : std::nullopt;
    if (is_given && Shape(graph_.shape_of(site_.node.inputs[input])).elements() != Shape(shape).elements())
      graph_.refuse(site_, "Its state has not a value for each unit of each sequence.");
    if (is_given && !given) return reshaped(wide(graph_.operand_in(site_, input, plain_order(3))), shape);
    const Tensor floats =
        given ? floats_of(*given).reshaped(Shape(shape)) : Tensor::make(DType::kFloat32, Shape(shape));
    const std::string name = site_.name + (input == 5 ? "_first_state" : "_first_cell");
    if (!site_.in_integers) return graph_.constant(name, floats);
    float largest = 0;
    for (const float one : floats.data<float>()) largest = std::max(largest, std::abs(one));
    const float scale = largest > 0 ? largest / 32767 : kUnitScale;
    std::vector<int64_t> codes;
    for (const float one : floats.data<float>()) codes.push_back(static_cast<int64_t>(round_half_even(one / scale)));
    return graph_.constant(name, integers(DType::kInt16, floats.shape(), codes), grid(scale));
  }

  /// How far from 0 a tensor of int16 reaches.
  double farthest(int32_t tensor) const { return 32768.0 * graph_.at(tensor).quantization.scale[0]; }

  /// [4 units, inputs or units], a scale for each row.
  int32_t weights(bool of_inputs) {
    std::vector<float> rows;
    for (const size_t gate : kOrder) {
      const std::vector<float>& own = of_inputs ? gates_[gate].input : gates_[gate].state;
      rows.insert(rows.end(), own.begin(), own.end());
    }
    const int64_t depth = of_inputs ? sizes_.inputs : sizes_.units;
    const Shape shape{4 * sizes_.units, depth};
    const std::string name = site_.name + (of_inputs ? "_weight" : "_state_weight");
    if (!site_.in_integers) return graph_.constant(name, Tensor::of<float>(shape, std::span<const float>(rows)));
    constexpr float kHighest = 127;
    Quantization scales;
    std::vector<int8_t> codes;
    for (auto row = rows.begin(); row != rows.end(); row += depth) {
      float largest = 0;
      std::for_each(row, row + depth, [&](float one) { largest = std::max(largest, std::abs(one)); });
      const float scale = largest > 0 ? largest / kHighest : 1 / kHighest;
      std::for_each(row, row + depth, [&](float one) {
        codes.push_back(static_cast<int8_t>(std::clamp(round_half_even(one / scale), -kHighest, kHighest)));
      });
      scales.scale.push_back(scale);
      scales.zero_point.push_back(0);
    }
    return graph_.constant(name, Tensor::of<int8_t>(shape, std::span<const int8_t>(codes)), std::move(scales));
  }

  int32_t biases(int32_t x, int32_t weight) {
    std::vector<double> bias;
    for (const size_t gate : kOrder) bias.insert(bias.end(), gates_[gate].bias.begin(), gates_[gate].bias.end());
    const Shape shape{static_cast<int64_t>(bias.size())};
    if (!site_.in_integers) {
      const std::vector<float> floats(bias.begin(), bias.end());
      return graph_.constant(site_.name + "_bias", Tensor::of<float>(shape, std::span<const float>(floats)));
    }
    Quantization scales = graph_.at(weight).quantization;
    std::vector<int64_t> codes;
    for (size_t k = 0; k < bias.size(); ++k) {
      scales.scale[k] *= graph_.at(x).quantization.scale[0];
      const double code = round_half_even(bias[k] / scales.scale[k]);
      if (!(std::abs(code) < 0x1p40)) graph_.refuse(site_, "A bias of its gates does not fit into its integers.");
      codes.push_back(static_cast<int64_t>(code));
    }
    return graph_.constant(site_.name + "_bias", integers(DType::kInt64, shape, codes), std::move(scales));
  }

  Lowering& graph_;
  const Site& site_;
  const LstmSizes& sizes_;
  const std::vector<GateWeights> gates_;
};

/// All states [steps, batch, units].
int32_t stacked(Lowering& graph, const Site& site, const LstmSizes& sizes, std::vector<int32_t> states) {
  states.pop_back();
  constexpr size_t kMost = 10;  // inputs of one operator, in TensorFlow Lite Micro
  while (states.size() > 1) {
    const size_t count = std::min(kMost, states.size());
    const std::vector<int32_t> some(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(count));
    NetworkTensor joined = graph.at(some[0]);
    joined.name = site.name + "_joined";
    for (size_t k = 1; k < count; ++k) joined.shape[0] += graph.at(some[k]).shape[0];
    states.erase(states.begin() + 1, states.begin() + static_cast<std::ptrdiff_t>(count));
    states[0] = graph.append(Code::kConcatenation, some, std::move(joined));
  }
  const Dims dims{sizes.steps, sizes.batch, sizes.units};
  NetworkTensor output = graph.at(states[0]);
  Options options;
  output.name = site.name + "_sequence";
  output.shape = options.new_shape = {dims.begin(), dims.end()};
  return graph.append(Code::kReshape, {states[0], graph.numbers(dims)}, std::move(output), std::move(options));
}

}  // namespace

Held lower_unrolled_lstm(Lowering& graph, const Site& site, const LstmSizes& sizes, bool batch_first) {
  if (sizes.steps < 1 || sizes.steps > kMostSteps)
    graph.refuse(site,
                 "Its state is read or given out, so that its time steps are written one by one; it has " +
                     std::to_string(sizes.steps) + ", and may have " + std::to_string(kMostSteps) + ".",
                 "Give the model fewer steps at once, or whole sequences without their state.");
  std::vector<int32_t>& states = graph.states_of(site);
  if (states.empty()) states = Unroller(graph, site, sizes).states(batch_first);
  const Dims& shape = graph.result_shape(site);
  if (site.output == 0) {
    const Held sequence{stacked(graph, site, sizes, states), batch_first ? AxisOrder{1, 0, 2} : plain_order(3)};
    const Dims from =
        batch_first ? Dims{sizes.batch, sizes.steps, sizes.units} : Dims{sizes.steps, sizes.batch, sizes.units};
    return graph.reshape(sequence, from, shape, site.name);
  }
  const int32_t last = states[states.size() - (site.output == 1 ? 2 : 1)];
  return graph.reshape({last, plain_order(2)}, {sizes.batch, sizes.units}, shape, site.name);
}

}  // namespace tersor::tflite
