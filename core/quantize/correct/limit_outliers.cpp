// SPDX-License-Identifier: Apache-2.0
#include "core/correct/limit_outliers.h"

#include <algorithm>
#include <cmath>

namespace tersor::ptq {

namespace {

using quant::Histogram;

/// Values beyond the ends count as lying at them. Bins become finer with the range; what a coarse one holds then lies
/// at its centre, exact zeros where they are.
Histogram limited(const Histogram& histogram, float low, float high) {
  const int exponent = Histogram::exponent_for(low, high);
  const int32_t first = Histogram::bin_of(low, exponent);
  std::vector<uint64_t> counts(static_cast<size_t>(Histogram::bin_of(high, exponent) - first) + 1, 0);
  const auto add = [&](float value, uint64_t count) {
    counts[static_cast<size_t>(Histogram::bin_of(std::clamp(value, low, high), exponent) - first)] += count;
  };
  const auto old = histogram.counts();
  for (size_t i = 0; i < old.size(); ++i) {
    uint64_t count = old[i];
    if (histogram.first_bin() + static_cast<int64_t>(i) == 0) count -= std::min(count, histogram.zeros());
    if (count > 0) add(static_cast<float>(histogram.center(i)), count);
  }
  if (histogram.zeros() > 0) add(0.0f, histogram.zeros());
  return Histogram::of_counts(low, high, exponent, first, counts, histogram.zeros());
}

bool limit(calibrate::TensorStatistics& tensor) {
  const calibrate::ExtremeSums& extremes = tensor.extremes;
  if (extremes.times < kFewestTimes || tensor.histogram.empty()) return false;
  const double low = extremes.lowest[0], high = extremes.highest[0];
  const double others = std::max(std::fabs(extremes.lowest[1]), std::fabs(extremes.highest[1]));
  if (others == 0 || std::max(std::fabs(low), std::fabs(high)) <= kFarOut * others) return false;
  const double reach = kRoom * others;
  const auto to_low = static_cast<float>(std::max(low, -reach)), to_high = static_cast<float>(std::min(high, reach));
  tensor.histogram = limited(tensor.histogram, to_low, to_high);
  for (calibrate::ChannelStatistics& channel : tensor.channels) {
    channel.min = std::clamp(channel.min, to_low, to_high);
    channel.max = std::clamp(channel.max, to_low, to_high);
  }
  return true;
}

}  // namespace

std::optional<Rewrite> limit_outliers(CorrectedModel& model, const config::QuantizationConfig& config) {
  if (config.activation_threshold_method == quant::ThresholdSelectionMethod::kNoClipping) return std::nullopt;
  std::vector<std::string> names;
  for (calibrate::TensorStatistics& tensor : model.statistics.tensors)
    if (limit(tensor)) names.push_back(tensor.name);
  if (names.empty()) return std::nullopt;
  const bool one = names.size() == 1;
  return Rewrite{
      "activation_threshold_method", static_cast<int64_t>(names.size()),
      std::string(one ? "A tensor" : "Tensors") + " in which one sample alone reached more than " +
          number_text(kFarOut) + " times as far as any other: its values count as lying " + number_text(kRoom) +
          " times as far out as those of the others, so that it does not set the range: " + first_few(names) + "."};
}

}  // namespace tersor::ptq
