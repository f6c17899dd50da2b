// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor {

/// What a Softmax over the last axis that ends in `output` is given, looking through Identity, reshaping and quantizers
/// after it; `output` itself where none does. Probabilities of a sample that is decided say nothing of the error in
/// front of them.
ValueId value_before_softmax(const Graph& graph, const Uses& uses, ValueId output);

}  // namespace tersor
