// SPDX-License-Identifier: Apache-2.0
// Pooling of regions of a picture to one size: RoiAlign by sampled points (He and others, "Mask R-CNN", 2017),
// MaxRoiPool by whole pixels (Girshick, "Fast R-CNN", 2015).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"

namespace tersor::ops {

namespace {

constexpr int64_t kMostPoints = 1 << 16;  // of one bin

/// A point between pixels: four of them with their weights.
struct Sample {
  int64_t places[4] = {0, 0, 0, 0};
  double weights[4] = {0, 0, 0, 0};
};

Sample sample_at(double y, double x, int64_t height, int64_t width) {
  Sample sample;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return sample;
  const auto along = [](double at, int64_t length, int64_t& low, int64_t& high) {
    at = std::max(at, 0.0);
    low = std::min(static_cast<int64_t>(at), length - 1);
    high = std::min(low + 1, length - 1);
    return low == length - 1 ? 0.0 : at - static_cast<double>(low);
  };
  int64_t rows[2], columns[2];
  const double dy = along(y, height, rows[0], rows[1]), dx = along(x, width, columns[0], columns[1]);
  for (size_t k = 0; k < 4; ++k) {
    sample.places[k] = rows[k / 2] * width + columns[k % 2];
    sample.weights[k] = (k / 2 == 1 ? dy : 1 - dy) * (k % 2 == 1 ? dx : 1 - dx);
  }
  return sample;
}

class RoiAlign : public Kernel {
 public:
  explicit RoiAlign(const Setup& setup)
      : height_(int_of(setup.node, "output_height")),
        width_(int_of(setup.node, "output_width")),
        ratio_(int_of(setup.node, "sampling_ratio")),
        scale_(float_of(setup.node, "spatial_scale")) {
    require_inputs(setup, 3, 3);
    const std::string mode = string_of(setup.node, "mode");
    if (mode != "avg" && mode != "max") invalid("The attribute mode is \"" + mode + "\"; it must be avg or max.");
    largest_ = mode == "max";
    const std::string word =
        setup.node.string_or("coordinate_transformation_mode", setup.opset < 16 ? "output_half_pixel" : "half_pixel");
    if (word != "half_pixel" && word != "output_half_pixel")
      invalid("The attribute coordinate_transformation_mode is \"" + word +
              "\"; it must be half_pixel or output_half_pixel.");
    shifts_ = word == "half_pixel";
    if (height_ < 1 || width_ < 1 || height_ > kMostPoints || width_ > kMostPoints || ratio_ < 0 || ratio_ > 256)
      invalid("The output is " + std::to_string(height_) + " x " + std::to_string(width_) +
              " with a sampling_ratio of " + std::to_string(ratio_) + ".");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    require_type(inputs[1], {DType::kFloat32}, "rois");
    require_type(inputs[2], {DType::kInt64, DType::kInt32}, "batch_indices");
    require_rank(inputs[0], 4, "X");
    const Shape &x = inputs[0].shape(), &rois = inputs[1].shape();
    if (rois.rank() != 2 || rois[1] != 4 || inputs[2].shape().rank() != 1 || inputs[2].elements() != rois[0] ||
        x[2] < 1 || x[3] < 1)
      invalid("Regions of shape " + rois.text() + " and indices of shape " + inputs[2].shape().text() +
              " do not fit an input of shape " + x.text() + ".");
    return {{DType::kFloat32, Shape{rois[0], x[1], height_, width_}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int64_t channels = shape[1], places = shape[2] * shape[3];
    const float* roi = call.inputs[1].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    std::vector<Sample> samples;
    for (int64_t r = 0; r < call.inputs[1].shape()[0]; ++r, roi += 4, y += channels * height_ * width_) {
      const int64_t n = checked_index(index_at(call.inputs[2], r), shape[0]);
      const float* x = call.inputs[0].values<float>().data() + n * channels * places;
      for (int64_t bin = 0; bin < height_ * width_; ++bin) {
        fill(roi, bin, shape, samples);
        for (int64_t c = 0; c < channels; ++c)
          y[c * height_ * width_ + bin] = static_cast<float>(pooled(x + c * places, samples));
      }
    }
  }

 private:
  void fill(const float* roi, int64_t bin, const Shape& shape, std::vector<Sample>& samples) const {
    const double shift = shifts_ ? 0.5 : 0, scale = static_cast<double>(scale_);
    const double x0 = static_cast<double>(roi[0]) * scale - shift, y0 = static_cast<double>(roi[1]) * scale - shift;
    double width = static_cast<double>(roi[2]) * scale - shift - x0;
    double height = static_cast<double>(roi[3]) * scale - shift - y0;
    if (!shifts_) {
      width = std::max(width, 1.0);
      height = std::max(height, 1.0);
    }
    const double bin_width = width / static_cast<double>(width_), bin_height = height / static_cast<double>(height_);
    const int64_t columns = points(bin_width), rows = points(bin_height);
    if (rows > kMostPoints / std::max<int64_t>(1, columns))
      unsupported("A region of " + std::to_string(height) + " x " + std::to_string(width) + " pixels is too large.");
    samples.clear();
    const int64_t bin_row = bin / width_, bin_column = bin % width_;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const double y =
            y0 +
            (static_cast<double>(bin_row) + (static_cast<double>(i) + 0.5) / static_cast<double>(rows)) * bin_height;
        const double x =
            x0 + (static_cast<double>(bin_column) + (static_cast<double>(j) + 0.5) / static_cast<double>(columns)) *
                     bin_width;
        samples.push_back(sample_at(y, x, shape[2], shape[3]));
      }
  }

  int64_t points(double length) const {
    if (ratio_ > 0) return ratio_;
    if (!(length < static_cast<double>(kMostPoints))) return kMostPoints + 1;
    return length > 0 ? static_cast<int64_t>(std::ceil(length)) : 0;
  }

  /// The mean of the samples, or the largest product of pixel and weight. 0 for no sample.
  double pooled(const float* x, const std::vector<Sample>& samples) const {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (const Sample& sample : samples)
      for (size_t k = 0; k < 4; ++k) {
        const double part = sample.weights[k] * static_cast<double>(x[sample.places[k]]);
        sum += part;
        most = std::max(most, part);
      }
    if (samples.empty()) return 0;
    return largest_ ? most : sum / static_cast<double>(samples.size());
  }

  int64_t height_, width_, ratio_;
  float scale_;
  bool largest_ = false;
  bool shifts_ = true;  // coordinates are those of pixels' corners, half a pixel before their middles
};

class MaxRoiPool : public Kernel {
 public:
  explicit MaxRoiPool(const Setup& setup)
      : pooled_(setup.node.ints_or("pooled_shape", {})), scale_(float_of(setup.node, "spatial_scale")) {
    require_inputs(setup, 2, 2);
    if (pooled_.size() != 2 || pooled_[0] < 1 || pooled_[1] < 1 || std::max(pooled_[0], pooled_[1]) > kMostPoints)
      invalid("The attribute pooled_shape is " + text_of(pooled_) + "; it must be two numbers of 1 or more.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    require_type(inputs[1], {DType::kFloat32}, "rois");
    require_rank(inputs[0], 4, "X");
    const Shape &x = inputs[0].shape(), &rois = inputs[1].shape();
    if (rois.rank() != 2 || rois[1] != 5)
      invalid("The input rois has the shape " + rois.text() + "; it must have five columns.");
    return {{DType::kFloat32, Shape{rois[0], x[1], pooled_[0], pooled_[1]}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const float* roi = call.inputs[1].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    for (int64_t r = 0; r < call.inputs[1].shape()[0]; ++r, roi += 5) {
      const int64_t n = checked_index(whole(roi[0]), shape[0]);
      const float* x = call.inputs[0].values<float>().data() + n * shape.elements(1, 4);
      const auto edge = [&](int k) { return whole(std::floor(roi[k] * scale_ + 0.5f)); };
      const int64_t x0 = edge(1), y0 = edge(2), columns = std::max<int64_t>(1, edge(3) - x0 + 1);
      const int64_t rows = std::max<int64_t>(1, edge(4) - y0 + 1);
      for (int64_t c = 0; c < shape[1]; ++c, x += shape[2] * shape[3])
        for (int64_t i = 0; i < pooled_[0]; ++i)
          for (int64_t j = 0; j < pooled_[1]; ++j, ++y)
            *y = largest(x, shape[3], part(y0, rows, i, pooled_[0], shape[2]),
                         part(x0, columns, j, pooled_[1], shape[3]));
    }
  }

 private:
  struct Stretch {
    int64_t first, end;
  };

  static int64_t whole(float x) {
    if (!(std::fabs(x) < 1e9f)) invalid("A region has the number " + std::to_string(x) + ".");
    return static_cast<int64_t>(x);
  }

  /// The k-th of `count` parts of `length` pixels from `start` on, cut to the picture. Parts may share pixels.
  static Stretch part(int64_t start, int64_t length, int64_t k, int64_t count, int64_t most) {
    const int64_t first = start + k * length / count, end = start + ((k + 1) * length + count - 1) / count;
    return {std::clamp<int64_t>(first, 0, most), std::clamp<int64_t>(end, 0, most)};
  }

  static float largest(const float* x, int64_t width, const Stretch& rows, const Stretch& columns) {
    if (rows.first >= rows.end || columns.first >= columns.end) return 0;
    float most = x[rows.first * width + columns.first];
    for (int64_t i = rows.first; i < rows.end; ++i)
      for (int64_t j = columns.first; j < columns.end; ++j)
        if (x[i * width + j] > most) most = x[i * width + j];
    return most;
  }

  std::vector<int64_t> pooled_;
  float scale_;
};

}  // namespace

std::vector<Op> region_ops() {
  return {
      {.domain = "", .type = "RoiAlign", .since = 10, .prepare = make_kernel<RoiAlign>},
      {.domain = "", .type = "MaxRoiPool", .prepare = make_kernel<MaxRoiPool>},
  };
}

}  // namespace tersor::ops
