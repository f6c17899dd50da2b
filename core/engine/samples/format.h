// SPDX-License-Identifier: Apache-2.0
// Sample formats. One more is one new file and one line in formats.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/samples/input_spec.h"
#include "core/samples/picture.h"
#include "core/samples/preprocessing.h"
#include "core/samples/source.h"

namespace tersor::samples {

/// What is needed to turn files into samples.
struct ReadContext {
  std::vector<InputSpec> inputs;  // of the model, in graph order
  Preprocessing preprocessing;    // for pictures and recordings
  bool keeps_state = false;       // an input of the model is its state
};

/// An opened file, or group of files, that holds samples. May keep what it read; used by one thread at a time.
class SampleFile {
 public:
  virtual ~SampleFile() = default;
  /// How many samples; at least 1.
  virtual int64_t count() const = 0;
  /// Sample `index`, one tensor for each input, batch 1.
  virtual std::vector<Tensor> load(int64_t index) = 0;
  /// The label of each sample as it is written, a number or a name, where the file holds labels; empty elsewhere.
  virtual std::vector<std::string> labels() { return {}; }
};

struct FileGroup {
  const FileSource& source;
  std::vector<size_t> files;  // one; for a format by folder all of its files in that folder, in the data set's order

  const SourceFile& first() const { return source.files()[files[0]]; }
};

using ReadPictureHeader = PictureHeader (*)(std::span<const std::byte> file);
using DecodePicture = Picture (*)(std::span<const std::byte> file);

/// The context and the source outlive the SampleFile.
struct Format {
  std::string_view name;  // "npy", "png", ...
  /// Endings of names, with a blank between, the usual one first; may be empty. Files of such a name that do not match
  /// are errors, not strangers.
  std::string_view extensions;
  bool by_folder;  // the matching files of a folder are one sample together, named for the folder
  bool (*matches)(std::string_view path, std::span<const std::byte> head);
  /// Reads headers only. Error kInvalidSamples when the file cannot give samples of this model.
  std::unique_ptr<SampleFile> (*open)(const FileGroup& group, const ReadContext& context);
  /// Such files also lie among samples for other reasons: one that cannot be a sample is then a stranger.
  bool may_be_other = false;
  /// Its samples are one tensor, that of the model's only input or of the one that nothing else fills; false: a tensor
  /// for every input.
  bool is_one_tensor = true;
  DecodePicture decode = nullptr;                     // of pictures: their pixels
  int64_t (*rate)(const FileGroup& group) = nullptr;  // of recordings: values in a second; errors as open()
};

/// Bytes of a file's beginning that are enough for every matches().
constexpr uint64_t kHeadBytes = 64;

std::span<const Format> formats();

/// The format of a file by its first bytes; null for a stranger.
const Format* find_format(std::string_view path, std::span<const std::byte> head);

/// Parts of paths that systems leave lying about, never meant as samples; so are those that begin with a dot.
std::span<const std::string_view> hidden_names();

/// Its extensions, the usual one first; may be empty.
std::vector<std::string_view> extensions_of(const Format& format);

/// Every extension of every format, with its dot, in the order of the formats.
std::vector<std::string> known_extensions();

/// True when `extension`, lower-case and with its dot, is one of the format's.
bool has_extension(const Format& format, std::string_view extension);

/// The pixels of a picture of any format. Error kInvalidSamples where it is none.
Picture decode_picture(std::span<const std::byte> file);

/// What a file seems to be, for messages: "an HTML page", "a WebP picture", "an empty file", ...; "of an unknown kind"
/// otherwise.
std::string describe_file(std::string_view path, std::span<const std::byte> head);

/// The lower-case extension with its dot; empty where there is none.
std::string extension_of(std::string_view path);

// The formats' functions, for the list.
std::unique_ptr<SampleFile> open_npy(const FileGroup& group, const ReadContext& context);
std::unique_ptr<SampleFile> open_npz(const FileGroup& group, const ReadContext& context);
bool is_input_proto(std::string_view path, std::span<const std::byte> head);
std::unique_ptr<SampleFile> open_tensor_protos(const FileGroup& group, const ReadContext& context);
std::unique_ptr<SampleFile> open_picture(const FileGroup& group, const ReadContext& context,
                                         ReadPictureHeader read_header, DecodePicture decode);
bool is_csv(std::string_view path, std::span<const std::byte> head);
std::unique_ptr<SampleFile> open_csv(const FileGroup& group, const ReadContext& context);
bool is_wav(std::span<const std::byte> head);
std::unique_ptr<SampleFile> open_wav(const FileGroup& group, const ReadContext& context);
int64_t wav_rate(const FileGroup& group);

}  // namespace tersor::samples
