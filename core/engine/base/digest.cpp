// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define TERSOR_SHA_INSTRUCTIONS
#endif

namespace tersor {

namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr size_t kBlock = 64;  // bytes

using FourWords = uint32_t __attribute__((vector_size(16)));

constexpr uint32_t rotate_right(uint32_t value, int by) {
  return (value >> by) | (value << (32 - by));
}

/// One of the 64 steps; `word` is the message's and the constant's sum. The new a is left in h, the new e in d;
/// `differing` holds b ^ c and then a ^ b, which is the next step's. Rotations by 6, 11 and 25 (2, 13 and 22) are one
/// inside the other: fewer copies of e (a).
[[gnu::always_inline]] inline void round(uint32_t a, uint32_t b, uint32_t& d, uint32_t e, uint32_t f, uint32_t g,
                                         uint32_t& h, uint32_t word, uint32_t& differing) {
  const uint32_t first = h + word + (g ^ (e & (f ^ g))) + rotate_right(e ^ rotate_right(e ^ rotate_right(e, 14), 5), 6);
  d += first;
  const uint32_t majority = b ^ ((a ^ b) & differing);
  h = first + rotate_right(a ^ rotate_right(a ^ rotate_right(a, 9), 11), 2) + majority;
  differing = a ^ b;
}

#ifdef TERSOR_SHA_INSTRUCTIONS

/// Asked once: in a virtual machine each question takes a tenth of a millisecond.
bool has_instructions() {
  static const bool found = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
    return sha && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
  }();
  return found;
}

/// Blocks by the processor's own instructions, five to eight times as fast; they keep the state as (abef) and (cdgh).
/// Each step waits for the one before: those of a second stream fit in between.
template <size_t kStreams>
[[gnu::target("sha,sse4.1")]] void blocks_by_instructions(std::array<uint32_t*, kStreams> states,
                                                          std::array<const std::byte*, kStreams> bytes, size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto at = [](uint32_t* words) { return reinterpret_cast<__m128i*>(words); };
  __m128i abef[kStreams], cdgh[kStreams];
  for (size_t s = 0; s < kStreams; ++s) {
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(at(states[s])), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(at(states[s] + 4)), 0x1b);
    abef[s] = _mm_alignr_epi8(cdab, efgh, 8), cdgh[s] = _mm_blend_epi16(efgh, cdab, 0xf0);
  }
  for (; count > 0; --count) {
    __m128i abef_before[kStreams], cdgh_before[kStreams], w[kStreams][16];  // four words each
    for (size_t s = 0; s < kStreams; ++s) abef_before[s] = abef[s], cdgh_before[s] = cdgh[s];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {
      const __m128i constants = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRound + 4 * i));
#pragma GCC unroll 2
      for (size_t s = 0; s < kStreams; ++s) {
        if (i < 4) {
          const __m128i read = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes[s] + 16 * i));
          w[s][i] = _mm_shuffle_epi8(read, big_endian);
        } else {
          const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[s][i - 4], w[s][i - 3]),
                                            _mm_alignr_epi8(w[s][i - 1], w[s][i - 2], 4));
          w[s][i] = _mm_sha256msg2_epu32(sum, w[s][i - 1]);
        }
        const __m128i words = _mm_add_epi32(w[s][i], constants);
        cdgh[s] = _mm_sha256rnds2_epu32(cdgh[s], abef[s], words);
        abef[s] = _mm_sha256rnds2_epu32(abef[s], cdgh[s], _mm_shuffle_epi32(words, 0x0e));
      }
    }
    for (size_t s = 0; s < kStreams; ++s) {
      abef[s] = _mm_add_epi32(abef[s], abef_before[s]), cdgh[s] = _mm_add_epi32(cdgh[s], cdgh_before[s]);
      bytes[s] += kBlock;
    }
  }
  for (size_t s = 0; s < kStreams; ++s) {
    const __m128i feba = _mm_shuffle_epi32(abef[s], 0x1b), dchg = _mm_shuffle_epi32(cdgh[s], 0xb1);
    _mm_storeu_si128(at(states[s]), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(at(states[s] + 4), _mm_alignr_epi8(dchg, feba, 8));
  }
}

