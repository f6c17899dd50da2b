// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Takes out the factors that insert_split_scales() prepared behind float nodes and equalize_channels() left at 1.
/// Returns how many.
int drop_idle_scales(Model& quantized);

}  // namespace tersor::ptq
