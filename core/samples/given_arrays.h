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

/// One tensor for each input, in their order, batch 1 and finite. Error kInvalidSamples when an input is missing, a
/// name is none, or an array does not fit; `place` is the sample's.
std::vector<Tensor> arrange(std::span<const GivenArray> arrays, const std::vector<InputSpec>& inputs,
                            const std::string& place);

}  // namespace tersor::samples
