// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/read_tensor.h"

#include <cstring>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/format.h"

namespace tersor::onnx {

namespace {

/// A TensorProto's fields as they lie in the file.
struct EncodedTensor {
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::optional<std::string_view> raw;
  std::vector<std::string_view> typed;  // whole encoded fields of repeated numbers, in order
  std::vector<std::string> strings;
  std::vector<std::string_view> external;
  bool is_external = false;
};

EncodedTensor read_fields(std::string_view message, NamedTensor& named) {
  EncodedTensor encoded;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.tag()) {
      case tensor_field::kDims:
        fields.add_to(encoded.dims);
        break;
      case tensor_field::kDataType:
        encoded.data_type = fields.integer();
        break;
      case tensor_field::kSegment:
        throw Error(ErrorCode::kUnsupportedModel, "The tensor is stored in segments, which this version cannot read.");
      case tensor_field::kFloats:
      case tensor_field::kInt32s:
      case tensor_field::kInt64s:
      case tensor_field::kDoubles:
      case tensor_field::kUint64s:
        encoded.typed.push_back(fields.encoded());
        break;
      case tensor_field::kStrings:
        encoded.strings.push_back(fields.text());
        break;
      case tensor_field::kName:
        named.name = fields.text();
        break;
      case tensor_field::kRaw:
        encoded.raw = fields.view();
        break;
      case tensor_field::kDoc:
        named.doc = fields.text();
        break;
      case tensor_field::kExternal:
        encoded.external.push_back(fields.view());
        break;
      case tensor_field::kLocation:
        encoded.is_external = fields.integer() == 1;
        break;
      default:
        break;
    }
  }
  return encoded;
}

std::span<const std::byte> bytes_of(std::string_view view) {
  return std::as_bytes(std::span(view.data(), view.size()));
}

/// The field of repeated numbers that ONNX prescribes for a type.
Tag typed_field(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return tensor_field::kFloats;
    case DType::kFloat64:
    case DType::kComplex128:
      return tensor_field::kDoubles;
    case DType::kInt64:
      return tensor_field::kInt64s;
    case DType::kUint32:
    case DType::kUint64:
      return tensor_field::kUint64s;
    default:
      return tensor_field::kInt32s;
  }
}

std::string count_text(const Shape& shape, DType dtype, size_t found, size_t wanted) {
  return "A " + std::string(name_of(dtype)) + " tensor of shape " + shape.text() + " needs " + std::to_string(wanted) +
         " numbers, found " + std::to_string(found) + ".";
}

/// Packs `numbers` into a tensor, `step` bytes of each (little-endian).
template <class T>
Tensor pack(DType dtype, const Shape& shape, const std::vector<T>& numbers, size_t step) {
  const size_t wanted = bytes_for(dtype, shape.elements()) / step;
  if (numbers.size() != wanted) throw Error(ErrorCode::kInvalidModel, count_text(shape, dtype, numbers.size(), wanted));
  Tensor tensor = Tensor::make(dtype, shape);
  std::byte* bytes = tensor.mutable_bytes().data();
  for (size_t k = 0; k < numbers.size(); ++k) std::memcpy(bytes + k * step, &numbers[k], step);
  return tensor;
}

template <class T>
std::vector<T> numbers_of(const std::vector<std::string_view>& typed, Tag tag) {
  std::vector<T> numbers;
  for (const std::string_view field : typed) {
    Fields fields(field);
    while (fields.next())
      if (fields.tag() == tag) fields.add_to(numbers);
  }
  return numbers;
}

/// Packed floats and doubles are already the bytes of the tensor.
std::optional<std::string_view> packed_view(const std::vector<std::string_view>& typed, Tag tag) {
  if (typed.size() != 1) return std::nullopt;
  Fields fields(typed.front());
  if (!fields.next() || fields.tag() != tag || !fields.has_length()) return std::nullopt;
  return fields.view();
}

Tensor decode_typed(DType dtype, const Shape& shape, const EncodedTensor& encoded, const Source& model) {
  const Tag tag = typed_field(dtype);
  switch (tag) {
    case tensor_field::kFloats:
    case tensor_field::kDoubles:
      if (const auto packed = packed_view(encoded.typed, tag))
        return Tensor::alias(dtype, shape, bytes_of(*packed), model.owner);
      if (tag == tensor_field::kFloats) return pack(dtype, shape, numbers_of<float>(encoded.typed, tag), sizeof(float));
      return pack(dtype, shape, numbers_of<double>(encoded.typed, tag), sizeof(double));
    case tensor_field::kUint64s:
      return pack(dtype, shape, numbers_of<uint64_t>(encoded.typed, tag), static_cast<size_t>(bits_of(dtype) / 8));
    default:
      // Types under a byte come packed: one number per byte.
      return pack(dtype, shape, numbers_of<int64_t>(encoded.typed, tag),
                  static_cast<size_t>(std::max(bits_of(dtype), 8) / 8));
  }
}

