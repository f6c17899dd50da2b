// SPDX-License-Identifier: Apache-2.0
// By hand, because an array may be larger than memory, and readers of the form load all of it.
#include "core/samples/npy.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace tersor::samples {

namespace {

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The .npy file is damaged: " + what + ".", {},
              "Save the array again, for example with numpy.save.");
}

/// The header: a Python dictionary of 'descr', 'fortran_order' and 'shape', in any order.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {}

  void read(NpyHeader& header) {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!skip_if('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        read_type(header);
        has_type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = truth();
        has_order = true;
      } else if (key == "shape") {
        header.shape = shape();
        has_shape = true;
      } else {
        broken("its header names \"" + std::string(key) + "\"");
      }
      if (!skip_if(',')) {
        expect('}');
        break;
      }
    }
    if (!has_type || !has_order || !has_shape) broken("its header is incomplete");
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool skip_if(char wanted) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!skip_if(wanted)) broken(std::string("its header lacks a '") + wanted + "'");
  }
  std::string_view quoted() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') broken("its header lacks a quoted word");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) broken("its header ends inside a word");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return word;
  }
  bool truth() {
    blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    broken("its header lacks True or False");
  }
  Shape shape() {
    std::vector<int64_t> dims;
    expect('(');
    while (!skip_if(')')) {
      dims.push_back(number());
      if (!skip_if(',')) {
        expect(')');
        break;
      }
    }
    if (dims.size() > 32) broken("its array has more than 32 axes");
    try {
      return Shape(std::move(dims));
    } catch (const Error& error) {
      broken("its shape is impossible (" + error.message + ")");
    }
  }
  int64_t number() {
    blanks();
    int64_t value = 0;
    const size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (value > (int64_t{1} << 52)) broken("a dimension is impossibly large");
      value = value * 10 + (text_[at_] - '0');
    }
    if (at_ == start) broken("its shape lacks a number");
    return value;
  }
  void read_type(NpyHeader& header) {
    blanks();
    if (at_ < text_.size() && text_[at_] == '[')
      throw Error(ErrorCode::kInvalidSamples, "The .npy file holds records (a structured array), not plain numbers.",
                  {}, "Save one plain array for each model input, in an .npz file.");
    const std::string word(quoted());
    struct Row {
      std::string_view code;
      DType dtype;
    };
    constexpr Row kTypes[] = {{"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"f2", DType::kFloat16},
                              {"u1", DType::kUint8},   {"i1", DType::kInt8},    {"u2", DType::kUint16},
                              {"i2", DType::kInt16},   {"u4", DType::kUint32},  {"i4", DType::kInt32},
                              {"u8", DType::kUint64},  {"i8", DType::kInt64},   {"b1", DType::kBool}};
    const bool has_order = !word.empty() && std::string_view("<>=|").find(word[0]) != std::string_view::npos;
    for (const Row& row : kTypes)
      if (word.substr(has_order ? 1 : 0) == row.code) header.dtype = row.dtype;
    if (header.dtype == DType::kUndefined)
      throw Error(
          ErrorCode::kInvalidSamples,
          "The .npy file holds values of type '" + word.substr(0, 20) + "', which are not numbers that a model takes.",
          {}, "Save it as float32.");
    header.big_endian = word[0] == '>' && bits_of(header.dtype) > 8;
  }

  std::string_view text_;
  size_t at_ = 0;
};

size_t header_start(std::span<const std::byte> head) {
  return head.size() > 6 && head[6] > std::byte{1} ? 12 : 10;
}

/// After the header, which may be longer than what is there; 0 where not even its length is.
size_t header_end(std::span<const std::byte> head) {
  const size_t start = header_start(head);
  if (head.size() < start) return 0;
  size_t length = 0;
  for (size_t k = start; k-- > 8;) length = length << 8 | static_cast<size_t>(head[k]);
  return start + length;
}

