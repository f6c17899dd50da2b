// SPDX-License-Identifier: Apache-2.0
#include "core/decide/placement.h"

#include <algorithm>

#include "core/decide/union_find.h"

namespace tersor::ptq {

using framework::ActivationMode;
using framework::Attachment;

namespace {

class Placer {
 public:
  Placer(const Graph& graph, const Attachment& attachment, const std::vector<FloatChoice>& in_float)
      : graph_(graph), attachment_(attachment), uses_(graph), roles_(find_roles(graph, attachment)) {
    for (const FloatChoice& choice : in_float)
      for (size_t i = 0; i < roles_.size(); ++i)
        if (graph.nodes()[i].id == choice.node) leave_in_float(i, choice.reason, choice.stores_weight);
  }

  Placement place() {
    if (attachment_.export_rules.placement == tpc::Placement::kOutputs) {
      place_outputs();
    } else {
      do place_operands();
      while (drop_impossible_kernels());
    }
    want_edges();
    return placement();
  }

 private:
  void leave_in_float(size_t index, std::string reason, bool stores_weight) {
    NodeRole& role = roles_[index];
    if (stores_weight && role.op && !role.float_weight)
      role = {Role::kWeightOnly, role.op, std::move(reason), false, true};
    else
      role = {Role::kFloat, std::nullopt, std::move(reason)};
  }
  bool folds_weights() const { return tpc::folds(attachment_.export_rules.float_weights); }
  bool constant(ValueId id) const { return !id.valid() || graph_.initializer(id) != nullptr; }
  bool wanted(ValueId id) const { return id.valid() && wanted_[static_cast<size_t>(id.index)]; }
  bool integer_made(ValueId id) const { return !constant(id) && integer_made_[static_cast<size_t>(id.index)]; }
  ValueId fused(ValueId id) const { return value_after_clamps(graph_, uses_, roles_, id); }
  bool want(ValueId id) {
    if (constant(id) || wanted(id)) return false;
    return wanted_[static_cast<size_t>(id.index)] = true;
  }
  bool quantizes(size_t index) const { return attachment_.quantizes_output(graph_.nodes()[index].id); }

  /// It multiplies in float. ONNX Runtime quantizes the constant weight of such a node by itself, per tensor, when it
  /// stands between a DequantizeLinear and a QuantizeLinear.
  bool multiplies_in_float(size_t index) const {
    const Node& node = graph_.nodes()[index];
    const bool in_float = roles_[index].role == Role::kFloat || (roles_[index].float_operands && folds_weights());
    return in_float && (node.is("Conv") || node.is("Gemm") || node.is("ConvTranspose"));
  }

  /// A QuantizeConfig has quantizers for its outputs, and they may stand there.
  bool asked(size_t index) const {
    return !attachment_.of(graph_.nodes()[index].id).output_quantizers.empty() && !multiplies_in_float(index);
  }

  bool stays_float(ValueId input) const {
    const auto& list = attachment_.float_inputs;
    return std::find(list.begin(), list.end(), input) != list.end();
  }

  /// Nothing but Casts to other types than floats reads it: positions or words, of which rounding makes others.
  bool is_index(ValueId id) const {
    const auto& readers = uses_.reader_indices(id);
    return !readers.empty() && !uses_.is_output(id) && std::all_of(readers.begin(), readers.end(), [&](size_t reader) {
      const Node& node = graph_.nodes()[reader];
      const auto to = static_cast<DType>(node.int_or("to", 0));
      return node.is("Cast") && to != DType::kFloat32 && to != DType::kFloat16 && to != DType::kFloat64;
    });
  }

  /// Some value that a mover passes on is quantized.
  bool preserves_quantized(size_t index) const {
    const std::vector<ValueId> from = value_inputs(graph_.nodes()[index], Role::kMover);
    return std::any_of(from.begin(), from.end(), [this](ValueId id) { return wanted(id); }) || takes_from_table(index);
  }

  /// It takes rows of a table that is stored in integers.
  bool takes_from_table(size_t index) const {
    const Node& node = graph_.nodes()[index];
    const framework::WeightAttribute* table = attachment_.of(node.id).weight(tpc::kPosAttr);
    return node.is("Gather") && table != nullptr && table->input == 0 && table->config.enable_weights_quantization;
  }

