// SPDX-License-Identifier: Apache-2.0
#include "core/ops/strided.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/sort_stably.h"
#include "core/kernels/transpose.h"

namespace tersor::ops {

namespace {

/// Without axes of length 1, outermost target step first, and with neighbours joined that are neighbours on both sides.
std::vector<CopyAxis> joined(std::span<const CopyAxis> axes) {
  std::vector<CopyAxis> sorted;
  for (const CopyAxis& axis : axes)
    if (axis.length != 1) sorted.push_back(axis);
  sort_stably(sorted, [](const CopyAxis& a, const CopyAxis& b) { return a.target > b.target; });
  std::vector<CopyAxis> result;
  for (const CopyAxis& axis : sorted) {
    if (!result.empty() && result.back().source == axis.source * axis.length &&
        result.back().target == axis.target * axis.length) {
      result.back() = {result.back().length * axis.length, axis.source, axis.target};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

/// Where every index of `axes` lies, one after the other.
class Offsets {
 public:
  explicit Offsets(std::span<const CopyAxis> axes) : axes_(axes), index_(axes.size(), 0) {}

  /// False past the last.
  explicit operator bool() const { return !done_; }
  void operator++();

  int64_t source = 0, target = 0;

 private:
  std::span<const CopyAxis> axes_;
  std::vector<int64_t> index_;
  bool done_ = false;
};

void Offsets::operator++() {
  for (size_t k = axes_.size(); k-- > 0;) {
    source += axes_[k].source;
    target += axes_[k].target;
    if (++index_[k] < axes_[k].length) return;
    source -= axes_[k].source * axes_[k].length;
    target -= axes_[k].target * axes_[k].length;
    index_[k] = 0;
  }
  done_ = true;
}

/// A plane of `rows` and `columns` in blocks that stay in cache.
template <class T>
void copy_plane(const T* source, T* target, const CopyAxis& rows, const CopyAxis& columns) {
  if constexpr (std::is_same_v<T, uint32_t>)
    if (columns.target == 1) {
      if (rows.source == 1)
        return kernels::transpose(source, columns.source, rows.length, columns.length, target, rows.target);
      if (rows.length == 1 && columns.source == 2) return kernels::take_every_second(source, columns.length, target);
    }
  if (columns.length == 3) {  // the colors of a picture: too few for a loop
    const T *first = source, *second = source + columns.source, *third = second + columns.source;
    for (int64_t r = 0, at = 0; r < rows.length; ++r, at += rows.source, target += rows.target) {
      target[0] = first[at];
      target[columns.target] = second[at];
      target[2 * columns.target] = third[at];
    }
    return;
  }
  const int64_t block = rows.length == 1 ? columns.length : 16;
  for (int64_t c0 = 0; c0 < columns.length; c0 += block) {
    const int64_t c1 = std::min(columns.length, c0 + block);
    for (int64_t r = 0; r < rows.length; ++r) {
      const T* from = source + r * rows.source;
      T* to = target + r * rows.target;
      for (int64_t c = c0; c < c1; ++c) to[c * columns.target] = from[c * columns.source];
    }
  }
}

/// Rows, whose steps are in bytes, of at least kChunk bytes that lie together. Most are the channels of a pixel: too
/// few for a call of memcpy each. The last chunk of a row may overlap the one before.
template <size_t kChunk>
void copy_rows(const std::byte* source, std::byte* target, const CopyAxis& rows, size_t row_bytes) {
  const size_t last = row_bytes - kChunk;
  for (int64_t r = 0; r < rows.length; ++r, source += rows.source, target += rows.target) {
    for (size_t k = 0; k < last; k += kChunk) std::memcpy(target + k, source + k, kChunk);
    std::memcpy(target + last, source + last, kChunk);
  }
}

void copy_together(const std::byte* source, std::byte* target, std::vector<CopyAxis> axes, size_t element_bytes) {
  constexpr size_t kMany = 512;
  const auto step = static_cast<int64_t>(element_bytes);
  for (CopyAxis& axis : axes) axis.source *= step, axis.target *= step;
  const size_t row_bytes = static_cast<size_t>(axes.back().length) * element_bytes;
  axes.pop_back();
  CopyAxis rows;
  if (!axes.empty()) {
    rows = axes.back();
    axes.pop_back();
  }
  for (Offsets at(axes); at; ++at) {
    const std::byte* const from = source + at.source;
    std::byte* const to = target + at.target;
    if (row_bytes >= kMany || row_bytes < 4)
      for (int64_t r = 0; r < rows.length; ++r) std::memcpy(to + r * rows.target, from + r * rows.source, row_bytes);
    else if (row_bytes >= 16)
      copy_rows<16>(from, to, rows, row_bytes);
    else if (row_bytes >= 8)
      copy_rows<8>(from, to, rows, row_bytes);
    else
      copy_rows<4>(from, to, rows, row_bytes);
  }
}

template <class T>
void copy_elements(const T* source, T* target, std::vector<CopyAxis> axes) {
  const CopyAxis inner = axes.back();
  axes.pop_back();
  // The axis along which the source is contiguous makes the other side of the plane.
  const auto next = std::find_if(axes.begin(), axes.end(), [](const CopyAxis& axis) { return axis.source == 1; });
  const CopyAxis rows = next == axes.end() ? CopyAxis{} : *next;
  if (next != axes.end()) axes.erase(next);
  for (Offsets at(axes); at; ++at) copy_plane(source + at.source, target + at.target, rows, inner);
}

/// Two float64, which are only moved.
struct Complex128 {
  uint64_t parts[2];
};

}  // namespace

void copy_strided(const void* source, void* target, std::span<const CopyAxis> axes, size_t element_bytes) {
  for (const CopyAxis& axis : axes)
    if (axis.length == 0) return;
  std::vector<CopyAxis> loops = joined(axes);
  if (loops.empty()) loops.push_back({1, 1, 1});
  if (loops.back().source == 1 && loops.back().target == 1)
    return copy_together(static_cast<const std::byte*>(source), static_cast<std::byte*>(target), std::move(loops),
                         element_bytes);
  switch (element_bytes) {
    case 1:
      return copy_elements(static_cast<const uint8_t*>(source), static_cast<uint8_t*>(target), std::move(loops));
    case 2:
      return copy_elements(static_cast<const uint16_t*>(source), static_cast<uint16_t*>(target), std::move(loops));
    case 4:
      return copy_elements(static_cast<const uint32_t*>(source), static_cast<uint32_t*>(target), std::move(loops));
    case 8:
      return copy_elements(static_cast<const uint64_t*>(source), static_cast<uint64_t*>(target), std::move(loops));
    case 16:
      return copy_elements(static_cast<const Complex128*>(source), static_cast<Complex128*>(target), std::move(loops));
    default:
      TERSOR_CHECK(!"element size");
  }
}

std::vector<int64_t> row_major_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t k = dims.size(); k-- > 1;) strides[k - 1] = strides[k] * dims[k];
  return strides;
}

}  // namespace tersor::ops
