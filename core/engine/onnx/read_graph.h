// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/external_files.h"
#include "core/onnx/functions.h"
#include "core/onnx/source.h"

namespace tersor::onnx {

/// The warning's code when a graph lists initializers among its inputs.
inline constexpr const char* kListedInitializers = "initializers_as_inputs";

/// What reading a graph needs around it.
struct GraphContext {
  const Source& model;
  ExternalFiles& external;
  std::vector<Diagnostic>& warnings;
  Functions& functions;
};

/// Reads an encoded GraphProto; `place` is how errors call it ("graph"), `depth` how many graphs lie around it.
///   - initializers that are also listed as inputs are taken as constants only
///   - sparse initializers become dense ones
///   - nodes that are out of order are sorted
///   - calls of the model's own functions are replaced by the functions' nodes
///   - nodes of operators unknown to ONNX keep their attributes byte for byte
/// Does not check what validate() checks.
Graph read_graph(std::string_view message, const GraphContext& context, const std::string& place, int depth);

}  // namespace tersor::onnx
