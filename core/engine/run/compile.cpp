// SPDX-License-Identifier: Apache-2.0
// From a graph to a program: drop what nobody needs, compute what is constant, let a producer apply the Relu or Clip
// after it and a Sigmoid the product of it and its input, and prepare a kernel for each node that is left.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "core/graph/operators.h"
#include "core/graph/uses.h"
#include "core/run/control.h"
#include "core/run/fold.h"
#include "core/run/operators.h"
#include "core/run/plan.h"
#include "core/run/ports.h"
#include "core/run/program.h"

namespace tersor::run {

using ops::Clamp;
using ops::Op;
using ops::Setup;

namespace {

constexpr size_t kBias = 2;  // input of operators with a weight

/// Every value is made once and before it is read. Error kInvalidModel.
void check_definitions(const Graph& graph) {
  std::vector<bool> defined(graph.value_count(), false);
  const auto is_defined = [&](ValueId id) { return static_cast<bool>(defined[static_cast<size_t>(id.index)]); };
  const auto define = [&](ValueId id) { defined[static_cast<size_t>(id.index)] = true; };
  for (const auto& [id, tensor] : graph.initializers()) define(id);
  for (const ValueId id : graph.inputs) define(id);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (const std::string& name : captures_of(node)) {
      const auto id = graph.find(name);
      if (!id || !is_defined(*id))
        throw Error(ErrorCode::kInvalidModel,
                    "A subgraph reads \"" + name + "\", which is neither inside it nor made before this node.",
                    place_of(node, i));
    }
    for (const ValueId id : node.inputs)
      if (id.valid() && !is_defined(id))
        throw Error(ErrorCode::kInvalidModel,
                    "The input \"" + graph.name_of(id) +
                        "\" is neither a graph input, nor a weight, nor made by a "
                        "node before this one.",
                    place_of(node, i));
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      if (is_defined(id))
        throw Error(ErrorCode::kInvalidModel, "The output \"" + graph.name_of(id) + "\" is defined twice.",
                    place_of(node, i));
      define(id);
    }
  }
  for (const ValueId id : graph.outputs)
    if (!is_defined(id))
      throw Error(ErrorCode::kInvalidModel, "The graph output \"" + graph.name_of(id) + "\" is made by no node.",
                  "graph.output");
}

/// Which nodes the wanted values depend on that are not given.
std::vector<bool> find_live(const Graph& graph, const Uses& uses, const std::vector<bool>& wanted,
                            const std::vector<ValueId>& given) {
  std::vector<bool> needed = wanted, there(graph.value_count(), false), live(graph.nodes().size(), false);
  for (const ValueId id : given) there[static_cast<size_t>(id.index)] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    live[i] = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      const auto index = static_cast<size_t>(id.index);
      return id.valid() && needed[index] && !there[index];
    });
    if (!live[i]) continue;
    for (const ValueId id : uses.reads(i)) needed[static_cast<size_t>(id.index)] = true;
  }
  return live;
}

std::vector<const Tensor*> constants_of(const Node& node, Constants& constants) {
  std::vector<const Tensor*> tensors;
  for (const ValueId id : node.inputs)
    tensors.push_back(id.valid() && constants.is_constant(id) ? &constants.value(id) : nullptr);
  return tensors;
}

/// The values of outer constants that the node's subgraphs read.
std::map<std::string, const Tensor*> known_captures(const Model& model, const Node& node, Constants& constants) {
  std::map<std::string, const Tensor*> known;
  for (const std::string& name : captures_of(node))
    if (const auto id = model.graph.find(name); id && constants.is_constant(*id)) known[name] = &constants.value(*id);
  return known;
}

