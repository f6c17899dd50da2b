// SPDX-License-Identifier: Apache-2.0
// By hand, because decoders differ by a step of 255 and change with their versions: the pixels here are those of
// libjpeg-turbo on every machine.
#include "core/samples/jpeg.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace tersor::samples {

namespace jpeg {

void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The JPEG picture is damaged: " + what + ".", {},
              "Save the picture again, or leave it out.");
}

const std::array<uint8_t, 64> kNatural = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                          12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                          35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                          58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

void Huffman::build(std::span<const std::byte> counts, std::span<const std::byte> values) {
  *this = Huffman{};
  for (std::byte symbol : values) symbols[static_cast<size_t>(count++)] = static_cast<uint8_t>(symbol);
  int32_t code = 0, index = 0;
  for (int length = 1; length <= 16; ++length) {
    const auto n = static_cast<int32_t>(counts[static_cast<size_t>(length - 1)]);
    if (code + n > 1 << length) broken("a code table is impossible");
    offset[static_cast<size_t>(length)] = index - code;
    for (int32_t i = 0; i < n; ++i, ++code, ++index) {
      if (length > kFastBits) continue;
      const int spare = kFastBits - length;
      const auto entry = static_cast<uint16_t>(length << 8 | symbols[static_cast<size_t>(index)]);
      std::fill_n(fast.begin() + (code << spare), 1 << spare, entry);
    }
    past_last[static_cast<size_t>(length)] = code << (16 - length);
    code <<= 1;
  }
  past_last[17] = 0x10000;
  defined = true;
}

namespace {

constexpr int kStartOfImage = 0xd8, kEndOfImage = 0xd9, kStartOfScan = 0xda, kQuantizers = 0xdb,
              kRestartInterval = 0xdd;
constexpr int kHuffmanTables = 0xc4, kArithmetic = 0xcc, kApp0 = 0xe0, kApp1 = 0xe1, kApp14 = 0xee;

/// Walks the segments of a file.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  /// Up to and with the frame header.
  void read_header() {
    if (next_marker() != kStartOfImage) broken("it does not begin like one");
    while (frame_.components.empty()) segment(next_marker());
  }

  Picture read_picture() {
    read_header();
    check_plausible();
    for (Component& component : frame_.components) {
      component.kept_rows = frame_.progressive ? component.rows : component.v;
      component.coefficients.resize(static_cast<size_t>(component.kept_rows * component.columns * 64));
      component.plane.resize(static_cast<size_t>(component.rows * component.columns * 64));
    }
    for (int marker = next_marker(); marker != kEndOfImage; marker = next_marker()) segment(marker);
    for (Component& component : frame_.components) {
      if (!component.seen) broken("a colour component is missing");
      if (frame_.progressive) inverse_transform(component, 0, component.rows);
      std::vector<int16_t>().swap(component.coefficients);
    }
    frame_.rgb = stores_rgb();
    return oriented(compose(frame_), frame_.orientation);
  }

  const Frame& frame() const { return frame_; }

 private:
  int byte() {
    if (at_ >= file_.size()) broken("it is cut short");
    return static_cast<int>(file_[at_++]);
  }
  int word() {
    const int high = byte();
    return high << 8 | byte();
  }
  int next_marker() {
    // Some writers pad between segments; what is not a marker is passed over.
    for (;;) {
      while (byte() != 0xff) {
      }
      int marker = byte();
      while (marker == 0xff) marker = byte();
      if (marker != 0) return marker;
    }
  }

