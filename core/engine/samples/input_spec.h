// SPDX-License-Identifier: Apache-2.0
// What a model's input takes, and how arrays become samples of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/samples/source.h"
#include "core/tensor/tensor.h"

namespace tersor::samples {

/// One input of the model, as declared. Samples are made for batch 1.
struct InputSpec {
  std::string name;
  DType dtype = DType::kFloat32;          // kUndefined: anything
  std::optional<std::vector<Dim>> shape;  // absent: anything
  /// The output of the model that is its next value: it is a state, which starts at zero where samples say nothing of
  /// it.
  std::optional<size_t> next = std::nullopt;
  bool is_state() const { return next.has_value(); }
  /// A state that grows with each token and is called so: a free axis beside the batch counts those that a decoder has
  /// seen. It starts without any.
  bool is_past() const;

  /// "1x3x224x224", with names or "?" for free dimensions: "Nx3x?x?".
  std::string shape_text() const;
  /// Whether axis 0 is the batch: free, or 1.
  bool has_batch_axis() const;
};

/// How an array divides into samples: `count` samples of shape `sample` lie one after the other (row-major).
struct ArrayFit {
  int64_t count = 0;
  Shape sample;
};

/// With the input's shape S (axis 0 the batch where it is free or 1) the array is, in this order:
///   of S's rank, all axes but the first fitting: one sample for each index of axis 0 (one where S has no batch axis);
///   without the batch axis, fitting the rest of S: one sample;
///   with one more axis before a whole sample of batch 1: one sample for each index of it.
/// A sample may be empty where the declared shape lets it be, by an axis that is free or 0.
/// Error kInvalidSamples with both shapes and the likely fix, and where there is no sample.
ArrayFit fit_array(const Shape& array, const InputSpec& input);

/// What values without a shape are to an input.
struct ValuesFit {
  std::optional<Shape> shape;  // of one sample, batch 1
  bool determined = false;     // at most one dimension beside the batch is free
  int64_t samples = 0;         // how many whole samples the values make; 0: none
};
ValuesFit fit_values(int64_t elements, const InputSpec& input);

/// Whether the shape is a whole sample of the input as it is, whatever its batch.
bool fits_whole(const Shape& array, const InputSpec& input);

/// Error kInvalidSamples that says both shapes and the likely fix.
[[noreturn]] void refuse_shape(const Shape& array, const InputSpec& input);

/// Elements as they lie in a file.
struct RawArray {
  DType dtype = DType::kUndefined;
  bool big_endian = false;
  Shape shape;
  Bytes bytes;
};

/// The array as a tensor of the input's type. float64 and float16 become float32 and whole numbers keep their value, so
/// a picture of bytes 0 to 255 stays 0 to 255. Error kInvalidSamples when a value does not fit the type.
Tensor to_input_type(const RawArray& array, const InputSpec& input);

/// The past before the first token, of an input that is one: batch 1, its other free axes without elements.
Tensor empty_past(const InputSpec& input);

/// Error kInvalidSamples that names the first element that is NaN or infinite.
void check_finite(const Tensor& tensor, const InputSpec& input);

}  // namespace tersor::samples
