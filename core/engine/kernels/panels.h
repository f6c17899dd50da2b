// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tersor::kernels {

/// A good number of rows for one multiplication by panels: the pointers stay in cache and the weights are read once per
/// so many rows.
inline constexpr int64_t kRowsPerCall = 96;

/// float32 elements of this machine's vectors.
int64_t vector_width();
/// Columns of a panel: two vectors, unless that pads many more columns than one does.
int64_t panel_width(int64_t columns);
/// True where vectors of columns would be mostly padding.
constexpr bool too_few_columns(int64_t columns, int64_t depth) {
  return columns <= 2 && depth >= 4;
}
/// Memory for panels, on a cache line's border. Error kOutOfMemory.
std::shared_ptr<float> allocate_panels(size_t count);

/// Constant weights laid out for multiply_rows(): panels of one or two vectors of output columns, each
/// [taps][depth][width], the last one padded with zeros; or single columns where these are too few to fill a vector.
/// Immutable; may be shared between threads. The layout depends on the machine, the products do not.
class Panels {
 public:
  /// Where weight (column, tap, d) lies: weights[column * column_step + tap * tap_step + d * depth_step].
  struct Source {
    const float* weights;
    int64_t column_step, tap_step, depth_step;
  };

  Panels() = default;
  Panels(int64_t columns, int64_t taps, int64_t depth, const Source& source);

  int64_t columns() const { return columns_; }
  int64_t taps() const { return taps_; }
  int64_t depth() const { return depth_; }
  int64_t width() const { return width_; }
  /// Panels are single columns; vectors then hold rows.
  bool single_columns() const { return too_few_columns(columns_, depth_); }
  int64_t count() const { return columns_ == 0 ? 0 : (columns_ + width_ - 1) / width_; }
  const float* panel(int64_t index) const { return data_.get() + index * taps_ * depth_ * width_; }
  bool empty() const { return columns_ == 0; }

 private:
  int64_t columns_ = 0, taps_ = 0, depth_ = 0, width_ = 0;
  std::shared_ptr<float> data_;
};

}  // namespace tersor::kernels
