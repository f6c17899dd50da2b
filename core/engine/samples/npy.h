// SPDX-License-Identifier: Apache-2.0
// Arrays in numpy's .npy form, versions 1 to 3, either byte order, C or Fortran order. Objects and records are refused.
#pragma once

#include <functional>

#include "core/samples/input_spec.h"
#include "core/samples/source.h"

namespace tersor::samples {

/// Gives `length` bytes from `offset` on of a file or of an archive's member.
using ReadRange = std::function<Bytes(uint64_t offset, uint64_t length)>;

struct NpyHeader {
  DType dtype = DType::kUndefined;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  uint64_t data_offset = 0;
};

bool is_npy(std::span<const std::byte> head);

/// No header is longer.
constexpr uint64_t kMostNpyHeader = 65536 + 12;

/// `head` holds the file's first kMostNpyHeader bytes, or all `size` of it. Error kInvalidSamples says what is wrong,
/// also when the file is shorter than its array.
NpyHeader parse_npy_header(std::span<const std::byte> head, uint64_t size);

/// An array whose elements are read when asked for.
class NpyArray {
 public:
  NpyArray(ReadRange read, uint64_t size);
  const NpyHeader& header() const { return header_; }
  const Shape& shape() const { return header_.shape; }
  /// The elements [index * n, (index + 1) * n) in row-major order, n = part.elements(). Reads only those, except in
  /// Fortran order, where the array is held from the first call on.
  RawArray part(int64_t index, const Shape& part);

 private:
  Bytes read_exactly(uint64_t offset, uint64_t length) const;
  ReadRange read_;
  NpyHeader header_;
  Bytes whole_;  // Fortran order only
};

}  // namespace tersor::samples
