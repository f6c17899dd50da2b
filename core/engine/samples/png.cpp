// SPDX-License-Identifier: Apache-2.0
// PNG (ISO 15948): every colour type and depth, interlaced or not. Chunk checksums are verified. By hand, because
// libspng and lodepng are packaged for the build's own machine and not for WebAssembly.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/samples/inflate.h"
#include "core/samples/picture.h"

namespace tersor::samples {

namespace {

constexpr uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The PNG picture is damaged: " + what + ".", {},
              "Save the picture again, or leave it out.");
}

uint32_t big32(std::span<const std::byte> bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint32_t>(bytes[at + i]);
  return value;
}

enum class Colour { kGrey = 0, kRgb = 2, kPalette = 3, kGreyAlpha = 4, kRgba = 6 };

struct Header {
  int64_t width = 0;
  int64_t height = 0;
  int depth = 8;
  Colour colour = Colour::kRgb;
  bool interlaced = false;

  int samples() const {
    switch (colour) {
      case Colour::kGrey:
      case Colour::kPalette:
        return 1;
      case Colour::kGreyAlpha:
        return 2;
      case Colour::kRgb:
        return 3;
      case Colour::kRgba:
        return 4;
    }
    return 1;
  }
  int64_t row_bytes(int64_t columns) const { return (columns * samples() * depth + 7) / 8; }
};

struct Chunk {
  std::string type;
  std::span<const std::byte> data;
};

/// The chunk at `at`, which moves after it.
Chunk next_chunk(std::span<const std::byte> file, size_t& at) {
  if (file.size() - at < 12) broken("it is cut short");
  const size_t length = big32(file, at);
  if (length > file.size() - at - 12) broken("it is cut short");
  Chunk chunk;
  for (size_t i = 0; i < 4; ++i) chunk.type += static_cast<char>(file[at + 4 + i]);
  chunk.data = file.subspan(at + 8, length);
  if (crc32(file.subspan(at + 4, length + 4)) != big32(file, at + 8 + length))
    broken("the checksum of its " + chunk.type + " part is wrong");
  at += length + 12;
  return chunk;
}

bool depth_fits(Colour colour, int depth) {
  switch (colour) {
    case Colour::kGrey:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case Colour::kPalette:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case Colour::kRgb:
    case Colour::kGreyAlpha:
    case Colour::kRgba:
      return depth == 8 || depth == 16;
  }
  return false;
}

Header read_header(std::span<const std::byte> file, size_t& at) {
  if (!is_png(file)) broken("it does not begin like one");
  at = sizeof(kSignature);
  const Chunk chunk = next_chunk(file, at);
  if (chunk.type == "CgBI")
    throw Error(ErrorCode::kInvalidSamples, "This is Apple's own variant of PNG, which is not read.", {},
                "Save it as an ordinary PNG.");
  if (chunk.type != "IHDR" || chunk.data.size() != 13) broken("its header is missing");
  Header header;
  header.width = big32(chunk.data, 0);
  header.height = big32(chunk.data, 4);
  header.depth = static_cast<int>(chunk.data[8]);
  header.colour = static_cast<Colour>(chunk.data[9]);
  const int compression = static_cast<int>(chunk.data[10]), filter = static_cast<int>(chunk.data[11]);
  const int interlace = static_cast<int>(chunk.data[12]);
  header.interlaced = interlace == 1;
  if (!depth_fits(header.colour, header.depth) || compression != 0 || filter != 0 || interlace > 1)
    broken("its header holds an unknown kind of pixels");
  check_picture_size(header.width, header.height);
  return header;
}

struct Content {
  std::vector<std::byte> compressed;
  std::span<const std::byte> palette;  // 3 bytes an entry
  std::span<const std::byte> transparency;
  int orientation = 1;
};

Content read_chunks(std::span<const std::byte> file, size_t at) {
  Content content;
  for (;;) {
    const Chunk chunk = next_chunk(file, at);
    if (chunk.type == "IEND") return content;
    if (chunk.type == "IDAT") {
      content.compressed.insert(content.compressed.end(), chunk.data.begin(), chunk.data.end());
    } else if (chunk.type == "PLTE") {
      if (chunk.data.size() % 3 != 0 || chunk.data.size() > 768) broken("its palette is malformed");
      content.palette = chunk.data;
    } else if (chunk.type == "tRNS") {
      content.transparency = chunk.data;
    } else if (chunk.type == "eXIf") {
      content.orientation = exif_orientation(chunk.data);
    } else if ((chunk.type[0] & 0x20) == 0) {
      broken("it needs the unknown part " + chunk.type);
    }
  }
}

