// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_figures.h"

#include <algorithm>
#include <cmath>

#include "core/evaluate/interval.h"

namespace tersor::report {

namespace {

constexpr double kExact = 200, kLost = -200;  // as evaluate::sqnr_db() has them
constexpr double kFar = 4;
constexpr size_t kFewestSamples = 8, kUsualPart = 10;

/// The middle one, or the mean of the two in the middle.
double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

template <class Of>
double median_of(const std::vector<OutputOfSample>& samples, Of&& of) {
  std::vector<double> numbers;
  for (const OutputOfSample& sample : samples) numbers.push_back(of(sample));
  return median(std::move(numbers));
}

double decibels_of(const OutputOfSample& sample) {
  const double db = evaluate::sqnr_db(sample.all.signal, sample.all.noise).value_or(kExact);
  return std::isfinite(db) ? db : kLost;
}

/// Of each sample; one that is exact counts as the best of the others. None where all are.
std::vector<double> decibels_that_differ(const std::vector<OutputOfSample>& samples) {
  std::vector<double> all;
  double best = kLost;
  for (const OutputOfSample& sample : samples) {
    all.push_back(decibels_of(sample));
    if (all.back() < kExact) best = std::max(best, all.back());
  }
  if (best == kLost) return {};
  for (double& one : all) one = std::min(one, best);
  return all;
}

double mean_of(const OutputOfSample& sample) {
  return sample.sum / static_cast<double>(sample.all.count);
}

double spread_of(const std::vector<OutputOfSample>& samples) {
  const double center = median_of(samples, mean_of);
  const auto square = [&](const OutputOfSample& sample) {
    const double mean = mean_of(sample),
                 within = sample.all.signal / static_cast<double>(sample.all.count) - mean * mean;
    return std::max(within, 0.0) + (mean - center) * (mean - center);
  };
  const double middle = median_of(samples, square);
  if (middle > 0) return std::sqrt(middle);
  double sum = 0;
  for (const OutputOfSample& sample : samples) sum += square(sample);
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

double reach_of(const OutputOfSample& sample) {
  return std::max(std::fabs(sample.low), std::fabs(sample.high));
}

}  // namespace

void add_figures(const std::vector<OutputOfSample>& all, OutputComparison& output) {
  std::vector<OutputOfSample> samples;
  std::copy_if(all.begin(), all.end(), std::back_inserter(samples), [](const auto& one) { return one.all.count > 0; });
  if (samples.empty()) return;
  if (const double middle = median_of(samples, decibels_of); middle < kExact) output.median_sqnr_db = middle;
  const auto worst = std::min_element(samples.begin(), samples.end(),
                                      [](const auto& a, const auto& b) { return decibels_of(a) < decibels_of(b); });
  if (const double db = decibels_of(*worst); db < kExact)
    output.worst_sqnr_db = db, output.worst_sample = worst->sample;
  output.sample_range = evaluate::prediction_range(decibels_that_differ(samples));
  const bool finite = std::all_of(samples.begin(), samples.end(), [](const OutputOfSample& one) {
    return std::isfinite(one.all.signal) && std::isfinite(one.all.noise);
  });
  if (!finite) return;
  output.median_cosine = median_of(samples, [](const OutputOfSample& one) { return one.all.cosine(); });
  const double spread = spread_of(samples);
  const double error = std::sqrt(median_of(samples, [](const OutputOfSample& one) { return one.all.mse(); }));
  if (spread > 0) output.error_to_spread = error / spread;
}

std::vector<UnusualSample> unusual_samples(const std::vector<OutputOfSample>& all, const OutputComparison& output) {
  std::vector<const OutputOfSample*> samples;
  for (const OutputOfSample& one : all)
    if (one.all.count > 0 && std::isfinite(reach_of(one))) samples.push_back(&one);
  std::vector<UnusualSample> unusual;
  if (samples.size() < kFewestSamples) return unusual;
  std::sort(samples.begin(), samples.end(), [](const OutputOfSample* a, const OutputOfSample* b) {
    const double x = reach_of(*a), y = reach_of(*b);
    return x != y ? x > y : a->sample < b->sample;
  });
  size_t count = 0;
  for (size_t k = 1; k <= std::max<size_t>(1, samples.size() / kUsualPart); ++k)
    if (reach_of(*samples[k - 1]) >= kFar * reach_of(*samples[k]) && reach_of(*samples[k]) > 0) count = k;
  for (size_t k = 0; k < count; ++k) {
    const OutputOfSample& one = *samples[k];
    unusual.push_back({one.sample, output.name, std::fabs(one.low) > std::fabs(one.high) ? one.low : one.high,
                       reach_of(*samples[count])});
  }
  return unusual;
}

}  // namespace tersor::report
