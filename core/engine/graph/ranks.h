// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// The number of axes of each value, by value index; -1 where it does not follow from the declared shapes and the
/// operators of feed-forward networks. Never a guess: a rank that is given is certain for a valid model.
std::vector<int> infer_ranks(const Model& model);

}  // namespace tersor
