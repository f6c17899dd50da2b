// SPDX-License-Identifier: Apache-2.0
// A figure of one's own of how good a model's outputs are, such as a mean IoU, in place of SQNR and right answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace tersor::evaluate {

/// A model's outputs for a sample, and the number of the sample in its data set.
struct SampleOutputs {
  int64_t sample = 0;
  const std::vector<Tensor>* outputs = nullptr;
};

struct OwnMetric {
  std::string name;
  /// The figure of some samples; more is better. Called by the thread that began the job alone, and what it throws ends
  /// the job.
  std::function<double(std::span<const SampleOutputs>)> value;
};

/// The figure of all samples, and those without each of their parts.
struct OwnFigures {
  double all = 0;
  std::vector<double> without;
};

/// Sample k belongs to part k % parts. There are fewer parts where there are fewer samples, and none of a single one.
OwnFigures own_figures(const OwnMetric& metric, std::span<const SampleOutputs> samples, size_t parts);

/// The standard error of the difference of two figures of the same samples and parts: the delete-a-group jackknife
/// (Quenouille 1956). 0 without parts.
double standard_error(const OwnFigures& a, const OwnFigures& b);

}  // namespace tersor::evaluate
