// SPDX-License-Identifier: Apache-2.0
#include "core/samples/preprocessing.h"

#include <cmath>

#include "core/base/json.h"

namespace tersor::samples {

namespace {

std::optional<int64_t> side(const Dim& dim) {
  return dim.fixed() ? std::optional<int64_t>(dim.value) : std::nullopt;
}

constexpr std::string_view kPresets[] = {"imagenet", "unit", "signed", "raw"};

void set_numbers(std::string_view name, bool grey, Preprocessing& result) {
  if (name == "imagenet") {
    // The usual statistics of ImageNet's training pictures; for grey, the mean over the channels.
    result.scale = 1.0 / 255;
    result.mean = grey ? std::vector<double>{0.449} : std::vector<double>{0.485, 0.456, 0.406};
    result.stddev = grey ? std::vector<double>{0.226} : std::vector<double>{0.229, 0.224, 0.225};
  } else if (name == "unit") {
    result.scale = 1.0 / 255;
  } else if (name == "signed") {
    result.mean = result.stddev = {127.5};
  }
}

}  // namespace

Json to_json(const Resize& resize) {
  Json json = Json::object();
  json["mode"] = tersor::to_json(resize.mode);
  if (!resize.size.empty()) json["size"] = tersor::to_json(resize.size);
  json["filter"] = tersor::to_json(resize.filter);
  return json;
}

Json to_json(const Preprocessing& preprocessing) {
  Json json = tersor::to_json<Preprocessing>(preprocessing);
  for (const char* name : {"rate", "length", "windows"})
    if (json.at(name).is_null()) json.erase(name);
  if (preprocessing.inputs.empty()) json.erase("inputs");
  return json;
}

std::optional<PictureInput> picture_input(const InputSpec& input) {
  if (!input.shape) return std::nullopt;
  const std::vector<Dim>& dims = *input.shape;
  const bool batched = dims.size() == 4 && input.has_batch_axis();
  if (!batched && dims.size() != 3) return std::nullopt;
  const Dim* d = dims.data() + (batched ? 1 : 0);
  if (!batched && input.has_batch_axis()) return PictureInput{side(d[1]), side(d[2]), 1, PictureLayout::kNchw};
  for (int channels : {3, 1}) {
    if (d[0].value == channels) return PictureInput{side(d[1]), side(d[2]), channels, PictureLayout::kNchw};
    if (d[2].value == channels) return PictureInput{side(d[0]), side(d[1]), channels, PictureLayout::kNhwc};
  }
  return std::nullopt;
}

std::vector<std::string> preset_names() {
  return {std::begin(kPresets), std::end(kPresets)};
}

Preprocessing preset(std::string_view name, const InputSpec& input) {
  bool known = false;
  for (std::string_view one : kPresets) known = known || one == name;
  if (!known) tersor::detail::unknown_word("preset", name, preset_names(), "preprocessing");
  Preprocessing result;
  const auto shape = picture_input(input);
  if (shape) {
    result.channels = shape->channels == 1 ? Channels::kGray : Channels::kRgb;
    result.layout = shape->layout;
    if (shape->height && shape->width) {
      result.resize = {ResizeMode::kShortSide, {*shape->height, *shape->width}, ResizeFilter::kBilinear};
      // The short side must reach over the longer one of the two, or the crop would not find enough.
      if (*shape->height != *shape->width) result.resize.mode = ResizeMode::kStretch;
      result.crop = result.resize.mode == ResizeMode::kShortSide ? Crop::kCenter : Crop::kNone;
    } else {
      result.resize = {ResizeMode::kMultiple, {32, 32}, ResizeFilter::kBilinear};
    }
  }
  set_numbers(name, result.channels == Channels::kGray, result);
  return result;
}

std::string_view guess_preset(const InputSpec& input) {
  if (is_integer(input.dtype)) return "raw";
  const auto shape = picture_input(input);
  constexpr int64_t kSmall = 128;  // below, models are mostly trained on 0 to 1
  if (!shape || shape->channels != 3 || (shape->height && *shape->height < kSmall)) return "unit";
  return shape->layout == PictureLayout::kNchw ? "imagenet" : "signed";
}

Preprocessing read_preprocessing(std::string_view name_or_json, const InputSpec& input, const std::string& place) {
  for (std::string_view one : kPresets)
    if (one == name_or_json) return preset(one, input);
  Preprocessing result;
  if (const auto shape = picture_input(input)) {
    result.channels = shape->channels == 1 ? Channels::kGray : Channels::kRgb;
    result.layout = shape->layout;
  }
  from_json(parse_json(name_or_json, place), result, place);
  check(result, place);
  return result;
}

void check(const Preprocessing& preprocessing, const std::string& place) {
  const auto refuse = [&](const char* name, const std::string& message) {
    throw Error(ErrorCode::kInvalidConfig, message, place.empty() ? name : place + "." + name);
  };
  const Resize& resize = preprocessing.resize;
  if (resize.mode == ResizeMode::kNone ? !resize.size.empty() && resize.size.size() != 2 : resize.size.size() != 2)
    refuse("resize.size",
           "The size needs two numbers, height and width; found " + std::to_string(resize.size.size()) + ".");
  for (int64_t length : resize.size)
    if (length < 1 || length > 65535)
      refuse("resize.size", "The size " + std::to_string(length) + " is not between 1 and 65535.");
  if (resize.size.size() == 2) check_picture_size(resize.size[1], resize.size[0]);
  if (!std::isfinite(preprocessing.scale) || preprocessing.scale == 0)
    refuse("scale", "The scale must be a number other than 0.");
  const auto channels = static_cast<size_t>(preprocessing.channel_count());
  const auto check_list = [&](const char* name, const std::vector<double>& values, bool divides) {
    if (values.size() != 1 && values.size() != channels)
      refuse(name, "There are " + std::to_string(values.size()) + " numbers for " + std::to_string(channels) +
                       " channels; give one for each, or one for all.");
    for (double value : values)
      if (!std::isfinite(value) || (divides && value == 0))
        refuse(name, "Every number must be finite" + std::string(divides ? " and not 0." : "."));
  };
  check_list("mean", preprocessing.mean, false);
  check_list("std", preprocessing.stddev, true);
  if (preprocessing.rate && *preprocessing.rate < 1) refuse("rate", "The sample rate must be at least 1 Hz.");
  constexpr int64_t kMostLength = int64_t{1} << 27;
  if (preprocessing.length && (*preprocessing.length < 1 || *preprocessing.length > kMostLength))
    refuse("length", "The length " + std::to_string(*preprocessing.length) + " is not between 1 and " +
                         std::to_string(kMostLength) + ".");
  for (const auto& [name, value] : preprocessing.inputs)
    if (!std::isfinite(value)) refuse("inputs", "The value of \"" + name + "\" must be finite.");
}

}  // namespace tersor::samples
