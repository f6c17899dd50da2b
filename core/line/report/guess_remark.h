// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/base/diagnostic.h"
#include "core/samples/data_set.h"

namespace tersor::report {

/// A remark that the figures of these samples rest on a guessed preprocessing of pictures, with the code
/// kGuessedPreprocessing. Returns nothing if the user gave the preprocessing or labels chose it.
std::optional<Diagnostic> guess_remark(const samples::DataSet& data);

}  // namespace tersor::report
