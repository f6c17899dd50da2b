// SPDX-License-Identifier: Apache-2.0
// What a model says of its samples: the inputs, which of them are states, and how many classes its answers are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/samples/input_spec.h"

namespace tersor::samples {

/// The inputs in graph order. One of several is a state where an output after the first has its element type and a
/// shape that it could have too, of two axes or more, and where it can be no picture; that output is its next value.
std::vector<InputSpec> model_inputs(const Graph& graph);

/// How many classes the first output tells apart: the length of its last axis where it is a list for each sample.
std::optional<int64_t> class_count(const Graph& graph);

/// The names of these classes, in the order of the outputs, where the model's metadata has them under `names`,
/// `classes`, `class_names`, `labels` or `id2label`: as a list or as a dictionary by number, as JSON or Python write
/// them, or one on a line. Empty unless there is one of its own for every class.
std::vector<std::string> class_names(const Model& model);

}  // namespace tersor::samples