#endif

}  // namespace

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::block(const std::byte* bytes) {
  uint32_t w[64];
  std::memcpy(w, bytes, 64);
  for (int i = 0; i < 16; ++i) w[i] = __builtin_bswap32(w[i]);
  // What eight words take from those 15 and 16 before is known for all, in vectors; the rest comes one from the other.
  for (int i = 16; i < 64; i += 8) {
    uint32_t known[8];
    for (int k = 0; k < 8; k += 4) {
      FourWords sum, next;
      std::memcpy(&sum, w + i + k - 16, sizeof sum);
      std::memcpy(&next, w + i + k - 15, sizeof next);
      sum += (next >> 7 | next << 25) ^ (next >> 18 | next << 14) ^ next >> 3;
      std::memcpy(known + k, &sum, sizeof sum);
    }
    for (int k = i; k < i + 8; ++k) {
      const uint32_t high = rotate_right(w[k - 2], 17) ^ rotate_right(w[k - 2], 19) ^ (w[k - 2] >> 10);
      w[k] = known[k - i] + w[k - 7] + high;
    }
  }
  for (int i = 0; i < 64; ++i) w[i] += kRound[i];
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4], f = state_[5], g = state_[6],
           h = state_[7];
  uint32_t differing = b ^ c;
  // Names move on by one each round, so that values need not.
#if defined(__clang__)
#pragma clang loop unroll(disable)
#endif
  for (int i = 0; i < 64; i += 8) {
    round(a, b, d, e, f, g, h, w[i], differing);
    round(h, a, c, d, e, f, g, w[i + 1], differing);
    round(g, h, b, c, d, e, f, w[i + 2], differing);
    round(f, g, a, b, c, d, e, w[i + 3], differing);
    round(e, f, h, a, b, c, d, w[i + 4], differing);
    round(d, e, g, h, a, b, c, w[i + 5], differing);
    round(c, d, f, g, h, a, b, w[i + 6], differing);
    round(b, c, e, f, g, h, a, w[i + 7], differing);
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[static_cast<size_t>(i)] += sums[i];
}

void Sha256::fill_up(std::span<const std::byte>& bytes) {
  const auto filled = static_cast<size_t>(length_ % kBlock);
  const size_t take = filled == 0 ? 0 : std::min(bytes.size(), kBlock - filled);
  std::copy_n(bytes.begin(), take, pending_.begin() + static_cast<std::ptrdiff_t>(filled));
  length_ += take;
  bytes = bytes.subspan(take);
  if (filled + take == kBlock) block(pending_.data());
}

void Sha256::update(std::span<const std::byte> bytes) {
  fill_up(bytes);
  if (bytes.empty()) return;
  length_ += bytes.size();
  const size_t blocks = bytes.size() / kBlock;
#ifdef TERSOR_SHA_INSTRUCTIONS
  if (has_instructions())
    blocks_by_instructions<1>({state_.data()}, {bytes.data()}, blocks);
  else
#endif
    // Block by block: V8 makes a WebAssembly function fast between its calls, not during one.
    for (size_t k = 0; k < blocks; ++k) block(bytes.data() + k * kBlock);
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(blocks * kBlock), bytes.end(), pending_.begin());
}

void Sha256::update(Sha256& a, std::span<const std::byte> of_a, Sha256& b, std::span<const std::byte> of_b) {
  a.fill_up(of_a), b.fill_up(of_b);
#ifdef TERSOR_SHA_INSTRUCTIONS
  if (const size_t blocks = std::min(of_a.size(), of_b.size()) / kBlock; blocks > 0 && has_instructions()) {
    blocks_by_instructions<2>({a.state_.data(), b.state_.data()}, {of_a.data(), of_b.data()}, blocks);
    a.length_ += blocks * kBlock, b.length_ += blocks * kBlock;
    of_a = of_a.subspan(blocks * kBlock), of_b = of_b.subspan(blocks * kBlock);
  }
#endif
  a.update(of_a), b.update(of_b);
}

void Sha256::update(std::string_view text) {
  update(std::as_bytes(std::span(text.data(), text.size())));
}

Digest Sha256::digest() {
  const uint64_t bits = length_ * 8;
  const std::byte one{0x80}, zero{0};
  update(std::span(&one, 1));
  while (length_ % 64 != 56) update(std::span(&zero, 1));
  std::byte tail[8];
  for (int i = 0; i < 8; ++i) tail[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  update(tail);
  Digest digest;
  for (size_t k = 0; k < digest.size(); ++k) digest[k] = static_cast<std::byte>(state_[k / 4] >> (24 - 8 * (k % 4)));
  return digest;
}

std::string Sha256::hex() {
  return to_hex(digest());
}

Digest sha256(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.digest();
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  return to_hex(sha256(bytes));
}

std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace tersor
