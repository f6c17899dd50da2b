// SPDX-License-Identifier: Apache-2.0
#include "core/native/join_statistics.h"

#include "core/base/error.h"

namespace tersor {

namespace {

/// Parts of one data set agree on its size and on each sample.
void expect_same_data(const calibrate::Statistics& part, const calibrate::Statistics& all, const std::string& path,
                      const std::string& first) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kMismatch, what, path, "Put together what calibrate --shard has made of one data set.");
  };
  if (part.data_set_size != all.data_set_size)
    refuse("This is of a data set of " + std::to_string(part.data_set_size) + " samples, \"" + first + "\" of one of " +
           std::to_string(all.data_set_size) + ".");
  size_t k = 0;
  for (const calibrate::SampleRecord& record : part.samples) {
    while (k < all.samples.size() && all.samples[k].index < record.index) ++k;
    if (k < all.samples.size() && all.samples[k].index == record.index && all.samples[k].digest != record.digest)
      refuse("Sample " + std::to_string(record.index) + " is another one in the files before it, from \"" + first +
             "\" on.");
  }
}

}  // namespace

void JoinedStatistics::add(std::span<const std::byte> file, const std::string& place) {
  try {
    calibrate::Statistics part = calibrate::read(file);
    if (!all_) {
      all_ = std::move(part);
      first_ = place;
      return;
    }
    expect_same_data(part, *all_, place, first_);
    calibrate::merge(*all_, part);
  } catch (const Error& error) {
    const std::string inner = error.place.empty() || error.place == place ? "" : ": " + error.place;
    throw Error(error.code, error.message, place + inner, error.hint);
  }
}

std::string missing_parts(const calibrate::Statistics& statistics) {
  const size_t there = statistics.samples.size();
  if (there >= statistics.all_parts) return {};
  return "These are " + std::to_string(there) + " of the " + std::to_string(statistics.all_parts) +
         " samples of the calibration: parts of it (--shard) are missing.";
}

}  // namespace tersor
