// SPDX-License-Identifier: Apache-2.0
// Entropy-coded data of a JPEG scan: sequential and progressive Huffman coding (ITU-T T.81, annexes F and G).
#include <algorithm>

#include "core/samples/jpeg.h"

namespace tersor::samples::jpeg {

namespace {

[[noreturn, gnu::noinline]] void cut_short() {
  broken("it is cut short");
}

/// Bits, highest first, with the stuffed zero bytes removed; stops at a marker.
class Bits {
 public:
  explicit Bits(std::span<const std::byte> data) : data_(data) {}

  [[gnu::always_inline]] uint32_t peek16() {
    fill();
    return static_cast<uint32_t>(buffer_ >> (filled_ - 16)) & 0xffffu;
  }
  [[gnu::always_inline]] void drop(int count) {
    filled_ -= count;
    // Zeros stand in for what is missing, so that a code may be looked up; using them is an error.
    if (filled_ < invented_) cut_short();
  }
  [[gnu::always_inline]] uint32_t take(int count) {
    if (count == 0) return 0;
    fill();
    const auto value = static_cast<uint32_t>(buffer_ >> (filled_ - count)) & ((1u << count) - 1);
    drop(count);
    return value;
  }
  /// A number of `size` bits in JPEG's sign form.
  [[gnu::always_inline]] int receive(int size) {
    const auto value = static_cast<int>(take(size));
    return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
  }
  [[gnu::always_inline]] int decode(const Huffman& code) {
    const auto window = static_cast<int32_t>(peek16());
    const uint16_t entry = code.fast[static_cast<size_t>(window >> (16 - Huffman::kFastBits))];
    if (entry == 0) return decode_long(code, window);
    drop(entry >> 8);
    return entry & 255;
  }

  /// Goes after the restart marker that must stand here.
  void restart(int number) {
    buffer_ = 0, filled_ = invented_ = 0;
    const size_t marker = find_marker();
    if (marker + 1 >= data_.size()) cut_short();
    if (static_cast<int>(data_[marker + 1]) != 0xd0 + number) broken("a restart marker is missing");
    at_ = marker + 2;
    ended_ = false;
  }
  /// Where the marker stands that ends the scan.
  size_t end() { return find_marker(); }

 private:
  /// A code of more than kFastBits bits.
  [[gnu::noinline]] int decode_long(const Huffman& code, int32_t window) {
    size_t length = Huffman::kFastBits + 1;
    while (window >= code.past_last[length]) ++length;
    if (length > 16) broken("its pixels hold an unknown code");
    drop(static_cast<int>(length));
    const int32_t index = (window >> (16 - length)) + code.offset[length];
    return code.symbols[static_cast<size_t>(index)];
  }
  [[gnu::always_inline]] void fill() {
    if (filled_ > 48) return;
    uint64_t next;
    if (!ended_ && data_.size() - at_ >= sizeof next) {
      next = 0;
      for (size_t k = 0; k < sizeof next; ++k) next = next << 8 | static_cast<uint64_t>(data_[at_ + k]);
      constexpr uint64_t kOnes = ~uint64_t{0} / 255;
      // no byte of 255, which would be a marker's or have a zero after it
      if (((~next - kOnes) & next & kOnes << 7) == 0) {
        const int bytes = (64 - filled_) / 8;
        buffer_ = bytes == 8 ? next : buffer_ << 8 * bytes | next >> (64 - 8 * bytes);
        filled_ += 8 * bytes;
        at_ += static_cast<size_t>(bytes);
        return;
      }
    }
    fill_by_bytes();
  }
  [[gnu::noinline]] void fill_by_bytes() {
    while (filled_ <= 48) {
      uint64_t byte = 0;
      if (!ended_ && at_ < data_.size()) {
        byte = static_cast<uint64_t>(data_[at_]);
        if (byte == 0xff) {
          if (at_ + 1 < data_.size() && data_[at_ + 1] == std::byte{0}) {
            at_ += 2;
          } else {
            ended_ = true;
          }
        } else {
          ++at_;
        }
      } else {
        ended_ = true;
      }
      if (ended_) byte = 0, invented_ += 8;
      buffer_ = buffer_ << 8 | byte;
      filled_ += 8;
    }
  }
  /// From the reading position on, which never passes a marker.
  size_t find_marker() const {
    size_t at = at_;
    while (at + 1 < data_.size() &&
           !(data_[at] == std::byte{0xff} && data_[at + 1] != std::byte{0} && data_[at + 1] != std::byte{0xff}))
      ++at;
    if (at + 1 >= data_.size()) cut_short();
    return at;
  }

  std::span<const std::byte> data_;
  size_t at_ = 0;
  uint64_t buffer_ = 0;
  int filled_ = 0;
  int invented_ = 0;  // zeros at the buffer's low end that are not in the data
  bool ended_ = false;
};

int16_t narrow(int value) {
  return static_cast<int16_t>(value);
}

class ScanDecoder {
 public:
  ScanDecoder(const Frame& frame, const Scan& scan, std::span<const std::byte> data)
      : frame_(frame), scan_(scan), bits_(data) {}

