// SPDX-License-Identifier: Apache-2.0
#include "core/samples/resize.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels/add_scaled.h"
#include "core/kernels/pixels.h"

namespace tersor::samples {

namespace {

/// For each output sample the input samples that make it, and their weights (which add up to 1).
class Windows {
 public:
  Windows(int64_t from, int64_t to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to), support = std::max(scale, 1.0);
    for (int64_t i = 0; i < to; ++i) {
      if (from == to) {
        add(i, {1.0});
        continue;
      }
      const double center = (static_cast<double>(i) + 0.5) * scale;
      // NOLINTBEGIN(bugprone-incorrect-roundings): Pillow's own rounding of a window's ends.
      const int64_t begin = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
      const int64_t end = std::min(static_cast<int64_t>(center + support + 0.5), from);
      // NOLINTEND(bugprone-incorrect-roundings)
      std::vector<double> weights;
      double sum = 0;
      for (int64_t at = begin; at < end; ++at) {
        const double distance = (static_cast<double>(at) - center + 0.5) / support;
        const double weight = std::max(0.0, 1.0 - (distance < 0 ? -distance : distance));
        weights.push_back(weight);
        sum += weight;
      }
      for (double& weight : weights) weight /= sum;
      add(begin, std::move(weights));
    }
  }

  std::span<const kernels::PixelWindow> all() const { return windows_; }
  size_t longest() const {
    size_t most = 1;
    for (const kernels::PixelWindow& window : windows_) most = std::max(most, window.count);
    return most;
  }

 private:
  void add(int64_t begin, std::vector<double> weights) {
    weights_.push_back(std::move(weights));
    windows_.push_back({static_cast<size_t>(begin), weights_.back().size(), weights_.back().data()});
  }

  std::vector<std::vector<double>> weights_;
  std::vector<kernels::PixelWindow> windows_;
};

/// Rows after the horizontal pass, made when first asked for and kept only while the vertical pass may need them.
class WideRows {
 public:
  WideRows(const Picture& picture, int64_t width, size_t kept)
      : picture_(picture),
        columns_(picture.width, width),
        length_(static_cast<size_t>(width * picture.channels)),
        room_(4 * static_cast<size_t>(picture.width)),
        rows_(kept, std::vector<double>(length_)),
        number_(kept, -1) {}

  const double* row(int64_t y) {
    const size_t slot = static_cast<size_t>(y) % rows_.size();
    if (number_[slot] != y) {
      kernels::weigh_pixels(picture_.row(y), static_cast<size_t>(picture_.width),
                            static_cast<size_t>(picture_.channels), columns_.all().data(), columns_.all().size(),
                            room_.data(), rows_[slot].data());
      number_[slot] = y;
    }
    return rows_[slot].data();
  }
  size_t length() const { return length_; }

 private:
  const Picture& picture_;
  Windows columns_;
  size_t length_;
  std::vector<double> room_;
  std::vector<std::vector<double>> rows_;
  std::vector<int64_t> number_;
};

}  // namespace

Picture resize(const Picture& picture, int64_t width, int64_t height) {
  if (width == picture.width && height == picture.height) return picture;
  const Windows lines(picture.height, height);
  WideRows wide(picture, width, lines.longest());
  Picture result{width, height, picture.channels, {}};
  const size_t length = wide.length();
  result.pixels.resize(static_cast<size_t>(height) * length);
  std::vector<double> sums(length);
  std::vector<const double*> rows;
  uint8_t* out = result.pixels.data();
  for (const kernels::PixelWindow& line : lines.all()) {
    rows.clear();
    for (size_t k = 0; k < line.count; ++k) rows.push_back(wide.row(static_cast<int64_t>(line.begin + k)));
    std::fill(sums.begin(), sums.end(), 0.0);
    kernels::add_scaled_rows(line.weights, rows.data(), line.count, length, sums.data());
    kernels::round_to_bytes(sums.data(), length, out);  // no sum is negative: half away from zero is half up
    out += length;
  }
  return result;
}

}  // namespace tersor::samples
