// SPDX-License-Identifier: Apache-2.0
// The parts of a model output whose values are of unlike size, such as the boxes and the scores of a detector in one
// tensor: an error that is small beside the boxes may be all of the scores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/report/comparison.h"
#include "core/tensor/shape.h"

namespace tersor::report {

/// Sums along every axis of an output; of the same output of all samples.
class OutputParts {
 public:
  void add(const Shape& shape, std::span<const float> reference, std::span<const float> values);
  void merge(const OutputParts& more);
  /// Two parts, the larger values first, along the axis where they are most unlike; none where the largest value of the
  /// one is less than 32 times that of the other: then an 8-bit step for both leaves neither too few.
  std::vector<OutputPart> result() const;

  /// What was gathered so far, and back.
  std::vector<double> state() const;
  static OutputParts of_state(const std::vector<double>& state);

 private:
  /// By index of an axis its signal, noise and largest value, one after the other; empty: the axis has no parts.
  using Axis = std::vector<double>;
  bool started_ = false;
  std::vector<Axis> axes_;  // but the first, which is the batch
};

}  // namespace tersor::report