/// The part as a model of its own, which takes the time of its nodes, not of the graph's.
Model cut_out(const Model& model, const GraphPart& part) {
  const Graph& graph = model.graph;
  const auto uses = part.uses ? part.uses : std::make_shared<const Uses>(graph);
  const std::set<ValueId> given(part.inputs.begin(), part.inputs.end());
  std::set<size_t> live;
  std::vector<ValueId> needed = part.outputs;
  while (!needed.empty()) {
    const ValueId id = needed.back();
    needed.pop_back();
    const auto maker = given.count(id) == 0 ? uses->producer_index(id) : std::nullopt;
    if (maker && live.insert(*maker).second)
      needed.insert(needed.end(), uses->reads(*maker).begin(), uses->reads(*maker).end());
  }
  Model cut;
  cut.opset_imports = model.opset_imports;
  std::map<ValueId, ValueId> taken;
  const auto take = [&](ValueId id) {
    if (!id.valid()) return id;
    const auto [it, is_new] = taken.emplace(id, ValueId{});
    if (!is_new) return it->second;
    it->second = cut.graph.add_value(graph.name_of(id), graph.value(id).dtype);
    if (const Tensor* constant = graph.initializer(id)) cut.graph.set_initializer(it->second, *constant);
    return it->second;
  };
  for (const ValueId id : part.inputs) cut.graph.inputs.push_back(take(id));
  for (const size_t index : live) {
    Node node = graph.nodes()[index];
    for (const ValueId id : uses->reads(index)) take(id);  // those of subgraphs too
    for (ValueId& id : node.inputs) id = take(id);
    for (ValueId& id : node.outputs) id = given.count(id) == 0 ? take(id) : ValueId{};
    cut.graph.append(std::move(node));
  }
  for (const ValueId id : part.outputs) cut.graph.outputs.push_back(take(id));
  return cut;
}

class Compiler {
 public:
  Compiler(const Model& model, const ops::Registry& registry, const ProgramOptions& options)
      : model_(model), graph_(model.graph), uses_(model.graph), registry_(registry), options_(options) {
    prepared_.memory_limit = options.memory_limit;
    prepared_.loop_limit = options.loop_limit;
    prepared_.will_run = options.will_run;
    prepared_.inputs = graph_.inputs;
    prepared_.results = graph_.outputs;
    prepared_.results.insert(prepared_.results.end(), options.fetched.begin(), options.fetched.end());
    prepared_.observed.assign(graph_.value_count(), false);
    for (const auto* list : {&options.observed, &options.fetched})
      for (const ValueId id : *list) TERSOR_CHECK(id.valid() && static_cast<size_t>(id.index) < graph_.value_count());
    for (const ValueId id : options.observed) prepared_.observed[static_cast<size_t>(id.index)] = true;
    check_definitions(graph_);
    wanted_ = prepared_.observed;
    for (const ValueId id : prepared_.results) wanted_[static_cast<size_t>(id.index)] = true;
    live_ = find_live(graph_, uses_, wanted_, prepared_.inputs);
  }