Tensor decode(EncodedTensor encoded, const Source& model, ExternalFiles& external) {
  const DType dtype = static_cast<DType>(encoded.data_type);
  if (encoded.data_type == 0) throw Error(ErrorCode::kInvalidModel, "The tensor does not say its element type.");
  const bool known = encoded.data_type > 0 && encoded.data_type <= static_cast<int64_t>(DType::kInt2);
  if (!known)
    throw Error(ErrorCode::kUnsupportedModel, "The tensor has the element type " + std::to_string(encoded.data_type) +
                                                  ", which this version does not know.");
  Shape shape(std::move(encoded.dims));
  if (dtype == DType::kString) return Tensor::of_strings(std::move(shape), std::move(encoded.strings));
  if (encoded.is_external) {
    const Source data = external.slice(encoded.external, bytes_for(dtype, shape.elements()));
    return Tensor::alias(dtype, std::move(shape), data.bytes, data.owner);
  }
  if (encoded.raw) return Tensor::alias(dtype, std::move(shape), bytes_of(*encoded.raw), model.owner);
  return decode_typed(dtype, shape, encoded, model);
}

/// A byte that is neither is no bool to the kernels either.
void check_bools(const Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return;
  for (const std::byte one : tensor.bytes())
    if (one > std::byte{1})
      throw Error(ErrorCode::kInvalidModel,
                  "A bool tensor holds the byte " + std::to_string(static_cast<int>(one)) + "; 0 and 1 are allowed.");
}

/// Writes `values` into the dense tensor at `indices`, which are flat (rank 1) or one row of coordinates each.
void scatter(const Tensor& values, const Tensor& indices, Tensor& dense) {
  const Shape& shape = dense.shape();
  const int64_t count = values.elements();
  const bool flat = indices.shape().rank() == 1;
  const int64_t per_value = flat ? 1 : shape.rank();
  if (indices.dtype() != DType::kInt64 || indices.elements() != count * per_value)
    throw Error(ErrorCode::kInvalidModel, "The sparse tensor's " + std::to_string(count) +
                                              " values and its indices of shape " + indices.shape().text() +
                                              " do not belong together.");
  const std::vector<int64_t> coordinates = indices.to_int64s();
  const auto step = static_cast<size_t>(bits_of(values.dtype()) / 8);
  std::byte* target = dense.mutable_bytes().data();
  for (int64_t k = 0; k < count; ++k) {
    int64_t position = 0;
    bool inside = true;
    for (int64_t axis = 0; axis < per_value; ++axis) {
      const int64_t coordinate = coordinates[static_cast<size_t>(k * per_value + axis)];
      const int64_t limit = flat ? shape.elements() : shape[static_cast<int>(axis)];
      inside = inside && coordinate >= 0 && coordinate < limit;
      if (inside) position = position * limit + coordinate;
    }
    if (!inside) throw Error(ErrorCode::kInvalidModel, "An index of the sparse tensor lies outside its shape.");
    std::memcpy(target + static_cast<size_t>(position) * step, values.bytes().data() + static_cast<size_t>(k) * step,
                step);
  }
}

}  // namespace

NamedTensor read_tensor(std::string_view message, const Source& model, ExternalFiles& external) {
  NamedTensor named;
  EncodedTensor encoded = read_fields(message, named);
  try {
    named.tensor = decode(std::move(encoded), model, external);
    check_bools(named.tensor);
  } catch (const Error& error) {
    if (named.name.empty()) throw;
    throw error.within("\"" + named.name + "\"");
  }
  return named;
}

NamedTensor read_sparse_tensor(std::string_view message, const Source& model, ExternalFiles& external) {
  NamedTensor values, indices;
  std::vector<int64_t> dims;
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == sparse_field::kValues) values = read_tensor(fields.view(), model, external);
    if (fields.tag() == sparse_field::kIndices) indices = read_tensor(fields.view(), model, external);
    if (fields.tag() == sparse_field::kDims) fields.add_to(dims);
  }
  const Shape shape(std::move(dims));
  const DType dtype = values.tensor.dtype();
  if (values.tensor.empty() || bits_of(dtype) < 8 || indices.tensor.empty())
    throw Error(ErrorCode::kInvalidModel, "The sparse tensor lacks values or indices, or is of an unfit type.");
  if (bytes_for(dtype, shape.elements()) > kLargestFile)
    throw Error(ErrorCode::kUnsupportedModel,
                "A sparse tensor of shape " + shape.text() + " would take more than 2 GiB as a dense one.");
  NamedTensor dense{values.name, values.doc, Tensor::make(dtype, shape)};
  scatter(values.tensor, indices.tensor, dense.tensor);
  return dense;
}

}  // namespace tersor::onnx
