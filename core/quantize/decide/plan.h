// SPDX-License-Identifier: Apache-2.0
// What was decided: the parameters of every quantized tensor and weight, and what stays float and why.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/graph/graph.h"
#include "core/passes/kernel_op.h"
#include "core/decide/placement.h"
#include "core/quant/block_quantizer.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/params.h"

namespace tersor::ptq {

struct ActivationPlan {
  PlacedTensor tensor;
  quant::QuantizationParams params;
  /// What calibration saw of the tensor's group: the extremes the range was chosen from.
  quant::Range seen;
  bool is_fixed = false;  // the platform fixes the parameters
  /// By a table: `params` are then the even steps that its entries are taken from, in uint8.
  std::optional<quant::LutParams> table = {};
  /// A mover passes on what went through the table already.
  bool is_looked_up = false;
};

struct KernelPlan {
  NodeId node;
  passes::KernelOp op;
  quant::QuantizationParams weight;  // zero points 0
  /// Weights by a table: `weight` then holds the scales alone. Packed where the arithmetic around is float.
  std::optional<quant::LutParams> table = {};
  bool is_packed = false;
  /// Weights in blocks along their inputs: `weight` then says what one scale for each channel would be.
  std::optional<quant::BlockParams> blocks = {};
  /// Float arithmetic reads the weight.
  bool in_float = false;
  /// One value per output channel; empty when the node has no bias and needs none.
  std::vector<double> bias;
  /// The bias is written as int32 with scale float32(s_x * s_w).
  bool integer_bias = false;
  /// s_x, the scale of the node's input, where the bias has to fit into int32: a runtime makes one of a float bias too.
  std::optional<float> input_scale = {};

  /// Index of output channel `o` among the weight's scales; the groups of a ConvTranspose share them.
  size_t scale_index(size_t o) const { return o % weight.scale.size(); }
  bool bias_fits(double of_channel, float weight_scale) const {
    constexpr double kMost = 2147480000.0;
    return !input_scale || std::fabs(of_channel) <= kMost * (*input_scale * weight_scale);
  }
  /// The largest change of the bias by bias correction, and how many channels' scales were raised so that the bias
  /// fits.
  double largest_correction = 0;
  int64_t raised_channels = 0;
  /// The largest change of the bias for what quantizing the input adds (activation_bias_correction).
  double input_correction = 0;
  /// Other kernels have the same weight, but for a factor of each channel (ptq/shared_weights.h): one set of integers
  /// serves all, and this is the kernel whose they are.
  std::optional<NodeId> shared = {};
  /// The weight's integers in its own order where they are not simply the nearest (ptq/round_weights.h); else empty.
  std::vector<int8_t> codes = {};
  /// The outputs' mean and deviation are measured and put back (ptq/keep_deviations.h) ...
  bool keeps_deviation = false;
  /// ... so that `weight` says what the integers stand for, and this how they were rounded.
  std::optional<quant::QuantizationParams> rounded_by = {};
  double least_gain = 1, largest_gain = 1;
  /// Noise that rounding the weight makes after the kernel, as part of that of the nearest integers; 1 without codes.
  double noise_ratio = 1;

  const quant::QuantizationParams& rounding() const { return rounded_by ? *rounded_by : weight; }
  /// Its channels have zero points of their own, which no integer kernel takes: it is computed in float.
  bool has_zero_points() const {
    for (const int32_t one : weight.zero_point)
      if (one != weight.zero_point[0]) return true;
    return false;
  }
};

/// A step on request that changed the plan.
struct AppliedCorrection {
  std::string field;               // of QuantizationConfig
  std::vector<std::string> where;  // names of tensors or nodes
  std::string gained;              // the sentence that says what they have of it, without its full stop
};

/// A constant operand that is no kernel, stored in integers.
struct ConstantPlan {
  NodeId node;
  size_t input = 0;  // index into node.inputs
  quant::QuantizationParams params;
  /// An embedding: the codes of the rows are gathered, and only those rows restored.
  bool by_row = false;
  /// By a table: `params` then holds the scales alone. Packed where the arithmetic around is float.
  std::optional<quant::LutParams> table = {};
  bool is_packed = false;
  /// The kernel that multiplies by the same numbers, a row of the table being an output channel of its: one set of
  /// integers serves both.
  std::optional<NodeId> tied = {};
};

/// How a node will be computed.
struct NodeOutcome {
  NodeId node;
  enum class Arithmetic { kInteger, kIntegerFloatOutput, kFolded, kFloat } arithmetic = Arithmetic::kFloat;
  std::string reason;  // a sentence, for kFloat
};

struct QuantizationPlan {
  std::vector<ActivationPlan> activations;  // in the order in which the graph makes them
  std::vector<KernelPlan> kernels;          // in the order of the graph
  std::vector<ConstantPlan> constants;      // in the order of the graph
  std::vector<NodeId> operand_readers;      // nodes that read the quantized form of a float-made tensor, ascending
  std::vector<NodeId> folded_clamps;        // Relus and Clips that a quantizer's range does, ascending
  std::vector<NodeOutcome> outcomes;        // one per node, in the order of the graph
  std::vector<AppliedCorrection> corrections;
  /// How weights that float arithmetic reads stand in the file.
  tpc::FloatWeights float_weights = tpc::FloatWeights::kDequantize;
  /// Where there are several forms: the quickest, though it rounds the inputs to 8 bits (prefer=SPEED).
  bool prefers_speed = false;

  const ActivationPlan* find(ValueId value) const;
  const KernelPlan* find(NodeId node) const;
  bool reads_quantized(NodeId node) const;
};

/// What the file follows from: two plans of a graph that give the same file have the same.
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
