// SPDX-License-Identifier: Apache-2.0
// A model in float16: half the bytes, at the speed of float32 or better where the hardware has the type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::half {

/// What is known of the values of a graph.
struct SeenValues {
  std::vector<DType> types;  // by value index; kUndefined where it is not known before the model runs
  /// The greatest magnitude of each tensor in the samples, by name; infinity where one was not finite. Absent if no
  /// samples were run.
  std::optional<std::map<std::string, float>> largest = {};
};

/// Of a model before it runs: its types as far as they do not depend on the samples.
SeenValues seen_values(const Model& model);

/// A node that keeps float32.
struct FloatNode {
  NodeId node;
  std::string reason;  // a clause: "its values reach 8.1e+04, and float16 ends at 65504"
};

/// The nodes that float16 would ruin or that runtimes do not compute in it, in the graph's order:
///   - operators for which ONNX or the runtimes have no float16, bodies, and what has values of unknown types;
///   - values beyond a quarter of float16's largest number, which is the room for other samples, among them the squares
///     that LayerNormalization and its kin sum up; values that are all below its smallest normal number (2^-14);
///   - constants that are all below that number, such as the epsilon under a root, and what divides by their sum;
///   - positions and angles: what is rounded to whole numbers or goes into Sin and Cos, with what makes it from inputs.
std::vector<FloatNode> nodes_in_float32(const Model& model, const SeenValues& seen);

/// The model with float16 constants and tensors between all other nodes. Inputs and outputs keep their types, by Casts.
/// Weights of operators that have no float16, such as those of an LSTM, are stored in it and cast back. Constants
/// beyond float16's ends, such as a mask's -3.4e38, become 2^15 with their sign: an infinity would make NaN.
Model with_half_floats(Model model, const SeenValues& seen, const std::vector<FloatNode>& in_float32);

/// The same values for the engine, which computes in float32: every constant and every result that the file has in
/// float16 is rounded to it. That is what a runtime gives that keeps each tensor in float16 and sums in float32.
Model rounded_to_half(Model model, const SeenValues& seen, const std::vector<FloatNode>& in_float32);

}  // namespace tersor::half
