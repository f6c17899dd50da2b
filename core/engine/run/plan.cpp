// SPDX-License-Identifier: Apache-2.0
#include "core/run/plan.h"

#include <algorithm>
#include <utility>

#include "core/run/fold.h"

namespace tersor::run {

using ops::Form;
using ops::Input;
using ops::Kernel;
using ops::Layout;
using ops::TensorType;

namespace {

/// Values that follow from shapes are computed while planning up to this size; larger ones are made by each run.
constexpr int64_t kMostKnownBytes = 1 << 20;

Shape with_rank(const Shape& shape, int rank) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max(0, rank - shape.rank())), 1);
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(std::move(dims));
}

class Planner {
 public:
  Planner(Plan& plan, const PreparedGraph& graph, size_t begin, std::span<const Source> sources,
          const std::map<ValueId, Tensor>& known)
      : plan_(plan), graph_(graph), known_(known), reads_left_(graph.observed.size(), 0) {
    for (size_t i = begin; i < graph.nodes.size(); ++i)
      for (const ValueId id : graph.nodes[i].inputs)
        if (id.valid()) ++reads_left(id);
    for (const ValueId id : graph.results) ++reads_left(id);
    for (size_t k = 0; k < sources.size(); ++k)
      bind(sources[k].value, {sources[k].type, {Place::Kind::kSource, k}, false});
    if (begin == 0) observe_first(sources);
    plan.end = begin;
    while (plan.end < graph.nodes.size()) {
      const PreparedNode& node = graph.nodes[plan.end];
      if (!at_place(node.place, [&] { return add(node); })) break;
      ++plan.end;
    }
    finish();
  }

 private:
  int& reads_left(ValueId id) { return reads_left_[static_cast<size_t>(id.index)]; }
  bool is_observed(ValueId id) const { return graph_.observed[static_cast<size_t>(id.index)]; }

  /// The value when it is there before the run.
  const Tensor* known_value(ValueId id) const {
    if (const auto it = known_.find(id); it != known_.end()) return &it->second;
    const auto it = graph_.constants.find(id);
    return it != graph_.constants.end() ? &it->second : nullptr;
  }

  Operand add_constant(Tensor tensor, Layout layout = Layout::kPlain) {
    const TensorType type{tensor.dtype(), tensor.shape(), layout};
    plan_.constants.push_back(std::move(tensor));
    return {type, {Place::Kind::kConstant, plan_.constants.size() - 1}, false};
  }

  void bind(ValueId id, Operand operand) {
    if (operand.place.kind == Place::Kind::kArena) pending_[operand.place.index] += reads_left(id);
    plan_.values[id] = std::move(operand);
  }

  /// Where the value is; constants get their place when they are first read.
  const Operand& operand_of(ValueId id) {
    const auto it = plan_.values.find(id);
    if (it != plan_.values.end()) return it->second;
    const Tensor* tensor = known_value(id);
    TERSOR_CHECK(tensor != nullptr);
    bind(id, add_constant(*tensor));
    return plan_.values[id];
  }

  void observe_first(std::span<const Source> sources) {
    for (const Source& source : sources)
      if (is_observed(source.value)) plan_.observed_first.emplace_back(source.value, plan_.values[source.value]);
    for (const auto& [id, tensor] : graph_.constants)
      if (is_observed(id)) plan_.observed_first.emplace_back(id, operand_of(id));
  }

  /// Shown after the last step so far: the value is there by then.
  void observe(ValueId id, const Operand& operand) {
    if (!is_observed(id)) return;
    auto& list = plan_.steps.empty() ? plan_.observed_first : plan_.steps.back().observed;
    list.emplace_back(id, operand);
  }

  Place new_buffer(int64_t bytes) {
    check_memory(bytes, graph_.memory_limit);
    const int step = static_cast<int>(plan_.steps.size());
    plan_.buffers.push_back({bytes, step, step, 0});
    pending_.push_back(0);
    return {Place::Kind::kArena, plan_.buffers.size() - 1};
  }

