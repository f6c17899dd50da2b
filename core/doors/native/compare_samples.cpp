// SPDX-License-Identifier: Apache-2.0
#include "core/native/compare_samples.h"

#include <utility>

#include "core/base/json.h"
#include "core/native/stage_count.h"
#include "core/report/report.h"
#include "core/report/saturation_remark.h"

namespace tersor {

report::Comparison compare_samples(const std::shared_ptr<const report::CompareProgram>& program,
                                   const std::shared_ptr<const samples::DataSet>& data,
                                   const std::vector<int64_t>& chosen, const std::vector<int64_t>& layered,
                                   const Workforce& workforce) {
  const int threads = thread_count(workforce.threads);
  std::vector<std::unique_ptr<report::Comparer>> comparers;
  std::vector<samples::SampleReader> readers;
  for (int i = 0; i < threads; ++i) {
    comparers.push_back(std::make_unique<report::Comparer>(program));
    readers.emplace_back(data);
  }
  StageCount progress(workforce.progress, "compare", static_cast<int64_t>(chosen.size()));
  fan_out(threads, static_cast<int64_t>(chosen.size()), [&](int worker, int64_t item) {
    const auto at = static_cast<size_t>(worker);
    const int64_t sample = chosen[static_cast<size_t>(item)];
    comparers[at]->add(sample, readers[at].load(sample), report::depth_of(layered, sample), data->batch());
    progress.step();
  });
  for (int i = 1; i < threads; ++i) comparers[0]->merge(std::move(*comparers[static_cast<size_t>(i)]));
  return comparers[0]->result();
}

report::Verdict verdict_by(const report::Comparison& comparison) {
  report::Report report;
  report.comparison = comparison;
  return report::verdict_of(report);
}

Json comparison_json(const report::Comparison& comparison, const report::CompareProgram& program) {
  Json json = to_json(comparison);
  json["verdict"] = to_json(verdict_by(comparison));
  json["runtime"] = enum_word(program.runtime());
  json["stays_float"] = Json::array();
  for (const simulate::FloatIsland& island : program.float_islands())
    json["stays_float"].push_back(
        {{"name", island.node}, {"op", island.op}, {"reason", island.reason}, {"exact", island.exact}});
  json["diagnostics"] = Json::array();
  if (const auto remark = report::saturation_remark(comparison, program.runtime() == simulate::Profile::kAvx2))
    json["diagnostics"].push_back(to_json(*remark));
  return json;
}

}  // namespace tersor
