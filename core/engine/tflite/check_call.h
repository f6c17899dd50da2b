// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/tflite/kernels.h"

namespace tersor::tflite {

/// Error kInvalidModel where types, shapes, scales or options do not fit each other: kernels count on them.
void check_call(const KernelCall& call);

}  // namespace tersor::tflite