  void push(Step step) {
    const int now = static_cast<int>(plan_.steps.size());
    const auto touch = [&](const Place& place) {
      if (place.kind == Place::Kind::kArena) plan_.buffers[place.index].last = now;
    };
    for (const Operand& operand : step.inputs) touch(operand.place);
    for (const Operand& operand : step.outputs) touch(operand.place);
    touch(step.scratch);
    plan_.steps.push_back(std::move(step));
  }

  /// A copy of `from` in `layout`, made by a step of its own; a constant is converted now.
  Operand converted(const PreparedNode& node, const Operand& from, Layout layout) {
    if (ops::layouts_coincide(from.type.shape)) {
      Operand same = from;
      same.type.layout = layout;
      return same;
    }
    require_turnable(from.type.dtype);
    const TensorType type{from.type.dtype, from.type.shape, layout};
    if (from.place.kind == Place::Kind::kConstant) {
      Tensor turned = Tensor::make(type.dtype, type.shape);
      ops::convert_layout(from.type, plan_.constants[from.place.index].bytes().data(), layout,
                          turned.mutable_bytes().data());
      return add_constant(std::move(turned), layout);
    }
    const Operand to{type, new_buffer(type.bytes()), false};
    Step step;
    step.node = &node;
    step.converts = true;
    step.inputs = {from};
    step.outputs = {to};
    push(std::move(step));
    return to;
  }

  /// The value in the form that `node` asks for; forms made once serve later readers too.
  Operand in_form(const PreparedNode& node, ValueId id, const Form& form) {
    const Operand& present = operand_of(id);
    const int rank = std::max(form.rank, present.type.shape.rank());
    if (present.type.layout == form.layout && present.type.shape.rank() == rank) return present;
    auto& made = forms_[id];
    if (const auto it = made.find({form.layout, rank}); it != made.end()) return it->second;
    Operand operand = present;
    if (operand.type.shape.rank() != rank) {
      if (operand.type.layout != Layout::kPlain) operand = converted(node, operand, Layout::kPlain);
      operand.type.shape = with_rank(operand.type.shape, rank);
    }
    if (operand.type.layout != form.layout) operand = converted(node, operand, form.layout);
    if (operand.place.kind == Place::Kind::kArena && operand.place != operand_of(id).place)
      pending_[operand.place.index] += reads_left(id);
    forms_[id][{form.layout, rank}] = operand;
    return operand;
  }

  /// One more reader of the value is done.
  void consume(ValueId id) {
    --reads_left(id);
    const auto found = plan_.values.find(id);
    if (found == plan_.values.end()) return;
    const Operand& operand = found->second;
    if (operand.place.kind == Place::Kind::kArena) --pending_[operand.place.index];
    if (const auto it = forms_.find(id); it != forms_.end())
      for (const auto& [form, other] : it->second)
        if (other.place.kind == Place::Kind::kArena && other.place != operand.place) --pending_[other.place.index];
  }

  /// The buffer of input `k` is read by nothing else, now or later.
  bool dies_here(const PreparedNode& node, const std::vector<Operand>& inputs, size_t k) {
    const Place place = inputs[k].place;
    if (place.kind != Place::Kind::kArena) return false;
    const auto elsewhere = std::count_if(inputs.begin(), inputs.end(),
                                         [&](const Operand& input) { return !input.absent && input.place == place; });
    if (elsewhere != 1) return false;
    int here = 0;
    for (const ValueId id : node.inputs) {
      if (!id.valid() || plan_.values.count(id) == 0) continue;
      bool holds = plan_.values[id].place == place;
      if (const auto it = forms_.find(id); it != forms_.end())
        for (const auto& [form, other] : it->second) holds = holds || other.place == place;
      here += holds ? 1 : 0;
    }
    return pending_[place.index] == here;
  }

  bool add(const PreparedNode& node);
  bool compute_now(const PreparedNode& node);
  std::vector<Operand> place_inputs(const PreparedNode& node);
  void place_outputs(const PreparedNode& node, Step& step, std::span<const Input> views,
                     const std::vector<TensorType>& types);
  void finish();

  Plan& plan_;
  const PreparedGraph& graph_;
  std::map<ValueId, Tensor> known_;
  std::vector<int> reads_left_;                                         // by value
  std::vector<int> pending_;                                            // readings to come of each buffer
  std::map<ValueId, std::map<std::pair<Layout, int>, Operand>> forms_;  // converted copies and views
};