/// Copies elements [begin, end) of row-major order out of a Fortran-order array.
template <class Copy>
void gather_fortran(const Shape& shape, int64_t begin, int64_t end, Copy&& copy) {
  if (begin == end) return;  // an axis may be empty
  const int rank = shape.rank();
  std::vector<int64_t> index(static_cast<size_t>(rank)), stride(static_cast<size_t>(rank));
  int64_t step = 1, rest = begin, from = 0;
  for (int axis = 0; axis < rank; ++axis) {
    stride[static_cast<size_t>(axis)] = step;
    step *= shape[axis];
  }
  for (int axis = rank - 1; axis >= 0; --axis) {
    const auto a = static_cast<size_t>(axis);
    index[a] = rest % shape[axis];
    rest /= shape[axis];
    from += index[a] * stride[a];
  }
  for (int64_t to = begin; to < end; ++to) {
    copy(from, to - begin);
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      from += stride[a];
      if (++index[a] < shape[axis]) break;
      from -= index[a] * stride[a];
      index[a] = 0;
    }
  }
}

}  // namespace

bool is_npy(std::span<const std::byte> head) {
  return head.size() >= 6 && std::memcmp(head.data(), "\x93NUMPY", 6) == 0;
}

NpyHeader parse_npy_header(std::span<const std::byte> head, uint64_t size) {
  if (!is_npy(head)) broken("it does not begin like one");
  if (head.size() < 10) broken("it is cut short");
  const auto at = [&](size_t i) { return static_cast<size_t>(head[i]); };
  const size_t version = at(6);
  if (version < 1 || version > 3)
    throw Error(ErrorCode::kInvalidSamples,
                "The .npy file is of version " + std::to_string(version) + "; 1, 2 and 3 are read.");
  const size_t start = header_start(head);
  if (head.size() < start) broken("it is cut short");
  const size_t length = header_end(head) - start;
  if (length > 65536) broken("its header is impossibly long");
  if (length > head.size() - start) broken("it is cut short");
  NpyHeader header;
  Dictionary({reinterpret_cast<const char*>(head.data()) + start, length}).read(header);
  header.data_offset = start + length;
  // Shape bounds the element count to 2^48, so this does not overflow.
  const uint64_t wanted =
      static_cast<uint64_t>(header.shape.elements()) * static_cast<uint64_t>(bits_of(header.dtype) / 8);
  if (wanted > size - header.data_offset)
    broken("it is cut short: its array " + header.shape.text() + " needs " + std::to_string(wanted) + " bytes and " +
           std::to_string(size - header.data_offset) + " are there");
  return header;
}

NpyArray::NpyArray(ReadRange read, uint64_t size) : read_(std::move(read)) {
  constexpr uint64_t kUsual = 1024;  // a header may be 64 kB long, and most samples are shorter than that
  Bytes head = read_(0, std::min(size, kUsual));
  if (header_end(head.view) > head.view.size()) head = read_(0, std::min(size, kMostNpyHeader));
  header_ = parse_npy_header(head.view, size);
}

Bytes NpyArray::read_exactly(uint64_t offset, uint64_t length) const {
  // A 32-bit build cannot hold, nor name, what is longer than this.
  if (length > std::numeric_limits<size_t>::max() / 4)
    throw Error(ErrorCode::kOutOfMemory,
                "A sample of " + std::to_string(length >> 20) + " MB does not fit into memory.");
  Bytes bytes = read_(offset, length);
  TERSOR_CHECK(bytes.view.size() == length);
  return bytes;
}

RawArray NpyArray::part(int64_t index, const Shape& part) {
  const auto width = static_cast<uint64_t>(bits_of(header_.dtype) / 8);
  const int64_t count = part.elements(), begin = index * count;
  TERSOR_CHECK(index >= 0 && begin + count <= header_.shape.elements());
  RawArray result{header_.dtype, header_.big_endian, part, {}};
  if (!header_.fortran_order || header_.shape.rank() < 2) {
    result.bytes =
        read_exactly(header_.data_offset + static_cast<uint64_t>(begin) * width, static_cast<uint64_t>(count) * width);
    return result;
  }
  if (whole_.view.empty())
    whole_ = read_exactly(header_.data_offset, static_cast<uint64_t>(header_.shape.elements()) * width);
  auto gathered = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(count) * width);
  gather_fortran(header_.shape, begin, begin + count, [&](int64_t from, int64_t to) {
    std::memcpy(gathered->data() + static_cast<size_t>(to) * width,
                whole_.view.data() + static_cast<size_t>(from) * width, width);
  });
  result.bytes = {*gathered, gathered};
  return result;
}

}  // namespace tersor::samples
