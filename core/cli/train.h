// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/cli/kept_samples.h"
#include "core/samples/data_set.h"
#include "core/tersor.h"

namespace tersor::cli {

struct TrainingRun {
  std::optional<double> minutes;   // that training may take; else as many epochs as the settings say
  std::string checkpoint, resume;  // files; empty: none
  int threads = 0;
  bool quiet = false;
};

/// Trains where the settings ask for it (core/tune) and adds what it came to to statistics and draft. The job with the
/// number of epochs and steps that were taken, so that its recipe gives the same file again. Interrupted once (Ctrl+C),
/// training stops and what is best is kept. The other arguments as of measure(). Errors of tuner_of().
std::shared_ptr<const Job> train(std::shared_ptr<const Job> job, Draft& decided, const samples::DataSet& data,
                                 const KeptSamples* kept, const TrainingRun& run, calibrate::Statistics& statistics);

}  // namespace tersor::cli
