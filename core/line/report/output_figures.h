// SPDX-License-Identifier: Apache-2.0
// Figures of an output per sample; a sum over all samples may be dominated by a single one.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/evaluate/similarity.h"
#include "core/report/comparison.h"

namespace tersor::report {

/// The output of a sample, in float and quantized.
struct OutputOfSample {
  int64_t sample = 0;
  evaluate::Similarity all;
  double sum = 0;  // of the float model's values
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  static constexpr auto fields() {
    using O = OutputOfSample;
    return members(&O::sample, &O::all, &O::sum, &O::low, &O::high);
  }
  void add(double reference, double value) {
    all.add(reference, value);
    sum += reference;
    low = reference < low ? reference : low;
    high = reference > high ? reference : high;
  }
};

/// Sets the figures of the median and the worst sample. The error is relative to the spread of the output. This is, in
/// the median sample, the root mean square distance of the elements from the median of the samples' means. So neither
/// the error nor the size of a single sample decides.
void add_figures(const std::vector<OutputOfSample>& samples, OutputComparison& output);

/// The samples that reach at least 4 times as far from 0 as any other. They are at most a tenth of all samples, and
/// there must be at least 8 samples.
std::vector<UnusualSample> unusual_samples(const std::vector<OutputOfSample>& samples, const OutputComparison& output);

}  // namespace tersor::report
