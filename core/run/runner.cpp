// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

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

/// A plan tied to memory: the arena is fixed once bound, the sources may change with each run.
class Frame {
 public:
  explicit Frame(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  const Plan& plan() const { return *plan_; }

  void bind(std::span<std::byte> arena) {
    arena_ = arena.data();
    sources_used_.clear();
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
        return arena_ + plan_->buffers[operand.place.index].offset;
      case Place::Kind::kConstant:
        return plan_->constants[operand.place.index].bytes().data();
      case Place::Kind::kSource:
        return sources_[operand.place.index];
      case Place::Kind::kNone:
        break;
    }
    return nullptr;
  }

  void run(Observer* observer) const {
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
    Tensor tensor = Tensor::make(operand.type.dtype, operand.type.shape);
    if (tensor.elements() == 0) return tensor;
    if (operand.type.layout == Layout::kPlain)
      std::memcpy(tensor.mutable_bytes().data(), data(operand), tensor.bytes().size());
    else
      ops::convert_layout(operand.type, data(operand), Layout::kPlain, tensor.mutable_bytes().data());
    return tensor;
  }

 private:
  struct SourceUse {
    size_t step, input, source;
  };

  std::byte* arena_at(const Place& place) const { return arena_ + plan_->buffers[place.index].offset; }

  void bind_step(size_t s) {
    const Step& step = plan_->steps[s];
    BoundStep& bound = bound_[s];
    for (const Operand& operand : step.inputs) {
      const bool late = operand.place.kind == Place::Kind::kSource;
      if (late) sources_used_.push_back({s, bound.inputs.size(), operand.place.index});
      bound.inputs.push_back(operand.absent ? Input{} : Input{&operand.type, late ? nullptr : data(operand)});
    }
    for (const Operand& operand : step.outputs)
      bound.outputs.push_back(operand.absent ? Output{} : Output{&operand.type, arena_at(operand.place)});
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
};

/// Never empty, so that even a tensor without elements has an address.
Tensor make_arena(int64_t bytes) {
  return Tensor::make(DType::kUint8, Shape{std::max<int64_t>(64, bytes)});
}

/// Plans what follows `frame` with the values that are there now.
Frame continuation(const PreparedGraph& graph, const Frame& frame, std::vector<const std::byte*>& pointers) {
  const Plan& plan = frame.plan();
  const PreparedNode& next = graph.nodes[plan.end];
  std::map<ValueId, Tensor> known;
  std::vector<Source> sources;
  for (const size_t k : next.kernel->value_inputs())
    if (k < next.inputs.size() && next.inputs[k].valid())
      if (const auto it = plan.values.find(next.inputs[k]); it != plan.values.end())
        known[it->first] = frame.fetch(it->second);
  for (const auto& [id, operand] : plan.values) {
    if (known.count(id) != 0) continue;
    if (operand.place.kind == Place::Kind::kConstant && operand.type.layout == Layout::kPlain) {
      known[id] = plan.constants[operand.place.index].reshaped(operand.type.shape);
      continue;
    }
    sources.push_back({id, operand.type});
    pointers.push_back(frame.data(operand));
  }
  return Frame(std::make_unique<const Plan>(graph, plan.end, sources, known));
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

  Frame& frame_for(const PreparedGraph& graph, const std::vector<Tensor>& inputs);
};

Frame& Runner::State::frame_for(const PreparedGraph& graph, const std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) types.push_back({input.dtype(), input.shape(), Layout::kPlain});
  auto found = std::find_if(plans.begin(), plans.end(), [&](const auto& planned) { return planned->inputs == types; });
  if (found == plans.end()) {
    std::vector<Source> sources;
    for (size_t k = 0; k < types.size(); ++k) sources.push_back({graph.inputs[k], types[k]});
    auto plan = std::make_unique<const Plan>(graph, 0, sources, std::map<ValueId, Tensor>{});
    if (plans.size() == kMostPlans) {
      if (bound == &plans.front()->frame) bound = nullptr;
      plans.erase(plans.begin());
    }
    plans.push_back(std::make_unique<Planned>(Planned{std::move(types), Frame(std::move(plan))}));
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
    : program_(std::move(program)), state_(std::make_unique<State>()) {}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

std::vector<Tensor> Runner::run(std::span<const Tensor> inputs, Observer* observer) {
  const PreparedGraph& graph = *program_->graph_;
  check_inputs(program_->inputs(), inputs);
  std::vector<Tensor> given;  // keeps aligned copies alive
  std::vector<const std::byte*> pointers;
  for (const Tensor& input : inputs) {
    given.push_back(input.aligned());
    pointers.push_back(given.back().bytes().data());
  }
  Frame& first = state_->frame_for(graph, given);
  first.set_sources(std::move(pointers));
  first.run(observer);

  std::vector<std::unique_ptr<Frame>> later;
  std::vector<Tensor> arenas;
  const Frame* last = &first;
  while (last->plan().end < graph.nodes.size()) {
    std::vector<const std::byte*> sources;
    later.push_back(std::make_unique<Frame>(continuation(graph, *last, sources)));
    Frame& frame = *later.back();
    arenas.push_back(make_arena(frame.plan().arena_bytes));
    frame.bind(arenas.back().mutable_bytes());
    frame.set_sources(std::move(sources));
    frame.run(observer);
    last = &frame;
  }
  std::vector<Tensor> results;
  for (const ValueId id : graph.results) {
    const auto it = last->plan().values.find(id);
    TERSOR_CHECK(it != last->plan().values.end());
    results.push_back(last->fetch(it->second));
  }
  return results;
}

}  // namespace tersor::run
