// SPDX-License-Identifier: Apache-2.0
#include "core/samples/resize.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tersor::samples {

namespace {

/// The input samples that make one output sample, and their weights (which add up to 1).
struct Window {
  int64_t begin = 0;
  std::vector<double> weights;
};

std::vector<Window> windows(int64_t from, int64_t to) {
  std::vector<Window> result(static_cast<size_t>(to));
  const double scale = static_cast<double>(from) / static_cast<double>(to), support = std::max(scale, 1.0);
  for (int64_t i = 0; i < to; ++i) {
    Window& window = result[static_cast<size_t>(i)];
    if (from == to) {
      window = {i, {1.0}};
      continue;
    }
    const double center = (static_cast<double>(i) + 0.5) * scale;
    // NOLINTBEGIN(bugprone-incorrect-roundings): Pillow's own rounding of a window's ends.
    window.begin = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t end = std::min(static_cast<int64_t>(center + support + 0.5), from);
    // NOLINTEND(bugprone-incorrect-roundings)
    double sum = 0;
    for (int64_t at = window.begin; at < end; ++at) {
      const double distance = (static_cast<double>(at) - center + 0.5) / support;
      const double weight = std::max(0.0, 1.0 - (distance < 0 ? -distance : distance));
      window.weights.push_back(weight);
      sum += weight;
    }
    for (double& weight : window.weights) weight /= sum;
  }
  return result;
}

/// Rows after the horizontal pass, made when first asked for and kept only while the vertical pass may need them.
class WideRows {
 public:
  WideRows(const Picture& picture, int64_t width, size_t kept)
      : picture_(picture), columns_(windows(picture.width, width)), rows_(kept), number_(kept, -1) {}

  const double* row(int64_t y) {
    const size_t slot = static_cast<size_t>(y) % rows_.size();
    if (number_[slot] != y) {
      fill(y, rows_[slot]);
      number_[slot] = y;
    }
    return rows_[slot].data();
  }

 private:
  void fill(int64_t y, std::vector<double>& out) const {
    const auto channels = static_cast<size_t>(picture_.channels);
    out.assign(columns_.size() * channels, 0.0);
    double* to = out.data();
    for (const Window& window : columns_) {
      const uint8_t* from = picture_.row(y) + window.begin * picture_.channels;
      for (double weight : window.weights)
        for (size_t c = 0; c < channels; ++c) to[c] += weight * static_cast<double>(*from++);
      to += channels;
    }
  }

  const Picture& picture_;
  std::vector<Window> columns_;
  std::vector<std::vector<double>> rows_;
  std::vector<int64_t> number_;
};

}  // namespace

Picture resize(const Picture& picture, int64_t width, int64_t height) {
  if (width == picture.width && height == picture.height) return picture;
  const std::vector<Window> lines = windows(picture.height, height);
  size_t most = 1;
  for (const Window& window : lines) most = std::max(most, window.weights.size());
  WideRows wide(picture, width, most);

  Picture result{width, height, picture.channels, {}};
  const auto length = static_cast<size_t>(width * picture.channels);
  result.pixels.resize(static_cast<size_t>(height) * length);
  std::vector<double> sums(length);
  for (int64_t y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const Window& window = lines[static_cast<size_t>(y)];
    for (size_t k = 0; k < window.weights.size(); ++k) {
      const double* row = wide.row(window.begin + static_cast<int64_t>(k));
      for (size_t i = 0; i < length; ++i) sums[i] += window.weights[k] * row[i];
    }
    uint8_t* out = result.row(y);
    // Sums are never negative, so half away from zero is half up.
    for (size_t i = 0; i < length; ++i) out[i] = static_cast<uint8_t>(std::min(sums[i] + 0.5, 255.0));
  }
  return result;
}

}  // namespace tersor::samples
