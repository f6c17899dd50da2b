// SPDX-License-Identifier: Apache-2.0
#include "core/cli/compare_samples.h"

#include <utility>

#include "core/cli/progress_line.h"
#include "core/cli/workers.h"

namespace tersor::cli {

report::Comparison compare_samples(const std::shared_ptr<const report::CompareProgram>& program,
                                   const std::shared_ptr<const samples::DataSet>& data,
                                   const std::vector<int64_t>& chosen, int threads) {
  threads = thread_count(threads);
  std::vector<std::unique_ptr<report::Comparer>> comparers;
  std::vector<samples::SampleReader> readers;
  for (int i = 0; i < threads; ++i) {
    comparers.push_back(std::make_unique<report::Comparer>(program));
    readers.emplace_back(data);
  }
  const std::vector<int64_t> layered = report::layer_samples(chosen);
  ProgressLine progress("compare", static_cast<int64_t>(chosen.size()));
  fan_out(threads, static_cast<int64_t>(chosen.size()), [&](int worker, int64_t item) {
    const auto at = static_cast<size_t>(worker);
    const int64_t sample = chosen[static_cast<size_t>(item)];
    comparers[at]->add(sample, readers[at].load(sample), report::depth_of(layered, sample));
    progress.step();
  });
  for (int i = 1; i < threads; ++i) comparers[0]->merge(std::move(*comparers[static_cast<size_t>(i)]));
  return comparers[0]->result();
}

}  // namespace tersor::cli
