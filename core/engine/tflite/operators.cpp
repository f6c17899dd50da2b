// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/operators.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

#include "core/graph/quantized.h"
#include "core/ops/refuse.h"
#include "core/tflite/check_call.h"
#include "core/tflite/kernels.h"
#include "core/tflite/lstm.h"

namespace tersor::tflite {

namespace {

constexpr char kOptions[] = "options", kReal[] = "real", kShape[] = "shape", kType[] = "type", kScales[] = "scales",
               kZeroPoints[] = "zero_points";

std::string of_input(const char* key, size_t input) {
  return std::string(key) + "_" + std::to_string(input);
}

void put_grid(Node& node, const std::string& scales, const std::string& zero_points, const Quantization& grid) {
  if (grid.scale.empty()) return;
  node.attributes[scales] = grid.scale;
  node.attributes[zero_points] = grid.zero_point;
}

Quantization grid_of(const Node& node, const std::string& scales, const std::string& zero_points) {
  Quantization grid;
  if (const auto* found = node.attribute<std::vector<float>>(scales)) grid.scale = *found;
  grid.zero_point = node.ints_or(zero_points, {});
  if (grid.zero_point.size() != grid.scale.size()) ops::invalid("It has not one zero point for each scale.");
  for (const float scale : grid.scale)
    if (!(scale > 0) || !std::isfinite(scale)) ops::invalid("A scale is no number above 0.");
  return grid;
}

int32_t narrow(int64_t number) {
  if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max())
    ops::invalid("A number of its attributes does not fit into 32 bits.");
  return static_cast<int32_t>(number);
}

Operator operator_of(const OperatorKind& kind, const Node& node) {
  Operator op{kind.code};
  const std::vector<int64_t> numbers = node.ints_or(kOptions, {});
  size_t at = 0;
  for (const OptionField& field : kind.fields) {
    if (field.number != nullptr) {
      if (at == numbers.size()) ops::invalid("Its attribute options has too few numbers.");
      op.options.*field.number = narrow(numbers[at++]);
    }
    if (field.real != nullptr) op.options.*field.real = node.float_or(kReal, 0);
  }
  return op;
}

class MicroKernel : public ops::Kernel {
 public:
  MicroKernel(const OperatorKind& kind, ops::Setup& setup)
      : op_(operator_of(kind, setup.node)), output_(output_of(setup.node)) {
    const size_t count = setup.node.inputs.size();
    if (count == 0 || setup.node.outputs.size() != 1) ops::unsupported("Operators of one output are run here.");
    for (size_t k = 0; k < count; ++k) {
      NetworkTensor tensor;
      tensor.quantization = grid_of(setup.node, of_input(kScales, k), of_input(kZeroPoints, k));
      if (const Tensor* constant = setup.constant(k)) {
        tensor.data = constant->aligned();
        setup.absorb(k);
      }
      inputs_.push_back(std::move(tensor));
    }
  }

  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    check_runs(op_.code, inputs[0].present() ? inputs[0].dtype() : DType::kUndefined);
    return {{output_.dtype, output_.full_shape()}};
  }

  int64_t macs(std::span<const ops::Input> inputs, std::span<const ops::TensorType> outputs) const override {
    const auto at = [&](size_t input, int axis) {
      const Shape& shape = inputs[input].shape();
      const int place = axis < 0 ? axis + shape.rank() : axis;
      return place >= 0 && place < shape.rank() ? shape[place] : 0;
    };
    if (!ops::is_present(inputs, 1)) return 0;
    const int64_t made = outputs[0].shape.elements();
    switch (op_.code) {
      case Code::kConv2d:
        return made * at(1, 1) * at(1, 2) * at(1, 3);
      case Code::kDepthwiseConv2d:
        return made * at(1, 1) * at(1, 2);
      case Code::kFullyConnected:
        return made * at(1, 1);
      case Code::kBatchMatmul:
        return made * at(0, op_.options.adj_x != 0 ? -2 : -1);
      case Code::kUnidirectionalSequenceLstm:
        return 4 * made * (at(1, 0) + at(1, 1));
      case Code::kTransposeConv:
        return ops::is_present(inputs, 2) ? inputs[2].elements() * at(1, 0) * at(1, 1) * at(1, 2) : 0;
      default:
        return 0;
    }
  }

