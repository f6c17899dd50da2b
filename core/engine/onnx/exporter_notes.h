// SPDX-License-Identifier: Apache-2.0
// What exporters write into a file for those who debug the export: doc strings, stack traces with the paths of the
// machine it ran on. Up to a third of a file, and nothing of it is run.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace tersor::onnx {

/// Takes out the doc strings of model, graphs, nodes and values, the metadata of graphs, nodes and values
/// (pkg.torch.onnx.stack_trace and the like), and the model's own metadata whose keys begin with "pkg.". All other
/// metadata of the model, class names say, stays.
void drop_exporter_notes(Model& model);

/// Bytes that the notes of a graph take in a file.
int64_t exporter_notes_size(const Graph& graph);

}  // namespace tersor::onnx