/// One of the (up to seven) pictures that an interlaced file stores: every step-th pixel from a start on.
struct Pass {
  int64_t x0, y0, dx, dy;
  int64_t columns(const Header& header) const { return header.width > x0 ? (header.width - x0 + dx - 1) / dx : 0; }
  int64_t rows(const Header& header) const { return header.height > y0 ? (header.height - y0 + dy - 1) / dy : 0; }
};

constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

std::span<const Pass> passes_of(const Header& header) {
  return header.interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole);
}

std::vector<uint8_t> inflate_pixels(const Header& header, std::span<const std::byte> compressed) {
  uint64_t raw = 0;
  for (const Pass& pass : passes_of(header)) {
    const int64_t columns = pass.columns(header);
    if (columns > 0) raw += static_cast<uint64_t>(pass.rows(header) * (1 + header.row_bytes(columns)));
  }
  const auto at = [&](size_t i) { return static_cast<unsigned>(compressed[i]); };
  if (compressed.size() < 2) broken("it holds no pixels");
  if ((at(0) & 15u) != 8 || (at(0) * 256 + at(1)) % 31 != 0 || (at(1) & 32u) != 0)
    broken("its pixels are packed in an unknown way");
  if (raw > most_inflated(compressed.size())) broken("it holds fewer pixels than its header says");
  std::vector<uint8_t> pixels(static_cast<size_t>(raw));
  const Inflated result = inflate(compressed.subspan(2), std::as_writable_bytes(std::span(pixels)));
  if (result.written < pixels.size()) broken("it holds fewer pixels than its header says");
  return pixels;
}

/// Of the neighbours on the left, above, and above on the left the one nearest to left + above - above_left.
struct Paeth {
  int operator()(int left, int above, int above_left) const {
    const int of_left = std::abs(above - above_left), of_above = std::abs(left - above_left);
    const int of_both = std::abs(left + above - 2 * above_left);
    return of_left <= of_above && of_left <= of_both ? left : of_above <= of_both ? above : above_left;
  }
};

/// Adds to each byte what `predict` makes of its neighbours `step` bytes before; left of the first there are zeros.
template <class Predict>
void add_predicted(std::span<uint8_t> row, const uint8_t* above, size_t step, const Predict& predict) {
  const auto add = [&](size_t i, int value) { row[i] = static_cast<uint8_t>(row[i] + value); };
  const size_t first = std::min(step, row.size());
  for (size_t i = 0; i < first; ++i) add(i, predict(0, above[i], 0));
  for (size_t i = step; i < row.size(); ++i) add(i, predict(row[i - step], above[i], above[i - step]));
}

/// Undoes the row filter in place. `above` is the row before, zeros for the first.
void unfilter(int filter, std::span<uint8_t> row, const uint8_t* above, size_t step) {
  switch (filter) {
    case 0:
      return;
    case 1:
      return add_predicted(row, above, step, [](int left, int, int) { return left; });
    case 2:
      return add_predicted(row, above, step, [](int, int up, int) { return up; });
    case 3:
      return add_predicted(row, above, step, [](int left, int up, int) { return (left + up) / 2; });
    case 4:
      return add_predicted(row, above, step, Paeth{});
    default:
      broken("a row has the unknown filter " + std::to_string(filter));
  }
}

/// Turns unfiltered rows into 8-bit grey or RGB over white.
class RowReader {
 public:
  RowReader(const Header& header, const Content& content) : header_(header), content_(content) {
    largest_ = (1u << header.depth) - 1;
    const size_t keys = header.colour == Colour::kGrey ? 2u : header.colour == Colour::kRgb ? 6u : 0u;
    has_key_ = keys != 0 && content.transparency.size() == keys;
    for (size_t i = 0; has_key_ && i < keys / 2; ++i)
      key_[i] = static_cast<uint32_t>(content.transparency[2 * i]) << 8 |
                static_cast<uint32_t>(content.transparency[2 * i + 1]);
    if (header.colour == Colour::kPalette && content.palette.empty()) broken("its palette is missing");
  }

