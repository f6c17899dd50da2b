// SPDX-License-Identifier: Apache-2.0
// Every kernel against what tflite-micro gave: kernel_values.txt.
#include "core/tflite/kernels.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/tflite/check_call.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

const OperatorKind& kind_named(const std::string& name) {
  for (int32_t code = 0; code < 256; ++code)
    if (const OperatorKind* kind = find_kind(code); kind != nullptr && kind->name == name) return *kind;
  throw Error(ErrorCode::kInternal, "no operator " + name);
}

template <class T>
Tensor read_elements(std::istringstream& line, const Shape& shape) {
  std::vector<T> values;
  for (double one = 0; line >> one;) values.push_back(static_cast<T>(one));
  return Tensor::of<T>(shape, std::span<const T>(values));
}

NetworkTensor read_tensor(const std::string& text) {
  std::istringstream line(text);
  std::string type, shape, scales;
  int64_t zero_point = 0;
  NetworkTensor tensor;
  line >> type;
  tensor.is_variable = type == "state";
  if (tensor.is_variable) line >> type;
  line >> shape >> scales >> zero_point >> tensor.quantization.dimension;
  if (shape != "-")
    for (const std::string& dim : split(shape, ',')) tensor.shape.push_back(std::stoi(dim));
  if (scales != "-")
    for (const std::string& scale : split(scales, ',')) {
      tensor.quantization.scale.push_back(std::stof(scale));
      tensor.quantization.zero_point.push_back(zero_point);
    }
  tensor.dtype = type == "int8"    ? DType::kInt8
                 : type == "int16" ? DType::kInt16
                 : type == "int32" ? DType::kInt32
                 : type == "int64" ? DType::kInt64
                                   : DType::kFloat32;
  if (tensor.is_variable) return tensor;
  if (type == "int8") tensor.data = read_elements<int8_t>(line, tensor.full_shape());
  if (type == "int16") tensor.data = read_elements<int16_t>(line, tensor.full_shape());
  if (type == "int32") tensor.data = read_elements<int32_t>(line, tensor.full_shape());
  if (type == "int64") tensor.data = read_elements<int64_t>(line, tensor.full_shape());
  if (type == "float32") tensor.data = read_elements<float>(line, tensor.full_shape());
  return tensor;
}

struct Case {
  std::string text;
  Operator op;
  std::vector<NetworkTensor> tensors;  // the output last
};

Case read_case(const std::string& text) {
  std::vector<std::string> parts = split(text, ';');
  std::istringstream head(parts[0]);
  std::string name;
  head >> name;
  const OperatorKind& kind = kind_named(name);
  Case one{text, {kind.code}, {}};
  for (const OptionField& field : kind.fields) {
    if (field.slot < 0) break;
    if (field.real != nullptr)
      head >> one.op.options.*field.real;
    else if (field.number != nullptr)
      head >> one.op.options.*field.number;
  }
  for (size_t k = 1; k < parts.size(); ++k) {
    const bool is_absent = parts[k] == " absent";
    one.tensors.push_back(is_absent ? NetworkTensor{} : read_tensor(parts[k]));
    one.op.inputs.push_back(is_absent ? -1 : static_cast<int32_t>(k) - 1);
  }
  one.op.outputs = {one.op.inputs.back()};
  one.op.inputs.pop_back();
  return one;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::ifstream file("tests/tflite/kernel_values.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') all.push_back(read_case(line));
  return all;
}

}  // namespace

TEST_CASE("kernels give what tflite-micro gives") {
  const std::vector<Case> all = cases();
  REQUIRE(all.size() >= 121);
  for (const Case& one : all) {
    KernelCall call{one.op, {}, one.tensors.back()};
    for (size_t k = 0; k + 1 < one.tensors.size(); ++k)
      call.inputs.push_back(
          {one.op.inputs[k] < 0 ? nullptr : &one.tensors[k], one.tensors[k].data ? &*one.tensors[k].data : nullptr});
    check_call(call);
    INFO(one.text);
    REQUIRE(evaluate(call) == *one.tensors.back().data);
  }
}
