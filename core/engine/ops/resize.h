// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tersor::ops {

/// The rounding of operator sets before 11, which had no name yet: down where an axis grows, up where it shrinks.
constexpr const char* kSimpleNearest = "simple";

/// How one axis of a picture is resampled, by ONNX's definition of Resize.
struct Resampling {
  enum class Filter { kNearest, kLinear, kCubic } filter = Filter::kNearest;
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool excludes_outside = false;
  bool antialias = false;
  double extrapolation = 0;  // where tf_crop_and_resize looks outside the picture
};

struct ResampledAxis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;  // for tf_crop_and_resize
};

/// For each output place the input places that it is made of, with their weights: `taps` of each per place. A place
/// whose weights are all zero and `outside` is set takes the extrapolation value.
struct Taps {
  int64_t per_place = 1;
  std::vector<int64_t> places;
  std::vector<float> weights;
  std::vector<bool> outside;
};

/// Error kInvalidModel for coordinates or rounding that ONNX does not name.
Taps taps_of(const Resampling& resampling, const ResampledAxis& axis);

}  // namespace tersor::ops
