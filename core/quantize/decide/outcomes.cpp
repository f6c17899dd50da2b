// SPDX-License-Identifier: Apache-2.0
#include "core/decide/outcomes.h"

#include <algorithm>
#include <cmath>

#include "core/decide/one_operand_sum.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/recurrent_weights.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::ptq {

using Arithmetic = NodeOutcome::Arithmetic;

namespace {

/// `steps`: so far the range may reach beyond the bounds.
bool within(const quant::QuantizationParams& params, const ClampBounds& bounds, double steps) {
  constexpr double kRounding = 1e-4;  // of the scale to float32, at the far end of the grid
  const quant::Range range = params.representable();
  const double room = params.scale[0] * (steps + kRounding);
  return range.low >= bounds.low - room && range.high <= bounds.high + room;
}

/// The same of a quantizer whose range is chosen later. One with a zero point follows what it sees. One without reaches
/// as far to either side where it is signed, and to a power of two.
bool may_lie_within(const tpc::OpQuantizationConfig& config, const ClampBounds& bounds) {
  const quant::QuantizationMethod method = config.activation_quantization_method;
  if (method == quant::QuantizationMethod::kUniform || config.activation_by_table()) return true;
  const bool is_signed =
      config.signedness == tpc::Signedness::kSigned || (config.signedness == tpc::Signedness::kAuto && bounds.low < 0);
  if (is_signed && bounds.low > -bounds.high) return false;
  return method != quant::QuantizationMethod::kPowerOfTwo || !std::isfinite(bounds.high) ||
         quant::power_of_two_above(bounds.high) == bounds.high;
}

class Outcomes {
 public:
  Outcomes(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
           const QuantizationPlan* plan)
      : graph_(graph),
        attachment_(attachment),
        placement_(placement),
        uses_(graph),
        captured_(passes::captured_values(graph)) {
    for (const PlacedTensor& tensor : placement.tensors) {
      const ActivationPlan* chosen = plan != nullptr ? plan->find(tensor.value) : nullptr;
      if (chosen != nullptr || plan == nullptr) fold_clamps(tensor, chosen != nullptr ? &chosen->params : nullptr);
    }
    std::sort(folded_clamps_.begin(), folded_clamps_.end());
  }

  std::vector<NodeOutcome> outcomes() const {
    std::vector<NodeOutcome> list;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      list.push_back(outcome_of(i));
      list.back().node = graph_.nodes()[i].id;
    }
    return list;
  }
  const std::vector<NodeId>& folded_clamps() const { return folded_clamps_; }

 private:
  bool placed(ValueId id) const { return id.valid() && placement_.find(id) != nullptr; }
  bool folded(NodeId id) const {
    return std::find(folded_clamps_.begin(), folded_clamps_.end(), id) != folded_clamps_.end();
  }
  /// Somebody reads the tensor's float value as well.
  bool has_float_reader(const PlacedTensor& tensor) const;
  void fold_clamps(const PlacedTensor& tensor, const quant::QuantizationParams* params);
  /// The placed tensor that the node's output becomes once clamps are folded; the clamp in the way where there is one.
  struct After {
    const PlacedTensor* tensor = nullptr;
    const Node* clamp = nullptr;
  };
  After after(const Node& node) const;
  NodeOutcome outcome_of(size_t index) const;
  NodeOutcome kernel_outcome(const Node& node, const NodeRole& role) const;
  NodeOutcome join_outcome(const Node& node, Role role) const;

  const Graph& graph_;
  const framework::Attachment& attachment_;
  const Placement& placement_;
  const Uses uses_;
  const std::vector<bool> captured_;
  std::vector<NodeId> folded_clamps_;
};

bool Outcomes::has_float_reader(const PlacedTensor& tensor) const {
  if (tensor.integer_made) return false;
  if (uses_.is_output(tensor.value) || captured_[static_cast<size_t>(tensor.value.index)]) return true;
  const auto& readers = uses_.reader_indices(tensor.value);
  return std::any_of(readers.begin(), readers.end(), [&](size_t i) { return !placement_.roles[i].reads_integers(); });
}

/// `params`: null where none are chosen yet.
void Outcomes::fold_clamps(const PlacedTensor& tensor, const quant::QuantizationParams* params) {
  if (has_float_reader(tensor)) return;
  const auto quantized = uses_.producer_index(tensor.value);
  ValueId value = tensor.value;
  while (const auto index = uses_.producer_index(value)) {
    const Node& node = graph_.nodes()[*index];
    if (placement_.roles[*index].role != Role::kClamp) return;
    const ValueId source = node.inputs[0];
    const bool alone = uses_.reader_count(source) == 1 && !captured_[static_cast<size_t>(source.index)];
    if (!alone || placed(source) || !uses_.producer_index(source)) return;
    const double steps = uses_.is_output(tensor.value) ? 0 : 0.5;
    const ClampBounds bounds = *clamp_bounds(graph_, node);
    const auto& config = attachment_.of(graph_.nodes()[*quantized].id).config();
    if (params != nullptr ? !within(*params, bounds, steps) : !may_lie_within(config, bounds)) return;
    folded_clamps_.push_back(node.id);
    value = source;
  }
}

Outcomes::After Outcomes::after(const Node& node) const {
  ValueId value = node.outputs[0];
  if (!value.valid()) return {};
  while (!placed(value)) {
    if (uses_.reader_count(value) != 1 || uses_.is_output(value)) return {};
    const size_t reader = uses_.reader_indices(value)[0];
    const Node& follower = graph_.nodes()[reader];
    if (placement_.roles[reader].role != Role::kClamp) return {};
    if (!folded(follower.id)) return {nullptr, &follower};
    value = follower.outputs[0];
  }
  return {placement_.find(value), nullptr};
}

