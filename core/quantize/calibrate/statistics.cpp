// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/statistics.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"
#include "core/samples/sample_digest.h"

namespace tersor::calibrate {

namespace {

void merge(ChannelStatistics& into, const ChannelStatistics& more) {
  into.min = std::min(into.min, more.min);
  into.max = std::max(into.max, more.max);
  into.sum.add(more.sum);
  into.sum_of_squares.add(more.sum_of_squares);
}

void merge(TensorStatistics& into, const TensorStatistics& more) {
  if (more.count() == 0) return;
  if (into.count() == 0) {
    into = more;
    return;
  }
  if (into.channels.size() != more.channels.size()) into.channels.clear();
  for (size_t c = 0; c < into.channels.size(); ++c) merge(into.channels[c], more.channels[c]);
  into.histogram.merge(more.histogram);
  into.extremes.merge(more.extremes);
  into.elements += more.elements;
  if (into.shape_varies || more.shape_varies || !(into.shape == more.shape)) {
    into.shape = Shape{};
    into.shape_varies = true;
  }
}

[[noreturn]] void refuse(const std::string& article, const std::string& what, const std::string& found,
                         const std::string& expected, const std::string& hint) {
  throw Error(ErrorCode::kMismatch,
              "The statistics belong to " + article + " " + what + ": found " + found + ", expected " + expected + ".",
              "statistics." + what, hint);
}

std::string short_digest(const std::string& digest) {
  return digest.size() > 12 ? "SHA-256 " + digest.substr(0, 12) + "..." : digest;
}

void check_same_tensors(const Statistics& a, const Statistics& b) {
  bool same = a.tensors.size() == b.tensors.size();
  for (size_t k = 0; same && k < a.tensors.size(); ++k) {
    const TensorStatistics &x = a.tensors[k], &y = b.tensors[k];
    same = x.name == y.name && x.channel_axis == y.channel_axis;
  }
  if (!same)
    throw Error(ErrorCode::kMismatch, "The statistics observe different tensors.", "statistics.tensors",
                "Calibrate all parts with the same version of Tersor.");
}

}  // namespace

void ExtremeSums::add(float least, float largest) {
  merge({1, ExactSum(), ExactSum(), {least, least}, {largest, largest}, {}});
  low.add(least);
  high.add(largest);
}

void ExtremeSums::merge(const ExtremeSums& more) {
  if (more.times == 0) return;
  // Once seen is listed twice, and counts once.
  const auto farther = [&](const std::array<float, 2>& a, const std::array<float, 2>& b, auto before) {
    std::vector<float> all(a.begin(), a.begin() + std::min<int64_t>(2, static_cast<int64_t>(times)));
    all.insert(all.end(), b.begin(), b.begin() + std::min<int64_t>(2, static_cast<int64_t>(more.times)));
    std::sort(all.begin(), all.end(), before);
    return std::array<float, 2>{all[0], all[all.size() > 1 ? 1 : 0]};
  };
  lowest = farther(lowest, more.lowest, [](float x, float y) { return x < y; });
  highest = farther(highest, more.highest, [](float x, float y) { return x > y; });
  times += more.times;
  low.add(more.low);
  high.add(more.high);
  const auto own = static_cast<std::ptrdiff_t>(by_sample.size());
  by_sample.insert(by_sample.end(), more.by_sample.begin(), more.by_sample.end());
  std::inplace_merge(by_sample.begin(), by_sample.begin() + own, by_sample.end(),
                     [](const SampleExtremes& a, const SampleExtremes& b) { return a.sample < b.sample; });
}

quant::Range TensorStatistics::mean_extremes() const {
  const double low = histogram.min(), high = histogram.max(), times = static_cast<double>(extremes.times);
  if (extremes.times == 0) return {low, high};
  return {std::clamp(extremes.low.value() / times, low, high), std::clamp(extremes.high.value() / times, low, high)};
}

void ChannelStatistics::map_sums(double factor, double offset, double elements) {
  const double own = sum.value(), squares = sum_of_squares.value();
  sum = {}, sum_of_squares = {};
  sum.add(factor * own + elements * offset);
  sum_of_squares.add(factor * factor * squares + 2 * factor * offset * own + elements * offset * offset);
}

double TensorStatistics::per_channel() const {
  return channels.empty() ? 0 : static_cast<double>(elements) / static_cast<double>(channels.size());
}

double TensorStatistics::channel_mean(size_t channel) const {
  return elements == 0 ? 0 : channels[channel].sum.value() / per_channel();
}

double TensorStatistics::channel_mean_square(size_t channel) const {
  return elements == 0 ? 0 : channels[channel].sum_of_squares.value() / per_channel();
}

const TensorStatistics* Statistics::find(std::string_view name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) { return one.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

std::string Statistics::samples_digest() const {
  std::vector<std::string> digests;
  for (const SampleRecord& sample : samples) digests.push_back(sample.digest);
  return samples::data_set_digest(digests);
}

void check_provenance(const Provenance& found, const Provenance& expected) {
  if (found.model_digest != expected.model_digest)
    refuse("another", "model", short_digest(found.model_digest), short_digest(expected.model_digest),
           "Calibrate this model, or give the model the statistics were made of.");
  if (found.settings != expected.settings)
    refuse("other", "settings", found.settings, expected.settings,
           "Calibrate again with these settings: they shape the graph that is observed.");
  if (found.graph_digest != expected.graph_digest)
    refuse("another", "graph", short_digest(found.graph_digest), short_digest(expected.graph_digest),
           "They were made by another version of Tersor: calibrate again.");
  if (found.preprocessing != expected.preprocessing)
    refuse("another", "preprocessing", found.preprocessing, expected.preprocessing,
           "Calibrate all parts in the same way.");
}

void merge(Statistics& into, const Statistics& more) {
  check_provenance(more.provenance, into.provenance);
  check_same_tensors(into, more);
  std::vector<SampleRecord> samples;
  std::merge(into.samples.begin(), into.samples.end(), more.samples.begin(), more.samples.end(),
             std::back_inserter(samples));
  const auto twice = std::adjacent_find(samples.begin(), samples.end());
  if (twice != samples.end())
    throw Error(ErrorCode::kMismatch,
                "Sample " + std::to_string(twice->index) + " was counted in both statistics that are to be merged.",
                "statistics.samples", "Merge parts that have no sample in common.");
  into.samples = std::move(samples);
  into.measured = {};
  into.rounded = {};
  into.choices = {};
  into.tuned = {};
  into.data_set_size = std::max(into.data_set_size, more.data_set_size);
  into.all_parts = std::max(into.all_parts, more.all_parts);
  for (size_t k = 0; k < into.tensors.size(); ++k) merge(into.tensors[k], more.tensors[k]);
}

}  // namespace tersor::calibrate
