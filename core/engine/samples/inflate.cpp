// SPDX-License-Identifier: Apache-2.0
// By hand, because zlib is packaged for the build's own machine and not for WebAssembly (Emscripten fetches its port
// while it builds), and one source is to read the same and to be fuzzed on both.
#include "core/samples/inflate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/error.h"

namespace tersor::samples {

namespace {

[[noreturn]] void damaged() {
  throw Error(ErrorCode::kInvalidSamples, "The compressed data are damaged.", {},
              "Save the file again, or leave it out.");
}

[[noreturn]] void cut_short() {
  throw Error(ErrorCode::kInvalidSamples, "The compressed data end too early.");
}

/// Bits, lowest first.
class Bits {
 public:
  explicit Bits(std::span<const std::byte> in) : in_(in) {}

  /// At least `count` bits in the buffer; after the end of the data come zeros, counted in missing_.
  void need(int count) {
    if (filled_ >= count) return;
    if (uint64_t next; in_.size() - position_ >= sizeof next) {
      std::memcpy(&next, in_.data() + position_, sizeof next);
      buffer_ |= next << filled_;
      position_ += static_cast<size_t>(63 - filled_) / 8;
      filled_ |= 56;
      return;
    }
    while (filled_ < count) {
      if (position_ < in_.size()) {
        buffer_ |= static_cast<uint64_t>(in_[position_++]) << filled_;
      } else {
        ++missing_;
      }
      filled_ += 8;
    }
  }
  uint32_t peek(int count) const { return static_cast<uint32_t>(buffer_ & ((uint64_t{1} << count) - 1)); }
  void drop(int count) {
    buffer_ >>= count;
    filled_ -= count;
    if (filled_ < missing_ * 8) cut_short();
  }
  uint32_t take(int count) {
    need(count);
    const uint32_t value = peek(count);
    drop(count);
    return value;
  }
  /// The next `count` whole bytes, after the rest of a started byte is dropped.
  std::span<const std::byte> bytes(size_t count) {
    const size_t held = static_cast<size_t>(filled_ / 8 - missing_);
    position_ -= held;
    buffer_ = 0, filled_ = 0, missing_ = 0;
    if (count > in_.size() - position_) cut_short();
    const auto view = in_.subspan(position_, count);
    position_ += count;
    return view;
  }

 private:
  std::span<const std::byte> in_;
  size_t position_ = 0;
  uint64_t buffer_ = 0;
  int filled_ = 0;
  int missing_ = 0;
};

constexpr int kLongest = 15;
constexpr int kFastBits = 10;

uint32_t reversed(uint32_t code, int length) {
  uint32_t result = 0;
  for (int i = 0; i < length; ++i) result |= (code >> i & 1u) << (length - 1 - i);
  return result;
}

/// A canonical prefix code: a table for short codes, counting for the long ones.
class Code {
 public:
  void build(std::span<const uint8_t> lengths) {
    counts_.fill(0);
    for (uint8_t length : lengths) ++counts_[length];
    counts_[0] = 0;
    int left = 1;
    for (int length = 1; length <= kLongest; ++length) {
      left = left * 2 - counts_[static_cast<size_t>(length)];
      if (left < 0) damaged();
    }
    std::array<uint32_t, kLongest + 2> next{}, start{};
    for (size_t length = 1; length <= kLongest; ++length) {
      next[length + 1] = (next[length] + counts_[length]) << 1;
      start[length + 1] = start[length] + counts_[length];
    }
    fast_.fill(0);
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const int length = lengths[symbol];
      if (length == 0) continue;
      const uint32_t code = next[static_cast<size_t>(length)]++;
      symbols_[start[static_cast<size_t>(length)]++] = static_cast<uint16_t>(symbol);
      if (length > kFastBits) continue;
      for (uint32_t i = reversed(code, length); i < fast_.size(); i += 1u << length)
        fast_[i] = static_cast<uint16_t>(symbol << 4 | static_cast<unsigned>(length));
    }
  }

