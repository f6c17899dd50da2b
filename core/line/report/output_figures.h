// SPDX-License-Identifier: Apache-2.0
// What the samples say of an output one by one: a sum over all of them may be that of a single one.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/evaluate/similarity.h"
#include "core/report/comparison.h"

namespace tersor::report {

/// An output of one sample, in float and quantized.
struct OutputOfSample {
  int64_t sample = 0;
  evaluate::Similarity all;
  double sum = 0;  // of the float model's values
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double reference, double value) {
    all.add(reference, value);
    sum += reference;
    low = reference < low ? reference : low;
    high = reference > high ? reference : high;
  }
};

/// The figures of the median and the worst sample. The spread of an output is the root of the mean square distance of
/// its elements, in the median sample, from the median of the samples' means: neither the error of a single sample nor
/// its size says what the others are.
void add_figures(const std::vector<OutputOfSample>& samples, OutputComparison& output);

/// Samples that reach at least 4 times as far from 0 as any other, at most a tenth of them; of 8 samples or more.
std::vector<UnusualSample> unusual_samples(const std::vector<OutputOfSample>& samples, const OutputComparison& output);

}  // namespace tersor::report
