// SPDX-License-Identifier: Apache-2.0
// The plan: the parameters of every quantized tensor and weight, and what stays in float and why.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/decide/placement.h"
#include "core/graph/graph.h"
#include "core/passes/kernel_op.h"
#include "core/quant/block_quantizer.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/params.h"

namespace tersor::ptq {

/// How an activation is quantized.
struct ActivationPlan {
  PlacedTensor tensor;
  quant::QuantizationParams params;
  /// The extremes of the tensor's group in calibration, from which the range was chosen.
  quant::Range seen;
  bool is_fixed = false;  // the platform fixes the parameters
  /// For a table method: the table. `params` is then the even grid, in uint8, that its entries are taken from.
  std::optional<quant::LutParams> table = {};
  /// True if a mover makes the tensor from values that already went through the table.
  bool is_looked_up = false;
  /// True if the file has no pair for the tensor: a mover makes it from values of its group, which are restored before.
  bool is_implied = false;
};

/// That of the value, or null.
const ActivationPlan* find_plan(std::span<const ActivationPlan> plans, ValueId value);

/// How the weight and the bias of a kernel are stored.
struct KernelPlan {
  NodeId node;
  passes::KernelOp op;
  quant::QuantizationParams weight;  // zero points 0
  /// For a table method: the table; `weight` then holds only the scales.
  /// True if the indices are packed, because the arithmetic around the weight is in float.
  std::optional<quant::LutParams> table = {};
  bool is_packed = false;
  /// For a weight in blocks along its inputs: their parameters. `weight` then holds what one scale per channel would
  /// be.
  std::optional<quant::BlockParams> blocks = {};
  /// True if an integer kernel reads the weight in blocks, as levels of 8 bits by `weight`.
  bool has_levels() const { return blocks && blocks->has_levels(); }
  /// True if float arithmetic reads the weight.
  bool in_float = false;
  /// A value per output channel; empty if the node has no bias and needs none.
  std::vector<double> bias;
  /// True if the bias is written as int32 with scale float32(s_x * s_w).
  bool integer_bias = false;
  /// s_x, the scale of the node's input, if the bias must fit into int32; runtimes also convert a float bias to int32.
  std::optional<float> input_scale = {};

  /// The index of output channel `o` among the weight's scales; the groups of a ConvTranspose share scales.
  size_t scale_index(size_t o) const { return o % weight.scale.size(); }
  bool bias_fits(double of_channel, float weight_scale) const {
    constexpr double kMost = 2147480000.0;
    return !input_scale || std::fabs(of_channel) <= kMost * (*input_scale * weight_scale);
  }
  /// The largest change of the bias by bias correction.
  double largest_correction = 0;
  /// The number of channels whose scale was raised so that the bias fits.
  int64_t raised_channels = 0;
  /// The largest change of the bias by activation_bias_correction.
  double input_correction = 0;
  /// The first kernel with the same weight up to a factor per channel (shared_weights.h), whose integers serve all such
  /// kernels.
  std::optional<NodeId> shared = {};
  /// The weight's integers in its own order if they are not simply the nearest (sweep/round_weights.h); else empty.
  std::vector<int8_t> codes = {};
  /// True if the outputs' mean and deviation are measured and restored (correct/keep_deviations.h).
  bool keeps_deviation = false;
  /// With keeps_deviation: the parameters by which the integers were rounded; `weight` are those that restore them.
  std::optional<quant::QuantizationParams> rounded_by = {};
  double least_gain = 1, largest_gain = 1;
  /// Noise of the rounded weight behind the kernel relative to rounding to nearest; 1 without codes.
  double noise_ratio = 1;

  const quant::QuantizationParams& rounding() const { return rounded_by ? *rounded_by : weight; }
  /// True if the channels have different zero points, which no integer kernel takes: the kernel is then computed in
  /// float.
  bool has_zero_points() const {
    for (const int32_t one : weight.zero_point)
      if (one != weight.zero_point[0]) return true;
    return false;
  }
};

/// A requested correction that changed the plan.
struct AppliedCorrection {
  std::string field;               // name of the field of QuantizationConfig
  std::vector<std::string> where;  // names of tensors or nodes
  std::string gained;              // what `where` gained: a sentence without its full stop
};

/// A constant operand that is not the weight of a kernel, stored in integers.
struct ConstantPlan {
  NodeId node;
  size_t input = 0;  // index into node.inputs
  quant::QuantizationParams params;
  /// For an embedding: true if the codes of rows are gathered and only these rows are restored.
  bool by_row = false;
  /// For a table method: the table; `params` then holds only the scales.
  /// True if the indices are packed, because the arithmetic around the constant is in float.
  std::optional<quant::LutParams> table = {};
  bool is_packed = false;
  /// For an embedding whose rows are in blocks: their parameters. `params` then holds only the grid.
  std::optional<quant::BlockParams> blocks = {};
  /// The kernel that multiplies by the same numbers, if there is one. Each row of this table is an output channel of
  /// that kernel, and both use the same integers.
  std::optional<NodeId> tied = {};
};

/// The arithmetic by which a node is computed.
struct NodeOutcome {
  NodeId node;
  enum class Arithmetic { kInteger, kIntegerFloatOutput, kFolded, kFloat } arithmetic = Arithmetic::kFloat;
  std::string reason;  // a sentence for kFloat, else empty
};

/// Of accuracy_level: MatMulNBits sums floats, or rounds its input to 8 bits.
constexpr int kFloatSums = 1, kSumsOf8Bits = 4;

/// How all activations, kernels and constants of a graph are quantized.
struct QuantizationPlan {
  std::vector<ActivationPlan> activations;  // in the order in which the graph computes them
  std::vector<KernelPlan> kernels;          // in the order of the graph
  std::vector<ConstantPlan> constants;      // in the order of the graph
  std::vector<NodeId> operand_readers;      // nodes that read the quantized form of a float-made tensor, ascending
  std::vector<NodeId> folded_clamps;        // Relus and Clips that the range of a quantizer replaces, ascending
  std::vector<NodeOutcome> outcomes;        // one per node, in the order of the graph
  std::vector<AppliedCorrection> corrections;
  /// How the file stores weights that float arithmetic reads.
  tpc::FloatWeights float_weights = tpc::FloatWeights::kDequantize;
  /// How MatMulNBits computes, as its attribute of that name says it.
  int accuracy_level = kFloatSums;

  const ActivationPlan* find(ValueId value) const;
  const KernelPlan* find(NodeId node) const;
  bool reads_quantized(NodeId node) const;
};

/// The part of the plan that determines the file: if it is equal for two plans of a graph, so are their files.
Json to_json(const Graph& graph, const QuantizationPlan& plan);

}  // namespace tersor::ptq

template <>
struct tersor::EnumWords<tersor::ptq::NodeOutcome::Arithmetic> {
  using A = tersor::ptq::NodeOutcome::Arithmetic;
  static constexpr const char* kind = "arithmetic";
  static constexpr std::pair<A, std::string_view> words[] = {{A::kInteger, "integer"},
                                                             {A::kIntegerFloatOutput, "integer, float result"},
                                                             {A::kFolded, "folded"},
                                                             {A::kFloat, "float"}};
};
