// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/calibrate/statistics.h"
#include "core/job/job.h"
#include "core/mixed/bit_search.h"

namespace tersor {

/// The distances of a sample in a step of the search for bits (core/mixed/bit_search.h).
struct SampleDistances {
  size_t sample = 0;  // index into Trial::places()
  std::vector<double> distances;

  static constexpr auto fields() { return members(&SampleDistances::sample, &SampleDistances::distances); }
};

/// Finds the bits of each operator within the budgets, step by step. Sensitivities that the statistics hold for these
/// settings are not measured again.
class BitTrial {
 public:
  /// `statistics` are those of all samples.
  BitTrial(std::shared_ptr<const Job> job, calibrate::Statistics statistics);

  /// True once nothing is left to measure.
  bool done() const { return !search_ || step_ == search_->steps(); }
  /// Ends a step with the distances of its samples, ascending by sample.
  void take(const std::vector<SampleDistances>& distances);
  /// The choice, once done, from sensitivities that were measured on so many samples.
  calibrate::BitConfiguration result(size_t samples) const;

  /// For runners of the current step.
  bool is_first() const { return step_ == 0; }
  mixed::SearchRunner runner() const;

 private:
  std::shared_ptr<const Job> job_;
  calibrate::Statistics statistics_;
  std::vector<mixed::Configurable> operators_;
  mixed::Sensitivities sensitivities_;  // if nothing is measured
  std::unique_ptr<mixed::BitSearch> search_;
  size_t step_ = 0;
  std::shared_ptr<const mixed::SearchProgram> program_;  // of this step
};

}  // namespace tersor
