// SPDX-License-Identifier: Apache-2.0
// The parts of the JPEG decoder (ITU-T T.81): segments, entropy coding, pixels. For picture.h; nobody else includes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/samples/picture.h"

namespace tersor::samples::jpeg {

[[noreturn]] void broken(const std::string& what);

/// A Huffman code: a table for codes of up to 9 bits, counting for longer ones.
struct Huffman {
  static constexpr int kFastBits = 9;
  bool defined = false;
  std::array<uint16_t, 1 << kFastBits> fast{};  // length << 8 | symbol; 0: a longer code
  std::array<int32_t, 18> past_last{};          // one past the largest code of a length, shifted up to 16 bits
  std::array<int32_t, 17> offset{};             // index of a code's symbol minus the code
  std::array<uint8_t, 256> symbols{};
  int count = 0;

  /// Error when the counts describe no prefix code.
  void build(std::span<const std::byte> counts, std::span<const std::byte> values);
};

struct Component {
  int id = 0;
  int h = 1, v = 1;                   // samples per MCU side in blocks
  int quantizer = 0;                  // table number
  std::array<uint16_t, 64> quants{};  // as they were at the component's first scan, in natural order
  bool seen = false;                  // a scan held its DC coefficients
  int64_t width = 0, height = 0;      // in samples
  int64_t columns = 0, rows = 0;      // in blocks, padded to whole MCUs
  int64_t kept_rows = 0;  // whose coefficients are kept: all, or where a scan holds all of a block those of an MCU
  std::vector<int16_t> coefficients;  // kept_rows x columns x 64, natural order
  std::vector<uint8_t> plane;         // rows*8 x columns*8 samples

  int64_t stride() const { return columns * 8; }
};

/// Everything between the first and the last marker.
struct Frame {
  int64_t width = 0, height = 0;
  bool progressive = false;
  int h_max = 1, v_max = 1;
  int64_t mcus_across = 0, mcus_down = 0;
  std::vector<Component> components;
  bool rgb = false;  // the three components are R, G, B and not Y, Cb, Cr
  int orientation = 1;
};

struct ScanComponent {
  Component* component = nullptr;
  const Huffman* dc = nullptr;
  const Huffman* ac = nullptr;
};

struct Scan {
  std::vector<ScanComponent> components;
  int first = 0, last = 63;  // coefficients in zigzag order
  int high = 0, low = 0;     // successive approximation
  int restart_interval = 0;
};

/// Decodes the entropy-coded data of one scan into the components' coefficients, and these to samples unless the
/// picture is progressive. Returns the bytes used: up to the marker that ends it. Error when the data are damaged or
/// end too early.
size_t decode_scan(const Frame& frame, const Scan& scan, std::span<const std::byte> data);

/// The coefficients of `count` rows of blocks to samples, with libjpeg's accurate integer DCT.
void inverse_transform(Component& component, int64_t first, int64_t count);

/// Samples to pixels: chroma brought to full size, colours converted.
Picture compose(const Frame& frame);

/// The position in natural order of coefficient k of the zigzag.
extern const std::array<uint8_t, 64> kNatural;

}  // namespace tersor::samples::jpeg