  /// Its parameters are fixed, by what made it before it was moved: what it is joined with would lose its range, so the
  /// runtime has to requantize it.
  bool keeps_own_range(const Node& reader, ValueId id) const {
    if (value_inputs(reader, Role::kMover).size() < 2) return false;
    auto maker = uses_.producer_index(id);
    while (maker && roles_[*maker].role == Role::kMover &&
           value_inputs(graph_.nodes()[*maker], Role::kMover).size() == 1)
      maker = uses_.producer_index(graph_.nodes()[*maker].inputs[0]);
    return maker && has_fixed_range(attachment_.of(graph_.nodes()[*maker].id));
  }

  void place_outputs();
  void place_operands();
  void want_edges();
  void find_integer_made();
  void want_operands();
  void spread_backwards();
  void want_preserved();
  bool drop_impossible_kernels();
  std::optional<size_t> unwilling_producer(ValueId id) const;
  std::vector<ValueId> in_order() const;
  Placement placement();

  const Graph& graph_;
  const Attachment& attachment_;
  const Uses uses_;
  std::vector<NodeRole> roles_;
  std::vector<bool> wanted_, integer_made_;
};

void Placer::place_outputs() {
  wanted_.assign(graph_.value_count(), false);
  if (attachment_.input_config.enable_activation_quantization)
    for (const ValueId id : graph_.inputs)
      if (graph_.value(id).dtype == DType::kFloat32 && !stays_float(id) && !is_index(id)) want(id);
  for (size_t i = 0; i < roles_.size(); ++i) {
    const Node& node = graph_.nodes()[i];
    const ActivationMode mode = attachment_.of(node.id).activation;
    const bool preserves = mode == ActivationMode::kPreserveQuant && preserves_quantized(i);
    const bool quantized = mode == ActivationMode::kQuant || mode == ActivationMode::kFlnQuant;
    if (!preserves && !quantized) continue;
    for (const ValueId id : node.outputs)
      if (id.valid() && !is_index(id)) want(roles_[i].role == Role::kClamp ? id : fused(id));
  }
  integer_made_ = wanted_;
}

/// What the file is to take and give in integers.
void Placer::want_edges() {
  if (!attachment_.input_config.enable_activation_quantization) return;
  const auto want_edge = [&](ValueId id) {
    const DType type = graph_.value(id).dtype;
    if (constant(id) || is_index(id) || (type != DType::kFloat32 && type != DType::kUndefined)) return;
    want(id);
    integer_made_[static_cast<size_t>(id.index)] = true;
  };
  if (attachment_.integer_inputs)
    for (const ValueId id : graph_.inputs) want_edge(id);
  if (attachment_.integer_outputs)
    for (const ValueId id : graph_.outputs) want_edge(id);
}

void Placer::place_operands() {
  wanted_.assign(graph_.value_count(), false);
  integer_made_.assign(graph_.value_count(), false);
  find_integer_made();
  want_operands();
  spread_backwards();
  if (attachment_.preserving_quantizers == true) want_preserved();
}

void Placer::find_integer_made() {
  for (size_t i = 0; i < roles_.size(); ++i) {
    const Node& node = graph_.nodes()[i];
    const std::vector<ValueId> inputs = node.inputs.empty() ? node.inputs : value_inputs(node, roles_[i].role);
    const bool all = !inputs.empty() && std::all_of(inputs.begin(), inputs.end(),
                                                    [this](ValueId id) { return !id.valid() || integer_made(id); });
    const Role role = roles_[i].role;
    const bool passes_on = role == Role::kMover || role == Role::kClamp || (role == Role::kJoin && quantizes(i));
    const bool made = (role == Role::kKernel && quantizes(i)) || (passes_on && all) || asked(i);
    for (const ValueId id : node.outputs)
      if (id.valid()) integer_made_[static_cast<size_t>(id.index)] = made;
  }
}

void Placer::want_operands() {
  for (size_t i = 0; i < roles_.size(); ++i) {
    const Node& node = graph_.nodes()[i];
    if (asked(i))
      for (const ValueId id : node.outputs)
        if (id.valid() && (graph_.value(id).dtype == DType::kFloat32 || graph_.value(id).dtype == DType::kUndefined))
          want(roles_[i].role == Role::kClamp ? id : fused(id));
    if (!roles_[i].reads_integers()) continue;
    for (const ValueId id : value_inputs(node, roles_[i].role)) want(id);
    if (roles_[i].role == Role::kKernel) want(fused(node.outputs[0]));
  }
}

/// What has an integer form of its own needs quantized inputs for it.
void Placer::spread_backwards() {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = roles_.size(); i-- > 0;) {
      const Role role = roles_[i].role;
      if (role != Role::kMover && role != Role::kJoin) continue;
      const Node& node = graph_.nodes()[i];
      // A mover's output must have the parameters of its input, so no clamp may come between it and its quantizer.
      const bool needed = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
        return id.valid() && integer_made(id) && wanted(role == Role::kJoin ? fused(id) : id);
      });
      if (!needed) continue;
      for (const ValueId id : value_inputs(node, role)) changed = want(id) || changed;
      // A Split runs on integers only when all its outputs are quantized.
      if (role == Role::kMover)
        for (const ValueId id : node.outputs) changed = want(id) || changed;
    }
  }
}

