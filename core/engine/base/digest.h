// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), streaming. Ours because no packaged library of it compiles to WebAssembly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tersor {

using Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// What update() does, for two at once; where the processor has instructions for it, in little more than the time of
  /// one.
  static void update(Sha256& a, std::span<const std::byte> of_a, Sha256& b, std::span<const std::byte> of_b);
  /// The object must not be used afterwards; the same of hex().
  Digest digest();
  std::string hex();

 private:
  void block(const std::byte* bytes);
  /// Takes from the front of `bytes` what fills up a block that was begun.
  void fill_up(std::span<const std::byte>& bytes);
  std::array<uint32_t, 8> state_;
  std::array<std::byte, 64> pending_{};
  uint64_t length_ = 0;
};

Digest sha256(std::span<const std::byte> bytes);
/// As 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);

/// Two lower-case digits for each byte.
std::string to_hex(std::span<const std::byte> bytes);

}  // namespace tersor
