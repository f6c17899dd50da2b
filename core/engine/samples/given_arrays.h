// SPDX-License-Identifier: Apache-2.0
// Samples that a program gives as arrays rather than files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/samples/input_spec.h"

namespace tersor::samples {

struct GivenArray {
  std::string name;  // of the model's input
  DType dtype = DType::kFloat32;
  std::optional<Shape> shape;  // absent: the input's own, where that leaves no choice
  Bytes bytes;                 // little-endian, row-major
};

struct GivenSample {
  std::vector<Tensor> inputs;  // one for each of the model's, in their order
  int64_t batch = 1;           // how many times the sample is repeated along the first axis
};

/// A sample of batch 1, finite. Where the model has a fixed batch, arrays of the whole batch are taken as they are, and
/// those of one row fill it. Error kInvalidSamples when an input is missing, a name is none, or an array does not fit;
/// `place` is the sample's.
GivenSample arrange(std::span<const GivenArray> arrays, const std::vector<InputSpec>& inputs, const std::string& place);

}  // namespace tersor::samples