NodeOutcome Outcomes::kernel_outcome(const Node& node, const NodeRole& role) const {
  NodeOutcome outcome;
  if (role.float_operands && !role.reason.empty()) {
    outcome.reason = role.reason + " Its weight is stored in integers.";
    return outcome;
  }
  if (!attachment_.quantizes_output(node.id)) {
    outcome.reason = "Activations are left in float; only its weight is stored in integers.";
    return outcome;
  }
  if (role.float_weight) {
    outcome.reason = "Its weight stays float, as the settings say; what it reads and gives is quantized.";
    return outcome;
  }
  if (role.role == Role::kWeightOnly) {
    outcome.reason = "The platform computes " + node.op_type + " in float; its weight is stored in integers.";
    return outcome;
  }
  for (const ValueId id : value_inputs(node, role.role))
    if (id.valid() && graph_.initializer(id) == nullptr && !placed(id)) {
      outcome.reason = "Its input is not quantized on the platform; its weight is stored in integers.";
      return outcome;
    }
  const After result = after(node);
  if (result.tensor != nullptr) {
    outcome.arithmetic = has_float_reader(*result.tensor) ? Arithmetic::kIntegerFloatOutput : Arithmetic::kInteger;
  } else if (role.role == Role::kKernelFloatOutput) {
    outcome.arithmetic = Arithmetic::kIntegerFloatOutput;
  } else if (result.clamp != nullptr) {
    outcome.reason =
        "The " + result.clamp->op_type + " after it cannot be fused into the quantizer, whose range reaches beyond it.";
  } else {
    outcome.reason = "Its output is not quantized.";
  }
  return outcome;
}

NodeOutcome Outcomes::join_outcome(const Node& node, Role role) const {
  NodeOutcome outcome;
  const std::vector<ValueId> inputs = value_inputs(node, role);
  const bool quantized_inputs = std::all_of(inputs.begin(), inputs.end(), [this](ValueId id) {
    const PlacedTensor* tensor = placement_.find(id);
    return tensor != nullptr && tensor->integer_made;
  });
  const PlacedTensor* output = role == Role::kMover ? placement_.find(node.outputs[0]) : after(node).tensor;
  const bool same = role != Role::kMover ||
                    (output != nullptr && quantized_inputs && placement_.find(inputs[0])->group == output->group);
  if (node.is("Pad") || node.is("Expand")) {
    outcome.reason = "ONNX Runtime has no integer form of it in a QDQ file.";
  } else if (quantized_inputs && output != nullptr && output->integer_made && same) {
    outcome.arithmetic = Arithmetic::kInteger;
  } else if (role == Role::kMover) {
    outcome.reason = "It only moves values, and its input is in float.";
  } else if (!quantized_inputs) {
    outcome.reason = "At least one of its inputs is in float.";
  } else {
    outcome.reason = "No operator that reads its result runs in integers.";
  }
  return outcome;
}

NodeOutcome Outcomes::outcome_of(size_t index) const {
  const Node& node = graph_.nodes()[index];
  const NodeRole& role = placement_.roles[index];
  NodeOutcome outcome;
  if (role.has_kernel()) return kernel_outcome(node, role);
  if (role.role == Role::kMover || role.role == Role::kJoin) return join_outcome(node, role.role);
  if (role.role == Role::kClamp) {
    if (folded(node.id))
      outcome.arithmetic = Arithmetic::kFolded;
    else
      outcome.reason = "No quantizer follows that it could be fused into.";
    return outcome;
  }
  outcome.reason = role.reason.empty() ? "The platform has no integer kernel for it." : role.reason;
  return outcome;
}

}  // namespace

void find_outcomes(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                   QuantizationPlan& plan) {
  const Outcomes found(graph, attachment, placement, &plan);
  plan.folded_clamps = found.folded_clamps();
  plan.outcomes = found.outcomes();
  for (NodeOutcome& outcome : plan.outcomes) {
    const KernelPlan* kernel = plan.find(outcome.node);
    if (kernel == nullptr || !kernel->has_zero_points() || outcome.arithmetic == Arithmetic::kFloat) continue;
    outcome.arithmetic = Arithmetic::kFloat;
    outcome.reason = "Its weight has a zero point for each channel (UNIFORM), which no integer kernel takes.";
  }
  for (const ConstantPlan& constant : plan.constants) {
    const bool is_recurrent = !recurrent_weights(*graph.find(constant.node)).empty();
    if (!constant.by_row && !is_recurrent) continue;
    for (NodeOutcome& outcome : plan.outcomes)
      if (outcome.node == constant.node)
        outcome.reason = is_recurrent ? "Its weights are stored in integers; runtimes compute it in float."
                                      : "Its table is stored in integers; the rows that it takes become float again.";
  }
}

void take_back_guarded(const Graph& quantized, QuantizationPlan& plan) {
  const Uses uses(quantized);
  for (NodeOutcome& outcome : plan.outcomes) {
    if (outcome.arithmetic != Arithmetic::kInteger || plan.reads_quantized(outcome.node)) continue;
    const Node* node = quantized.find(outcome.node);
    const auto maker = node != nullptr ? uses.producer_index(node->inputs[0]) : std::nullopt;
    if (!maker || !is_one_operand_sum(quantized.nodes()[*maker])) continue;
    outcome.arithmetic = Arithmetic::kFloat;
    outcome.reason =
        "The model gives out what it reads, in float; ONNX Runtime would give out the quantized values, were it not "
        "kept "
        "apart.";
  }
}

std::vector<NodeOutcome> expected_outcomes(const Graph& graph, const framework::Attachment& attachment,
                                           const Placement& placement) {
  return Outcomes(graph, attachment, placement, nullptr).outcomes();
}

}  // namespace tersor::ptq