  PreparedGraph compile() {
    require_operators(model_, registry_, live_);
    Constants constants(model_, uses_, registry_, live_, prepared_.memory_limit);
    find_alike(constants);
    for (size_t k = 0; k < wanted_.size(); ++k) {
      const ValueId id{static_cast<int32_t>(k)};
      const auto first = alike_.find(id);
      if (wanted_[k] && constants.is_constant(id))
        prepared_.constants[id] = constants.value(first == alike_.end() ? id : first->second).aligned();
    }
    fused_.assign(graph_.nodes().size(), false);
    gates_.assign(graph_.nodes().size(), kNone);
    fronts_ = gates_;
    find_readers();
    plan_clamps(constants);
    plan_gates(constants);
    plan_fronts(constants);
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!live_[i] || constants.is_folded(i) || fused_[i]) continue;
      if (control_op(graph_.nodes()[i]) != nullptr)
        add_control(i, constants);
      else
        prepared_.nodes.push_back(prepare(i, constants)), note_packed(i);
    }
    drop_unread();
    return std::move(prepared_);
  }

 private:
  void find_alike(const Constants& constants);
  void find_readers();
  void plan_clamps(Constants& constants);
  void plan_gates(Constants& constants);
  void plan_fronts(Constants& constants);
  PreparedNode prepare(size_t index, Constants& constants, std::unique_ptr<const ops::Kernel>* as_front = nullptr);
  void note_packed(size_t index);
  void add_control(size_t index, Constants& constants);
  void drop_unread();
  std::optional<size_t> only_reader(ValueId id) const;
  std::pair<const std::byte*, ValueId> held_by(ValueId id) const;
  bool is_same(ValueId a, ValueId b) const;
  const PreparedNode* find_like(const Setup& setup, std::span<const Tensor* const> tensors,
                                const Constants& constants) const;
  const Op* op_to_fuse(size_t index, Constants& constants) const;
  std::optional<Clamp> clamp_of(size_t index, Constants& constants);

  const Model& model_;
  const Graph& graph_;
  const Uses uses_;
  const ops::Registry& registry_;
  const ProgramOptions& options_;
  PreparedGraph prepared_;
  /// Of each constant that kernels have packed, the nodes of these with the clamp that each applies, so that what is
  /// done with it alike is done by one kernel.
  std::map<std::pair<const std::byte*, ValueId>, std::vector<std::pair<size_t, std::optional<Clamp>>>> users_;
  /// Of each constant that a node makes as one before it does, of the same: what that one makes.
  std::map<ValueId, ValueId> alike_;
  std::vector<bool> wanted_;  // by value: results and observed ones
  std::vector<bool> live_;    // by node
  std::vector<bool> fused_;   // by node: another does its work
  /// By value: the node that alone reads it, where only that one may; kNone or kMany else.
  std::vector<size_t> reader_;
  static constexpr size_t kNone = std::numeric_limits<size_t>::max(), kMany = kNone - 1;
  struct Fusion {
    Clamp clamp;
    ValueId output;
  };
  std::map<size_t, Fusion> fusions_;  // by the index of the producing node
  std::vector<size_t> gates_;         // by node: the one that makes its product of its own input, or kNone
  std::vector<size_t> fronts_;        // by node: the one of its operator before it whose work it does, or kNone
};

std::optional<Clamp> Compiler::clamp_of(size_t index, Constants& constants) {
  const Node& node = graph_.nodes()[index];
  return at_place(place_of(node, index), [&]() -> std::optional<Clamp> {
    const Op& op = operator_of(node, model_, registry_);
    if (!op.as_clamp) return std::nullopt;
    return op.as_clamp(Setup(node, model_.opset(node.domain), constants_of(node, constants)));
  });
}

void Compiler::find_readers() {
  reader_.assign(graph_.value_count(), kNone);
  for (size_t i = 0; i < graph_.nodes().size(); ++i)
    for (const ValueId id : uses_.reads(i))
      if (size_t& reader = reader_[static_cast<size_t>(id.index)]; live_[i]) reader = reader == kNone ? i : kMany;
  for (size_t k = 0; k < wanted_.size(); ++k)
    if (wanted_[k]) reader_[k] = kMany;
}

std::optional<size_t> Compiler::only_reader(ValueId id) const {
  const size_t reader = id.valid() ? reader_[static_cast<size_t>(id.index)] : kNone;
  return reader < kMany ? std::optional(reader) : std::nullopt;
}

/// The operator of a node of which something is to be made; null where there is none.
const Op* Compiler::op_to_fuse(size_t index, Constants& constants) const {
  const Node& node = graph_.nodes()[index];
  if (!live_[index] || fused_[index] || constants.is_folded(index) || node.outputs.empty()) return nullptr;
  return registry_.find(node.domain, node.op_type, model_.opset(node.domain));
}

