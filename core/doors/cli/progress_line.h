// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/progress.h"

namespace tersor::cli {

/// Shows each stage as one line on a terminal that counts up: "calibrate 37/128", erased when the stage is done. Counts
/// nothing where stderr is no terminal. A note becomes a line of its own.
ProgressFunction progress_line();

/// Before anything else is said: the line of a stage that has failed.
void erase_progress_line();

}  // namespace tersor::cli
