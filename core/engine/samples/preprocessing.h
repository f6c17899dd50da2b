// SPDX-License-Identifier: Apache-2.0
// How a picture becomes a tensor: resize, crop, channels, layout, then x = (pixel * scale - mean) / std, in double,
// rounded to float32; and what recordings must be. Part of the recipe; docs/data-sets.md describes the JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/base/names.h"
#include "core/samples/input_spec.h"
#include "core/samples/picture.h"

namespace tersor::samples {

enum class ResizeMode { kNone, kStretch, kShortSide, kFit, kMultiple };
enum class ResizeFilter { kBilinear };
enum class Crop { kNone, kCenter };
enum class Channels { kRgb, kBgr, kGray };
enum class PictureLayout { kNchw, kNhwc };

struct Resize {
  ResizeMode mode = ResizeMode::kNone;
  std::vector<int64_t> size;  // height, width; empty for kNone
  ResizeFilter filter = ResizeFilter::kBilinear;

  static constexpr auto fields() {
    return std::make_tuple(
        field("mode", &Resize::mode,
              "none; stretch to size; short_side to the smaller of size; fit inside size, the rest filled; multiple of "
              "size, the nearest."),
        field("size", &Resize::size, "Height and width."),
        field("filter", &Resize::filter,
              "bilinear: a triangle that grows with the reduction, so that nothing is skipped."));
  }
};

struct Preprocessing {
  Resize resize;
  Crop crop = Crop::kNone;
  Channels channels = Channels::kRgb;
  PictureLayout layout = PictureLayout::kNchw;
  double scale = 1;
  std::vector<double> mean = {0};
  std::vector<double> stddev = {1};
  int64_t label_offset = 0;
  std::optional<int64_t> rate;
  std::optional<int64_t> length;
  std::optional<bool> windows;
  std::map<std::string, double> inputs;

  static constexpr auto fields() {
    return std::make_tuple(
        field("resize", &Preprocessing::resize, "How the picture is brought to size."),
        field("crop", &Preprocessing::crop, "center cuts the middle out, in the size that the model's input has."),
        field("channels", &Preprocessing::channels, "RGB, BGR or GRAY."),
        field("layout", &Preprocessing::layout, "NCHW (channels first) or NHWC (channels last)."),
        field("scale", &Preprocessing::scale, "A pixel (0 to 255) is first multiplied by this."),
        field("mean", &Preprocessing::mean, "Then this is taken off; one number, or one for each channel."),
        field("std", &Preprocessing::stddev, "Then it is divided by this; one number, or one for each channel."),
        field("label_offset", &Preprocessing::label_offset,
              "Added to every class number: 1 where the model's output 0 is \"background\"."),
        field("rate", &Preprocessing::rate, "The sample rate in Hz that a recording must have; absent: any."),
        field("length", &Preprocessing::length,
              "Values that a recording is brought to: cropped at the end or padded with zeros; absent: what the input "
              "takes where that is one length, else as it is."),
        field("windows", &Preprocessing::windows,
              "Whether a recording is cut into pieces of that length, one sample each; absent: where the model keeps a "
              "state."),
        field("inputs", &Preprocessing::inputs,
              "Numbers that fill inputs of the model which samples do not hold, by the input's name."));
  }
  int channel_count() const { return channels == Channels::kGray ? 1 : 3; }
};

/// What is absent is left out: `resize.size`, `rate`, `length`, `windows`, `inputs`.
Json to_json(const Resize& resize);
Json to_json(const Preprocessing& preprocessing);

/// What an input says about pictures: sides where they are fixed, 1 or 3 channels, and where these stand.
struct PictureInput {
  std::optional<int64_t> height;
  std::optional<int64_t> width;
  int channels = 3;
  PictureLayout layout = PictureLayout::kNchw;
};

/// Absent when no picture fits the input's shape.
std::optional<PictureInput> picture_input(const InputSpec& input);

/// Names of the presets: imagenet, unit (0 to 1), signed (-1 to 1), raw (0 to 255).
std::vector<std::string> preset_names();

/// A preset for that input: short side to the input's size and the middle cut out, so that a picture that already has
/// the size is not touched; sides that the input leaves open to multiples of 32, which most such models need; channels
/// and layout from the input's shape. Error kInvalidConfig for an unknown name.
Preprocessing preset(std::string_view name, const InputSpec& input);

/// The likeliest preset for an input of that shape and type, for a page to start from: it is only a guess.
std::string_view guess_preset(const InputSpec& input);

/// From a preset's name or JSON. What the JSON leaves out has the defaults above, channels and layout come from the
/// input. Error kInvalidConfig names the field.
Preprocessing read_preprocessing(std::string_view name_or_json, const InputSpec& input, const std::string& place);

/// Error kInvalidConfig when the description contradicts itself.
void check(const Preprocessing& preprocessing, const std::string& place);

/// The picture as the model's input takes it, batch 1. Error kInvalidSamples when the result has another shape than the
/// input, or the input takes whole numbers and the result is none.
Tensor picture_to_tensor(Picture picture, const Preprocessing& preprocessing, const InputSpec& input);

/// The mean and the deviation, in pixels, by which a file preprocesses them for that input.
/// Absent when the input takes no such pictures.
std::optional<PixelScale> pixel_scale(const Preprocessing& preprocessing, const InputSpec& input);

/// Back from the tensor to 8-bit pixels, for a person to look at. Absent where the tensor is no picture.
std::optional<Picture> tensor_to_picture(const Tensor& tensor, const Preprocessing& preprocessing);

}  // namespace tersor::samples

template <>
struct tersor::EnumWords<tersor::samples::ResizeMode> {
  using E = tersor::samples::ResizeMode;
  static constexpr const char* kind = "way to resize";
  static constexpr std::pair<E, std::string_view> words[] = {{E::kNone, "none"},
                                                             {E::kStretch, "stretch"},
                                                             {E::kShortSide, "short_side"},
                                                             {E::kFit, "fit"},
                                                             {E::kMultiple, "multiple"}};
};
template <>
struct tersor::EnumWords<tersor::samples::ResizeFilter> {
  static constexpr const char* kind = "filter";
  static constexpr std::pair<tersor::samples::ResizeFilter, std::string_view> words[] = {
      {tersor::samples::ResizeFilter::kBilinear, "bilinear"}};
};
template <>
struct tersor::EnumWords<tersor::samples::Crop> {
  using E = tersor::samples::Crop;
  static constexpr const char* kind = "way to crop";
  static constexpr std::pair<E, std::string_view> words[] = {{E::kNone, "none"}, {E::kCenter, "center"}};
};
template <>
struct tersor::EnumWords<tersor::samples::Channels> {
  using E = tersor::samples::Channels;
  static constexpr const char* kind = "order of channels";
  static constexpr std::pair<E, std::string_view> words[] = {{E::kRgb, "RGB"}, {E::kBgr, "BGR"}, {E::kGray, "GRAY"}};
};
template <>
struct tersor::EnumWords<tersor::samples::PictureLayout> {
  using E = tersor::samples::PictureLayout;
  static constexpr const char* kind = "layout";
  static constexpr std::pair<E, std::string_view> words[] = {{E::kNchw, "NCHW"}, {E::kNhwc, "NHWC"}};
};
