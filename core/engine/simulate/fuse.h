// SPDX-License-Identifier: Apache-2.0
// What a runtime's graph optimizer makes of a QDQ model: groups of DequantizeLinear, operator and QuantizeLinear become
// the integer operators that the runtime would run, under its own conditions; what does not fuse stays as it stands and
// runs in float.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/simulate/profile.h"

namespace tersor::simulate {

/// An operator that runs in float there: it has a quantized input but no integer kernel, or stands among float
/// operators and computes more than one rounded operation per element.
struct FloatIsland {
  std::string node;  // its name, or its first output's
  std::string op;
  std::string reason;  // a sentence
  /// False where the runtime's float sums follow an order of its own, so that our result may differ in the last bits.
  bool exact = true;
  ValueId output = {};             // its first output, in the fused graph
  std::optional<float> step = {};  // of the grid that it is quantized to next; absent where it stays float
};

/// An integer operator whose sums can saturate on x64 without VNNI.
struct Saturation {
  std::string node;  // its name, or its first output's
  std::string op;    // of the given model, such as Conv
  ValueId counts;    // int64[2]: in how many sums a pair of products saturated, and the number of sums
};

struct FusedModel {
  Model model;
  std::vector<FloatIsland> float_islands;
  /// Names of the core operators (Conv, ConvTranspose, Gemm, MatMul) of the given model that became integer kernels.
  std::vector<std::string> integer_nodes;
  /// In graph order; empty unless asked for.
  std::vector<Saturation> saturations;
};

/// True when the model holds an operator that makes or reads integers in place of floats.
bool is_quantized(const Model& model);

/// `model` must be valid. A .tflite file's stays as it is, and Profile::kTfliteMicro gives that of the file that the
/// model becomes (errors of tflite::lower()). Else values keep their names and ids: a DequantizeLinear's output can
/// still be fetched. `counts_saturation`: integer operators say in how many of their sums a pair of products saturates
/// with Profile::kAvx2 (which always asks), or would saturate with Profile::kX64 on a CPU without VNNI.
FusedModel fuse(const Model& model, Profile profile, bool counts_saturation = false);

}  // namespace tersor::simulate
