// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/run/control.h"
#include "core/run/plan.h"
#include "core/run/ports.h"
#include "core/run/program.h"

namespace tersor::run {

using ops::Input;
using ops::Layout;
using ops::Output;
using ops::TensorType;

namespace {

/// A step with its pointers.
struct BoundStep {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::span<std::byte> scratch;
};

/// A plan tied to memory: the arena is fixed once bound, sources and results change with each run.
class Frame {
 public:
  explicit Frame(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  const Plan& plan() const { return *plan_; }

  void bind(std::span<std::byte> arena) {
    arena_ = arena.data();
    sources_used_.clear();
    apart_.clear();
    for (const auto& [buffer, type] : plan_->apart) apart_[buffer].type = &type;
    bound_.assign(plan_->steps.size(), {});
    for (size_t s = 0; s < bound_.size(); ++s) bind_step(s);
  }

  void set_sources(std::vector<const std::byte*> sources) {
    sources_ = std::move(sources);
    for (const SourceUse& use : sources_used_) bound_[use.step].inputs[use.input].data = sources_[use.source];
  }

  const std::byte* data(const Operand& operand) const {
    switch (operand.place.kind) {
      case Place::Kind::kArena:
        return arena_at(operand.place);
      case Place::Kind::kConstant:
        return plan_->constants[operand.place.index].bytes().data();
      case Place::Kind::kSource:
        return sources_[operand.place.index];
      case Place::Kind::kNone:
        break;
    }
    return nullptr;
  }

  void run(Observer* observer) {
    make_apart();
    show(plan_->observed_first, observer);
    for (size_t s = 0; s < bound_.size(); ++s) {
      const Step& step = plan_->steps[s];
      const BoundStep& bound = bound_[s];
      if (step.converts)
        ops::convert_layout(*bound.inputs[0].type, bound.inputs[0].data, bound.outputs[0].type->layout,
                            bound.outputs[0].data);
      else
        at_place(step.node->place, [&] { step.node->kernel->run({bound.inputs, bound.outputs, bound.scratch}); });
      if (observer == nullptr) continue;
      observer->step_done(step.node->index);
      show(step.observed, observer);
    }
  }

  /// The value as a plain tensor of its own.
  Tensor fetch(const Operand& operand) const {
    if (operand.type.layout == Layout::kPlain) return fetch_laid(operand).tensor;
    Tensor tensor = Tensor::make_unset(operand.type.dtype, operand.type.shape);
    if (!tensor.bytes().empty())
      ops::convert_layout(operand.type, data(operand), Layout::kPlain, tensor.mutable_bytes().data());
    return tensor;
  }

  LaidTensor fetch_laid(const Operand& operand) const {
    if (operand.type.dtype == DType::kString)
      throw Error(ErrorCode::kUnsupportedModel, "It reads or gives strings, which are not run here.");
    LaidTensor laid{Tensor::make_unset(operand.type.dtype, Shape(ops::physical_dims(operand.type))),
                    operand.type.layout};
    const auto to = laid.tensor.mutable_bytes();
    if (!to.empty()) std::memcpy(to.data(), data(operand), to.size());
    return laid;
  }

  /// The same of a result once the run is done: not copied where it lies apart.
  LaidTensor give(const Operand& operand, bool plain) {
    if (plain && operand.type.layout != Layout::kPlain) return {fetch(operand)};
    Apart* const apart = apart_at(operand.place);
    if (apart == nullptr || apart->tensor.empty() || *apart->type != operand.type) return fetch_laid(operand);
    return {std::exchange(apart->tensor, {}), operand.type.layout};
  }

 private:
  struct SourceUse {
    size_t step, input, source;
  };
  /// A buffer that is new in each run, and the steps that read it or write it.
  struct Apart {
    const TensorType* type = nullptr;
    Tensor tensor;
    std::byte* bytes = nullptr;
    std::vector<std::pair<size_t, size_t>> inputs, outputs;
  };

  /// Null where the place is none of those.
  Apart* apart_at(const Place& place) {
    const auto found = place.kind == Place::Kind::kArena ? apart_.find(place.index) : apart_.end();
    return found == apart_.end() ? nullptr : &found->second;
  }

  std::byte* arena_at(const Place& place) const {
    const Buffer& buffer = plan_->buffers[place.index];
    return buffer.apart ? apart_.at(place.index).bytes : arena_ + buffer.offset;
  }

  void make_apart() {
    for (auto& [buffer, made] : apart_) {
      made.tensor = Tensor::make_unset(made.type->dtype, Shape(ops::physical_dims(*made.type)));
      made.bytes = made.tensor.mutable_bytes().data();
      for (const auto& [step, input] : made.inputs) bound_[step].inputs[input].data = made.bytes;
      for (const auto& [step, output] : made.outputs) bound_[step].outputs[output].data = made.bytes;
    }
  }

  void bind_step(size_t s) {
    const Step& step = plan_->steps[s];
    BoundStep& bound = bound_[s];
    for (const Operand& operand : step.inputs) {
      if (Apart* const apart = apart_at(operand.place)) apart->inputs.emplace_back(s, bound.inputs.size());
      const bool late = operand.place.kind == Place::Kind::kSource;
      if (late) sources_used_.push_back({s, bound.inputs.size(), operand.place.index});
      bound.inputs.push_back(operand.absent ? Input{} : Input{&operand.type, late ? nullptr : data(operand)});
    }
    for (const Operand& operand : step.outputs) {
      if (Apart* const apart = apart_at(operand.place)) apart->outputs.emplace_back(s, bound.outputs.size());
      bound.outputs.push_back(operand.absent ? Output{} : Output{&operand.type, arena_at(operand.place)});
    }
    if (step.scratch_bytes > 0) bound.scratch = {arena_at(step.scratch), static_cast<size_t>(step.scratch_bytes)};
  }

  void show(const std::vector<std::pair<ValueId, Operand>>& list, Observer* observer) const {
    if (observer == nullptr) return;
    for (const auto& [value, operand] : list) {
      if (operand.type.dtype != DType::kFloat32) continue;
      const auto count = static_cast<size_t>(operand.type.shape.elements());
      const auto* first = reinterpret_cast<const float*>(data(operand));
      observer->observe({value, operand.type.shape, operand.type.layout, {first, count}});
    }
  }

  std::unique_ptr<const Plan> plan_;
  std::byte* arena_ = nullptr;
  std::vector<const std::byte*> sources_;
  std::vector<BoundStep> bound_;
  std::vector<SourceUse> sources_used_;
  std::map<size_t, Apart> apart_;  // by buffer
};

std::vector<LaidTensor> laid(std::span<const Tensor> plain) {
  std::vector<LaidTensor> tensors;
  for (const Tensor& tensor : plain) tensors.push_back({tensor});
  return tensors;
}

std::vector<Tensor> plain_of(std::vector<LaidTensor> laid) {
  std::vector<Tensor> tensors;
  for (LaidTensor& one : laid) tensors.push_back(std::move(one.tensor));
  return tensors;
}

/// Never empty, so that even a tensor without elements has an address.
Tensor make_arena(int64_t bytes) {
  return Tensor::make_unset(DType::kUint8, Shape{std::max<int64_t>(64, bytes)});
}

/// Values whose data decide the shapes of what `node` makes, and that are there now.
std::map<ValueId, Tensor> awaited_by(const PreparedNode& node, const Frame& frame,
                                     const std::map<ValueId, Tensor>& made) {
  std::map<ValueId, Tensor> known;
  if (node.control != nullptr) return known;
  const auto& values = frame.plan().values;
  for (const size_t k : node.kernel->value_inputs()) {
    if (k >= node.inputs.size() || !node.inputs[k].valid()) continue;
    const ValueId id = node.inputs[k];
    if (const auto it = made.find(id); it != made.end())
      known[id] = it->second;
    else if (const auto there = values.find(id); there != values.end())
      at_place(node.place, [&] { known[id] = frame.fetch(there->second); });
  }
  return known;
}

/// Plans the nodes from `begin` on, which follow `frame`, with the values that are there now; `made` are those that the
/// node before `begin` made.
Frame continuation(const PreparedGraph& graph, size_t begin, const Frame& frame, const std::map<ValueId, Tensor>& made,
                   std::vector<const std::byte*>& pointers) {
  const Plan& plan = frame.plan();
  std::map<ValueId, Tensor> known;
  if (begin < graph.nodes.size()) known = awaited_by(graph.nodes[begin], frame, made);
  std::vector<Source> sources;
  for (const auto& [id, tensor] : made) {
    if (known.count(id) != 0) continue;
    sources.push_back({id, {tensor.dtype(), tensor.shape(), Layout::kPlain}});
    pointers.push_back(tensor.bytes().data());
  }
  for (const auto& [id, operand] : plan.values) {
    if (known.count(id) != 0) continue;
    if (operand.place.kind == Place::Kind::kConstant && operand.type.layout == Layout::kPlain) {
      known[id] = plan.constants[operand.place.index].reshaped(operand.type.shape);
      continue;
    }
    sources.push_back({id, operand.type});
    pointers.push_back(frame.data(operand));
  }
  return Frame(std::make_unique<const Plan>(graph, begin, sources, known));
}

}  // namespace

struct Runner::State {
  struct Planned {
    std::vector<TensorType> inputs;
    Frame frame;
  };
  static constexpr size_t kMostPlans = 4;  // the full batch, the last smaller one, and some room