/// A node that can clamp takes over the Relu or Clip that alone reads its output, and the next one after that.
void Compiler::plan_clamps(Constants& constants) {
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const Op* op = op_to_fuse(i, constants);
    if (op == nullptr || !op->takes_clamp) continue;
    const ValueId made = graph_.nodes()[i].outputs[0];
    Fusion fusion{{}, made};
    while (const std::optional<size_t> next = only_reader(fusion.output)) {
      const Node& follower = graph_.nodes()[*next];
      if (follower.inputs.empty() || follower.inputs[0] != fusion.output || follower.outputs.empty() ||
          !follower.outputs[0].valid())
        break;
      const std::optional<Clamp> clamp = clamp_of(*next, constants);
      if (!clamp) break;
      const auto clamped = [&](float x) { return std::min(std::max(x, clamp->low), clamp->high); };
      fusion.clamp = {clamped(fusion.clamp.low), clamped(fusion.clamp.high)};
      fusion.output = follower.outputs[0];
      fused_[*next] = true;
    }
    if (fusion.output != made) fusions_[i] = fusion;
  }
}

/// A node that can be a gate takes over the product of its input and its output that alone reads the latter.
void Compiler::plan_gates(Constants& constants) {
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const Op* op = op_to_fuse(i, constants);
    const Node& gate = graph_.nodes()[i];
    if (op == nullptr || !op->prepare_as_gate || gate.inputs.size() != 1) continue;
    const std::optional<size_t> next = only_reader(gate.outputs[0]);
    const Op* const taker = next ? op_to_fuse(*next, constants) : nullptr;
    if (taker == nullptr || !taker->takes_gate || fusions_.count(*next) != 0) continue;
    if (!reads_just(graph_.nodes()[*next], gate.inputs[0], gate.outputs[0])) continue;
    fused_[i] = true;
    gates_[*next] = i;
  }
}

/// A node does the work of the one before it that is of its operator and that it alone reads; two at most, however
/// many a hostile model has in a row.
void Compiler::plan_fronts(Constants& constants) {
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const Op* op = op_to_fuse(i, constants);
    if (op == nullptr || op->prepare_after == nullptr || fronts_[i] != kNone) continue;
    const ValueId made = graph_.nodes()[i].outputs[0];
    const std::optional<size_t> next = only_reader(made);
    if (!next || op_to_fuse(*next, constants) != op || graph_.nodes()[*next].inputs[0] != made) continue;
    fused_[i] = true;
    fronts_[*next] = i;
  }
}

/// What tells a constant from others: passes give each node an initializer of its own, with the bytes of one, and a
/// quantized model restores each from the same integers.
std::pair<const std::byte*, ValueId> Compiler::held_by(ValueId id) const {
  if (const auto first = alike_.find(id); first != alike_.end()) return {nullptr, first->second};
  const Tensor* tensor = graph_.initializer(id);
  if (tensor == nullptr || tensor->is_deferred() || tensor->byte_count() == 0) return {nullptr, id};
  return {tensor->bytes().data(), ValueId{}};
}

/// Two constants are one, of the same type and shape.
bool Compiler::is_same(ValueId a, ValueId b) const {
  const auto held = held_by(a);
  if (held != held_by(b)) return false;
  if (held.second.valid()) return true;
  const Tensor &of_a = *graph_.initializer(a), &of_b = *graph_.initializer(b);
  return of_a.shape() == of_b.shape() && of_a.dtype() == of_b.dtype();
}

void Compiler::find_alike(const Constants& constants) {
  std::map<std::vector<std::pair<const std::byte*, ValueId>>, std::vector<const Node*>> makers;
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    const auto is_there = [](ValueId id) { return id.valid(); };
    if (!live_[i] || !constants.is_folded(i) || node.inputs.empty() || node.outputs.size() != 1 ||
        !std::all_of(node.inputs.begin(), node.inputs.end(), is_there) || !captures_of(node).empty() ||
        has_trait(node, Trait::kRandom))
      continue;
    std::vector<std::pair<const std::byte*, ValueId>> held;
    for (const ValueId id : node.inputs) held.push_back(held_by(id));
    std::vector<const Node*>& others = makers[held];
    const auto first = std::find_if(others.begin(), others.end(), [&](const Node* other) {
      return other->op_type == node.op_type && other->domain == node.domain && other->attributes == node.attributes &&
             std::equal(other->inputs.begin(), other->inputs.end(), node.inputs.begin(),
                        [&](ValueId a, ValueId b) { return is_same(a, b); });
    });
    if (first != others.end())
      alike_[node.outputs[0]] = (*first)->outputs[0];
    else
      others.push_back(&node);
  }
}

