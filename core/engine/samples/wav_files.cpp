// SPDX-License-Identifier: Apache-2.0
// .wav: one recording, one sample. PCM of 8, 16, 24 and 32 bits and float32; the channels' mean, in [-1, 1). By hand:
// a header and numbers, and libsndfile is packaged for the build's own machine and not for WebAssembly.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/samples/format.h"

namespace tersor::samples {

namespace {

constexpr uint32_t kUnknownLength = 0xffffffff;  // of a recording that was streamed out
constexpr int64_t kMostFrames = int64_t{1} << 27;
constexpr uint32_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The WAV file is damaged: " + what + ".", {},
              "Save the recording again, or leave it out.");
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The WAV file holds " + what + ".", {},
              "Convert it to PCM of 8, 16, 24 or 32 bits, or to 32-bit float.");
}

uint32_t little(std::span<const std::byte> bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) value |= static_cast<uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

struct WavHeader {
  uint32_t kind = 0;  // kPcm or kFloat
  uint32_t bits = 0;
  uint32_t channels = 0;
  int64_t rate = 0;
  uint64_t data_offset = 0;
  int64_t frames = 0;

  uint64_t frame_bytes() const { return uint64_t{channels} * (bits / 8); }
};

void read_form(std::span<const std::byte> form, WavHeader& header) {
  if (form.size() < 16) broken("its format is cut short");
  header.kind = little(form, 0, 2);
  header.channels = little(form, 2, 2);
  header.rate = little(form, 4, 4);
  const uint32_t frame_bytes = little(form, 12, 2);
  header.bits = little(form, 14, 2);
  if (header.kind == kExtensible) {
    if (form.size() < 40) broken("its format is cut short");
    header.kind = little(form, 24, 2);
  }
  if (header.kind != kPcm && header.kind != kFloat)
    unsupported("compressed sound (format " + std::to_string(header.kind) + ")");
  const uint32_t bits = header.bits;
  if (header.kind == kFloat ? bits != 32 : bits != 8 && bits != 16 && bits != 24 && bits != 32)
    unsupported(std::string(header.kind == kFloat ? "float" : "PCM") + " of " + std::to_string(bits) + " bits");
  if (header.channels == 0) broken("it has no channel");
  if (header.rate == 0) broken("its sample rate is 0");
  if (frame_bytes != header.frame_bytes())
    broken("a frame of " + std::to_string(header.channels) + " channels of " + std::to_string(bits) + " bits has " +
           std::to_string(header.frame_bytes()) + " bytes, not " + std::to_string(frame_bytes));
}

/// Walks over the chunks to the sound; reads nothing of it.
WavHeader read_header(const FileGroup& group) {
  const size_t file = group.files[0];
  const uint64_t size = group.first().size;
  WavHeader header;
  constexpr uint64_t kMostForm = 64;
  for (uint64_t at = 12; size - std::min(at, size) >= 8;) {
    const Bytes bytes = group.source.read(file, at, 8);
    const std::string_view name(reinterpret_cast<const char*>(bytes.view.data()), 4);
    const uint64_t length = little(bytes.view, 4, 4), rest = size - at - 8;
    if (name == "data") {
      if (header.channels == 0) broken("its sound comes before its format");
      if (length != kUnknownLength && length > rest)
        broken("it is cut short: its sound has " + std::to_string(length) + " bytes and " + std::to_string(rest) +
               " are there");
      header.data_offset = at + 8;
      header.frames = static_cast<int64_t>(std::min(length, rest) / header.frame_bytes());
      return header;
    }
    if (length > rest) broken("it is cut short inside its part \"" + std::string(name) + "\"");
    if (name == "fmt ") read_form(group.source.read(file, at + 8, std::min(length, kMostForm)).view, header);
    at += 8 + length + length % 2;
  }
  broken("it holds no sound");
}

/// One value of a channel, in [-1, 1) for PCM.
double value_at(std::span<const std::byte> bytes, size_t at, const WavHeader& header) {
  const uint32_t raw = little(bytes, at, header.bits / 8);
  if (header.kind == kFloat) {
    float value;
    std::memcpy(&value, &raw, sizeof(value));
    return static_cast<double>(value);
  }
  if (header.bits == 8) return (static_cast<double>(raw) - 128) / 128;
  // The sign bit to the top of 32 bits.
  const auto value = static_cast<int32_t>(raw << (32 - header.bits));
  return static_cast<double>(value) / 2147483648.0;
}

/// How many values the input takes, where its shape is one sequence of a fixed length and nothing else; else 0.
int64_t sequence_length(const InputSpec& input) {
  if (!input.shape) return 0;
  int64_t length = 1;
  for (size_t axis = 0; axis < input.shape->size(); ++axis) {
    const Dim& dim = (*input.shape)[axis];
    if (axis == 0 && input.has_batch_axis() && input.shape->size() > 1) continue;
    if (!dim.fixed() || (dim.value != 1 && length != 1)) return 0;
    length *= dim.value;
  }
  return length > 1 ? length : 0;
}

