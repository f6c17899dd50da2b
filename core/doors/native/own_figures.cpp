// SPDX-License-Identifier: Apache-2.0
#include "core/native/own_figures.h"

#include <string>

#include "core/native/stage_count.h"
#include "core/samples/fixed_batch.h"

namespace tersor {

std::vector<std::vector<Tensor>> outputs_of_samples(const std::shared_ptr<const run::Program>& program,
                                                    const std::shared_ptr<const samples::DataSet>& data,
                                                    const std::vector<int64_t>& chosen, std::string_view stage,
                                                    const Workforce& workforce) {
  struct Runs {
    run::Runner runner;
    samples::SampleReader reader;
  };
  std::vector<std::vector<Tensor>> outputs(chosen.size());
  const int threads = thread_count(workforce.threads);
  std::vector<Runs> workers;
  for (int k = 0; k < threads; ++k)
    workers.push_back({run::Runner(program), samples::SampleReader(data, samples::SampleReader::Values::kAny)});
  StageCount progress(workforce.progress, std::string(stage), static_cast<int64_t>(chosen.size()));
  fan_out(threads, static_cast<int64_t>(chosen.size()), [&](int number, int64_t item) {
    const auto at = static_cast<size_t>(item);
    Runs& worker = workers[static_cast<size_t>(number)];
    outputs[at] = samples::first_rows(worker.runner.run(worker.reader.load(chosen[at])), data->batch());
    progress.step();
  });
  return outputs;
}

evaluate::OwnFigures own_figures_of(const evaluate::OwnMetric& metric,
                                    const std::shared_ptr<const run::Program>& program,
                                    const std::shared_ptr<const samples::DataSet>& data,
                                    const std::vector<int64_t>& chosen, size_t parts, const Workforce& workforce) {
  const auto outputs = outputs_of_samples(program, data, chosen, "evaluate", workforce);
  std::vector<evaluate::SampleOutputs> samples;
  for (size_t k = 0; k < chosen.size(); ++k) samples.push_back({chosen[k], &outputs[k]});
  return evaluate::own_figures(metric, samples, parts);
}

}  // namespace tersor