  std::vector<std::unique_ptr<Planned>> plans;  // the latest last
  const Frame* bound = nullptr;                 // the one tied to `arena`
  Tensor arena;
  std::map<const PreparedNode*, std::vector<Runner>> bodies;  // of nodes with subgraphs

  Frame& frame_for(const PreparedGraph& graph, const std::vector<TensorType>& types);
  std::map<ValueId, Tensor> run_control(const PreparedGraph& graph, const PreparedNode& node, const Frame& frame,
                                        Observer* observer, Steps& steps);
};

Frame& Runner::State::frame_for(const PreparedGraph& graph, const std::vector<TensorType>& types) {
  auto found = std::find_if(plans.begin(), plans.end(), [&](const auto& planned) { return planned->inputs == types; });
  if (found == plans.end()) {
    std::vector<Source> sources;
    for (size_t k = 0; k < types.size(); ++k) sources.push_back({graph.inputs[k], types[k]});
    auto plan = std::make_unique<const Plan>(graph, 0, sources, std::map<ValueId, Tensor>{});
    if (plans.size() == kMostPlans) {
      if (bound == &plans.front()->frame) bound = nullptr;
      plans.erase(plans.begin());
    }
    plans.push_back(std::make_unique<Planned>(Planned{types, Frame(std::move(plan))}));
    found = plans.end() - 1;
  }
  Frame& frame = (*found)->frame;
  if (bound != &frame) {
    bound = nullptr;
    if (arena.empty() || arena.elements() < frame.plan().arena_bytes) {
      arena = Tensor();
      arena = make_arena(frame.plan().arena_bytes);
    }
    frame.bind(arena.mutable_bytes());
    bound = &frame;
  }
  return frame;
}

Runner::Runner(std::shared_ptr<const Program> program)
    : program_(std::move(program)), state_(std::make_unique<State>()) {
  TERSOR_CHECK(program_->graph_->will_run);
}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

/// How many steps the loops of a run have taken.
struct Runner::Steps {
  int64_t taken = 0;
};

/// Lends one node the runners of its bodies.
class Runner::Bodies : public BodyRunner {
 public:
  Bodies(const PreparedNode& node, std::span<const Tensor> inputs, std::vector<Runner>& runners, Steps& steps,
         int64_t most_steps)
      : node_(node), inputs_(inputs), runners_(runners), steps_(steps), most_steps_(most_steps) {
    if (runners.empty())
      for (const Body& body : node.control->bodies()) runners.emplace_back(body.program);
  }

