// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/read_value.h"

#include "core/onnx/format.h"

namespace tersor::onnx {

namespace {

Dim read_dim(std::string_view message) {
  Dim dim;
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == dim_field::kValue) dim.value = std::max<int64_t>(fields.integer(), -1);
    if (fields.tag() == dim_field::kSymbol) dim.symbol = fields.text();
    if (fields.tag() == dim_field::kDenotation) dim.denotation = fields.text();
  }
  return dim;
}

void read_tensor_type(std::string_view message, std::string_view type_message, Value& value) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == tensor_type_field::kElementType) {
      const int64_t number = fields.integer();
      if (number >= 0 && number <= static_cast<int64_t>(DType::kInt2))
        value.dtype = static_cast<DType>(number);
      else
        value.type_bytes = std::string(type_message);
    }
    if (fields.tag() == tensor_type_field::kShape) {
      std::vector<Dim> dims;
      Fields shape(fields.view());
      while (shape.next())
        if (shape.tag() == shape_field::kDim) dims.push_back(read_dim(shape.view()));
      value.shape = std::move(dims);
    }
  }
}

void read_type(std::string_view message, Value& value) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == type_field::kTensor)
      read_tensor_type(fields.view(), message, value);
    else if (fields.tag() == type_field::kDenotation)
      value.denotation = fields.text();
    else
      value.type_bytes = std::string(message);
  }
}

}  // namespace

Value read_value(std::string_view message) {
  Value value;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.tag()) {
      case value_field::kName:
        value.name = fields.text();
        break;
      case value_field::kType:
        read_type(fields.view(), value);
        break;
      case value_field::kDoc:
        value.doc = fields.text();
        break;
      default:
        value.rest += fields.encoded();
        break;
    }
  }
  return value;
}

std::string canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string() : std::string(domain);
}

OpsetImport read_opset(std::string_view message) {
  OpsetImport import;
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == opset_field::kDomain) import.domain = canonical_domain(fields.view());
    if (fields.tag() == opset_field::kVersion) import.version = fields.integer();
  }
  return import;
}

}  // namespace tersor::onnx
