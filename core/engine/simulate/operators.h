// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/ops/registry.h"
#include "core/simulate/profile.h"

namespace tersor::simulate {

/// The standard operators with the runtime's integer operators (QLinearConv, com.microsoft QLinearAdd, ...) and its own
/// forms of the float operators that stand between Q and DQ (Sigmoid, Tanh). What fuse() makes runs with this registry.
const ops::Registry& registry(Profile profile);

}  // namespace tersor::simulate
