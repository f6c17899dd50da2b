// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/calibrator.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::calibrate {

Calibrator::Calibrator(std::shared_ptr<const run::Program> program, std::vector<Request> requests,
                       Provenance provenance, uint64_t data_set_size)
    : runner_(std::move(program)),
      collector_(std::move(requests)),
      provenance_(std::move(provenance)),
      data_set_size_(data_set_size) {}

void Calibrator::add(SampleRecord sample, std::string_view place, std::span<const Tensor> inputs) {
  try {
    runner_.run(inputs, &collector_);
  } catch (const Error& error) {
    throw error.code == ErrorCode::kInvalidSamples ? error.within(place) : error;
  }
  samples_.push_back(std::move(sample));
}

void Calibrator::note_digest(std::string digest) {
  TERSOR_CHECK(!samples_.empty());
  samples_.back().digest = std::move(digest);
}

Statistics Calibrator::statistics() const {
  Statistics statistics{provenance_, samples_, data_set_size_, collector_.statistics()};
  std::sort(statistics.samples.begin(), statistics.samples.end());
  return statistics;
}

Statistics Calibrator::finish() && {
  { const run::Runner done = std::move(runner_); }
  return statistics();
}

}  // namespace tersor::calibrate