  uint32_t decode(Bits& bits) const {
    bits.need(kLongest);
    const uint16_t entry = fast_[bits.peek(kFastBits)];
    if (entry != 0) {
      bits.drop(entry & 15);
      return entry >> 4;
    }
    uint32_t window = bits.peek(kLongest), code = 0, first = 0, index = 0;
    for (int length = 1; length <= kLongest; ++length, window >>= 1) {
      code |= window & 1u;
      const uint32_t count = counts_[static_cast<size_t>(length)];
      if (code < first + count) {
        bits.drop(length);
        return symbols_[index + (code - first)];
      }
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    damaged();
  }

 private:
  std::array<uint16_t, kLongest + 1> counts_{};
  std::array<uint16_t, 288> symbols_{};
  std::array<uint16_t, 1 << kFastBits> fast_{};
};

struct Codes {
  Code literals, distances;
};

constexpr uint16_t kLengthBase[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr uint8_t kLengthExtra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr uint16_t kDistanceBase[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr uint8_t kDistanceExtra[30] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                        6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

void fixed_codes(Codes& codes) {
  std::array<uint8_t, 288> lengths;
  for (size_t i = 0; i < 288; ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  codes.literals.build(lengths);
  std::array<uint8_t, 30> distances;
  distances.fill(5);
  codes.distances.build(distances);
}

void read_codes(Bits& bits, Codes& codes) {
  const size_t literals = bits.take(5) + 257, distances = bits.take(5) + 1, groups = bits.take(4) + 4;
  if (literals > 286 || distances > 30) damaged();
  constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  std::array<uint8_t, 19> group_lengths{};
  for (size_t i = 0; i < groups; ++i) group_lengths[kOrder[i]] = static_cast<uint8_t>(bits.take(3));
  Code of_lengths;
  of_lengths.build(group_lengths);

  std::array<uint8_t, 286 + 30> lengths{};
  size_t count = 0;
  while (count < literals + distances) {
    const uint32_t symbol = of_lengths.decode(bits);
    if (symbol < 16) {
      lengths[count++] = static_cast<uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && count == 0) damaged();
    const uint8_t value = symbol == 16 ? lengths[count - 1] : uint8_t{0};
    const size_t repeat = symbol == 16 ? 3 + bits.take(2) : symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
    if (repeat > literals + distances - count) damaged();
    for (size_t i = 0; i < repeat; ++i) lengths[count++] = value;
  }
  if (lengths[256] == 0) damaged();  // a block that could never end
  codes.literals.build(std::span(lengths).first(literals));
  codes.distances.build(std::span(lengths).subspan(literals, distances));
}

/// One stored block; false when `out` is full before its end.
bool copy_stored(Bits& bits, std::span<std::byte> out, size_t& written) {
  const auto head = bits.bytes(4);
  const auto at = [&](size_t i) { return static_cast<size_t>(head[i]); };
  const size_t length = at(0) | at(1) << 8, check = at(2) | at(3) << 8;
  if ((length ^ 0xffffu) != check) damaged();
  const size_t room = out.size() - written;
  const auto block = bits.bytes(length);
  const size_t count = std::min(room, length);
  if (count > 0) std::memcpy(out.data() + written, block.data(), count);
  written += count;
  return length <= room;
}

/// One compressed block; false when `out` is full before its end.
bool expand_block(Bits& bits, const Codes& codes, std::span<std::byte> out, size_t& written) {
  for (;;) {
    const uint32_t symbol = codes.literals.decode(bits);
    if (symbol == 256) return true;
    if (symbol < 256) {
      if (written == out.size()) return false;
      out[written++] = static_cast<std::byte>(symbol);
      continue;
    }
    if (symbol > 285) damaged();
    const size_t length = kLengthBase[symbol - 257] + bits.take(kLengthExtra[symbol - 257]);
    const uint32_t far = codes.distances.decode(bits);
    if (far > 29) damaged();
    const size_t distance = kDistanceBase[far] + bits.take(kDistanceExtra[far]);
    if (distance > written) damaged();
    const size_t count = std::min(length, out.size() - written);
    if (distance >= count) {
      std::memcpy(out.data() + written, out.data() + written - distance, count);
      written += count;
    } else {
      for (size_t i = 0; i < count; ++i, ++written) out[written] = out[written - distance];
    }
    if (count < length) return false;
  }
}

using CrcTable = std::array<std::array<uint32_t, 256>, 8>;

/// Row k: what a byte comes to after which k more follow.
CrcTable crc_table() {
  CrcTable table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1u) != 0 ? 0xedb88320u ^ value >> 1 : value >> 1;
    table[0][i] = value;
  }
  for (size_t k = 1; k < table.size(); ++k)
    for (size_t i = 0; i < 256; ++i) table[k][i] = table[0][table[k - 1][i] & 255u] ^ table[k - 1][i] >> 8;
  return table;
}

}  // namespace

Inflated inflate(std::span<const std::byte> in, std::span<std::byte> out) {
  Bits bits(in);
  Codes codes;
  Inflated result;
  for (bool last = false; !last;) {
    last = bits.take(1) != 0;
    const uint32_t kind = bits.take(2);
    if (kind == 3) damaged();
    bool whole;
    if (kind == 0) {
      whole = copy_stored(bits, out, result.written);
    } else {
      kind == 1 ? fixed_codes(codes) : read_codes(bits, codes);
      whole = expand_block(bits, codes, out, result.written);
    }
    if (!whole) return result;
  }
  result.complete = true;
  return result;
}

uint32_t crc32(std::span<const std::byte> bytes, uint32_t before) {
  static const CrcTable kTable = crc_table();
  uint32_t value = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint32_t next = 0;
    for (size_t k = 0; k < 8; ++k) {
      const uint32_t under = k < 4 ? value >> 8 * k & 255u : 0;
      next ^= kTable[7 - k][under ^ static_cast<uint32_t>(bytes[k])];
    }
    value = next;
  }
  for (std::byte byte : bytes) value = kTable[0][(value ^ static_cast<uint32_t>(byte)) & 255u] ^ value >> 8;
  return ~value;
}

}  // namespace tersor::samples
