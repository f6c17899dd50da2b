// SPDX-License-Identifier: Apache-2.0
#include "core/correct/move_statistics.h"

#include <algorithm>
#include <vector>

namespace tersor::ptq {

using calibrate::ChannelStatistics;
using calibrate::TensorStatistics;
using quant::Histogram;

namespace {

float moved_value(double x, double factor, double offset) {
  return static_cast<float>(factor * x + offset);
}

Histogram moved_histogram(const Histogram& of, double factor, double offset) {
  if (of.empty()) return of;
  const float min = moved_value(of.min(), factor, offset), max = moved_value(of.max(), factor, offset);
  const int exponent = Histogram::exponent_for(min, max);
  const int32_t first = Histogram::bin_of(min, exponent);
  std::vector<uint64_t> counts(static_cast<size_t>(Histogram::bin_of(max, exponent) - first) + 1, 0);
  const auto count = [&](double x, uint64_t times) {
    const float to = std::clamp(moved_value(x, factor, offset), min, max);
    counts[static_cast<size_t>(Histogram::bin_of(to, exponent) - first)] += times;
  };
  for (size_t i = 0; i < of.counts().size(); ++i) {
    const bool has_zeros = of.first_bin() + static_cast<int32_t>(i) == 0;
    count(of.center(i), of.counts()[i] - (has_zeros ? of.zeros() : 0));
  }
  if (of.zeros() > 0) count(0, of.zeros());
  return Histogram::of_counts(min, max, exponent, first, counts, offset == 0 ? of.zeros() : 0);
}

}  // namespace

TensorStatistics moved(const TensorStatistics& of, double factor, double offset) {
  TensorStatistics result = of;
  result.histogram = moved_histogram(of.histogram, factor, offset);
  if (of.extremes.times > 0) {
    const auto times = static_cast<double>(of.extremes.times);
    result.extremes = {of.extremes.times, {}, {}};
    result.extremes.low.add(factor * of.extremes.low.value() + times * offset);
    result.extremes.high.add(factor * of.extremes.high.value() + times * offset);
    for (const calibrate::SampleExtremes& one : of.extremes.by_sample)
      result.extremes.by_sample.push_back(
          {one.sample, moved_value(one.low, factor, offset), moved_value(one.high, factor, offset)});
  }
  for (ChannelStatistics& channel : result.channels) {
    channel.min = moved_value(channel.min, factor, offset);
    channel.max = moved_value(channel.max, factor, offset);
    channel.map_sums(factor, offset, of.per_channel());
  }
  return result;
}

void rename_moved(Graph& graph, calibrate::Statistics& statistics, ValueId value, std::string_view suffix,
                  double factor, double offset) {
  const std::string old = graph.name_of(value);
  std::string name = old + std::string(suffix);
  while (graph.find(name)) name += "_";
  graph.rename(value, name);
  TensorStatistics* seen = find(statistics, old);
  if (seen == nullptr) return;
  *seen = moved(*seen, factor, offset);
  seen->name = name;
}

TensorStatistics* find(calibrate::Statistics& statistics, std::string_view name) {
  const auto found = std::find_if(statistics.tensors.begin(), statistics.tensors.end(),
                                  [&](const TensorStatistics& one) { return one.name == name; });
  return found == statistics.tensors.end() ? nullptr : &*found;
}

}  // namespace tersor::ptq
