// SPDX-License-Identifier: Apache-2.0
// AffineGrid makes a grid of places, GridSample looks up a picture there. Places are normalized: -1 and 1 are the
// middles of the first and the last pixel where align_corners is set, else their outer edges.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/integer_list.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"
#include "core/tensor/rounding.h"

namespace tersor::ops {

namespace {

class AffineGrid : public Kernel {
 public:
  explicit AffineGrid(const Setup& setup) : aligns_(int_of(setup.node, "align_corners") != 0) {
    require_inputs(setup, 2, 2);
  }

  std::vector<size_t> value_inputs() const override { return {1}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "theta");
    const std::vector<int64_t> size = integers_of(inputs[1], "size");
    const Shape& theta = inputs[0].shape();
    const auto spatial = static_cast<int64_t>(size.size()) - 2;
    if (spatial != 2 && spatial != 3) invalid("The size is " + text_of(size) + "; it must have 4 or 5 numbers.");
    if (theta.rank() != 3 || theta[0] != size[0] || theta[1] != spatial || theta[2] != spatial + 1)
      invalid("The input theta has the shape " + theta.text() + ", which does not fit the size " + text_of(size) + ".");
    std::vector<int64_t> dims{size[0]};
    dims.insert(dims.end(), size.begin() + 2, size.end());
    dims.push_back(spatial);
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& grid = call.outputs[0].shape();
    const int spatial = grid.rank() - 2;
    const float* theta = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const int64_t places = grid.elements(1, grid.rank() - 1);
    for (int64_t n = 0; n < grid[0]; ++n, theta += spatial * (spatial + 1))
      for (int64_t place = 0; place < places; ++place) {
        double at[3] = {};  // x, y, z: the last axis first
        int64_t rest = place;
        for (int k = 0; k < spatial; ++k) {
          const int64_t length = grid[spatial - k];
          at[k] = coordinate(rest % length, length);
          rest /= length;
        }
        for (int row = 0; row < spatial; ++row, ++y) {
          const float* weights = theta + row * (spatial + 1);
          double sum = weights[spatial];
          for (int k = 0; k < spatial; ++k) sum += static_cast<double>(weights[k]) * at[k];
          *y = static_cast<float>(sum);
        }
      }
  }

 private:
  double coordinate(int64_t place, int64_t length) const {
    const auto x = static_cast<double>(place), n = static_cast<double>(length);
    if (!aligns_) return (2 * x + 1) / n - 1;
    return length == 1 ? 0 : 2 * x / (n - 1) - 1;
  }