  void run(const ops::Call& call) const override {
    if (!call.outputs[0].present()) return;
    std::vector<NetworkTensor> tensors = inputs_;
    std::vector<Tensor> values(tensors.size());
    KernelCall kernel{op_, {}, output_};
    for (size_t k = 0; k < tensors.size(); ++k) {
      if (!ops::is_present(call.inputs, k)) {
        kernel.inputs.push_back({is_state(k) ? &tensors[k] : nullptr, nullptr});
        continue;
      }
      const ops::Input& input = call.inputs[k];
      tensors[k].dtype = input.dtype();
      for (const int64_t dim : input.shape().dims()) tensors[k].shape.push_back(narrow(dim));
      const std::span<const std::byte> given(input.data, static_cast<size_t>(input.type->bytes()));
      values[k] = tensors[k].data ? *tensors[k].data : Tensor::alias(input.dtype(), input.shape(), given, nullptr);
      kernel.inputs.push_back({&tensors[k], &values[k]});
    }
    check_call(kernel);
    const Tensor made = evaluate(kernel);
    const auto bytes = made.bytes();
    if (!bytes.empty()) std::memcpy(call.outputs[0].data, bytes.data(), bytes.size());
  }

 private:
  /// A tensor that holds no value before the run, and has a scale.
  bool is_state(size_t input) const {
    return op_.code == Code::kUnidirectionalSequenceLstm && (input == kLstmState || input == kLstmCell) &&
           !inputs_[input].quantization.scale.empty();
  }

  Operator op_;
  NetworkTensor output_;
  std::vector<NetworkTensor> inputs_;  // what is known of them before the run
};

std::deque<ops::Op> make_records() {
  std::deque<ops::Op> records;
  for (const OperatorKind& kind : all_kinds()) {
    if (kind.resolver.empty()) continue;
    ops::Op op;
    op.domain = kTfliteDomain;
    op.type = kind.name;
    op.prepare = [&kind](ops::Setup& setup) { return std::make_unique<MicroKernel>(kind, setup); };
    records.push_back(std::move(op));
  }
  return records;
}

}  // namespace

Node node_of(const Operator& op, std::span<const NetworkTensor* const> inputs, const NetworkTensor& output) {
  const OperatorKind& kind = kind_of(op.code);
  Node node;
  node.domain = kTfliteDomain;
  node.op_type = op.code == Code::kCustom ? op.custom : std::string(kind.name);
  std::vector<int64_t> numbers;
  for (const OptionField& field : kind.fields) {
    if (field.number != nullptr) numbers.push_back(op.options.*field.number);
    if (field.real != nullptr) node.attributes[kReal] = op.options.*field.real;
  }
  if (!numbers.empty()) node.attributes[kOptions] = std::move(numbers);
  for (size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k] != nullptr) put_grid(node, of_input(kScales, k), of_input(kZeroPoints, k), inputs[k]->quantization);
  node.attributes[kShape] = std::vector<int64_t>(output.shape.begin(), output.shape.end());
  node.attributes[kType] = static_cast<int64_t>(output.dtype);
  put_grid(node, kScales, kZeroPoints, output.quantization);
  if (!output.order.empty()) node.attributes[kOrder] = std::vector<int64_t>(output.order.begin(), output.order.end());
  return node;
}

NetworkTensor output_of(const Node& node) {
  NetworkTensor output;
  for (const int64_t dim : node.ints_or(kShape, {})) {
    if (dim < 0) ops::invalid("A dimension of its output is below 0.");
    output.shape.push_back(narrow(dim));
  }
  output.dtype = DType::kUndefined;
  for (const DType type :
       {DType::kFloat32, DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kBool})
    if (node.int_or(kType, 0) == static_cast<int64_t>(type)) output.dtype = type;
  if (output.dtype == DType::kUndefined) ops::unsupported("Its output has a type that is not run here.");
  output.quantization = grid_of(node, kScales, kZeroPoints);
  for (const int64_t axis : node.ints_or(kOrder, {})) output.order.push_back(narrow(axis));
  return output;
}

std::span<const ops::Op* const> operators() {
  static const std::deque<ops::Op> records = make_records();
  static const std::vector<const ops::Op*> list = [] {
    std::vector<const ops::Op*> made;
    for (const ops::Op& op : records) made.push_back(&op);
    return made;
  }();
  return list;
}

}  // namespace tersor::tflite
