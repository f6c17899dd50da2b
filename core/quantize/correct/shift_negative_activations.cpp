// SPDX-License-Identifier: Apache-2.0
#include "core/correct/shift_negative_activations.h"
#include "core/decide/role.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/edit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/choose/choose_activations.h"
#include "core/correct/move_statistics.h"
#include "core/graph/operators.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/corrections.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

using calibrate::TensorStatistics;
using framework::Attachment;
using passes::KernelOp;
using quant::Histogram;
using quant::IntegerGrid;
using quant::QuantizationMethod;

namespace {

constexpr const char* kSuffix = "_shifted";

/// x sigmoid(x), in one operator or two, and the like: a bounded negative side.
bool is_activation(const Graph& graph, const Uses& uses, const Node& node) {
  for (const char* type : {"PRelu", "Elu", "HardSwish", "Gelu", "LeakyRelu", "Selu", "Celu", "Mish"})
    if (node.is(type)) return true;
  if (!node.is("Mul") || node.inputs.size() != 2) return false;
  for (const size_t gated : {size_t{0}, size_t{1}}) {
    const auto maker = uses.producer_index(node.inputs[1 - gated]);
    if (!maker) continue;
    const Node& gate = graph.nodes()[*maker];
    if ((gate.is("Sigmoid") || gate.is("HardSigmoid")) && gate.inputs[0] == node.inputs[gated]) return true;
  }
  return false;
}

bool pads(const Node& node) {
  const std::vector<int64_t> sides = node.ints_or("pads", {});
  return std::any_of(sides.begin(), sides.end(), [](int64_t side) { return side != 0; });
}

bool pads_by_itself(const Node& node) {
  const std::string mode = node.string_or("auto_pad", "NOTSET");
  return mode != "NOTSET" && mode != "VALID";
}

/// A tensor raised by a constant comes out of it raised by the same.
bool keeps_shift(const Node& node) {
  if (has_trait(node, Trait::kView | Trait::kReorders)) return true;
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool", "MaxPool", "ReduceMean"})
    if (node.is(type)) return true;
  if (!node.is("AveragePool")) return false;
  return int_of(node, "count_include_pad") == 0 || (!pads(node) && !pads_by_itself(node));
}

/// From an activation to the kernel that alone reads it, in the end.
struct Chain {
  NodeId activation;
  ValueId value;                  // of the activation
  std::vector<ValueId> passed;    // what the operators in between make
  std::optional<NodeId> padding;  // a Pad by zeros among them
  NodeId kernel;
  KernelOp op;
};

std::optional<Chain> chain_of(const Graph& graph, const Uses& uses, const Placement& placement, size_t index) {
  const Node& node = graph.nodes()[index];
  Chain chain{node.id, node.outputs[0], {}, std::nullopt, {}, {}};
  ValueId value = chain.value;
  while (const auto reader = passes::sole_reader(graph, uses, value)) {
    const Node& next = graph.nodes()[*reader];
    const NodeRole& role = placement.roles[*reader];
    if (next.inputs[0] != value || next.outputs.size() != 1) return std::nullopt;
    if (role.has_kernel() && role.op) {
      const bool fits = (next.is("Conv") || next.is("Gemm")) && !pads_by_itself(next) && !(chain.padding && pads(next));
      chain.kernel = next.id, chain.op = *role.op;
      return fits ? std::optional(chain) : std::nullopt;
    }
    if (pads_with_zeros(graph, next) && !chain.padding)
      chain.padding = next.id;
    else if (!keeps_shift(next))
      return std::nullopt;
    value = next.outputs[0];
    chain.passed.push_back(value);
  }
  return std::nullopt;
}

/// Sum of squared errors over the bins.
double error_of(const Histogram& histogram, double shift, double threshold, const IntegerGrid& grid) {
  const auto scale = static_cast<float>(std::ldexp(threshold, grid.is_signed ? 1 - grid.n_bits : -grid.n_bits));
  const quant::EvenBins bins = quant::bins_of(histogram);
  double error = 0;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const auto x = static_cast<float>(bins.center(i) + shift);
    const int32_t code = quant::quantize_value(x, scale, 0, grid.q_min(), grid.q_max());
    const double difference = static_cast<double>(code) * scale - x;
    error += bins.counts[i] * difference * difference;
  }
  return error;
}

struct ShiftedActivation {
  NodeId activation, add;
  double threshold = 0;  // of the Add's output, which is unsigned
};