  bool aligns_;
};

enum class Padding { kZeros, kBorder, kReflection };
enum class Interpolation { kNearest, kLinear, kCubic };

constexpr int kMostAxes = 3;

/// What one axis contributes to a sample: up to four places, -1 for one that counts as zero, and their weights.
struct AxisTaps {
  int count = 0;
  std::array<int64_t, 4> places{};
  std::array<double, 4> weights{};
};

class GridSample : public Kernel {
 public:
  explicit GridSample(const Setup& setup) : aligns_(int_of(setup.node, "align_corners") != 0) {
    require_inputs(setup, 2, 2);
    const std::string mode = setup.node.string_or("mode", "linear");
    if (mode == "nearest")
      interpolation_ = Interpolation::kNearest;
    else if (mode == "cubic" || mode == "bicubic")
      interpolation_ = Interpolation::kCubic;
    else if (mode != "linear" && mode != "bilinear")
      invalid("The attribute mode is \"" + mode + "\"; it must be linear, nearest or cubic.");
    const std::string padding = string_of(setup.node, "padding_mode");
    if (padding == "border")
      padding_ = Padding::kBorder;
    else if (padding == "reflection")
      padding_ = Padding::kReflection;
    else if (padding != "zeros")
      invalid("The attribute padding_mode is \"" + padding + "\"; it must be zeros, border or reflection.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    require_type(inputs[1], {DType::kFloat32}, "grid");
    const Shape &x = inputs[0].shape(), &grid = inputs[1].shape();
    const int spatial = x.rank() - 2;
    if (spatial > kMostAxes) unsupported("The input has " + std::to_string(spatial) + " spatial axes, more than 3.");
    bool fits = spatial >= 1 && grid.rank() == x.rank() && grid[0] == x[0] && grid[grid.rank() - 1] == spatial;
    for (int k = 2; fits && k < x.rank(); ++k) fits = x[k] > 0;
    if (!fits) invalid("A grid of shape " + grid.text() + " does not fit an input of shape " + x.text() + ".");
    std::vector<int64_t> dims{x[0], x[1]};
    dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape &shape = call.inputs[0].shape(), &out = call.outputs[0].shape();
    const int spatial = shape.rank() - 2;
    const int64_t channels = shape[1], in_places = shape.elements(2, shape.rank());
    const int64_t out_places = out.elements(2, out.rank());
    const float* x = call.inputs[0].values<float>().data();
    const float* grid = call.inputs[1].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    std::vector<int64_t> places;
    std::vector<double> weights;
    for (int64_t n = 0; n < shape[0]; ++n, x += channels * in_places, y += channels * out_places)
      for (int64_t at = 0; at < out_places; ++at, grid += spatial) {
        join(shape, grid, places, weights);
        for (int64_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (size_t k = 0; k < places.size(); ++k)
            sum += weights[k] * static_cast<double>(x[c * in_places + places[k]]);
          y[c * out_places + at] = static_cast<float>(sum);
        }
      }
  }

 private:
  /// The products of the axes' taps, those that count as zero left out.
  void join(const Shape& shape, const float* grid, std::vector<int64_t>& places, std::vector<double>& weights) const {
    places.assign(1, 0);
    weights.assign(1, 1.0);
    const int spatial = shape.rank() - 2;
    for (int k = 0; k < spatial; ++k) {
      const int64_t length = shape[k + 2];
      const AxisTaps taps = taps_at(static_cast<double>(grid[spatial - 1 - k]), length);  // the grid has x first
      std::vector<int64_t> more_places;
      std::vector<double> more_weights;
      for (size_t p = 0; p < places.size(); ++p)
        for (size_t t = 0; t < static_cast<size_t>(taps.count); ++t) {
          if (taps.places[t] < 0) continue;
          more_places.push_back(places[p] * length + taps.places[t]);
          more_weights.push_back(weights[p] * taps.weights[t]);
        }
      places = std::move(more_places);
      weights = std::move(more_weights);
    }
  }

  AxisTaps taps_at(double normalized, int64_t length) const {
    const auto n = static_cast<double>(length);
    double x = aligns_ ? (normalized + 1) / 2 * (n - 1) : ((normalized + 1) * n - 1) / 2;
    constexpr double kFar = 1e9;  // so far outside, or no number at all
    if (!(x > -kFar)) x = -kFar;
    if (!(x < kFar)) x = kFar;
    if (interpolation_ == Interpolation::kNearest) x = round_half_even(x);
    const double low = aligns_ ? 0 : -0.5, high = aligns_ ? n - 1 : n - 0.5;
    // Of a cubic sample each tap is padded on its own, as in ONNX Runtime and PyTorch.
    if (interpolation_ != Interpolation::kCubic && (x < low || x > high)) x = padded(x, length);
    AxisTaps taps;
    const double first = std::floor(x), rest = x - first;
    if (interpolation_ == Interpolation::kNearest) {
      taps = {1, {place_at(x, length)}, {1}};
    } else if (interpolation_ == Interpolation::kLinear) {
      taps = {2, {place_at(first, length), place_at(first + 1, length)}, {1 - rest, rest}};
    } else {
      taps.count = 4;
      for (size_t k = 0; k < 4; ++k) {
        taps.places[k] = place_at(first - 1 + static_cast<double>(k), length);
        taps.weights[k] = cubic(std::fabs(rest + 1 - static_cast<double>(k)));
      }
    }
    return taps;
  }

  /// A coordinate outside the picture moved into it, as the padding has it.
  double padded(double x, int64_t length) const {
    const auto n = static_cast<double>(length);
    if (padding_ == Padding::kBorder) return std::clamp(x, 0.0, n - 1);
    if (padding_ == Padding::kZeros) return x;
    const double low = aligns_ ? 0 : -0.5, range = aligns_ ? n - 1 : n;
    if (range == 0) return low;
    const double distance = x < low ? low - x : x - low;
    const double turns = std::floor(distance / range), over = distance - turns * range;
    return std::fmod(turns, 2) == 0 ? low + over : low + range - over;
  }

  /// A whole place as an index, -1 where it counts as zero.
  int64_t place_at(double x, int64_t length) const {
    const auto last = static_cast<double>(length - 1);
    if (x >= 0 && x <= last) return static_cast<int64_t>(x);
    if (padding_ == Padding::kZeros) return -1;
    return static_cast<int64_t>(std::clamp(padded(x, length), 0.0, last));
  }

  static double cubic(double d) {
    constexpr double kA = -0.75;
    if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
    return d < 2 ? ((d - 5) * d + 8) * d * kA - 4 * kA : 0;
  }

  bool aligns_;
  Interpolation interpolation_ = Interpolation::kLinear;
  Padding padding_ = Padding::kZeros;
};

}  // namespace

std::vector<Op> sample_grid_ops() {
  return {
      {.domain = "", .type = "AffineGrid", .since = 20, .prepare = make_kernel<AffineGrid>},
      {.domain = "", .type = "GridSample", .since = 16, .prepare = make_kernel<GridSample>},
  };
}

}  // namespace tersor::ops
