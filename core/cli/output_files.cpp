// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output_files.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "core/base/error.h"

namespace tersor::cli {

namespace {

/// Characters beyond ASCII that are no letters: controls, and what is invisible or turns the direction of the text.
bool is_unseen(uint32_t code) {
  return code < 0xa0 || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff0 && code <= 0xffff);
}

/// Bytes of the character beyond ASCII that `text` begins with; 0 where it is not well-formed UTF-8, or unseen.
size_t letter_length(std::string_view text) {
  const auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const uint32_t first = byte(0);
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  uint32_t code = first & (0x7fu >> length);
  for (size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(k) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kSmallest[length] || code > 0x10ffff || is_surrogate || is_unseen(code) ? 0 : length;
}

std::string plain_name(std::string_view name) {
  // A file system takes names of 255 bytes, and what stands behind this one counts too.
  constexpr size_t kLongest = 200;
  std::string plain;
  while (!name.empty()) {
    const char c = name[0];
    const bool kept =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    const size_t length = kept ? 1 : letter_length(name);
    if (plain.size() + std::max<size_t>(length, 1) > kLongest) break;
    plain += length > 0 ? name.substr(0, length) : "_";
    name.remove_prefix(std::max<size_t>(length, 1));
  }
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
  constexpr size_t kFront = 10, kAlignment = 64;  // magic, version and length stand in front; the data is aligned
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
