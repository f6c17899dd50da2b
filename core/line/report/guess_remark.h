// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/base/diagnostic.h"
#include "core/samples/data_set.h"

namespace tersor::report {

/// That the figures of these samples rest on a guess of how pictures become tensors, under the code
/// kGuessedPreprocessing; none where somebody said it or labels told.
std::optional<Diagnostic> guess_remark(const samples::DataSet& data);

}  // namespace tersor::report