Shape shape_of(int64_t values, const InputSpec& input) {
  if (!input.shape) return Shape{1, values};
  // A free axis alone is time; there is no batch to take it for.
  if (input.shape->size() == 1 && !input.shape->front().fixed()) return Shape{values};
  const ValuesFit fit = fit_values(values, input);
  if (fit.shape) return *fit.shape;
  int64_t wanted = 1, long_axes = 0;
  for (size_t axis = input.has_batch_axis() ? 1 : 0; axis < input.shape->size(); ++axis) {
    const Dim& dim = (*input.shape)[axis];
    wanted = dim.fixed() ? wanted * dim.value : 0;
    if (!dim.fixed() || dim.value > 1) ++long_axes;
  }
  if (long_axes > 2) wanted = 0;  // a picture, say
  throw Error(ErrorCode::kInvalidSamples,
              "The recording has " + std::to_string(values) + " values; the input \"" + input.name + "\" takes " +
                  input.shape_text() + ".",
              {},
              wanted > 0 ? "Set \"length\": " + std::to_string(wanted) +
                               " in the preprocessing, to crop it at the end or pad it with zeros."
                         : "This input does not take a plain recording: give pictures or features of that shape, such "
                           "as .npy arrays.");
}

class WavFile : public SampleFile {
 public:
  WavFile(const FileGroup& group, const ReadContext& context)
      : source_(group.source), file_(group.files[0]), input_(context.inputs[0]), header_(read_header(group)) {
    const Preprocessing& how = context.preprocessing;
    if (how.rate && *how.rate != header_.rate)
      throw Error(ErrorCode::kInvalidSamples,
                  "The sample rate is " + std::to_string(header_.rate) + " Hz; the preprocessing says " +
                      std::to_string(*how.rate) + " Hz.",
                  {}, "Resample the recording, or correct \"rate\".");
    const int64_t fixed = sequence_length(input_);
    const bool cuts = how.windows.value_or(context.keeps_state);
    if (cuts && !how.length && fixed == 0)
      throw Error(ErrorCode::kInvalidSamples,
                  "A recording is cut into pieces, and the input \"" + input_.name + "\", which takes " +
                      input_.shape_text() + ", does not say how long one is.",
                  {}, "Set \"length\" in the preprocessing to the number of values that the model takes at once.");
    length_ = how.length.value_or(fixed > 0 ? fixed : header_.frames);
    if (header_.frames == 0) throw Error(ErrorCode::kInvalidSamples, "The recording is empty.");
    if (length_ > kMostFrames)
      throw Error(ErrorCode::kInvalidSamples,
                  "The recording has " + std::to_string(length_) + " values, at most " + std::to_string(kMostFrames) +
                      " are read.",
                  {}, "Set \"length\" in the preprocessing.");
    shape_ = shape_of(length_, input_);
    if (cuts) count_ = std::max<int64_t>(1, header_.frames / length_);
  }

  int64_t count() const override { return count_; }

  std::vector<Tensor> load(int64_t index) override {
    const int64_t first = index * length_, frames = std::min(length_, header_.frames - first);
    auto values = std::make_shared<std::vector<float>>(static_cast<size_t>(length_), 0.0f);
    constexpr int64_t kPart = int64_t{1} << 16;
    for (int64_t begin = 0; begin < frames; begin += kPart)
      read_part(first + begin, std::min(kPart, frames - begin), values->data() + begin);
    return {to_input_type({DType::kFloat32, false, shape_, {std::as_bytes(std::span(*values)), values}}, input_)};
  }

 private:
  void read_part(int64_t begin, int64_t count, float* out) const {
    const uint64_t frame = header_.frame_bytes();
    const Bytes bytes = source_.read(file_, header_.data_offset + static_cast<uint64_t>(begin) * frame,
                                     static_cast<uint64_t>(count) * frame);
    const size_t width = header_.bits / 8;
    size_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (uint32_t channel = 0; channel < header_.channels; ++channel, at += width)
        sum += value_at(bytes.view, at, header_);
      out[i] = static_cast<float>(sum / header_.channels);
    }
  }

  const FileSource& source_;
  size_t file_;
  const InputSpec& input_;
  WavHeader header_;
  int64_t length_ = 0;
  int64_t count_ = 1;
  Shape shape_;
};

}  // namespace

bool is_wav(std::span<const std::byte> head) {
  return head.size() >= 12 && std::memcmp(head.data(), "RIFF", 4) == 0 && std::memcmp(head.data() + 8, "WAVE", 4) == 0;
}

int64_t wav_rate(const FileGroup& group) {
  return read_header(group).rate;
}

std::unique_ptr<SampleFile> open_wav(const FileGroup& group, const ReadContext& context) {
  if (context.inputs.size() != 1)
    throw Error(ErrorCode::kInvalidSamples,
                "A recording is one tensor, and the model has " + std::to_string(context.inputs.size()) + " inputs.",
                {}, "Use .npz files with an array for each input, under its name.");
  return std::make_unique<WavFile>(group, context);
}

}  // namespace tersor::samples
