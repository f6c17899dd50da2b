// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/samples/preprocessing.h"
#include "core/samples/resize.h"
#include "core/tensor/rounding.h"

namespace tersor::samples {

namespace {

/// long * to / from, rounded to nearest (half up), at least 1.
int64_t scaled_side(int64_t length, int64_t to, int64_t from) {
  return std::max<int64_t>((2 * length * to + from) / (2 * from), 1);
}

Picture to_short_side(const Picture& picture, int64_t target) {
  if (picture.width <= picture.height) {
    const int64_t height = scaled_side(picture.height, target, picture.width);
    check_picture_size(target, height);
    return resize(picture, target, height);
  }
  const int64_t width = scaled_side(picture.width, target, picture.height);
  check_picture_size(width, target);
  return resize(picture, width, target);
}

/// Inside height x width with its proportions kept, in the middle; the rest is grey 114, as detectors are trained.
Picture fit_inside(const Picture& picture, int64_t height, int64_t width) {
  const bool wide = picture.width * height >= picture.height * width;
  const int64_t inner_width = wide ? width : std::min(scaled_side(picture.width, height, picture.height), width);
  const int64_t inner_height = wide ? std::min(scaled_side(picture.height, width, picture.width), height) : height;
  const Picture inner = resize(picture, inner_width, inner_height);
  Picture result{width, height, picture.channels, {}};
  result.pixels.assign(static_cast<size_t>(width * height * picture.channels), 114);
  const int64_t left = (width - inner_width) / 2, top = (height - inner_height) / 2;
  for (int64_t y = 0; y < inner_height; ++y)
    std::copy_n(inner.row(y), inner_width * picture.channels, result.row(top + y) + left * picture.channels);
  return result;
}

int64_t nearest_multiple(int64_t length, int64_t of) {
  return std::max((2 * length + of) / (2 * of), int64_t{1}) * of;
}

/// Each side that the input leaves open as the nearest multiple; beside a fixed one, of what keeps the proportions.
Picture to_multiples(const Picture& picture, const std::vector<int64_t>& of, const PictureInput& input) {
  const int64_t height = input.height.value_or(
      nearest_multiple(input.width ? scaled_side(picture.height, *input.width, picture.width) : picture.height, of[0]));
  const int64_t width = input.width.value_or(nearest_multiple(
      input.height ? scaled_side(picture.width, *input.height, picture.height) : picture.width, of[1]));
  check_picture_size(width, height);
  return resize(picture, width, height);
}

Picture crop_center(const Picture& picture, int64_t height, int64_t width) {
  if (picture.width == width && picture.height == height) return picture;
  if (picture.width < width || picture.height < height)
    throw Error(ErrorCode::kInvalidSamples,
                "A middle of " + std::to_string(height) + "x" + std::to_string(width) +
                    " cannot be cut out of a picture of " + std::to_string(picture.height) + "x" +
                    std::to_string(picture.width) + " (height x width).",
                {}, "Resize it first: set \"resize\" to stretch or short_side.");
  Picture result{width, height, picture.channels, {}};
  result.pixels.resize(static_cast<size_t>(width * height * picture.channels));
  const int64_t left = (picture.width - width) / 2, top = (picture.height - height) / 2;
  for (int64_t y = 0; y < height; ++y)
    std::copy_n(picture.row(top + y) + left * picture.channels, width * picture.channels, result.row(y));
  return result;
}

Picture arranged(Picture picture, const Preprocessing& how, const std::optional<PictureInput>& input) {
  const std::vector<int64_t>& size = how.resize.size;
  switch (how.resize.mode) {
    case ResizeMode::kNone:
      break;
    case ResizeMode::kStretch:
      picture = resize(picture, size[1], size[0]);
      break;
    case ResizeMode::kShortSide:
      picture = to_short_side(picture, std::min(size[0], size[1]));
      break;
    case ResizeMode::kFit:
      picture = fit_inside(picture, size[0], size[1]);
      break;
    case ResizeMode::kMultiple:
      picture = to_multiples(picture, size, input.value_or(PictureInput{}));
      break;
  }
  if (how.crop == Crop::kNone) return picture;
  if (input && input->height && input->width) return crop_center(picture, *input->height, *input->width);
  if (size.size() == 2) return crop_center(picture, size[0], size[1]);
  throw Error(ErrorCode::kInvalidConfig, "The crop has no size: the model's input leaves height and width open.",
              "preprocessing.crop", "Set \"resize.size\" too.");
}

double per_channel(const std::vector<double>& values, int channel) {
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

/// What each of the 256 pixel values becomes in a channel.
std::array<double, 256> value_table(const Preprocessing& how, int channel) {
  std::array<double, 256> table;
  for (int pixel = 0; pixel < 256; ++pixel)
    table[static_cast<size_t>(pixel)] =
        (static_cast<double>(pixel) * how.scale - per_channel(how.mean, channel)) / per_channel(how.stddev, channel);
  return table;
}

template <class T>
T to_element(double value, const InputSpec& input) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (value != round_half_even(value) || value < static_cast<double>(std::numeric_limits<T>::min()) ||
        value > static_cast<double>(std::numeric_limits<T>::max()))
      throw Error(ErrorCode::kInvalidSamples,
                  "The input \"" + input.name + "\" takes " + std::string(name_of(input.dtype)) +
                      ", and a pixel becomes " + std::to_string(value) + ".",
                  {}, "Use the preset raw, which keeps pixels as they are.");
    return static_cast<T>(value);
  }
}

template <class T>
Tensor filled(const Picture& picture, const Preprocessing& how, const InputSpec& input, const Shape& shape) {
  Tensor result = Tensor::make(dtype_of<T>(), shape);
  const auto out = result.mutable_data<T>();
  const int channels = how.channel_count();
  const auto area = static_cast<size_t>(picture.width * picture.height);
  for (int c = 0; c < channels; ++c) {
    std::array<T, 256> table;
    const auto values = value_table(how, c);
    for (size_t i = 0; i < 256; ++i) table[i] = to_element<T>(values[i], input);
    const int source = how.channels == Channels::kBgr ? 2 - c : c;
    const uint8_t* from = picture.pixels.data() + (picture.channels == 1 ? 0 : source);
    const bool first = how.layout == PictureLayout::kNchw;
    T* to = out.data() + (first ? static_cast<size_t>(c) * area : static_cast<size_t>(c));
    const size_t step = first ? 1 : static_cast<size_t>(channels);
    for (size_t i = 0; i < area; ++i, from += picture.channels) to[i * step] = table[*from];
  }
  return result;
}

/// The shape that the input takes of a picture: with batch 1, or without batch or channel axis where the input has
/// none.
Shape sample_shape(int64_t height, int64_t width, const Preprocessing& how, const InputSpec& input) {
  const int64_t channels = how.channel_count();
  const bool first = how.layout == PictureLayout::kNchw;
  const Shape full = first ? Shape{1, channels, height, width} : Shape{1, height, width, channels};
  if (fits_whole(full, input)) return full;
  const Shape bare = first ? Shape{channels, height, width} : Shape{height, width, channels};
  if (!input.has_batch_axis() && fits_whole(bare, input)) return bare;
  if (channels == 1 && fits_whole(Shape{1, height, width}, input)) return Shape{1, height, width};
  try {
    refuse_shape(full, input);
  } catch (const Error& error) {
    throw Error(error.code, "After preprocessing: " + error.message, error.place, error.hint);
  }
}

}  // namespace

