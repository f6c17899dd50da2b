// SPDX-License-Identifier: Apache-2.0
// Decompression of the deflate format (RFC 1951), as in zip members and, inside a zlib frame, in PNG. Bounded on both
// sides: never reads past `in` nor writes past `out`, whatever the data say. Also the CRC that both containers use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tersor::samples {

struct Inflated {
  size_t written = 0;     // bytes of `out` that are valid
  bool complete = false;  // the stream ended; false: it goes on, but `out` is full
};

/// Error kInvalidSamples when the data are damaged or end too early.
Inflated inflate(std::span<const std::byte> in, std::span<std::byte> out);

/// No deflate stream of `compressed` bytes can give more than this many bytes: a guard against lying headers.
constexpr uint64_t most_inflated(uint64_t compressed) {
  return compressed * 1032 + 64;
}

/// CRC-32 (ISO 3309) of `bytes`; continues from `before`.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace tersor::samples