/// A node that was prepared from the same: operator, attributes, constants and clamp. An unrolled network has its
/// weights packed once. A bias that the kernel has not taken in comes with each call.
const PreparedNode* Compiler::find_like(const Setup& setup, std::span<const Tensor* const> tensors,
                                        const Constants& constants) const {
  const auto has_same = [](const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](ValueId x, ValueId y) { return x.valid() == y.valid(); });
  };
  for (size_t k = 0; k < tensors.size(); ++k) {
    const auto users = tensors[k] == nullptr ? users_.end() : users_.find(held_by(setup.node.inputs[k]));
    if (users == users_.end()) continue;
    for (const auto& [at, clamp] : users->second) {
      const PreparedNode& other = prepared_.nodes[at];
      const Node& node = graph_.nodes()[other.index];
      bool is_like = clamp == setup.clamp && node.op_type == setup.node.op_type && node.domain == setup.node.domain &&
                     node.attributes == setup.node.attributes && has_same(node.inputs, setup.node.inputs) &&
                     has_same(node.outputs, setup.node.outputs);
      for (size_t i = 0; is_like && i < tensors.size(); ++i) {
        const bool is_constant = node.inputs[i].valid() && constants.is_constant(node.inputs[i]);
        if (i == kBias && has_trait(node, Trait::kWeighted) && other.absorbed.count(i) == 0 && is_constant) continue;
        is_like = tensors[i] == nullptr ? !is_constant : is_constant && is_same(node.inputs[i], setup.node.inputs[i]);
      }
      if (is_like) return &other;
    }
  }
  return nullptr;
}

/// `as_front`: takes the kernel, for the node after it to do its work.
PreparedNode Compiler::prepare(size_t index, Constants& constants, std::unique_ptr<const ops::Kernel>* as_front) {
  const size_t doer = gates_[index] == kNone ? index : gates_[index];
  const Node& node = graph_.nodes()[doer];
  PreparedNode prepared;
  prepared.index = index;
  prepared.place = place_of(node, doer);
  PreparedNode front;
  std::unique_ptr<const ops::Kernel> front_kernel;
  if (fronts_[index] != kNone) front = prepare(fronts_[index], constants, &front_kernel);
  prepared.inputs = front.inputs;
  for (size_t k = front.inputs.empty() ? 0 : 1; k < node.inputs.size(); ++k) prepared.inputs.push_back(node.inputs[k]);
  prepared.outputs = graph_.nodes()[index].outputs;
  std::optional<Clamp> clamp;
  if (const auto fusion = fusions_.find(index); fusion != fusions_.end()) {
    prepared.outputs[0] = fusion->second.output;
    clamp = fusion->second.clamp;
  }
  const std::vector<const Tensor*> tensors = constants_of(node, constants);
  at_place(prepared.place, [&] {
    Setup setup(node, model_.opset(node.domain), tensors, clamp);
    setup.label = graph_.label_of(node);
    setup.will_run = prepared_.will_run;
    const Op& op = operator_of(node, model_, registry_);
    const bool is_plain = doer == index && front_kernel == nullptr && as_front == nullptr;
    if (const PreparedNode* like = is_plain ? find_like(setup, tensors, constants) : nullptr) {
      prepared.kernel = like->kernel;
      for (const auto& [k, type] : like->absorbed) setup.absorb(k);
    } else if (front_kernel != nullptr) {
      prepared.kernel = op.prepare_after(setup, std::move(front_kernel), front.inputs.size());
    } else {
      auto made = doer == index ? op.prepare(setup) : op.prepare_as_gate(setup);
      if (as_front != nullptr)
        *as_front = std::move(made);
      else
        prepared.kernel = std::move(made);
    }
    for (size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k] == nullptr) continue;
      if (setup.absorbed(k))
        prepared.absorbed[k] = {tensors[k]->dtype(), tensors[k]->shape(), ops::Layout::kPlain};
      else if (prepared_.constants.count(node.inputs[k]) == 0)
        prepared_.constants[node.inputs[k]] = tensors[k]->aligned();
    }
  });
  for (size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k] != nullptr) constants.release(node.inputs[k]);
  return prepared;
}