Tensor picture_to_tensor(Picture picture, const Preprocessing& how, const InputSpec& input) {
  check(how, "preprocessing");
  if (how.channels == Channels::kGray) picture = to_grey(std::move(picture));
  picture = arranged(std::move(picture), how, picture_input(input));
  const Shape shape = sample_shape(picture.height, picture.width, how, input);
  switch (input.dtype) {
    case DType::kUndefined:
    case DType::kFloat32:
      return filled<float>(picture, how, input, shape);
    case DType::kFloat64:
      return filled<double>(picture, how, input, shape);
    case DType::kUint8:
      return filled<uint8_t>(picture, how, input, shape);
    case DType::kInt8:
      return filled<int8_t>(picture, how, input, shape);
    case DType::kInt32:
      return filled<int32_t>(picture, how, input, shape);
    case DType::kInt64:
      return filled<int64_t>(picture, how, input, shape);
    default:
      throw Error(ErrorCode::kInvalidSamples, "The input \"" + input.name + "\" takes " +
                                                  std::string(name_of(input.dtype)) +
                                                  " values, which pictures are not turned into.");
  }
}

std::optional<PixelScale> pixel_scale(const Preprocessing& how, const InputSpec& input) {
  const auto picture = picture_input(input);
  if (!picture || picture->channels != how.channel_count() || input.dtype != DType::kFloat32) return std::nullopt;
  std::vector<float> means, deviations;
  for (int c = 0; c < how.channel_count(); ++c) {
    means.push_back(static_cast<float>(per_channel(how.mean, c) / how.scale));
    deviations.push_back(static_cast<float>(per_channel(how.stddev, c) / how.scale));
  }
  const auto as_tensor = [&](const std::vector<float>& numbers) {
    if (std::all_of(numbers.begin(), numbers.end(), [&](float number) { return number == numbers[0]; }))
      return Tensor::of<float>(Shape{}, {numbers[0]});
    const auto count = static_cast<int64_t>(numbers.size());
    return Tensor::of<float>(how.layout == PictureLayout::kNchw ? Shape{count, 1, 1} : Shape{count}, numbers);
  };
  return PixelScale{as_tensor(means), as_tensor(deviations)};
}

std::optional<Picture> tensor_to_picture(const Tensor& tensor, const Preprocessing& how) {
  const int channels = how.channel_count();
  const bool first = how.layout == PictureLayout::kNchw;
  std::vector<int64_t> dims = tensor.shape().dims();
  if (dims.size() == 3 && channels == 1 && dims[0] == 1)
    dims = first ? std::vector<int64_t>{1, 1, dims[1], dims[2]} : std::vector<int64_t>{1, dims[1], dims[2], 1};
  if (dims.size() == 4 && dims[0] == 1) dims.erase(dims.begin());
  if (dims.size() != 3 || dims[first ? 0 : 2] != channels) return std::nullopt;
  if (tensor.dtype() == DType::kString || tensor.dtype() == DType::kUndefined) return std::nullopt;
  Picture picture{first ? dims[2] : dims[1], first ? dims[1] : dims[0], channels, {}};
  const std::vector<double> values = tensor.to_doubles();
  picture.pixels.resize(values.size());
  const size_t area = values.size() / static_cast<size_t>(channels);
  for (int c = 0; c < channels; ++c) {
    const int target = how.channels == Channels::kBgr ? 2 - c : c;
    for (size_t i = 0; i < area; ++i) {
      const double value = values[first ? static_cast<size_t>(c) * area + i
                                        : i * static_cast<size_t>(channels) + static_cast<size_t>(c)];
      const double pixel = (value * per_channel(how.stddev, c) + per_channel(how.mean, c)) / how.scale;
      picture.pixels[i * static_cast<size_t>(channels) + static_cast<size_t>(target)] =
          static_cast<uint8_t>(std::clamp(round_half_even(pixel), 0.0, 255.0));
    }
  }
  return picture;
}

}  // namespace tersor::samples
