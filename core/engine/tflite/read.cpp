// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/read.h"

#include <algorithm>

#include "core/tflite/flat_reader.h"
#include "core/tflite/read_model.h"

namespace tersor::tflite {

namespace {

[[noreturn]] void invalid(const std::string& message, const std::string& place = {}) {
  throw Error(ErrorCode::kInvalidModel, message, place, kDamagedHint);
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) : file_(bytes), owner_(owner) {}

  Network network() {
    const FlatTable model(file_, file_.follow(0));
    if (const auto version = model.number<uint32_t>(0, 0); version != kSchemaVersion)
      throw Error(ErrorCode::kUnsupportedModel,
                  "The TensorFlow Lite file (.tflite) has version " + std::to_string(version) +
                      " of the schema; version 3 is read.",
                  {}, "Convert the model with TensorFlow 1.9 or later, or export it again where the file is damaged.");
    buffers_ = model.tables(4);
    for (const FlatTable& code : model.tables(1)) {  // two fields: the first one had only a byte
      codes_.push_back(std::max<int32_t>(code.number<int8_t>(0, 0), code.number<int32_t>(3, 0)));
      customs_.push_back(code.text(1));
    }
    const std::vector<FlatTable> graphs = model.tables(2);
    if (graphs.empty()) invalid("The TensorFlow Lite file has no graph.");
    Network network;
    network.name = graphs[0].text(4);
    network.description = model.text(3);
    for (const FlatTable& tensor : graphs[0].tables(0)) network.tensors.push_back(tensor_of(tensor));
    count_ = static_cast<int32_t>(network.tensors.size());
    network.inputs = indices(graphs[0].numbers<int32_t>(1), false, "graph.inputs");
    network.outputs = indices(graphs[0].numbers<int32_t>(2), false, "graph.outputs");
    for (const FlatTable& op : graphs[0].tables(3))
      network.operators.push_back(operator_of(op, network.operators.size()));
    check_order(network);
    return network;
  }

 private:
  std::vector<int32_t> indices(std::vector<int32_t> list, bool may_be_absent, const std::string& place) const {
    for (const int32_t one : list)
      if (one >= count_ || one < (may_be_absent ? -1 : 0))
        invalid("There is no tensor " + std::to_string(one) + "; the graph has " + std::to_string(count_) + ".", place);
    return list;
  }

  NetworkTensor tensor_of(const FlatTable& table) const {
    NetworkTensor tensor{table.text(3), table.numbers<int32_t>(0)};
    const auto number = table.number<int8_t>(1, 0);
    tensor.dtype = type_of_number(number);
    if (tensor.dtype == DType::kUndefined)
      throw Error(
          ErrorCode::kUnsupportedModel,
          "The tensor \"" + tensor.name + "\" has the type number " + std::to_string(number) + ", which is not read.",
          {}, "Export the model with floats and integers of 8 to 64 bits.");
    for (int32_t& dim : tensor.shape) {
      if (dim == -1) dim = 1;  // free
      if (dim < 0) invalid("The tensor \"" + tensor.name + "\" has a negative dimension.");
    }
    if (const auto of = table.table(4)) {
      tensor.quantization = {of->numbers<float>(2), of->numbers<int64_t>(3), of->number<int32_t>(6, 0)};
      auto& [scale, zero_point, dimension] = tensor.quantization;
      zero_point.resize(scale.size(), zero_point.empty() ? 0 : zero_point[0]);
      for (const float one : scale)
        if (!(one > 0) || !(one <= 3.4e38F))
          invalid("A scale of the tensor \"" + tensor.name + "\" is no number above 0.");
      for (const int64_t one : zero_point)
        if (one < -32768 || one > 65535) invalid("A zero point of the tensor \"" + tensor.name + "\" is out of range.");
    }
    tensor.is_variable = table.number<int8_t>(5, 0) != 0;
    const auto buffer = table.number<uint32_t>(2, 0);
    if (buffer >= std::max<size_t>(buffers_.size(), 1))
      invalid("The tensor \"" + tensor.name + "\" names buffer " + std::to_string(buffer) + ", which is not there.");
    const std::span<const std::byte> data = buffers_.empty() ? std::span<const std::byte>() : buffers_[buffer].bytes(0);
    if (!data.empty()) tensor.data = Tensor::alias(tensor.dtype, tensor.full_shape(), data, owner_).aligned();
    return tensor;
  }

