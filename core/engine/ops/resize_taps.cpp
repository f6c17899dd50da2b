// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/ops/refuse.h"
#include "core/ops/resize.h"

namespace tersor::ops {

namespace {

/// Where the middle of output place `x` lies in the input.
double source_of(const std::string& mode, const ResampledAxis& axis, int64_t place) {
  const auto x = static_cast<double>(place);
  const auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  if (mode == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (mode == "pytorch_half_pixel") return axis.out > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (mode == "align_corners") return axis.out > 1 ? x * (in - 1) / (out - 1) : 0;
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (mode == "half_pixel_symmetric") {
    const double shift = in / 2 * (1 - out / (in * axis.scale));  // centres what the rounded length leaves over
    return shift + (x + 0.5) / axis.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    const double start = axis.roi_start * (in - 1), span = (axis.roi_end - axis.roi_start) * (in - 1);
    return axis.out > 1 ? start + x * span / (out - 1) : (axis.roi_start + axis.roi_end) * (in - 1) / 2;
  }
  invalid("The attribute coordinate_transformation_mode is \"" + mode + "\", which ONNX does not have.");
}

double nearest_of(const std::string& mode, double scale, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == kSimpleNearest) return scale < 1 ? std::ceil(x) : std::floor(x);
  invalid("The attribute nearest_mode is \"" + mode + "\", which ONNX does not have.");
}

/// The filter's weight at a distance from the middle, in input places.
double weight_at(const Resampling& resampling, double distance) {
  const double d = std::abs(distance), a = resampling.cubic_a;
  if (resampling.filter == Resampling::Filter::kLinear) return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

}  // namespace

Taps taps_of(const Resampling& resampling, const ResampledAxis& axis) {
  const bool nearest = resampling.filter == Resampling::Filter::kNearest;
  const double reach = resampling.filter == Resampling::Filter::kLinear ? 1 : 2;
  const double shrink = resampling.antialias ? std::min(axis.scale, 1.0) : 1.0;  // a wider filter when reducing
  const auto first = static_cast<int64_t>(std::floor(-reach / shrink)) + 1;      // of the taps, from floor(x)
  Taps taps;
  taps.per_place = nearest ? 1 : 2 - 2 * first;
  if (!nearest && taps.per_place > (int64_t{1} << 20))
    unsupported("A reduction by the scale " + std::to_string(axis.scale) + " is not supported.");
  const auto count = static_cast<size_t>(taps.per_place);
  for (int64_t place = 0; place < axis.out; ++place) {
    const double x = source_of(resampling.coordinates, axis, place);
    const bool outside =
        resampling.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.in - 1));
    taps.outside.push_back(outside);
    const auto inside = [&](double at) {
      return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.in - 1)));
    };
    if (nearest) {
      taps.places.push_back(inside(nearest_of(resampling.nearest, axis.scale, x)));
      taps.weights.push_back(outside ? 0.0f : 1.0f);
      continue;
    }
    std::vector<double> weights(count);
    double total = 0;
    for (size_t k = 0; k < count; ++k) {
      const double at = std::floor(x) + static_cast<double>(first) + static_cast<double>(k);
      const bool counts = !resampling.excludes_outside || (at >= 0 && at <= static_cast<double>(axis.in - 1));
      weights[k] = counts ? weight_at(resampling, (at - x) * shrink) : 0;
      total += weights[k];
      taps.places.push_back(inside(at));
    }
    const bool normalized = resampling.excludes_outside || resampling.antialias;
    for (const double weight : weights)
      taps.weights.push_back(outside ? 0.0f : static_cast<float>(normalized && total != 0 ? weight / total : weight));
  }
  return taps;
}

}  // namespace tersor::ops
