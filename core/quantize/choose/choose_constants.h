// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/config/quantization_config.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// A constant operand to be stored in integers that is not the weight of a kernel.
struct StoredConstant {
  const Node& node;
  const framework::WeightAttribute& weight;
  bool is_table = false;  // a large table for Gather
  bool by_row = false;    // the table's codes are gathered, and only the gathered rows are restored
  bool is_recurrent = false;
};

/// The values as a plan of even steps stores them.
Tensor read_back(const ConstantPlan& plan, const Tensor& values);

/// The constants of the graph that platform and settings store in integers, in graph order.
std::vector<StoredConstant> constants_to_store(const Graph& graph, const framework::Attachment& attachment);
/// True if row o of the table holds the weights of the kernel's output o.
bool has_rows_of(const Tensor& table, const Tensor& weight, const passes::KernelOp& op);

/// Chooses the parameters of the constant operands (of an Add, a Concat, a Gather) that the platform quantizes.
///
/// Per channel means along the axis with the least error, among the axes longer than 1. Platforms that quantize only
/// what kernels read store two kinds of constants: embeddings, which are large tables for Gather with a scale per row,
/// and weights of recurrent layers, with a scale per gate row that both directions share. Elsewhere a constant beside a
/// float operand is better left in float. A table whose rows are the output channels of a kernel (tied embeddings)
/// takes the kernel's parameters. Only activations and kernels of `plan` are used.
std::vector<ConstantPlan> choose_constants(const Graph& graph, const framework::Attachment& attachment,
                                           const config::QuantizationConfig& config, const QuantizationPlan& plan);

}  // namespace tersor::ptq