/// Lays the fused groups onto a new attachment of the model.
void fuse_shifts(Attachment& attachment, const std::vector<ShiftedActivation>& shifted) {
  const auto attached = [&](NodeId id) -> framework::NodeAttachment& {
    return *std::find_if(attachment.nodes.begin(), attachment.nodes.end(),
                         [&](const framework::NodeAttachment& one) { return one.node == id; });
  };
  const bool operands = attachment.export_rules.placement == tpc::Placement::kOperands;
  for (const ShiftedActivation& one : shifted) {
    framework::NodeAttachment &activation = attached(one.activation), &add = attached(one.add);
    if (!activation.fused_group) {
      activation.fused_group = attachment.groups.size();
      attachment.groups.push_back({"shift_negative_activation", {one.activation}});
    }
    attachment.groups[*activation.fused_group].nodes.push_back(one.add);
    add.fused_group = activation.fused_group;
    add.candidates = activation.candidates;
    add.base = activation.base;
    add.weights.clear();
    add.activation = framework::ActivationMode::kQuant;
    activation.activation = framework::ActivationMode::kFlnNoQuant;
    add.output_quantizers = {framework::FixedQuantizer(0, one.threshold, add.config().activation_n_bits)};
    // An integer kernel of either would want the tensor between them quantized.
    if (operands) activation.kernel = add.kernel = tpc::RuntimeKernel::kFloat;
  }
}

class Shifter {
 public:
  Shifter(CorrectedModel& model, const config::QuantizationConfig& config)
      : graph_(model.model.graph),
        attachment_(model.attachment),
        placement_(model.placement),
        statistics_(model.statistics),
        config_(config),
        plans_(choose_activations(model, config)) {}

  Rewrite shift() {
    std::vector<ShiftedActivation> shifted;
    const Uses uses(graph_);
    std::vector<Chain> chains;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!is_activation(graph_, uses, graph_.nodes()[i])) continue;
      if (auto chain = chain_of(graph_, uses, placement_, i)) chains.push_back(std::move(*chain));
    }
    std::vector<std::string> said;
    for (const Chain& chain : chains) {
      const auto found = decide(chain);
      if (!found) continue;
      said.push_back(graph_.name_of(chain.value) + " by " + number_text(found->shift) + " (threshold " +
                     number_text(found->threshold) + ")");
      shifted.push_back({chain.activation, rewrite(chain, found->shift), found->threshold});
    }
    graph_.sort_topologically();
    Rewrite done{"shift_negative_activation_correction", static_cast<int64_t>(said.size()), sentence(said)};
    if (shifted.empty()) return done;
    for (const ShiftedActivation& one : shifted) done.inserted.push_back(one.add);
    done.attach = [shifted](Attachment& attachment) { fuse_shifts(attachment, shifted); };
    return done;
  }

 private:
  /// The tensors that share the value's parameters all lie on the chain.
  bool is_alone(const Chain& chain, size_t group) const {
    return std::all_of(plans_.begin(), plans_.end(), [&](const ActivationPlan& one) {
      return one.tensor.group != group || one.tensor.value == chain.value ||
             std::count(chain.passed.begin(), chain.passed.end(), one.tensor.value) != 0;
    });
  }

  std::optional<quant::NegativeShift> decide(const Chain& chain);
  NodeId rewrite(const Chain& chain, double shift);
  void pad_with(const Chain& chain, double shift);
  std::string sentence(const std::vector<std::string>& said) const;

  Graph& graph_;
  const Attachment& attachment_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
  const config::QuantizationConfig& config_;
  const std::vector<ActivationPlan> plans_;
  int64_t uniform_ = 0, of_fixed_sign_ = 0;
};

std::optional<quant::NegativeShift> Shifter::decide(const Chain& chain) {
  const ActivationPlan* plan = find_plan(plans_, chain.value);
  const framework::NodeAttachment& attached = attachment_.of(chain.activation);
  const TensorStatistics* seen = statistics_.find(graph_.name_of(chain.value));
  if (plan == nullptr || plan->is_fixed || !attached.output_quantizers.empty() || seen == nullptr ||
      seen->histogram.empty() || !is_alone(chain, plan->tensor.group))
    return std::nullopt;
  const QuantizationMethod method = plan->params.method;
  if (method != QuantizationMethod::kPowerOfTwo && method != QuantizationMethod::kSymmetric) {
    ++uniform_;
    return std::nullopt;
  }
  if (attached.config().signedness != tpc::Signedness::kAuto) {
    ++of_fixed_sign_;
    return std::nullopt;
  }
  const Histogram& values = seen->histogram;
  const int n_bits = plan->params.grid.n_bits;
  const double before = plan->params.range[0].high;
  const IntegerGrid grid{n_bits, false, false};
  const auto gains = [&](const quant::NegativeShift& by) {
    return by.shift > 0 && error_of(values, by.shift, by.threshold, grid) <
                               error_of(values, 0, before, IntegerGrid{n_bits, true, false});
  };
  if (config_.shift_negative_params_search) {
    quant::EvenBins bins = quant::bins_of(values);
    quant::remove_outliers(bins, config_.z_threshold.value_or(HUGE_VAL));
    const auto best = quant::search_negative_shift(bins, values.min(), before, n_bits, config_.shift_negative_ratio);
    return best && gains(*best) ? best : std::nullopt;  // what it leaves below 0 is clipped
  }
  auto found = quant::negative_shift(values.min(), before, n_bits, config_.shift_negative_ratio);
  if (!found) return std::nullopt;
  if (config_.shift_negative_threshold_recalculation) {
    const Histogram shifted = moved(*seen, 1, found->shift).histogram;
    found->threshold = quant::select_activation_range(shifted, method, grid, config_.activation_criterion()).range.high;
    // Padding is exact where the shift is a point of the grid.
    const double step = std::ldexp(found->threshold, -n_bits);
    found->shift = static_cast<float>(std::ceil(-static_cast<double>(values.min()) / step) * step);
  }
  const bool lifts = static_cast<float>(found->shift) + values.min() >= 0;
  return lifts && gains(*found) ? found : std::nullopt;
}

