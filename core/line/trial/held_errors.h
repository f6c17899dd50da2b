// SPDX-License-Identifier: Apache-2.0
// The error of a quantized model on the samples held out, and whether a change of the model lowers it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/calibrate/choices.h"
#include "core/evaluate/interval.h"
#include "core/tensor/tensor.h"

namespace tersor {

/// The change that avoids clipping.
inline constexpr const char* kUnclipped = "activation_threshold_method=NOCLIPPING";

/// Signal and noise energy of a held-out sample. Both vectors have two halves. The first has an entry per output of the
/// model (0 if it is not float). The second has an entry for the tensor that is judged in place of each output: the
/// input of a Softmax at its end.
struct HeldError {
  size_t sample = 0;  // index into Trial::places()
  std::vector<double> signal, noise;
  /// The user's own figure (core/evaluate/own_metric.h) of all held-out samples, and without this one; null where there
  /// is none. It is no sum, and stands here once all samples have been run.
  struct Own {
    double all = 0, without = 0;
  };
  std::optional<Own> own = {};

  static constexpr auto fields() { return members(&HeldError::sample, &HeldError::signal, &HeldError::noise); }
};

/// The error of a sample: signal is the sum of squares of the float model's values, noise that of the differences.
HeldError error_of(size_t sample, const std::vector<Tensor>& in_float, const std::vector<Tensor>& quantized);

/// The SQNR of each judged tensor over all samples together, averaged over the judged tensors, in dB from -20 to 120.
/// The sample at index `left_out` does not count.
double pooled_decibels(const std::vector<HeldError>& errors, size_t left_out = static_cast<size_t>(-1));
/// The median of the SQNR of each sample, in dB.
double median_decibels(const std::vector<HeldError>& errors);

/// Figures of the output with the lowest SQNR over all samples together, in dB from -20 to 120: that SQNR, the SQNR of
/// the median sample, and the range expected for further samples.
struct HeldFigures {
  double sqnr_db = 0, median_sqnr_db = 0;
  std::optional<evaluate::DecibelRange> range;
};
HeldFigures figures_of(const std::vector<HeldError>& errors);

/// Rounds to two decimals, the precision that files store.
double rounded_decibels(double decibels);

/// Judges a change. It is taken if two figures gain at least 0.25 dB each and at least 1 dB together (2 dB if the
/// change avoids clipping). These are the median gain of a sample, and the least gain over all samples together when
/// any single sample is left out. A figure of the user's own comes before them: a change that lowers it is not taken,
/// and one is that raises it, whichever sample is left out. Only the samples in `after` are compared; `before` must
/// hold them all.
calibrate::TriedChange compared(const std::string& change, const std::vector<HeldError>& before,
                                const std::vector<HeldError>& after);

/// False as soon as the samples so far show that no more of them would have the change taken: their mean gain, with
/// three times its standard error, and that of all together lie below half of what both figures need.
bool may_gain(const std::string& change, const std::vector<HeldError>& before, const std::vector<HeldError>& after);

/// The relative increase of the noise, averaged over the outputs.
double more_noise(const std::vector<HeldError>& before, const std::vector<HeldError>& after);

}  // namespace tersor