/// Of the node that was prepared last, where it is the first that has its kernel.
void Compiler::note_packed(size_t index) {
  const PreparedNode& prepared = prepared_.nodes.back();
  if (gates_[index] != kNone || fronts_[index] != kNone || prepared.kernel.use_count() > 1) return;
  const auto fusion = fusions_.find(index);
  const auto clamp = fusion != fusions_.end() ? std::optional(fusion->second.clamp) : std::nullopt;
  for (const auto& [k, type] : prepared.absorbed)
    users_[held_by(prepared.inputs[k])].emplace_back(prepared_.nodes.size() - 1, clamp);
}

/// A node with subgraphs: outer values that those read are inputs of it, or constants of theirs.
void Compiler::add_control(size_t index, Constants& constants) {
  const Node& node = graph_.nodes()[index];
  PreparedNode prepared;
  prepared.index = index;
  prepared.place = place_of(node, index);
  prepared.inputs = node.inputs;
  prepared.outputs = node.outputs;
  const std::vector<const Tensor*> tensors = constants_of(node, constants);
  at_place(prepared.place, [&] {
    ControlSetup setup(node, prepared.place, model_, registry_, options_, tensors,
                       known_captures(model_, node, constants));
    prepared.control = checked_control_op(node, model_).prepare(setup);
    for (const std::string& name : setup.captured()) prepared.inputs.push_back(*graph_.find(name));
  });
  for (size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k] != nullptr) prepared_.constants.emplace(node.inputs[k], tensors[k]->aligned());
  for (const ValueId id : uses_.reads(index))
    if (constants.is_constant(id)) constants.release(id);
  prepared_.nodes.push_back(std::move(prepared));
}

/// An output that nobody reads is not made, so that, say, the mask of a Dropout costs nothing; nor is a node run of
/// which nothing is read, as those are that only the branch feeds which a constant condition never takes.
void Compiler::drop_unread() {
  std::vector<bool> read = wanted_;
  for (size_t k = prepared_.nodes.size(); k-- > 0;) {
    PreparedNode& node = prepared_.nodes[k];
    for (ValueId& id : node.outputs)
      if (id.valid() && !read[static_cast<size_t>(id.index)]) id = ValueId{};
    while (!node.outputs.empty() && !node.outputs.back().valid()) node.outputs.pop_back();
    if (node.outputs.empty()) continue;
    for (const ValueId id : node.inputs)
      if (id.valid()) read[static_cast<size_t>(id.index)] = true;
  }
  std::erase_if(prepared_.nodes, [](const PreparedNode& node) { return node.outputs.empty(); });
}

std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Port> ports;
  for (const ValueId id : ids) {
    const Value& value = graph.value(id);
    ports.push_back({id, value.name, value.dtype, value.shape});
  }
  return ports;
}

Plan planned(const PreparedGraph& graph, const std::vector<Port>& ports, std::span<const Shape> shapes) {
  std::vector<Source> sources;
  for (size_t k = 0; k < ports.size() && k < shapes.size(); ++k) {
    const DType dtype = ports[k].dtype == DType::kUndefined ? DType::kFloat32 : ports[k].dtype;
    sources.push_back({ports[k].value, {dtype, shapes[k], ops::Layout::kPlain}});
  }
  check_input_shapes(ports, shapes);
  return Plan(graph, 0, sources, {});
}

}  // namespace

