// SPDX-License-Identifier: Apache-2.0
// How far a quantized model is from the float one on samples held aside, and whether a change of it gains.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/choices.h"
#include "core/evaluate/interval.h"
#include "core/tensor/tensor.h"

namespace tersor {

/// The change that leaves out clipping.
inline constexpr const char* kUnclipped = "activation_threshold_method=NOCLIPPING";

/// What one held sample lost: by output of the model (0 where that is no float), and then by what is judged in place of
/// each, which is what a Softmax at the end is given.
struct HeldError {
  size_t sample = 0;  // index into Trial::places()
  std::vector<double> signal, noise;
};

/// What is lost of one sample: squares of the float model's values, and of the differences from them.
HeldError error_of(size_t sample, const std::vector<Tensor>& in_float, const std::vector<Tensor>& quantized);

/// The mean over what is judged of the signal-to-noise ratio over all samples together, but for that at `left_out`, in
/// decibels from -20 to 120.
double pooled_decibels(const std::vector<HeldError>& errors, size_t left_out = static_cast<size_t>(-1));
/// The median over the samples of the same of each.
double median_decibels(const std::vector<HeldError>& errors);

/// The output whose ratio over all samples together is lowest, with that of the median sample and the range that
/// further samples are expected in, all in decibels from -20 to 120.
struct HeldFigures {
  double sqnr_db = 0, median_sqnr_db = 0;
  std::optional<evaluate::DecibelRange> range;
};
HeldFigures figures_of(const std::vector<HeldError>& errors);

/// To two digits after the point: what the files say is worth no more.
double rounded_decibels(double decibels);

/// What the change does, and whether it gains: by 0.25 dB in the median sample and of all samples together, whichever
/// is left out, and by 1 dB in both together (2 dB where the change leaves out clipping).
calibrate::TriedChange compared(const std::string& change, const std::vector<HeldError>& before,
                                const std::vector<HeldError>& after);

/// How much more noise there is, as a part of what there was: the mean over the outputs.
double more_noise(const std::vector<HeldError>& before, const std::vector<HeldError>& after);

}  // namespace tersor
