// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// A constant operand that is no kernel, to be stored in integers.
struct StoredConstant {
  const Node& node;
  const framework::WeightAttribute& weight;
  bool is_table = false;  // a large table whose rows a Gather takes
  bool by_row = false;    // of which the codes are gathered
  bool is_recurrent = false;
};

/// Those of the graph, in its order, as platform and settings have it.
std::vector<StoredConstant> constants_to_store(const Graph& graph, const framework::Attachment& attachment);
/// Row o of the table holds the weights of the kernel's output o.
bool has_rows_of(const Tensor& table, const Tensor& weight, const passes::KernelOp& op);

/// Parameters of the constant operands (of an Add, a Concat, a Gather) that the platform quantizes. Per channel means
/// along the axis that leaves the least error, of those that the constant is longer than 1 on. Platforms that
/// quantize what kernels read alone do so for embeddings (large tables whose rows a Gather takes, with a scale for each
/// row) and for the weights of recurrent layers (a scale for each row of a gate, which both directions share):
/// elsewhere a constant beside a float operand is better float. A table whose rows are a kernel's output channels, as
/// tied embeddings have it, takes the kernel's parameters. Of `plan` activations and kernels count.
std::vector<ConstantPlan> choose_constants(const Graph& graph, const framework::Attachment& attachment,
                                           const config::QuantizationConfig& config, const QuantizationPlan& plan);

}  // namespace tersor::ptq
