// SPDX-License-Identifier: Apache-2.0
#include "core/trial/held_errors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/evaluate/output_difference.h"

namespace tersor {

namespace {

constexpr double kWorst = -20, kBest = 120;
/// A change has to gain this much in the median sample and of all held samples together, whichever is left out ...
constexpr double kLeastGain = 0.25;
/// ... and this much of both together: less is the difference of one set of samples from another.
constexpr double kLeastGains = 1.0;
/// Extremes of few samples reach less far than those of all, so that a range without clipping seems better than it is.
constexpr double kLeastGainsUnclipped = 2.0;

/// Within what still says something.
double decibels(double signal, double noise) {
  if (!(noise > 0)) return kBest;
  return signal > 0 ? std::clamp(evaluate::decibels(signal, noise), kWorst, kBest) : kWorst;
}

/// The mean over the values that are judged and hold something.
double mean_decibels(const std::vector<double>& signal, const std::vector<double>& noise) {
  double sum = 0;
  int count = 0;
  for (size_t k = signal.size() / 2; k < signal.size(); ++k) {
    if (!(signal[k] > 0) && !(noise[k] > 0)) continue;
    sum += decibels(signal[k], noise[k]);
    ++count;
  }
  return count == 0 ? kBest : sum / count;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool holds_floats(const Tensor& tensor) {
  return tensor.dtype() == DType::kFloat32;
}

}  // namespace

double rounded_decibels(double decibels) {
  return std::floor(decibels * 100 + 0.5) / 100;
}

double pooled_decibels(const std::vector<HeldError>& errors, size_t left_out) {
  if (errors.empty()) return kBest;
  std::vector<double> signal(errors[0].signal.size(), 0.0), noise = signal;
  for (size_t i = 0; i < errors.size(); ++i)
    for (size_t k = 0; i != left_out && k < signal.size(); ++k) {
      signal[k] += errors[i].signal[k];
      noise[k] += errors[i].noise[k];
    }
  return mean_decibels(signal, noise);
}

double median_decibels(const std::vector<HeldError>& errors) {
  std::vector<double> all;
  for (const HeldError& one : errors) all.push_back(mean_decibels(one.signal, one.noise));
  return median(std::move(all));
}

HeldFigures figures_of(const std::vector<HeldError>& errors) {
  HeldFigures least{kBest, kBest, std::nullopt};
  const size_t outputs = errors.empty() ? 0 : errors[0].signal.size() / 2;
  for (size_t k = 0; k < outputs; ++k) {
    double signal = 0, noise = 0;
    std::vector<double> of_samples;
    for (const HeldError& one : errors) {
      signal += one.signal[k], noise += one.noise[k];
      of_samples.push_back(decibels(one.signal[k], one.noise[k]));
    }
    const double pooled = decibels(signal, noise);
    if (!(noise > 0) || pooled > least.sqnr_db) continue;
    // One that is exact says no more than that it is as good as the best of the others.
    double best = kWorst;
    for (const double one : of_samples) best = one < kBest ? std::max(best, one) : best;
    for (double& one : of_samples) one = std::min(one, best);
    least = {pooled, median(of_samples), evaluate::prediction_range(of_samples)};
  }
  return least;
}

namespace {

double least_gains_of(const std::string& change) {
  return change == kUnclipped ? kLeastGainsUnclipped : kLeastGains;
}

/// Those of the samples that `some` has; both ascend by sample.
std::vector<HeldError> of_same_samples(const std::vector<HeldError>& all, const std::vector<HeldError>& some) {
  std::vector<HeldError> same;
  for (const HeldError& one : all)
    if (std::any_of(some.begin(), some.end(), [&](const HeldError& other) { return other.sample == one.sample; }))
      same.push_back(one);
  return same;
}

/// What a figure of the user's own says of a change.
enum class OwnWord { kBetter, kWorse, kNothing };

OwnWord own_word(const std::vector<HeldError>& before, const std::vector<HeldError>& after) {
  if (after.empty() || before.size() != after.size() || !before[0].own || !after[0].own) return OwnWord::kNothing;
  if (after[0].own->all < before[0].own->all) return OwnWord::kWorse;
  bool gains = after[0].own->all > before[0].own->all;
  for (size_t i = 0; i < after.size(); ++i) gains = gains && after[i].own->without > before[i].own->without;
  return gains ? OwnWord::kBetter : OwnWord::kNothing;
}

/// By sample.
std::vector<double> gains_of(const std::vector<HeldError>& before, const std::vector<HeldError>& after) {
  std::vector<double> gains;
  for (size_t i = 0; i < after.size(); ++i)
    gains.push_back(mean_decibels(after[i].signal, after[i].noise) - mean_decibels(before[i].signal, before[i].noise));
  return gains;
}

}  // namespace

bool may_gain(const std::string& change, const std::vector<HeldError>& all_before,
              const std::vector<HeldError>& after) {
  const std::vector<HeldError> before = of_same_samples(all_before, after);
  if (const OwnWord word = own_word(before, after); word != OwnWord::kNothing) return word == OwnWord::kBetter;
  const std::vector<double> gains = gains_of(before, after);
  if (gains.size() < 2) return true;
  double sum = 0, squares = 0;
  for (const double gain : gains) sum += gain;
  const auto count = static_cast<double>(gains.size());
  const double mean = sum / count;
  for (const double gain : gains) squares += (gain - mean) * (gain - mean);
  const double error = std::sqrt(squares / (count - 1) / count), least = least_gains_of(change) / 2;
  return mean + 3 * error >= least || pooled_decibels(after) - pooled_decibels(before) >= least;
}

calibrate::TriedChange compared(const std::string& change, const std::vector<HeldError>& all_before,
                                const std::vector<HeldError>& after) {
  const std::vector<HeldError> before = of_same_samples(all_before, after);
  double least = kBest;
  for (size_t i = 0; i < before.size(); ++i)
    least = std::min(least, pooled_decibels(after, i) - pooled_decibels(before, i));
  const double middle = median(gains_of(before, after));
  const double least_gains = least_gains_of(change);
  calibrate::TriedChange row{change,
                             rounded_decibels(pooled_decibels(before)),
                             rounded_decibels(pooled_decibels(after)),
                             rounded_decibels(least),
                             rounded_decibels(middle),
                             least >= kLeastGain && middle >= kLeastGain && least + middle >= least_gains};
  if (const OwnWord word = own_word(before, after); word != OwnWord::kNothing) row.taken = word == OwnWord::kBetter;
  return row;
}

double more_noise(const std::vector<HeldError>& before, const std::vector<HeldError>& after) {
  double sum = 0;
  int count = 0;
  for (size_t k = before.empty() ? 0 : before[0].noise.size() / 2; !before.empty() && k < before[0].noise.size(); ++k) {
    double was = 0, is = 0;
    for (size_t i = 0; i < before.size(); ++i) was += before[i].noise[k], is += after[i].noise[k];
    if (!(was > 0)) continue;
    sum += is / was - 1;
    ++count;
  }
  return count == 0 ? 0 : std::max(0.0, sum / count);
}

HeldError error_of(size_t sample, const std::vector<Tensor>& in_float, const std::vector<Tensor>& quantized) {
  HeldError error{sample, {}, {}};
  for (size_t k = 0; k < in_float.size(); ++k) {
    double signal = 0, noise = 0;
    if (!holds_floats(in_float[k])) {
      error.signal.push_back(0), error.noise.push_back(0);
      continue;
    }
    const auto x = in_float[k].data<float>(), y = quantized[k].data<float>();
    const bool alike = holds_floats(quantized[k]) && x.size() == y.size();
    for (size_t i = 0; i < x.size(); ++i) {
      const double reference = x[i], difference = alike ? reference - static_cast<double>(y[i]) : reference;
      signal += reference * reference;
      noise += difference * difference;
    }
    if (!std::isfinite(signal)) signal = noise = 0;  // the float model says nothing there
    if (!std::isfinite(noise)) noise = 1e6 * signal + 1;
    error.signal.push_back(signal);
    error.noise.push_back(noise);
  }
  return error;
}

}  // namespace tersor