  std::vector<Tensor> run(size_t index, std::vector<Tensor> inputs) override {
    const Body& body = node_.control->bodies()[index];
    for (const size_t k : body.captured) inputs.push_back(inputs_[k]);
    try {
      return plain_of(runners_[index].run(laid(inputs), nullptr, steps_, Results::kPlain));
    } catch (const Error& error) {
      throw inside(body.place, error);
    }
  }

  void count_step() override {
    if (++steps_.taken > most_steps_)
      throw Error(ErrorCode::kUnsupportedModel,
                  "The loops of this model have taken " + std::to_string(most_steps_) + " steps and go on.", {},
                  "A loop whose condition never fails cannot be run.");
  }

 private:
  const PreparedNode& node_;
  std::span<const Tensor> inputs_;
  std::vector<Runner>& runners_;
  Steps& steps_;
  int64_t most_steps_;
};

/// Runs a node with subgraphs on the values that `frame` has made, and shows what it gives.
std::map<ValueId, Tensor> Runner::State::run_control(const PreparedGraph& graph, const PreparedNode& node,
                                                     const Frame& frame, Observer* observer, Steps& steps) {
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) {
    if (!id.valid())
      inputs.emplace_back();
    else if (const auto it = frame.plan().values.find(id); it != frame.plan().values.end())
      inputs.push_back(frame.fetch(it->second));
    else
      inputs.push_back(graph.constants.at(id));
  }
  Bodies lent(node, inputs, bodies[&node], steps, graph.loop_limit);
  const std::vector<Tensor> outputs = at_place(node.place, [&] { return node.control->run(inputs, lent); });
  std::map<ValueId, Tensor> made;
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (node.outputs[k].valid()) made[node.outputs[k]] = outputs[k].aligned();
  if (observer == nullptr) return made;
  observer->step_done(node.index);
  for (const auto& [id, tensor] : made)
    if (graph.observed[static_cast<size_t>(id.index)] && tensor.dtype() == DType::kFloat32)
      observer->observe({id, tensor.shape(), Layout::kPlain, tensor.data<float>()});
  return made;
}

TensorType LaidTensor::type() const {
  return {tensor.dtype(), ops::logical_shape(tensor.shape().dims(), layout), layout};
}

std::vector<Tensor> Runner::run(std::span<const Tensor> inputs, Observer* observer) {
  Steps steps;
  try {
    return plain_of(run(laid(inputs), observer, steps, Results::kPlain));
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidModel) throw;
    const std::string sizes = chosen_sizes(program_->inputs(), inputs);
    if (sizes.empty()) throw;
    throw Error(error.code, error.message + " " + sizes, error.place,
                "The model leaves sizes of its input open, and may not take these: give samples of another size "
                "(pictures by their preprocessing, often multiples of 32).");
  }
}