/// What a kernel is shown of operands while planning: types, and the values of constants.
std::vector<Input> views_of(const std::vector<Operand>& operands, const std::vector<Tensor>& constants,
                            const PreparedNode& node) {
  std::vector<Input> views(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].absent) continue;
    const bool readable = operands[k].place.kind == Place::Kind::kConstant && node.absorbed.count(k) == 0;
    views[k] = {&operands[k].type, readable ? constants[operands[k].place.index].bytes().data() : nullptr};
  }
  return views;
}

/// The outputs of a kernel that looks at the types of its inputs only.
std::vector<Tensor> run_on_types(const Kernel& kernel, std::span<const Input> views) {
  const std::vector<TensorType> types = kernel.infer(views);
  std::vector<Tensor> results;
  std::vector<ops::Output> outputs;
  for (const TensorType& type : types) {
    results.push_back(Tensor::make(type.dtype, type.shape));
    outputs.push_back({&type, results.back().mutable_bytes().data()});
  }
  kernel.run({views, outputs, {}});
  return results;
}

/// Computes the node while planning when all it needs is known and its outputs are small.
bool Planner::compute_now(const PreparedNode& node) {
  std::vector<Tensor> results;
  if (node.kernel->from_types_only()) {
    std::vector<Operand> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(id.valid() ? operand_of(id) : Operand{{}, {}, true});
    results = run_on_types(*node.kernel, views_of(inputs, plan_.constants, node));
    if (results.size() < node.outputs.size()) throw too_many_outputs(node.outputs.size(), results.size());
  } else {
    if (!graph_.will_run && !node.absorbed.empty()) return false;  // its weights are not packed
    std::vector<Tensor> inputs;
    for (const ValueId id : node.inputs) {
      const Tensor* tensor = id.valid() ? known_value(id) : nullptr;
      if (id.valid() && tensor == nullptr) return false;
      inputs.push_back(tensor != nullptr ? *tensor : Tensor());
    }
    std::vector<bool> wanted;
    for (const ValueId id : node.outputs) wanted.push_back(id.valid());
    auto made = run_once(*node.kernel, inputs, std::vector<bool>(inputs.size(), false), wanted, kMostKnownBytes);
    if (!made) return false;
    results = std::move(*made);
  }
  for (size_t k = 0; k < node.outputs.size() && k < results.size(); ++k) {
    if (!node.outputs[k].valid()) continue;
    known_[node.outputs[k]] = std::move(results[k]);
    observe(node.outputs[k], operand_of(node.outputs[k]));
  }
  for (const ValueId id : node.inputs)
    if (id.valid()) consume(id);
  return true;
}

/// Each input in the form the kernel wants; absorbed constants have a type only.
std::vector<Operand> Planner::place_inputs(const PreparedNode& node) {
  std::vector<Operand> present;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (const auto absorbed = node.absorbed.find(k); absorbed != node.absorbed.end())
      present.push_back({absorbed->second, {}, false});
    else if (node.inputs[k].valid())
      present.push_back(operand_of(node.inputs[k]));
    else
      present.push_back({{}, {}, true});
  }
  for (const Operand& operand : present)
    if (!operand.absent && operand.type.dtype == DType::kString)
      throw Error(ErrorCode::kUnsupportedModel, "It reads strings, which are not run here.");
  const std::vector<Form> forms = node.kernel->forms(views_of(present, plan_.constants, node));
  for (size_t k = 0; k < present.size(); ++k) {
    if (present[k].absent || node.absorbed.count(k) != 0) continue;
    TERSOR_CHECK(k < forms.size());
    present[k] = in_form(node, node.inputs[k], forms[k]);
  }
  return present;
}