  /// The bytes of a row are those of the picture.
  bool are_pixels() const {
    return header_.depth == 8 && !has_key_ && (header_.colour == Colour::kGrey || header_.colour == Colour::kRgb);
  }
  int channels() const { return header_.colour == Colour::kGrey || header_.colour == Colour::kGreyAlpha ? 1 : 3; }

  void pixel(const uint8_t* row, int64_t x, uint8_t* out) const {
    const int samples = header_.samples();
    uint32_t value[4] = {};
    for (int s = 0; s < samples; ++s) value[s] = sample(row, x * samples + s);
    if (header_.colour == Colour::kPalette) {
      look_up(value[0], out);
      return;
    }
    const int colours = channels();
    uint32_t alpha = samples > colours ? value[colours] : largest_;
    if (has_key_ && value[0] == key_[0] && (colours == 1 || (value[1] == key_[1] && value[2] == key_[2]))) alpha = 0;
    for (int c = 0; c < colours; ++c) out[c] = over_white(value[c], alpha);
  }

 private:
  uint32_t sample(const uint8_t* row, int64_t index) const {
    if (header_.depth == 8) return row[index];
    if (header_.depth == 16) return static_cast<uint32_t>(row[2 * index] << 8 | row[2 * index + 1]);
    const int64_t bit = index * header_.depth;
    return row[bit / 8] >> (8 - header_.depth - bit % 8) & largest_;
  }
  /// value / largest laid over white with alpha / largest, rounded once to 8 bits.
  uint8_t over_white(uint64_t value, uint64_t alpha) const {
    if (header_.depth == 8 && alpha == 255) return static_cast<uint8_t>(value);
    const uint64_t m = largest_, blended = value * alpha + m * (m - alpha);
    return static_cast<uint8_t>((blended * 255 * 2 + m * m) / (2 * m * m));
  }
  void look_up(uint32_t index, uint8_t* out) const {
    if (index * 3 + 2 >= content_.palette.size())
      broken("a pixel names colour " + std::to_string(index) + ", which the palette does not have");
    const uint64_t alpha =
        index < content_.transparency.size() ? static_cast<uint64_t>(content_.transparency[index]) : 255;
    for (size_t c = 0; c < 3; ++c) {
      const auto value = static_cast<uint64_t>(content_.palette[index * 3 + c]);
      out[c] = static_cast<uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
    }
  }

  const Header& header_;
  const Content& content_;
  uint32_t largest_ = 255;
  bool has_key_ = false;
  uint32_t key_[3] = {};
};

}  // namespace

bool is_png(std::span<const std::byte> head) {
  return head.size() >= sizeof(kSignature) && std::memcmp(head.data(), kSignature, sizeof(kSignature)) == 0;
}

PictureHeader read_png_header(std::span<const std::byte> file) {
  size_t at = 0;
  const Header header = read_header(file, at);
  return {header.width, header.height};
}

Picture decode_png(std::span<const std::byte> file) {
  size_t at = 0;
  const Header header = read_header(file, at);
  const Content content = read_chunks(file, at);
  std::vector<uint8_t> raw = inflate_pixels(header, content.compressed);
  const RowReader reader(header, content);
  Picture picture{header.width, header.height, reader.channels(), {}};
  picture.pixels.resize(static_cast<size_t>(picture.width * picture.height * picture.channels));

  const auto step = static_cast<size_t>(header.samples() * header.depth >= 8 ? header.samples() * header.depth / 8 : 1);
  uint8_t* row = raw.data();
  for (const Pass& pass : passes_of(header)) {
    const int64_t columns = pass.columns(header), length = header.row_bytes(columns);
    if (columns == 0) continue;
    const std::vector<uint8_t> zeros(static_cast<size_t>(length));
    const uint8_t* above = zeros.data();
    for (int64_t y = 0; y < pass.rows(header); ++y) {
      const int filter = *row++;
      unfilter(filter, {row, static_cast<size_t>(length)}, above, step);
      uint8_t* out = picture.row(pass.y0 + y * pass.dy) + pass.x0 * picture.channels;
      if (pass.dx == 1 && reader.are_pixels())
        std::copy_n(row, length, out);
      else
        for (int64_t x = 0; x < columns; ++x, out += pass.dx * picture.channels) reader.pixel(row, x, out);
      above = row;
      row += length;
    }
  }
  return oriented(std::move(picture), content.orientation);
}

}  // namespace tersor::samples
