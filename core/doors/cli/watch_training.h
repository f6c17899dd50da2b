// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/native/train.h"

namespace tersor::cli {

/// Shows step, loss, speed and the time left on a terminal (`quiet`: nothing), writes checkpoints to a file (empty:
/// none), and ends training at the first Ctrl+C; a second one ends the program.
void watch_training(const std::string& checkpoint, bool quiet, TrainingRun& run);

}  // namespace tersor::cli
