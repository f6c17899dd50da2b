// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/interpret.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/tflite/check_call.h"

namespace tersor::tflite {

std::vector<Tensor> interpret(const Network& network, std::span<const Tensor> inputs) {
  std::vector<Tensor> values(network.tensors.size());
  for (size_t k = 0; k < values.size(); ++k)
    if (network.tensors[k].data) values[k] = *network.tensors[k].data;
  if (inputs.size() != network.inputs.size())
    throw Error(ErrorCode::kInvalidSamples, "The network has " + std::to_string(network.inputs.size()) + " inputs.");
  for (size_t k = 0; k < inputs.size(); ++k) {
    const NetworkTensor& tensor = network.tensors[static_cast<size_t>(network.inputs[k])];
    if (inputs[k].dtype() != tensor.dtype || inputs[k].shape() != tensor.full_shape())
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + tensor.name + "\" is " + std::string(name_of(inputs[k].dtype())) + " " +
                      inputs[k].shape().text() + "; the file wants " + std::string(name_of(tensor.dtype)) + " " +
                      tensor.full_shape().text() + ".");
    values[static_cast<size_t>(network.inputs[k])] = inputs[k];
  }
  for (size_t k = 0; k < network.operators.size(); ++k) {
    const Operator& op = network.operators[k];
    KernelCall call{op, {}, network.tensors[static_cast<size_t>(op.outputs[0])]};
    for (const int32_t input : op.inputs) {
      const auto at = static_cast<size_t>(input);
      call.inputs.push_back(input < 0 ? Argument{} : Argument{&network.tensors[at], &values[at]});
    }
    try {
      check_call(call);
      values[static_cast<size_t>(op.outputs[0])] = evaluate(call);
    } catch (const Error& error) {
      throw error.within("graph.operator[" + std::to_string(k) + "] (" + std::string(kind_of(op.code).name) + ")");
    }
  }
  return values;
}

std::vector<Tensor> interpret_floats(const Network& network, std::span<const Tensor> inputs) {
  const auto in_floats = [&](int32_t index) {
    NetworkTensor tensor = network.tensors[static_cast<size_t>(index)];
    tensor.dtype = DType::kFloat32;
    tensor.quantization = {};
    return tensor;
  };
  std::vector<Tensor> codes;
  for (size_t k = 0; k < inputs.size() && k < network.inputs.size(); ++k) {
    const NetworkTensor& tensor = network.tensors[static_cast<size_t>(network.inputs[k])];
    const NetworkTensor floats = in_floats(network.inputs[k]);
    const Operator quantize{Code::kQuantize};
    const bool is_code = tensor.dtype == DType::kInt8 && inputs[k].dtype() == DType::kFloat32;
    codes.push_back(is_code ? evaluate({quantize, {{&floats, &inputs[k]}}, tensor}) : inputs[k]);
  }
  const std::vector<Tensor> values = interpret(network, codes);
  std::vector<Tensor> outputs;
  for (const int32_t output : network.outputs) {
    const NetworkTensor& tensor = network.tensors[static_cast<size_t>(output)];
    const Tensor& value = values[static_cast<size_t>(output)];
    const NetworkTensor floats = in_floats(output);
    const Operator dequantize{Code::kDequantize};
    const bool is_code = tensor.dtype == DType::kInt8 && !tensor.quantization.scale.empty();
    outputs.push_back(is_code ? evaluate({dequantize, {{&tensor, &value}}, floats}) : value);
  }
  return outputs;
}

}  // namespace tersor::tflite