void Planner::place_outputs(const PreparedNode& node, Step& step, std::span<const Input> views,
                            const std::vector<TensorType>& types) {
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    Operand operand{types[k], {}, !node.outputs[k].valid()};
    if (k == 0 && !operand.absent)
      for (size_t input = 0; input < step.inputs.size() && operand.place.kind == Place::Kind::kNone; ++input) {
        const Operand& source = step.inputs[input];
        if (!source.absent && source.type.bytes() == types[0].bytes() && node.kernel->overwrites(input, views, types) &&
            dies_here(node, step.inputs, input))
          operand.place = source.place;
      }
    if (!operand.absent && operand.place.kind == Place::Kind::kNone) operand.place = new_buffer(types[k].bytes());
    step.outputs.push_back(operand);
  }
}

/// False when the node waits for values that only a run can give.
bool Planner::add(const PreparedNode& node) {
  if (node.control != nullptr) return false;
  for (const size_t k : node.kernel->value_inputs())
    if (k < node.inputs.size() && node.inputs[k].valid() && node.absorbed.count(k) == 0 &&
        known_value(node.inputs[k]) == nullptr)
      return false;
  if (compute_now(node)) return true;
  Step step;
  step.node = &node;
  step.inputs = place_inputs(node);
  const std::vector<Input> views = views_of(step.inputs, plan_.constants, node);
  const std::vector<TensorType> types = node.kernel->infer(views);
  if (types.size() < node.outputs.size()) throw too_many_outputs(node.outputs.size(), types.size());
  const auto source = node.outputs.size() == 1 ? node.kernel->alias(views, types) : std::nullopt;
  if (source && node.absorbed.count(*source) == 0) {
    const Operand view{types[0], step.inputs[*source].place, false};
    TERSOR_CHECK(view.type.bytes() == step.inputs[*source].type.bytes());
    bind(node.outputs[0], view);
    observe(node.outputs[0], view);
  } else {
    place_outputs(node, step, views, types);
    step.scratch_bytes = node.kernel->scratch_bytes(views, types);
    if (step.scratch_bytes > 0) step.scratch = new_buffer(step.scratch_bytes);
    plan_.macs.resize(std::max(plan_.macs.size(), node.index + 1));
    plan_.macs[node.index] += node.kernel->macs(views, types);
    const std::vector<Operand> outputs = step.outputs;
    push(std::move(step));
    for (size_t k = 0; k < outputs.size(); ++k)
      if (!outputs[k].absent) {
        bind(node.outputs[k], outputs[k]);
        observe(node.outputs[k], outputs[k]);
      }
  }
  for (const ValueId id : node.inputs)
    if (id.valid()) consume(id);
  return true;
}

/// Keeps what the results and the nodes after this plan read, and places the buffers.
void Planner::finish() {
  for (const ValueId id : graph_.results)
    if (plan_.values.count(id) != 0 || known_value(id) != nullptr) operand_of(id);
  for (const auto& [id, tensor] : known_)
    if (reads_left(id) > 0) operand_of(id);
  const int end = static_cast<int>(plan_.steps.size());
  for (auto it = plan_.values.begin(); it != plan_.values.end();) {
    if (reads_left(it->first) == 0) {
      it = plan_.values.erase(it);
      continue;
    }
    if (it->second.place.kind == Place::Kind::kArena) plan_.buffers[it->second.place.index].last = end;
    ++it;
  }
  for (const ValueId id : graph_.results) {
    if (plan_.end < graph_.nodes.size()) continue;
    const auto found = plan_.values.find(id);
    TERSOR_CHECK(found != plan_.values.end());
    if (found->second.place.kind != Place::Kind::kArena) continue;
    if (found->second.type.dtype == DType::kString) continue;  // has no bytes, and is refused
    Buffer& buffer = plan_.buffers[found->second.place.index];
    if (std::exchange(buffer.apart, true)) continue;
    plan_.apart.emplace_back(found->second.place.index, found->second.type);
  }
  plan_.arena_bytes = assign_offsets(plan_.buffers);
  check_memory(plan_.bytes(), graph_.memory_limit);
}

}  // namespace

int64_t Plan::bytes() const {
  int64_t bytes = arena_bytes;
  for (const auto& [buffer, type] : apart) bytes += buffers[buffer].bytes;
  return bytes;
}

Plan::Plan(const PreparedGraph& graph, size_t begin, std::span<const Source> sources,
           const std::map<ValueId, Tensor>& known) {
  Planner(*this, graph, begin, sources, known);
}

}  // namespace tersor::run
