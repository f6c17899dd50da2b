// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/evaluate/evaluation.h"
#include "core/evaluate/output_difference.h"
#include "core/native/workers.h"
#include "core/run/program.h"
#include "core/samples/data_set.h"

namespace tersor {

/// What is evaluated: `reference`, where there is one, has the same inputs and outputs.
struct EvaluationJob {
  std::shared_ptr<const run::Program> program, reference;
  evaluate::Metric metric = evaluate::Metric::kTop1;
  int64_t group = 1;
};

struct SampleEvaluation {
  evaluate::EvaluationResult result;
  std::vector<evaluate::OutputDifference> outputs;  // with a reference
  std::optional<double> sqnr_db;                    // of the output where it is lowest
  std::optional<double> own = {};                   // by a metric of one's own, which whoever has one adds
};

/// The result with `output_sqnr_db` and `outputs` where there is a reference; without the answers of each sample.
Json to_json(const SampleEvaluation& outcome);

/// Error kMismatch at `place` where the reference has other numbers of inputs and outputs.
void expect_same_ports(const run::Program& program, const run::Program& reference, const std::string& place);

/// Runs the chosen samples of a data set. `labels` of all groups of the
/// data set; empty for a metric that needs none.
SampleEvaluation evaluate_samples(const EvaluationJob& job, const std::shared_ptr<const samples::DataSet>& data,
                                  const std::vector<int64_t>& labels, const std::vector<int64_t>& chosen,
                                  const Workforce& workforce);

}  // namespace tersor
