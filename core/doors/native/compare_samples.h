// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/native/workers.h"
#include "core/report/compare.h"
#include "core/report/verdict.h"
#include "core/samples/data_set.h"

namespace tersor {

/// Compares on the chosen samples of a data set; layers, too, on those of them that are `layered`.
report::Comparison compare_samples(const std::shared_ptr<const report::CompareProgram>& program,
                                   const std::shared_ptr<const samples::DataSet>& data,
                                   const std::vector<int64_t>& chosen, const std::vector<int64_t>& layered,
                                   const Workforce& workforce);

/// The verdict by a comparison alone: of the samples that were compared, whatever calibration has seen.
report::Verdict verdict_by(const report::Comparison& comparison);

/// The comparison with its `verdict`, `runtime`, what `stays_float` there, and `diagnostics`.
Json comparison_json(const report::Comparison& comparison, const report::CompareProgram& program);

}  // namespace tersor
