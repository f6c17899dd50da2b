// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output_files.h"

#include <set>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace tersor::cli {

namespace {

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    // Letters of other scripts are bytes above ASCII.
    const bool kept = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '_' || c == '-' || (static_cast<unsigned char>(c) & 0x80) != 0;
    plain += kept ? c : '_';
  }
  // A file system takes names of 255 bytes, and what stands after this one counts too.
  constexpr size_t kLongest = 200;
  plain.resize(beginning(plain, kLongest).size());
  if (plain.find_first_not_of('.') == std::string::npos && plain.size() <= 2) return "_";
  return plain;
}

std::string numpy_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
    case DType::kFloat16:
      return "<f2";
    case DType::kInt8:
      return "|i1";
    case DType::kInt16:
      return "<i2";
    case DType::kInt32:
      return "<i4";
    case DType::kInt64:
      return "<i8";
    case DType::kUint8:
      return "|u1";
    case DType::kUint16:
      return "<u2";
    case DType::kUint32:
      return "<u4";
    case DType::kUint64:
      return "<u8";
    case DType::kBool:
      return "|b1";
    default:
      throw Error(ErrorCode::kUnsupportedModel,
                  "An output has the type " + std::string(name_of(dtype)) + ", which .npy files cannot hold.", {},
                  "Let the model end in a Cast to a type that NumPy has.");
  }
}

}  // namespace

std::vector<std::string> file_names(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    const std::string plain = plain_name(name);
    std::string candidate = plain;
    for (int k = 2; !taken.insert(candidate).second; ++k) candidate = plain + "~" + std::to_string(k);
    result.push_back(std::move(candidate));
  }
  return result;
}

std::vector<std::byte> npy_file(const Tensor& tensor) {
  std::string shape;
  for (const int64_t dim : tensor.shape()) shape += std::to_string(dim) + ", ";
  if (tensor.shape().rank() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape().rank() == 1) shape.resize(shape.size() - 1);
  std::string header =
      "{'descr': '" + numpy_type(tensor.dtype()) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr size_t kFront = 10, kAlignment = 64;  // magic, version and length stand first; the data is aligned
  header.append(kAlignment - (kFront + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string front("\x93NUMPY\x01\x00", 8);
  front += static_cast<char>(header.size() & 255);
  front += static_cast<char>(header.size() >> 8);
  front += header;
  std::vector<std::byte> file;
  file.reserve(front.size() + tensor.bytes().size());
  for (const char c : front) file.push_back(static_cast<std::byte>(c));
  file.insert(file.end(), tensor.bytes().begin(), tensor.bytes().end());
  return file;
}

}  // namespace tersor::cli
