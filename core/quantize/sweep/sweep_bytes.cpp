// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/sweep_bytes.h"

#include <algorithm>
#include <array>
#include <string>

namespace tersor::ptq {

namespace {

void put(ByteWriter& writer, const ChannelSums& channels) {
  writer.put(channels.elements);
  std::vector<uint64_t> words;
  for (size_t k = 0; k < channels.sums.size(); ++k) {
    const calibrate::ExactSum sum = channels.sums.sum(k);
    words.insert(words.end(), sum.words().begin(), sum.words().end());
  }
  writer.put_all(std::span<const uint64_t>(words));
}

ChannelSums get_channels(ByteReader& reader) {
  ChannelSums channels;
  channels.elements = reader.get<uint64_t>();
  const std::vector<uint64_t> words = reader.get_all<uint64_t>();
  std::array<uint64_t, calibrate::ExactSum::kWords> one;
  TERSOR_CHECK(words.size() % one.size() == 0);
  channels.sums = calibrate::ExactSums(words.size() / one.size());
  for (size_t k = 0; k < channels.sums.size(); ++k) {
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(k * one.size()), one.size(), one.begin());
    channels.sums.add(k, calibrate::ExactSum(one));
  }
  return channels;
}

}  // namespace

void put(ByteWriter& writer, const SweepSums& sums) {
  for (const auto& half : sums.inputs.words) writer.put_all(std::span<const int64_t>(half));
  put(writer, sums.outputs);
  put(writer, sums.in_float);
}

SweepSums get_sweep_sums(ByteReader& reader) {
  SweepSums sums;
  for (auto& half : sums.inputs.words) half = reader.get_all<int64_t>();
  sums.outputs = get_channels(reader);
  sums.in_float = get_channels(reader);
  return sums;
}

void put(ByteWriter& writer, const SweepOutcome& outcome) {
  writer.put_all(std::span<const double>(outcome.shifts));
  writer.put(outcome.weight.has_value());
  if (!outcome.weight) return;
  writer.put_all(std::span<const char>(outcome.weight->name));
  writer.put_all(std::span<const float>(outcome.weight->scales));
  writer.put_all(std::span<const int8_t>(outcome.weight->codes));
  writer.put(outcome.weight->noise_ratio);
}

SweepOutcome get_sweep_outcome(ByteReader& reader) {
  SweepOutcome outcome;
  outcome.shifts = reader.get_all<double>();
  if (!reader.get<bool>()) return outcome;
  const std::vector<char> name = reader.get_all<char>();
  outcome.weight = calibrate::RoundedWeight{std::string(name.begin(), name.end()), {}, {}, 1};
  outcome.weight->scales = reader.get_all<float>();
  outcome.weight->codes = reader.get_all<int8_t>();
  outcome.weight->noise_ratio = reader.get<double>();
  return outcome;
}

}  // namespace tersor::ptq
