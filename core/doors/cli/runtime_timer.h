// SPDX-License-Identifier: Apache-2.0
// Times files in the ONNX Runtime of a Python on this machine, for --measure.
#pragma once

#include "core/native/gather_fastest.h"

namespace tersor::cli {

/// The Python program that times a folder's files (python/tersor/_timing.py).
const char* timing_script();

/// Times in the Python that TERSOR_PYTHON names, else python3. Error kInvalidArgument, before anything is timed, where
/// that has no onnxruntime and numpy, or where no process can be started.
Timer runtime_timer();

}  // namespace tersor::cli