  size_t run() {
    if (scan_.components.size() == 1) {
      const Component& only = *scan_.components[0].component;
      const int64_t across = (only.width + 7) / 8, down = (only.height + 7) / 8;
      for (int64_t y = 0; y < down; ++y) {
        for (int64_t x = 0; x < across; ++x) {
          count_down();
          block(0, x, y);
        }
        end_rows(0, y, 1);
      }
      return bits_.end();
    }
    for (int64_t my = 0; my < frame_.mcus_down; ++my) {
      for (int64_t mx = 0; mx < frame_.mcus_across; ++mx) {
        count_down();
        for (size_t i = 0; i < scan_.components.size(); ++i) {
          const Component& one = *scan_.components[i].component;
          for (int v = 0; v < one.v; ++v)
            for (int h = 0; h < one.h; ++h) block(i, mx * one.h + h, my * one.v + v);
        }
      }
      for (size_t i = 0; i < scan_.components.size(); ++i) {
        const int v = scan_.components[i].component->v;
        end_rows(i, my * v, v);
      }
    }
    return bits_.end();
  }

 private:
  /// Before each MCU: a restart where one is due.
  void count_down() {
    if (scan_.restart_interval != 0 && done_ == scan_.restart_interval) {
      bits_.restart(restarts_++ & 7);
      predicted_.fill(0);
      bands_left_ = 0;
      done_ = 0;
    }
    ++done_;
  }

  /// No other scan has more of them, unless the picture is progressive.
  void end_rows(size_t which, int64_t first, int64_t count) {
    if (frame_.progressive) return;
    Component& component = *scan_.components[which].component;
    inverse_transform(component, first, count);
    std::fill(component.coefficients.begin(), component.coefficients.end(), int16_t{0});
  }

  void block(size_t which, int64_t x, int64_t y) {
    const ScanComponent& part = scan_.components[which];
    const Component& component = *part.component;
    const int64_t row = y % component.kept_rows;
    int16_t* data = part.component->coefficients.data() + (row * component.columns + x) * 64;
    if (!frame_.progressive) {
      dc_first(part, which, data);
      ac_sequential(part, data);
    } else if (scan_.first == 0) {
      scan_.high == 0 ? dc_first(part, which, data) : dc_refine(data);
    } else {
      scan_.high == 0 ? ac_first(part, data) : ac_refine(part, data);
    }
  }

  void dc_first(const ScanComponent& part, size_t which, int16_t* data) {
    const int size = bits_.decode(*part.dc);
    if (size > 15) broken("its pixels hold an unknown code");
    // 16 bits are all that a valid file needs; a damaged one wraps around.
    predicted_[which] = narrow(predicted_[which] + bits_.receive(size));
    data[0] = narrow(predicted_[which] * (1 << scan_.low));
  }

  void ac_sequential(const ScanComponent& part, int16_t* data) {
    for (int k = 1; k < 64; ++k) {
      const int symbol = bits_.decode(*part.ac), run = symbol >> 4, size = symbol & 15;
      if (size == 0) {
        if (run != 15) return;
        k += 15;
        continue;
      }
      k += run;
      const int value = bits_.receive(size);
      if (k > 63) broken("its pixels hold too many coefficients");
      data[kNatural[static_cast<size_t>(k)]] = narrow(value);
    }
  }

  void dc_refine(int16_t* data) {
    if (bits_.take(1) != 0) data[0] = narrow(data[0] | 1 << scan_.low);
  }

  void ac_first(const ScanComponent& part, int16_t* data) {
    if (bands_left_ > 0) {
      --bands_left_;
      return;
    }
    for (int k = scan_.first; k <= scan_.last; ++k) {
      const int symbol = bits_.decode(*part.ac), run = symbol >> 4, size = symbol & 15;
      if (size == 0) {
        if (run == 15) {
          k += 15;
          continue;
        }
        bands_left_ = (1 << run) - 1 + static_cast<int>(bits_.take(run));
        return;
      }
      k += run;
      const int value = bits_.receive(size);
      if (k > scan_.last) broken("its pixels hold too many coefficients");
      data[kNatural[static_cast<size_t>(k)]] = narrow(value * (1 << scan_.low));
    }
  }

  /// One more bit for a coefficient that is not zero.
  void refine(int16_t& value) {
    if (bits_.take(1) == 0 || (value & 1 << scan_.low) != 0) return;
    value = narrow(value + (value > 0 ? 1 : -1) * (1 << scan_.low));
  }

  void ac_refine(const ScanComponent& part, int16_t* data) {
    int k = scan_.first;
    while (bands_left_ == 0 && k <= scan_.last) {
      const int symbol = bits_.decode(*part.ac), size = symbol & 15;
      int run = symbol >> 4;
      int fresh = 0;
      if (size == 0 && run < 15) {
        bands_left_ = (1 << run) + static_cast<int>(bits_.take(run));
        break;
      }
      if (size > 1) broken("its pixels hold an unknown code");
      if (size == 1) fresh = bits_.take(1) != 0 ? 1 << scan_.low : -(1 << scan_.low);
      for (; k <= scan_.last; ++k) {
        int16_t& value = data[kNatural[static_cast<size_t>(k)]];
        if (value != 0) {
          refine(value);
        } else if (run-- == 0) {
          value = narrow(fresh);
          ++k;
          break;
        }
      }
    }
    if (bands_left_ > 0) {
      for (; k <= scan_.last; ++k) {
        int16_t& value = data[kNatural[static_cast<size_t>(k)]];
        if (value != 0) refine(value);
      }
      --bands_left_;
    }
  }

  const Frame& frame_;
  const Scan& scan_;
  Bits bits_;
  std::array<int, 4> predicted_{};
  int bands_left_ = 0;  // blocks that hold nothing more (end-of-band run)
  int done_ = 0;        // MCUs since the last restart
  int restarts_ = 0;
};

}  // namespace

size_t decode_scan(const Frame& frame, const Scan& scan, std::span<const std::byte> data) {
  return ScanDecoder(frame, scan, data).run();
}

}  // namespace tersor::samples::jpeg