ProgramOptions sizes_of_all(const Graph& graph) {
  ProgramOptions options;
  options.will_run = false;
  options.observed = graph.inputs;
  for (const Node& node : graph.nodes())
    for (const ValueId id : node.outputs)
      if (id.valid()) options.observed.push_back(id);
  return options;
}

std::shared_ptr<const Program> Program::compile(const Model& model, const ops::Registry& registry,
                                                const ProgramOptions& options) {
  if (options.part) {
    TERSOR_CHECK(options.observed.empty() && options.fetched.empty());
    ProgramOptions of_part = options;
    of_part.part.reset();
    return compile(cut_out(model, *options.part), registry, of_part);
  }
  std::shared_ptr<Program> program(new Program());
  program->inputs_ = ports_of(model.graph, model.graph.inputs);
  program->outputs_ = ports_of(model.graph, model.graph.outputs);
  program->graph_ = std::make_unique<const PreparedGraph>(Compiler(model, registry, options).compile());
  return program;
}

Program::~Program() = default;

int64_t Program::peak_bytes(std::span<const Shape> input_shapes) const {
  const Plan plan = planned(*graph_, inputs_, input_shapes);
  return plan.end == graph_->nodes.size() ? plan.bytes() : 0;
}

std::vector<std::optional<ops::TensorType>> Program::value_types(std::span<const Shape> input_shapes) const {
  const Plan plan = planned(*graph_, inputs_, input_shapes);
  std::vector<std::optional<ops::TensorType>> types(graph_->observed.size());
  const auto note = [&](ValueId id, const ops::TensorType& type) {
    if (id.valid()) types[static_cast<size_t>(id.index)] = type;
  };
  for (const auto& [id, operand] : plan.values) note(id, operand.type);
  for (const auto& [id, operand] : plan.observed_first) note(id, operand.type);
  for (const Step& step : plan.steps)
    for (const auto& [id, operand] : step.observed) note(id, operand.type);
  return types;
}

int64_t Program::macs(std::span<const Shape> input_shapes) const {
  const std::vector<int64_t> macs = macs_of_nodes(input_shapes);
  return std::accumulate(macs.begin(), macs.end(), int64_t{0});
}

std::vector<int64_t> Program::macs_of_nodes(std::span<const Shape> input_shapes) const {
  return planned(*graph_, inputs_, input_shapes).macs;
}

namespace {

/// Those inside the node's subgraphs.
void add_unsupported_inside(const Model& model, const ops::Registry& registry, size_t index, Constants& constants,
                            std::vector<Unsupported>& list) {
  const Node& node = model.graph.nodes()[index];
  checked_control_op(node, model);
  const auto known = known_captures(model, node, constants);
  for (const auto& [name, graph] : subgraphs_of(node))
    for (const Unsupported& one : unsupported(body_model(model, *graph, known), registry)) {
      const Error placed =
          inside(place_of(node, index) + "." + name, Error(ErrorCode::kUnsupportedModel, "", one.place));
      list.push_back({node.id, placed.place, one.reason, one.hint});
    }
}

}  // namespace

std::vector<Unsupported> unsupported(const Model& model, const ops::Registry& registry) {
  const Graph& graph = model.graph;
  Constants constants(model, Uses(graph), registry, std::vector<bool>(graph.nodes().size(), true),
                      ProgramOptions().memory_limit);
  std::vector<Unsupported> list;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    try {
      if (control_op(node) != nullptr) {
        add_unsupported_inside(model, registry, i, constants, list);
        continue;
      }
      const Op& op = operator_of(node, model, registry);
      Setup setup(node, model.opset(node.domain), constants_of(node, constants));
      setup.will_run = false;
      op.prepare(setup);
    } catch (const Error& error) {
      if (error.code == ErrorCode::kUnsupportedModel)
        list.push_back({node.id, place_of(node, i), error.message, error.hint});
    } catch (const std::bad_alloc&) {
      continue;  // not a matter of support: compile() says what it needs
    }
  }
  return list;
}

}  // namespace tersor::run