std::vector<LaidTensor> Runner::run_laid(std::span<const LaidTensor> inputs) {
  Steps steps;
  return run(inputs, nullptr, steps, Results::kAsTheyLie);
}

std::vector<LaidTensor> Runner::run(std::span<const LaidTensor> inputs, Observer* observer, Steps& steps,
                                    Results results) {
  const PreparedGraph& graph = *program_->graph_;
  std::vector<TensorType> types;
  std::vector<Tensor> aligned;
  std::vector<const std::byte*> pointers;
  for (const LaidTensor& input : inputs) {
    types.push_back(input.type());
    aligned.push_back(input.tensor.aligned());
    pointers.push_back(aligned.back().bytes().data());
  }
  check_inputs(program_->inputs(), types);
  Frame& first = state_->frame_for(graph, types);
  first.set_sources(std::move(pointers));
  first.run(observer);

  std::vector<std::unique_ptr<Frame>> later;
  std::vector<Tensor> arenas, kept;
  Frame* last = &first;
  while (last->plan().end < graph.nodes.size()) {
    size_t begin = last->plan().end;
    std::map<ValueId, Tensor> made;
    if (graph.nodes[begin].control != nullptr) {
      made = state_->run_control(graph, graph.nodes[begin], *last, observer, steps);
      for (const auto& [id, tensor] : made) kept.push_back(tensor);
      ++begin;
    }
    std::vector<const std::byte*> sources;
    later.push_back(std::make_unique<Frame>(continuation(graph, begin, *last, made, sources)));
    Frame& frame = *later.back();
    arenas.push_back(make_arena(frame.plan().arena_bytes));
    frame.bind(arenas.back().mutable_bytes());
    frame.set_sources(std::move(sources));
    frame.run(observer);
    last = &frame;
  }
  std::vector<LaidTensor> fetched;
  for (const ValueId id : graph.results) {
    const auto it = last->plan().values.find(id);
    TERSOR_CHECK(it != last->plan().values.end());
    at_place("graph.output", [&] { fetched.push_back(last->give(it->second, results == Results::kPlain)); });
  }
  return fetched;
}

}  // namespace tersor::run
