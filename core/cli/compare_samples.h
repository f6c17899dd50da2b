// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/report/compare.h"
#include "core/samples/data_set.h"

namespace tersor::cli {

/// Compares on the chosen samples of a data set, on that many threads (0: one for each core).
report::Comparison compare_samples(const std::shared_ptr<const report::CompareProgram>& program,
                                   const std::shared_ptr<const samples::DataSet>& data,
                                   const std::vector<int64_t>& chosen, int threads);

}  // namespace tersor::cli
