// SPDX-License-Identifier: Apache-2.0
#include "core/tune/held_activations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/gradient/add_gradients.h"
#include "core/gradient/kernel.h"
#include "core/trainable/quantization_wrapper.h"
#include "core/tune/own_quantizer.h"

namespace tersor::tune {

using trainable::ActivationQuantizationHolder;
using trainable::Variable;
using trainable::VariableGroup;

namespace {

std::vector<Variable*> variables_of(ActivationQuantizationHolder& holder) {
  std::vector<Variable*> all = holder.get_trainable_variables(VariableGroup::WEIGHTS);
  const std::vector<Variable*> more = holder.get_trainable_variables(VariableGroup::QPARAMS);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Gives the holder's variables the state, and says whether it trains.
bool take_state(ActivationQuantizationHolder& holder, std::span<const float> state) {
  size_t at = 0;
  for (Variable* variable : variables_of(holder)) {
    std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(at), variable->value.size(), variable->value.begin());
    std::fill(variable->gradient.begin(), variable->gradient.end(), 0.0f);
    at += variable->value.size();
  }
  TERSOR_CHECK(at + 1 == state.size());
  return state.back() != 0;
}

void add_gradients(ActivationQuantizationHolder& holder, std::span<float> by_state) {
  size_t at = 0;
  for (const Variable* variable : variables_of(holder))
    for (const float one : variable->gradient) by_state[at++] += one;
}

/// Held: y by x and state.
class Held : public gradient::LikeInput {
 public:
  explicit Held(const HeldActivation& held) : LikeInput(0, Reads::kElements), held_(held) {}
  void run(const ops::Call& call) const override {
    held_.quantize(call.inputs[0].values<float>(), call.inputs[1].values<float>(), call.outputs[0].values<float>());
  }

 private:
  const HeldActivation& held_;
};

/// HeldGradient: by x and by the state, of x, dy and state.
class HeldGradient : public ops::Kernel {
 public:
  explicit HeldGradient(const HeldActivation& held) : held_(held) {}
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs[0].shape(), ops::Layout::kPlain},
            {DType::kFloat32, inputs[2].shape(), ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const bool by_x = call.outputs[0].present(), by_state = call.outputs.size() > 1 && call.outputs[1].present();
    const auto state = call.inputs[2].values<float>();
    std::vector<float> unread(by_state ? 0 : state.size());
    held_.differentiate(call.inputs[0].values<float>(), call.inputs[1].values<float>(), state,
                        by_x ? call.outputs[0].values<float>() : std::span<float>(),
                        by_state ? call.outputs[1].values<float>() : std::span<float>(unread));
  }

 private:
  const HeldActivation& held_;
};

}  // namespace

/// Holders that no thread uses now. A quantizer's variables are its own, so each thread has one.
struct HeldActivation::Holders {
  class Lent {
   public:
    explicit Lent(Holders& from) : from_(from), holder_(from.take()) {}
    ~Lent() {
      const std::lock_guard locked(from_.mutex_);
      from_.idle_.push_back(std::move(holder_));
    }
    ActivationQuantizationHolder& operator*() const { return *holder_; }
    ActivationQuantizationHolder* operator->() const { return holder_.get(); }

   private:
    Holders& from_;
    std::unique_ptr<ActivationQuantizationHolder> holder_;
  };

  Holders(const std::string& name, Make make) : make_(std::move(make)) { value_ = graph_.add_value(name); }

  std::unique_ptr<ActivationQuantizationHolder> take() {
    {
      const std::lock_guard locked(mutex_);
      if (!idle_.empty()) {
        auto holder = std::move(idle_.back());
        idle_.pop_back();
        return holder;
      }
    }
    auto holder = std::make_unique<ActivationQuantizationHolder>(graph_, value_, make_());
    holder->initialize_quantization({}, {});
    return holder;
  }

 private:
  Make make_;
  Graph graph_;  // of the value alone
  ValueId value_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ActivationQuantizationHolder>> idle_;
};

HeldActivation::HeldActivation(std::string name, quant::QuantizationParams plan, Make make)
    : name_(std::move(name)), plan_(std::move(plan)), holders_(std::make_unique<Holders>(name_, std::move(make))) {
  const Holders::Lent holder(*holders_);
  class_name_ = holder->quantizer()->mark().class_name;
  if (variables_of(*holder).empty()) refuse("trains no variable", "Make one, or let train_ranges train the range.");
  params(start());
}

HeldActivation::~HeldActivation() = default;

void HeldActivation::refuse(const std::string& what, const std::string& hint) const {
  throw Error(ErrorCode::kInvalidConfig,
              "The trainable quantizer " + class_name_ + " of the activation \"" + name_ + "\" " + what + ".",
              "overrides.trainable_quantizer", hint);
}