/// What passes on quantized values has a quantizer of its own, whoever reads it.
void Placer::want_preserved() {
  for (size_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i].role != Role::kMover || !preserves_quantized(i)) continue;
    for (const ValueId id : graph_.nodes()[i].outputs)
      if (integer_made(id) && !is_index(id)) want(id);
  }
}

/// A node that multiplies quantized values in float by a constant and whose result, passed on unchanged, is `id`.
std::optional<size_t> Placer::unwilling_producer(ValueId id) const {
  while (true) {
    const auto index = uses_.producer_index(id);
    if (!index) return std::nullopt;
    const Node& node = graph_.nodes()[*index];
    const Role role = roles_[*index].role;
    if (role == Role::kMover || role == Role::kClamp) {
      id = node.inputs[0];
      continue;
    }
    const bool unwilling = multiplies_in_float(*index) && node.inputs.size() > 1 && constant(node.inputs[1]) &&
                           wanted(node.inputs[0]) && integer_made(node.inputs[0]);
    return unwilling ? index : std::nullopt;
  }
}

bool Placer::drop_impossible_kernels() {
  bool dropped = false;
  for (size_t i = 0; i < roles_.size(); ++i) {
    if (!roles_[i].reads_integers()) continue;
    const Node& node = graph_.nodes()[i];
    for (const ValueId id : value_inputs(node, roles_[i].role)) {
      const auto producer = constant(id) ? std::nullopt : unwilling_producer(id);
      if (!producer || !roles_[i].reads_integers()) continue;
      leave_in_float(
          i,
          "Its input comes from " + place_of(graph_.nodes()[*producer], *producer) +
              ", which stays float; a quantizer between the two would make ONNX Runtime quantize that node's "
              "weight when the model is loaded.",
          folds_weights());
      dropped = true;
    }
  }
  return dropped;
}

std::vector<ValueId> Placer::in_order() const {
  std::vector<ValueId> order = graph_.inputs;
  for (const Node& node : graph_.nodes()) order.insert(order.end(), node.outputs.begin(), node.outputs.end());
  std::erase_if(order, [this](ValueId id) { return !wanted(id); });
  return order;
}

Placement Placer::placement() {
  Placement result;
  const std::vector<ValueId> order = in_order();
  std::vector<size_t> position(graph_.value_count(), order.size());
  for (size_t k = 0; k < order.size(); ++k) position[static_cast<size_t>(order[k].index)] = k;
  UnionFind same(order.size());
  for (size_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i].role != Role::kMover) continue;
    const Node& node = graph_.nodes()[i];
    for (const ValueId id : node.outputs)
      for (const ValueId from : value_inputs(node, Role::kMover))
        if (wanted(id) && wanted(from) && integer_made(id) && !keeps_own_range(node, from))
          same.join(position[static_cast<size_t>(id.index)], position[static_cast<size_t>(from.index)]);
  }
  std::vector<size_t> group(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const size_t root = same.find(k);
    group[k] = root == k ? result.groups++ : group[root];
    result.tensors.push_back({order[k], group[k], integer_made(order[k])});
  }
  result.roles = std::move(roles_);
  return result;
}

}  // namespace

const PlacedTensor* Placement::find(ValueId value) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) { return one.value == value; });
  return it == tensors.end() ? nullptr : &*it;
}

Placement place(const Graph& graph, const Attachment& attachment, const std::vector<FloatChoice>& in_float) {
  return Placer(graph, attachment, in_float).place();
}

ValueId value_after_clamps(const Graph& graph, const Uses& uses, const std::vector<NodeRole>& roles, ValueId value) {
  while (uses.reader_count(value) == 1 && !uses.is_output(value)) {
    const size_t reader = uses.reader_indices(value)[0];
    const Node& node = graph.nodes()[reader];
    if (roles[reader].role != Role::kClamp || node.inputs[0] != value) break;
    value = node.outputs[0];
  }
  return value;
}

}  // namespace tersor::ptq
