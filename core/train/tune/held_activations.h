// SPDX-License-Identifier: Apache-2.0
// Activations that trainable quantizers named by overrides quantize, each by an ActivationQuantizationHolder in the
// student's graph: the node Held(x, state), whose gradient is HeldGradient(x, dy, state) by x and by the state. The
// state is the trainable variables' values one after another, then 1 where the step trains, or 0.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/decide/plan.h"
#include "core/graph/graph.h"
#include "core/ops/registry.h"
#include "core/trainable/base_trainable_quantizer.h"
#include "core/trainable/trainable_quantizers.h"

namespace tersor::tune {

/// One quantizer, for all activations of a group, which share their parameters.
class HeldActivation {
 public:
  using Make = std::function<std::unique_ptr<trainable::BaseTrainableQuantizer>()>;

  /// Error kInvalidConfig for one that has no variable to train, or begins at what the file cannot hold.
  HeldActivation(std::string name, quant::QuantizationParams plan, Make make);
  ~HeldActivation();

  /// The state at the beginning.
  std::vector<float> start() const;
  /// What the file has: the parameters of the quantizer of inference. Error kInvalidConfig where it cannot hold them.
  quant::QuantizationParams params(std::span<const float> state) const;
  /// Adds `factor` times the derivatives of the quantizer's regularizer to those by the state.
  void regularize(std::span<const float> state, double beta, double factor, std::span<float> by) const;

  void quantize(std::span<const float> x, std::span<const float> state, std::span<float> y) const;
  /// `by_x` may be empty.
  void differentiate(std::span<const float> x, std::span<const float> by_y, std::span<const float> state,
                     std::span<float> by_x, std::span<float> by_state) const;

 private:
  struct Holders;
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;
  std::string name_, class_name_;
  quant::QuantizationParams plan_;
  std::unique_ptr<Holders> holders_;  // for any number of threads
};

class HeldActivations {
 public:
  /// `own`: by value the name of the class, among `classes`. Error kInvalidConfig for a value that is not quantized
  /// with one range of its own, and errors of HeldActivation.
  HeldActivations(const Graph& graph, const ptq::QuantizationPlan& plan, const std::map<ValueId, std::string>& own,
                  const trainable::TrainableQuantizers* classes);
  HeldActivations(const HeldActivations&) = delete;
  HeldActivations& operator=(const HeldActivations&) = delete;

  /// That of the activations of this group, where they have one; the attribute `index` of its node.
  std::optional<size_t> index_of(size_t group) const;
  const HeldActivation& at(size_t index) const { return held_.at(index); }
  /// The operators of gradients, and the two of this file.
  const ops::Registry& operators() const { return operators_; }

 private:
  std::map<size_t, size_t> by_group_;
  std::deque<HeldActivation> held_;
  std::vector<ops::Op> records_;
  ops::Registry operators_;
};

}  // namespace tersor::tune