std::vector<float> HeldActivation::start() const {
  const Holders::Lent holder(*holders_);
  std::vector<float> state;
  for (const Variable* variable : variables_of(*holder))
    state.insert(state.end(), variable->value.begin(), variable->value.end());
  state.push_back(1);
  return state;
}

quant::QuantizationParams HeldActivation::params(std::span<const float> state) const {
  const Holders::Lent holder(*holders_);
  take_state(*holder, state);
  const auto inferable = holder->quantizer()->convert2inferable();
  auto params = inferable ? inferable->params(0) : std::nullopt;
  if (!params || params->scale.size() != 1)
    refuse("becomes a quantizer of inference that has not one range of even steps", "Return one of the plan's method.");
  // The platform may store codes at another offset: signed ones as unsigned ones with a zero point in the middle.
  const quant::IntegerGrid &found = params->grid, &stored = plan_.grid;
  const int32_t offset = stored.q_max() - found.q_max();
  params->zero_point[0] += offset;
  const bool is_uniform = plan_.method == quant::QuantizationMethod::kUniform;
  if (found.q_min() + offset < stored.q_min() || (!is_uniform && params->zero_point[0] != plan_.zero_point[0]))
    refuse("becomes a quantizer of inference of codes from " + std::to_string(found.q_min()) + " to " +
               std::to_string(found.q_max()) + ", and the platform stores the activation by " +
               std::string(enum_word(plan_.method)) + " from " + std::to_string(stored.q_min() - plan_.zero_point[0]) +
               " to " + std::to_string(stored.q_max() - plan_.zero_point[0]),
           "Return one of the method, the bits and the sign of the quantizer's configuration.");
  if (!(params->scale[0] > 0) || !std::isfinite(params->scale[0]))
    refuse("has a step that is not a positive number", "Try a smaller learning rate.");
  return *params;
}

void HeldActivation::regularize(std::span<const float> state, double beta, double factor, std::span<float> by) const {
  const Holders::Lent holder(*holders_);
  take_state(*holder, state);
  holder->regularize(beta, factor);
  add_gradients(*holder, by);
}

void HeldActivation::quantize(std::span<const float> x, std::span<const float> state, std::span<float> y) const {
  const Holders::Lent holder(*holders_);
  const bool trains = take_state(*holder, state);
  holder->call(x, y, trains);
}

void HeldActivation::differentiate(std::span<const float> x, std::span<const float> by_y, std::span<const float> state,
                                   std::span<float> by_x, std::span<float> by_state) const {
  const Holders::Lent holder(*holders_);
  take_state(*holder, state);
  holder->gradient(x, by_y, by_x);
  std::fill(by_state.begin(), by_state.end(), 0.0f);
  add_gradients(*holder, by_state);
}

HeldActivations::HeldActivations(const Graph& graph, const ptq::QuantizationPlan& plan,
                                 const std::map<ValueId, std::string>& own,
                                 const trainable::TrainableQuantizers* classes)
    : operators_(gradient::operators()) {
  for (const auto& [value, class_name] : own) {
    const ptq::ActivationPlan* found = plan.find(value);
    const char* why = found == nullptr                  ? "is not quantized"
                      : found->table                    ? "is stored by a table"
                      : found->is_fixed                 ? "has a range that stands"
                      : found->params.scale.size() != 1 ? "has a range for each channel"
                                                        : nullptr;
    if (why != nullptr)
      throw Error(ErrorCode::kInvalidConfig,
                  "The activation \"" + graph.name_of(value) + "\", which " + class_name + " is to train, " + why + ".",
                  "overrides.trainable_quantizer", "Name an operator whose output is quantized with one range.");
    if (!by_group_.emplace(found->tensor.group, held_.size()).second) continue;
    const auto made = own_class(classes, class_name, "overrides.trainable_quantizer");
    const auto config = trainable::activation_config_of(found->params, std::numeric_limits<double>::min());
    held_.emplace_back(graph.name_of(value), found->params, [made, config] { return made.make(config, false); });
  }
  if (held_.empty()) return;
  const auto record = [this](std::string_view type, auto make) {
    records_.push_back({.domain = gradient::kGradientDomain, .type = type, .prepare = [this, make](ops::Setup& setup) {
                          return make(held_.at(static_cast<size_t>(setup.node.int_or("index", 0))));
                        }});
  };
  using Made = std::unique_ptr<const ops::Kernel>;
  record("Held", [](const HeldActivation& held) { return Made(std::make_unique<Held>(held)); });
  record("HeldGradient", [](const HeldActivation& held) { return Made(std::make_unique<HeldGradient>(held)); });
  const std::vector<const ops::Op*> more = {&records_[0], &records_[1]};
  operators_ = gradient::operators().with(more);
}

std::optional<size_t> HeldActivations::index_of(size_t group) const {
  const auto found = by_group_.find(group);
  return found == by_group_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tersor::tune