NodeId Shifter::rewrite(const Chain& chain, double shift) {
  const std::string name = graph_.name_of(chain.value);
  const ValueId shifted = graph_.add_unique_value(name + kSuffix, DType::kFloat32);
  graph_.value(shifted).shape = graph_.value(chain.value).shape;
  replace_reads(graph_, chain.value, shifted);
  Node add;
  add.op_type = "Add";
  add.name = graph_.name_of(shifted);
  add.inputs = {chain.value, graph_.add_initializer(name + "_shift", Tensor::scalar(static_cast<float>(shift)))};
  add.outputs = {shifted};
  const NodeId id = graph_.append(std::move(add));
  if (const TensorStatistics* seen = statistics_.find(name)) {
    TensorStatistics of_add = moved(*seen, 1, shift);
    of_add.name = graph_.name_of(shifted);
    statistics_.tensors.push_back(std::move(of_add));
  }
  for (const ValueId value : chain.passed) rename_moved(graph_, statistics_, value, kSuffix, 1, shift);
  pad_with(chain, shift);

  Node& kernel = *graph_.find(chain.kernel);
  const Tensor weight = graph_.initializer(chain.op.weight)->aligned();
  const auto w = weight.data<float>();
  std::vector<double> bias = *passes::bias_values(graph_, chain.op);
  for (int64_t o = 0; o < chain.op.outputs; ++o) {
    double sum = 0;
    for (int64_t i = 0; i < chain.op.inputs_per_group(); ++i)
      for (int64_t tap = 0; tap < chain.op.taps; ++tap) sum += w[chain.op.at(o, i, tap)];
    bias[static_cast<size_t>(o)] -= shift * sum;
  }
  passes::set_bias(graph_, kernel, chain.op, bias);
  return id;
}

/// Zeros at the border become the shift: of the Pad on the way, or of one in the place of the Conv's own.
void Shifter::pad_with(const Chain& chain, double shift) {
  const Tensor value = Tensor::scalar(static_cast<float>(shift));
  if (chain.padding) {
    Node& pad = *graph_.find(*chain.padding);
    passes::set_constant(graph_, Uses(graph_), pad, 2, value, pad.name + "_value");
    return;
  }
  Node& kernel = *graph_.find(chain.kernel);
  if (!pads(kernel)) return;
  const std::vector<int64_t> sides = kernel.ints_or("pads", {});
  const size_t spatial = sides.size() / 2;
  std::vector<int64_t> all(2 * (spatial + 2), 0);
  std::copy_n(sides.begin(), spatial, all.begin() + 2);
  std::copy_n(sides.begin() + static_cast<std::ptrdiff_t>(spatial), spatial,
              all.begin() + static_cast<std::ptrdiff_t>(spatial + 4));
  kernel.attributes["pads"] = std::vector<int64_t>(sides.size(), 0);
  const ValueId from = kernel.inputs[0];
  const std::string name = graph_.name_of(from);
  const ValueId padded = graph_.add_unique_value(name + "_padded", DType::kFloat32);
  kernel.inputs[0] = padded;
  if (const TensorStatistics* seen = statistics_.find(name)) {
    TensorStatistics of_pad = *seen;
    of_pad.name = graph_.name_of(padded);
    if (of_pad.shape.rank() == static_cast<int>(spatial + 2)) {
      std::vector<int64_t> dims(of_pad.shape.dims().begin(), of_pad.shape.dims().end());
      for (size_t k = 0; k < dims.size(); ++k) dims[k] += all[k] + all[k + dims.size()];
      of_pad.shape = Shape(dims);
    }
    statistics_.tensors.push_back(std::move(of_pad));
  }
  const auto count = static_cast<int64_t>(all.size());
  Node pad;
  pad.op_type = "Pad";
  pad.name = graph_.name_of(padded);
  pad.inputs = {from, graph_.add_initializer(pad.name + "_pads", Tensor::of<int64_t>(Shape{count}, all)),
                graph_.add_initializer(pad.name + "_value", value)};
  pad.outputs = {padded};
  graph_.append(std::move(pad));
}

std::string Shifter::sentence(const std::vector<std::string>& said) const {
  if (!said.empty()) return "Raised, so that they need no sign: " + first_few(said) + ".";
  if (uniform_ > 0)
    return "Nothing was changed: activations are UNIFORM, whose zero point does what a shift would, or by a table.";
  if (of_fixed_sign_ > 0) return "Nothing was changed: the platform has activations of one sign only.";
  return "Nothing was changed: no activation with a negative side small enough leads to a single Conv or Gemm.";
}

}  // namespace

std::optional<Rewrite> shift_negative_activations(CorrectedModel& model, const config::QuantizationConfig& config) {
  return Shifter(model, config).shift();
}

}  // namespace tersor::ptq
