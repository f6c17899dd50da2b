// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/report/compare.h"
#include "core/graph/qdq.h"

namespace tersor::report {

/// A quantized tensor of the fused model and the float model's tensor of the same name.
struct PairedTensor {
  ValueId in_float;
  ValueId raw;   // integers, in the fused graph
  ValueId real;  // the output of its DequantizeLinear, in the fused graph
  QuantizationNode parameters;
  TensorPair pair;
};

/// Pairs tensors by name, in the order of the float graph. The name is that of the QuantizeLinear's input or of the
/// DequantizeLinear's output, without known suffixes. `quantized` is the model as read, `fused` the result of
/// simulate::fuse().
std::vector<PairedTensor> pair_tensors(const Graph& float_graph, const Graph& quantized, const Graph& fused);

/// The float model, with what smoothing makes of the inputs of products before they are quantized
/// (correct/smooth_inputs.h) computed from its own tensors, under the names that the quantized model has for it.
Model with_rewritten_inputs(const Model& float_model, const Graph& quantized);

/// Maps the names of integer tensors of a file, as read, to the names of the float tensors that they were made from.
std::map<std::string, std::string> quantized_inputs(const Graph& quantized);

}  // namespace tersor::report
