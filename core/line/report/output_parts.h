// SPDX-License-Identifier: Apache-2.0
// Finds parts of a model output whose values differ in size, such as boxes and scores of a detector in one tensor. An
// error that is small for the boxes may wipe out the scores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/report/comparison.h"
#include "core/tensor/shape.h"

namespace tersor::report {

/// Sums along every axis of an output, over samples.
class OutputParts {
 public:
  void add(const Shape& shape, std::span<const float> reference, std::span<const float> values);
  void merge(const OutputParts& more);
  /// Returns the two parts, larger values first, along the axis where they differ most. Returns nothing if the largest
  /// values differ by less than a factor of 32: then an 8-bit step for both leaves enough codes for either. Small
  /// values at both ends of an axis are the border of a picture and no part. Of detections the parts are boxes and
  /// scores in any case, along the shortest axis whose values from the fifth on stay within 1.
  std::vector<OutputPart> result(bool detections = false) const;

  /// Serializes what was gathered.
  std::vector<double> state() const;
  static OutputParts of_state(const std::vector<double>& state);

 private:
  std::vector<OutputPart> boxes_and_scores() const;
  /// By index on the axis: signal, noise and largest value, in turn. Empty if the axis has no parts.
  using Axis = std::vector<double>;
  bool started_ = false;
  std::vector<Axis> axes_;  // all axes except the first, the batch
};

}  // namespace tersor::report
