// SPDX-License-Identifier: Apache-2.0
// Operators of an int8 .tflite file as nodes of the domain kTfliteDomain: the engine runs them on codes, as TensorFlow
// Lite Micro does (kernels.h). A node says in its attributes what the file says of the operator and its tensors.
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/ops/op.h"
#include "core/tflite/network.h"

namespace tersor::tflite {

/// The order of the axes of the value in the output, where that is known.
inline constexpr char kOrder[] = "order";

/// The node, without its inputs, outputs and name; `inputs`: null where absent.
Node node_of(const Operator& op, std::span<const NetworkTensor* const> inputs, const NetworkTensor& output);

/// What a node of that domain says of its output: shape, type and, of codes, their scale. Error kInvalidModel where
/// that is not whole.
NetworkTensor output_of(const Node& node);

/// The operators that are run. The list is one for the whole program.
std::span<const ops::Op* const> operators();

}  // namespace tersor::tflite
