// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/samples/format.h"
#include "core/samples/npy.h"
#include "core/samples/zip.h"

namespace tersor::samples {

namespace {

template <auto matches, auto read_header, auto decode>
constexpr Format picture(std::string_view name, std::string_view extensions) {
  return {.name = name,
          .extensions = extensions,
          .by_folder = false,
          .matches = [](std::string_view, std::span<const std::byte> head) { return matches(head); },
          .open = [](const FileGroup& group,
                     const ReadContext& context) { return open_picture(group, context, read_header, decode); },
          .decode = decode};
}

constexpr Format kFormats[] = {
    {"npy", ".npy", false, [](std::string_view, std::span<const std::byte> head) { return is_npy(head); }, open_npy},
    {"npz", ".npz", false,
     [](std::string_view path, std::span<const std::byte> head) {
       return is_zip(head) && extension_of(path) == ".npz";
     },
     open_npz, false, false},
    picture<is_png, read_png_header, decode_png>("png", ".png"),
    {"pb", "", true, is_input_proto, open_tensor_protos, false, false},
    picture<is_jpeg, read_jpeg_header, decode_jpeg>("jpeg", ".jpg .jpeg"),
    picture<is_bmp, read_bmp_header, decode_bmp>("bmp", ".bmp"),
    picture<is_netpbm, read_netpbm_header, decode_netpbm>("netpbm", ".ppm .pgm .pbm .pnm"),
    {"csv", ".csv", false, is_csv, open_csv, true},
    {.name = "wav",
     .extensions = ".wav",
     .by_folder = false,
     .matches = [](std::string_view, std::span<const std::byte> head) { return is_wav(head); },
     .open = open_wav,
     .rate = wav_rate},
};

constexpr std::string_view kHiddenNames[] = {"__MACOSX", "Thumbs.db", "desktop.ini"};

struct Sign {
  size_t at;
  std::string_view bytes;
  std::string_view meaning;
};

constexpr Sign kSigns[] = {
    {8, "WEBP", "a WebP picture"},
    {0, "GIF8", "a GIF picture"},
    {0, "BM", "a BMP picture"},
    {0, std::string_view("II*\0", 4), "a TIFF picture"},
    {0, std::string_view("MM\0*", 4), "a TIFF picture"},
    {4, "ftypavif", "an AVIF picture"},
    {4, "ftyphei", "a HEIC picture"},
    {0, "\x93NUMPY", "a .npy array"},
    {0, "\x89PNG", "a PNG picture"},
    {0, "\xff\xd8\xff", "a JPEG picture"},
    {0, "PK\x03\x04", "a zip archive"},
    {0, "\x1f\x8b", "a gzip archive"},
    {0, "version https://git-lfs", "a Git LFS pointer, without the file it stands for"},
    {0, "<!DOCTYPE", "an HTML page"},
    {0, "<!doctype", "an HTML page"},
    {0, "<html", "an HTML page"},
    {4, "TFL3", "a TFLite model"},
    {8, "WAVE", "a WAV recording"},
    {0, "%PDF", "a PDF document"},
    {0, "MATLAB", "a MATLAB file"},
    {0, "\x89HDF", "an HDF5 file, as MATLAB and Keras write them"},
    {0, "PAR1", "a Parquet table"},
    {0, "ARROW1", "an Arrow table"},
    {0, "ID3", "an MP3 recording"},
    {0, "\xff\xfb", "an MP3 recording"},
    {0, "fLaC", "a FLAC recording"},
    {0, "OggS", "an Ogg recording"},
    {4, "ftypmif1", "a HEIF picture"},
    {4, "ftypmsf1", "a HEIF picture"},
    {4, "ftyp", "an MP4 recording or film"},
    {0, "\x80", "a Python pickle"},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view path, std::span<const std::byte> head) {
  for (const Format& format : kFormats)
    if (format.matches(path, head)) return &format;
  return nullptr;
}

std::vector<std::string_view> extensions_of(const Format& format) {
  std::vector<std::string_view> all;
  for (std::string_view rest = format.extensions; !rest.empty();) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    all.push_back(rest.substr(0, blank));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return all;
}

std::span<const std::string_view> hidden_names() {
  return kHiddenNames;
}

std::vector<std::string> known_extensions() {
  std::vector<std::string> all;
  for (const Format& format : kFormats)
    for (const std::string_view one : extensions_of(format)) all.emplace_back(one);
  return all;
}

bool has_extension(const Format& format, std::string_view extension) {
  const std::vector<std::string_view> own = extensions_of(format);
  return std::find(own.begin(), own.end(), extension) != own.end();
}

Picture decode_picture(std::span<const std::byte> file) {
  for (const Format& format : kFormats)
    if (format.decode != nullptr && format.matches({}, file)) return format.decode(file);
  throw Error(ErrorCode::kInvalidSamples,
              "This is no picture of a format that is read, but " + describe_file({}, file) + ".", {},
              "Convert it, or leave it out.");
}

std::string describe_file(std::string_view path, std::span<const std::byte> head) {
  if (head.empty()) return "an empty file";
  for (const Sign& sign : kSigns)
    if (head.size() >= sign.at + sign.bytes.size() &&
        std::memcmp(head.data() + sign.at, sign.bytes.data(), sign.bytes.size()) == 0)
      return std::string(sign.meaning);
  const std::string extension = extension_of(path);
  return extension.empty() ? "of an unknown kind" : "of an unknown kind (" + extension + ")";
}

std::string extension_of(std::string_view path) {
  const size_t slash = path.rfind('/'), start = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot <= start) return {};
  std::string extension(path.substr(dot));
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

}  // namespace tersor::samples