  void segment(int marker) {
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) return;  // stand alone
    if (marker == kStartOfImage || marker == kEndOfImage) broken("it ends before its picture");
    const int length = word();
    if (length < 2 || static_cast<size_t>(length - 2) > file_.size() - at_) broken("it is cut short");
    const auto data = file_.subspan(at_, static_cast<size_t>(length - 2));
    at_ += data.size();
    if (marker == kQuantizers) return quantizers(data);
    if (marker == kHuffmanTables) return huffman_tables(data);
    if (marker == kRestartInterval) return restart_interval(data);
    if (marker == kStartOfScan) return scan(data);
    if (marker == kArithmetic) refuse("arithmetic coding");
    if (marker >= 0xc0 && marker <= 0xcf) return frame_header(marker, data);
    if (marker == kApp0 && starts_with(data, std::string_view("JFIF\0", 5))) jfif_ = true;
    if (marker == kApp1 && starts_with(data, std::string_view("Exif\0\0", 6)))
      frame_.orientation = exif_orientation(data.subspan(6));
    if (marker == kApp14 && data.size() >= 12 && starts_with(data, "Adobe")) adobe_ = static_cast<int>(data[11]);
  }

  static bool starts_with(std::span<const std::byte> data, std::string_view text) {
    if (data.size() < text.size()) return false;
    for (size_t i = 0; i < text.size(); ++i)
      if (static_cast<char>(data[i]) != text[i]) return false;
    return true;
  }

  [[noreturn]] static void refuse(const std::string& what) {
    throw Error(ErrorCode::kInvalidSamples, "This JPEG picture uses " + what + ", which is not read.", {},
                "Save it as an ordinary 8-bit RGB picture.");
  }

  void quantizers(std::span<const std::byte> data) {
    while (!data.empty()) {
      const int head = static_cast<int>(data[0]), wide = head >> 4, table = head & 15;
      const size_t length = wide != 0 ? 129 : 65;
      if (wide > 1 || table > 3 || data.size() < length) broken("a quantization table is malformed");
      for (size_t i = 0; i < 64; ++i) {
        const int value = wide != 0 ? static_cast<int>(data[1 + 2 * i]) << 8 | static_cast<int>(data[2 + 2 * i])
                                    : static_cast<int>(data[1 + i]);
        quants_[static_cast<size_t>(table)][kNatural[i]] = static_cast<uint16_t>(value);
      }
      has_quants_[static_cast<size_t>(table)] = true;
      data = data.subspan(length);
    }
  }

  void huffman_tables(std::span<const std::byte> data) {
    while (!data.empty()) {
      const int head = static_cast<int>(data[0]), kind = head >> 4, table = head & 15;
      if (kind > 1 || table > 3 || data.size() < 17) broken("a code table is malformed");
      size_t symbols = 0;
      for (size_t i = 1; i <= 16; ++i) symbols += static_cast<size_t>(data[i]);
      if (symbols > 256 || data.size() - 17 < symbols) broken("a code table is malformed");
      tables_[static_cast<size_t>(kind * 4 + table)].build(data.subspan(1, 16), data.subspan(17, symbols));
      data = data.subspan(17 + symbols);
    }
  }

  void restart_interval(std::span<const std::byte> data) {
    if (data.size() != 2) broken("its restart interval is malformed");
    restart_interval_ = static_cast<int>(data[0]) << 8 | static_cast<int>(data[1]);
  }

  void frame_header(int marker, std::span<const std::byte> data) {
    if (!frame_.components.empty()) broken("it holds two pictures in one");
    if (marker == 0xc3) refuse("lossless coding");
    if (marker >= 0xc9) refuse("arithmetic coding");
    if (marker > 0xc2) refuse("hierarchical coding");
    if (data.size() < 6) broken("its header is malformed");
    const auto at = [&](size_t i) { return static_cast<int>(data[i]); };
    if (at(0) != 8) refuse(std::to_string(at(0)) + " bits a channel");
    frame_.progressive = marker == 0xc2;
    frame_.height = at(1) << 8 | at(2);
    frame_.width = at(3) << 8 | at(4);
    const int count = at(5);
    if (data.size() != static_cast<size_t>(6 + 3 * count)) broken("its header is malformed");
    if (frame_.height == 0) refuse("a height that comes after the pixels");
    check_picture_size(frame_.width, frame_.height);
    if (count == 4)
      throw Error(ErrorCode::kInvalidSamples, "This is a CMYK picture (four inks), which is not read.", {},
                  "Convert it to RGB.");
    if (count != 1 && count != 3) broken("it has " + std::to_string(count) + " colour components");
    for (int i = 0; i < count; ++i) {
      Component component;
      const auto base = static_cast<size_t>(6 + 3 * i);
      component.id = at(base);
      component.h = at(base + 1) >> 4, component.v = at(base + 1) & 15;
      component.quantizer = at(base + 2);
      if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4 || component.quantizer > 3)
        broken("its header is malformed");
      frame_.components.push_back(std::move(component));
    }
    lay_out();
  }

  void lay_out() {
    // A single component is never interleaved: its blocks lie one by one, whatever factors the header gives.
    if (frame_.components.size() == 1) frame_.components[0].h = frame_.components[0].v = 1;
    for (const Component& one : frame_.components)
      frame_.h_max = std::max(frame_.h_max, one.h), frame_.v_max = std::max(frame_.v_max, one.v);
    frame_.mcus_across = (frame_.width + 8 * frame_.h_max - 1) / (8 * frame_.h_max);
    frame_.mcus_down = (frame_.height + 8 * frame_.v_max - 1) / (8 * frame_.v_max);
    for (Component& one : frame_.components) {
      if (frame_.h_max % one.h != 0 || frame_.v_max % one.v != 0) refuse("fractional chroma sizes");
      one.width = (frame_.width * one.h + frame_.h_max - 1) / frame_.h_max;
      one.height = (frame_.height * one.v + frame_.v_max - 1) / frame_.v_max;
      one.columns = frame_.mcus_across * one.h;
      one.rows = frame_.mcus_down * one.v;
    }
  }

  /// A header that promises more blocks than the file has bits is a lie; nothing is allocated for it.
  void check_plausible() const {
    uint64_t blocks = 0;
    for (const Component& one : frame_.components)
      blocks += static_cast<uint64_t>((one.width + 7) / 8) * static_cast<uint64_t>((one.height + 7) / 8);
    if (blocks > file_.size() * 8) broken("it holds fewer pixels than its header says");
  }

  void scan(std::span<const std::byte> data) {
    if (frame_.components.empty()) broken("its pixels come before its header");
    const auto at = [&](size_t i) { return static_cast<int>(data[i]); };
    const size_t count = data.empty() ? 0 : static_cast<size_t>(data[0]);
    if (count < 1 || count > frame_.components.size() || data.size() != 4 + 2 * count) broken("a scan is malformed");
    Scan scan;
    scan.restart_interval = restart_interval_;
    scan.first = at(1 + 2 * count), scan.last = at(2 + 2 * count);
    scan.high = at(3 + 2 * count) >> 4, scan.low = at(3 + 2 * count) & 15;
    check_progression(scan, count);
    for (size_t i = 0; i < count; ++i) scan.components.push_back(scan_component(scan, at(1 + 2 * i), at(2 + 2 * i)));
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < i; ++j)
        if (scan.components[i].component == scan.components[j].component) broken("a scan is malformed");
    at_ += decode_scan(frame_, scan, file_.subspan(at_));
  }

  void check_progression(Scan& scan, size_t count) const {
    if (!frame_.progressive) {
      scan.first = 0, scan.last = 63, scan.high = scan.low = 0;
      return;
    }
    const bool dc = scan.first == 0;
    if (scan.last > 63 || scan.first > scan.last || (dc && scan.last != 0) || (!dc && count != 1) || scan.low > 13 ||
        (scan.high != 0 && scan.high != scan.low + 1))
      broken("a scan is malformed");
  }

  ScanComponent scan_component(const Scan& scan, int id, int tables) {
    for (Component& component : frame_.components) {
      if (component.id != id) continue;
      const int dc = tables >> 4, ac = tables & 15;
      if (dc > 3 || ac > 3) broken("a scan is malformed");
      ScanComponent result{&component, &tables_[static_cast<size_t>(dc)], &tables_[static_cast<size_t>(4 + ac)]};
      const bool needs_dc = scan.first == 0 && scan.high == 0, needs_ac = scan.last > 0;
      if ((needs_dc && !result.dc->defined) || (needs_ac && !result.ac->defined)) broken("a code table is missing");
      if (scan.first == 0 && !component.seen) {
        if (scan.high != 0) broken("a scan refines what was never stored");
        if (!has_quants_[static_cast<size_t>(component.quantizer)]) broken("a quantization table is missing");
        component.quants = quants_[static_cast<size_t>(component.quantizer)];
        component.seen = true;
      }
      if (!component.seen) broken("a scan refines what was never stored");
      return result;
    }
    broken("a scan names an unknown component");
  }

  /// By the rules of libjpeg: JFIF means YCbCr, then Adobe's mark decides, then the components' names.
  bool stores_rgb() const {
    if (frame_.components.size() != 3 || jfif_) return false;
    if (adobe_ >= 0) return adobe_ == 0;
    return frame_.components[0].id == 'R' && frame_.components[1].id == 'G' && frame_.components[2].id == 'B';
  }

  std::span<const std::byte> file_;
  size_t at_ = 0;
  Frame frame_;
  std::array<std::array<uint16_t, 64>, 4> quants_{};
  std::array<bool, 4> has_quants_{};
  std::array<Huffman, 8> tables_;  // four for DC, four for AC
  int restart_interval_ = 0;
  bool jfif_ = false;
  int adobe_ = -1;  // the transform that Adobe's segment names
};

}  // namespace
}  // namespace jpeg

bool is_jpeg(std::span<const std::byte> head) {
  return head.size() >= 3 && head[0] == std::byte{0xff} && head[1] == std::byte{0xd8} && head[2] == std::byte{0xff};
}

PictureHeader read_jpeg_header(std::span<const std::byte> file) {
  jpeg::Reader reader(file);
  reader.read_header();
  return {reader.frame().width, reader.frame().height};
}

Picture decode_jpeg(std::span<const std::byte> file) {
  return jpeg::Reader(file).read_picture();
}

}  // namespace tersor::samples