  Operator operator_of(const FlatTable& table, size_t index) const {
    const std::string place = "graph.operator[" + std::to_string(index) + "]";
    const auto code_index = table.number<uint32_t>(0, 0);
    if (code_index >= codes_.size()) invalid("Its code is not in the list of codes.", place);
    const OperatorKind* kind = find_kind(codes_[code_index]);
    if (kind == nullptr)
      throw Error(ErrorCode::kUnsupportedModel,
                  "Operator number " + std::to_string(codes_[code_index]) + " of TensorFlow Lite is not known here.",
                  place, "Export the model as ONNX, where one can be had.");
    const std::string named = place + " (" + std::string(kind->name) + ")";
    Operator op{kind->code, indices(table.numbers<int32_t>(1), true, named),
                indices(table.numbers<int32_t>(2), false, named)};
    if (op.inputs.empty() || op.inputs[0] < 0 || op.outputs.empty()) invalid("It has no input or no output.", named);
    if (op.code == Code::kCustom) {
      op.custom = customs_[code_index];
      take_custom_options(table.bytes(5), op.options);
    }
    const auto options = table.table(4);
    for (const OptionField& field : kind->fields) {
      if (field.slot < 0 || !options) break;
      if (field.real != nullptr)
        op.options.*field.real = options->number<float>(field.slot, 0);
      else if (field.list != nullptr)
        op.options.*field.list = options->numbers<int32_t>(field.slot);
      else if (field.is_byte)
        op.options.*field.number = options->number<int8_t>(field.slot, 0);
      else
        op.options.*field.number = options->number<int32_t>(field.slot, op.options.*field.number);
    }
    return op;
  }

  /// MediaPipe's transposed convolution has three numbers: 1 for SAME or 2 for VALID, and the strides.
  static void take_custom_options(std::span<const std::byte> bytes, Options& options) {
    int32_t numbers[3];
    if (bytes.size() < sizeof(numbers)) return;
    std::memcpy(numbers, bytes.data(), sizeof(numbers));
    options.padding = numbers[0] == 1 ? kSame : kValid;
    options.stride_w = numbers[1];
    options.stride_h = numbers[2];
  }

  /// Operators run in the file's order.
  static void check_order(const Network& network) {
    std::vector<bool> made(network.tensors.size());
    for (size_t k = 0; k < made.size(); ++k)
      made[k] = network.tensors[k].data.has_value() || network.tensors[k].is_variable;
    for (const int32_t input : network.inputs) made[static_cast<size_t>(input)] = true;
    for (size_t k = 0; k < network.operators.size(); ++k) {
      for (const int32_t input : network.operators[k].inputs)
        if (input >= 0 && !made[static_cast<size_t>(input)])
          invalid("It reads \"" + network.tensors[static_cast<size_t>(input)].name + "\" before anything makes it.",
                  "graph.operator[" + std::to_string(k) + "]");
      for (const int32_t output : network.operators[k].outputs) made[static_cast<size_t>(output)] = true;
    }
    for (const int32_t output : network.outputs)
      if (!made[static_cast<size_t>(output)]) invalid("Nothing makes an output of the graph.");
  }

  FlatFile file_;
  std::shared_ptr<const void> owner_;
  std::vector<FlatTable> buffers_;
  std::vector<int32_t> codes_;
  std::vector<std::string> customs_;  // names of operators of somebody's own
  int32_t count_ = 0;
};

}  // namespace

Network read(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  if (!is_tflite(bytes)) invalid("This is no TensorFlow Lite file.");
  return Reader(bytes, owner).network();
}

}  // namespace tersor::tflite
