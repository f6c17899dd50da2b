// SPDX-License-Identifier: Apache-2.0
#include "core/correct/bound_relus.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/choose/choose_activations.h"
#include "core/correct/move_statistics.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::ptq {

using passes::KernelOp;

namespace {

/// A Clip between two kernels: their places in the graph.
struct BoundedRelu {
  size_t producer = 0, clip = 0, consumer = 0;
  double bound = 0;
};

std::string tensor_factors_text(const std::map<std::string, double>& factors) {
  std::string text;
  for (const auto& [name, factor] : factors) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g ", factor);
    text += number + name + "\n";
  }
  return text;
}

class Binder {
 public:
  explicit Binder(CorrectedModel& model)
      : graph_(model.model.graph), uses_(graph_), placement_(model.placement), statistics_(model.statistics) {}

  Rewrite bind(const std::vector<ActivationPlan>& plans) {
    std::map<std::string, double> factors;  // by tensor name: what the tensor is multiplied by
    std::vector<std::string> said;
    bool any = false, of_powers = false;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto relu = bounded_relu_at(i);
      if (!relu) continue;
      any = true;
      const ValueId value = graph_.nodes()[i].outputs[0];
      const ActivationPlan* plan = find_plan(plans, value);
      if (plan == nullptr || plan->is_fixed || plan->params.method != quant::QuantizationMethod::kPowerOfTwo) continue;
      of_powers = true;
      const double target = quant::power_of_two_above(relu->bound);
      if (!(plan->params.range[0].high > relu->bound) || target == relu->bound) continue;
      rescale(*relu, target, factors);
      said.push_back(graph_.name_of(value) + " from " + number_text(relu->bound) + " to " + number_text(target));
    }
    const std::string reason = !any ? "no bounded Relu stands alone between two kernels."
                               : !of_powers
                                   ? "activations are not POWER_OF_TWO, so thresholds meet the bounds as they are."
                                   : "no threshold lies above its bound.";
    return {.field = "relu_unbound_correction",
            .places = static_cast<int64_t>(said.size()),
            .what = said.empty() ? "Nothing was changed: " + reason : "Bounds moved: " + first_few(said) + ".",
            .metadata = {kTensorFactors, tensor_factors_text(factors)}};
  }

 private:
  const KernelOp* kernel(size_t index) const {
    const NodeRole& role = placement_.roles[index];
    return role.has_kernel() && role.op ? &*role.op : nullptr;
  }

  std::optional<BoundedRelu> bounded_relu_at(size_t index) const {
    const Node& clip = graph_.nodes()[index];
    const auto bounds = clip.is("Clip") ? clamp_bounds(graph_, clip) : std::nullopt;
    if (!bounds || bounds->low != 0 || !(bounds->high > 0) || !std::isfinite(bounds->high) || clip.inputs.size() < 3)
      return std::nullopt;
    const auto producer = uses_.producer_index(clip.inputs[0]);
    const auto consumer = passes::sole_reader(graph_, uses_, clip.outputs[0]);
    if (!producer || !consumer || passes::sole_reader(graph_, uses_, clip.inputs[0]) != index) return std::nullopt;
    const bool kernels = kernel(*producer) != nullptr && kernel(*consumer) != nullptr;
    // A product without a bias is as good: nothing but W is scaled.
    if (!kernels || graph_.nodes()[*consumer].inputs[0] != clip.outputs[0]) return std::nullopt;
    return BoundedRelu{*producer, index, *consumer, bounds->high};
  }

  void rescale(const BoundedRelu& relu, double target, std::map<std::string, double>& factors) {
    const double factor = target / relu.bound;
    Node& producer = graph_.nodes()[relu.producer];
    const KernelOp& op = *kernel(relu.producer);
    passes::scale_weight(graph_, op, factor);
    if (op.bias.valid()) {
      std::vector<double> bias = *passes::bias_values(graph_, op);
      for (double& one : bias) one *= factor;
      passes::set_bias(graph_, producer, op, bias);
    }
    passes::scale_weight(graph_, *kernel(relu.consumer), 1 / factor);
    Node& clip = graph_.nodes()[relu.clip];
    passes::set_constant(graph_, Uses(graph_), clip, 2, Tensor::scalar(static_cast<float>(target)),
                         graph_.name_of(clip.outputs[0]) + "_max");
    for (const ValueId value : {clip.inputs[0], clip.outputs[0]}) {
      const std::string& name = graph_.name_of(value);
      factors[name] = factor;
      if (calibrate::TensorStatistics* seen = find(statistics_, name)) *seen = moved(*seen, factor, 0);
    }
  }

  Graph& graph_;
  const Uses uses_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
};

}  // namespace

std::optional<Rewrite> bound_relus(CorrectedModel& model, const config::QuantizationConfig& config) {
  return Binder(model).bind(choose_activations(model, config));
}

std::map<std::string, double> read_tensor_factors(std::string_view text) {
  std::map<std::string, double> factors;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const double factor = std::strtod(std::string(line.substr(0, space)).c_str(), nullptr);
    if (factor > 0 && std::isfinite(factor)) factors[std::string(line.substr(space + 1))] = factor;
  }
  return factors;
}

}  // namespace tersor::ptq
