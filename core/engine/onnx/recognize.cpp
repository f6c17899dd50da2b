// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/recognize.h"

#include <algorithm>
#include <string_view>

namespace tersor::onnx {

namespace {

struct Signature {
  size_t offset;
  std::string_view bytes;
  const char* what;
  const char* hint;
};

using namespace std::string_view_literals;

constexpr const char* kExport = "Export the model to ONNX from the tool it was trained in.";

constexpr Signature kSignatures[] = {
    {0, "version https://git-lfs"sv, "a Git LFS pointer, the stand-in for the real file",
     "Fetch the real file with \"git lfs pull\", or download it from the repository's page."},
    {4, "TFL3"sv, "a TFLite model (it has TFL3 at byte 4)", "Convert it to ONNX first, for example with tf2onnx."},
    {4, "ORTM"sv, "a model in ONNX Runtime's own format (.ort)", "Use the .onnx file it was made from."},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, such as a Keras .h5 model",
     "Convert the model to ONNX first, for example with tf2onnx."},
    {0, "\x08\x01\x12"sv, "a TensorFlow SavedModel", "Convert it to ONNX first, for example with tf2onnx."},
    {0, "GGUF"sv, "a GGUF model", kExport},
    {0, "\x93NUMPY"sv, "a NumPy array (.npy)", "Give the model as a .onnx file; arrays are samples."},
    {0, "\x1f\x8b"sv, "a gzip archive", "Unpack it and give the .onnx file inside."},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", "Unpack it and give the .onnx file inside."},
    {0, "Rar!"sv, "a RAR archive", "Unpack it and give the .onnx file inside."},
    {257, "ustar"sv, "a tar archive", "Unpack it and give the .onnx file inside."},
    {0, "\x89PNG"sv, "a PNG picture", "Give the model as a .onnx file; pictures are samples."},
    {0, "\xff\xd8\xff"sv, "a JPEG picture", "Give the model as a .onnx file; pictures are samples."},
    {0, "RIFF"sv, "a RIFF file, such as a WAV recording", "Give the model as a .onnx file; recordings are samples."},
    {0, "%PDF"sv, "a PDF document", "Give the model as a .onnx file."},
    {0,
     "\x7f"
     "ELF"sv,
     "a program (ELF)", "Give the model as a .onnx file."},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

OtherFormat zip_archive(std::string_view text) {
  // Names of the archive's files stand uncompressed, at the front or in the directory at the end.
  const std::string_view front = text.substr(0, 65536);
  const std::string_view back = text.substr(text.size() - std::min<size_t>(text.size(), 65536));
  const auto has = [&](std::string_view name) { return contains(front, name) || contains(back, name); };
  if (has("data.pkl"))
    return {"a PyTorch file (a zip archive with data.pkl)", "Export the model with torch.onnx.export."};
  if (has("model.weights.h5"))
    return {"a Keras model (a zip archive with model.weights.h5)",
            "Convert the model to ONNX first, for example with tf2onnx."};
  if (has(".npy")) return {"a NumPy archive (.npz)", "Give the model as a .onnx file; arrays are samples."};
  return {"a zip archive", "Unpack it and give the .onnx file inside."};
}

bool is_text(std::string_view bytes) {
  const std::string_view front = bytes.substr(0, 1024);
  return std::all_of(front.begin(), front.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

OtherFormat text_file(std::string_view bytes) {
  const std::string front = lower(bytes.substr(0, 1024));
  const size_t first = front.find_first_not_of(" \r\n\t");
  const std::string_view begin =
      first == std::string::npos ? std::string_view() : std::string_view(front).substr(first);
  const auto starts = [&](std::string_view with) { return begin.substr(0, with.size()) == with; };
  if (starts("<!doctype html") || starts("<html") || contains(front, "<head>"))
    return {"a web page (HTML)", "The download gave a page instead of the file; use the link to the raw file."};
  if (starts("ir_version:")) return {"an ONNX model in text form", "Save it in binary form with onnx.save."};
  if (starts("<")) return {"an XML file", kExport};
  if (starts("{") || starts("[")) return {"a JSON file", kExport};
  return {"a text file", "Give the model as a .onnx file."};
}

bool is_safetensors(std::string_view text) {
  return text.size() > 10 && text[8] == '{' && text[9] == '"' && text.substr(4, 4) == "\0\0\0\0"sv;
}

bool is_pickle(std::string_view text) {
  return text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

}  // namespace

std::optional<OtherFormat> recognize(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Signature& signature : kSignatures)
    if (text.size() >= signature.offset + signature.bytes.size() &&
        text.substr(signature.offset, signature.bytes.size()) == signature.bytes)
      return OtherFormat{signature.what, signature.hint};
  if (text.substr(0, 4) == "PK\x03\x04") return zip_archive(text);
  if (is_safetensors(text)) return OtherFormat{"a safetensors file, which holds weights but no graph", kExport};
  if (is_pickle(text))
    return OtherFormat{"a Python pickle, such as an old PyTorch file", "Export the model with torch.onnx.export."};
  if (!text.empty() && is_text(text)) return text_file(text);
  return std::nullopt;
}

}  // namespace tersor::onnx
