// SPDX-License-Identifier: Apache-2.0
#include "core/native/calibrate_data.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "core/base/json.h"
#include "core/native/size_text.h"
#include "core/native/stage_count.h"
#include "core/samples/model_inputs.h"
#include "core/samples/sample_digest.h"

namespace tersor {

std::vector<samples::InputSpec> input_specs(const Graph& graph) {
  return samples::model_inputs(graph);
}

namespace {

constexpr const char* kCalibrate = "calibrate";

constexpr int64_t kPairsEach = 4;  // of samples: with fewer for each thread some would wait for others

/// Before anything is run: fewer threads where all would not fit into the machine's memory.
int fitting_threads(const Job& job, int wanted, int64_t samples, const ProgressFunction& progress) {
  const int64_t bytes = calibration_bytes(job).value_or(0), memory = physical_memory();
  if (bytes > memory && memory > 0)
    throw Error(ErrorCode::kOutOfMemory,
                "Calibration takes " + size_text(bytes) + " of memory and this machine has " + size_text(memory) + ".",
                {}, "Use a machine with more memory, or a model with smaller inputs.");
  const int threads = threads_that_fit(wanted, bytes, memory);
  if (threads < wanted) {
    const std::string note = std::to_string(threads) + " of " + std::to_string(wanted) +
                             " threads are used: each takes " + size_text(bytes) + " of this machine's " +
                             size_text(memory);
    report_progress(progress, {kCalibrate, 0, samples, note});
  }
  return threads;
}

}  // namespace

calibrate::Statistics calibrate_data(const Job& job, const samples::DataSet& data, const std::vector<int64_t>& chosen,
                                     const Shard& shard, const Workforce& workforce, KeptSamples& kept) {
  std::vector<int64_t> mine;
  for (const int64_t sample : chosen)
    if (sample % shard.count == shard.number - 1) mine.push_back(sample);
  const auto count = static_cast<int64_t>(mine.size());
  const int wanted = static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(thread_count(workforce.threads), count)));
  const int threads = fitting_threads(job, wanted, count, workforce.progress);
  std::vector<calibrate::Calibrator> calibrators;
  std::vector<samples::SampleReader> readers;
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  for (int k = 0; k < threads; ++k) {
    calibrators.push_back(calibrator_of(job, static_cast<uint64_t>(data.size())));
    readers.emplace_back(shared);
  }
  StageCount progress(workforce.progress, kCalibrate, count);
  // In pairs, for their digests, where there are enough for all threads.
  const int64_t together = count >= 2 * kPairsEach * threads ? 2 : 1;
  fan_out(threads, (count + together - 1) / together, [&](int worker, int64_t item) {
    const auto w = static_cast<size_t>(worker);
    const int64_t first = item * together, after = std::min(first + together, count);
    const auto of_item = std::span(mine).subspan(static_cast<size_t>(first), static_cast<size_t>(after - first));
    std::vector<std::vector<Tensor>> inputs;
    std::exception_ptr refused;  // after what a sample before it may be refused for
    try {
      for (const int64_t sample : of_item) inputs.push_back(readers[w].load(sample));
    } catch (const Error&) {
      refused = std::current_exception();
    }
    std::vector<std::string> digests = samples::sample_digests(inputs);
    for (size_t k = 0; k < inputs.size(); ++k) {
      kept.keep(of_item[k], inputs[k]);
      calibrators[w].add({static_cast<uint64_t>(of_item[k]), std::move(digests[k])}, data.place(of_item[k]), inputs[k]);
      progress.step();
    }
    if (refused) std::rethrow_exception(refused);
  });
  calibrate::Statistics statistics = calibrators[0].statistics();
  for (size_t k = 1; k < calibrators.size(); ++k) calibrate::merge(statistics, calibrators[k].statistics());
  return statistics;
}

}  // namespace tersor
