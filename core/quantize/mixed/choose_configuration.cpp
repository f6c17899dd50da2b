// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/choose_configuration.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/config/search_settings.h"
#include "core/mixed/choose_bits.h"
#include "core/mixed/linear_problem.h"
#include "core/mixed/refine_choice.h"
#include "core/mixed/sensitivity.h"

namespace tersor::mixed {

using config::MixedPrecisionQuantizationConfig;
using config::ResourceUtilization;

namespace {

class Chooser {
 public:
  Chooser(const UtilizationMeter& meter, const std::vector<Configurable>& operators,
          const config::QuantizationConfig& config)
      : meter_(meter),
        operators_(operators),
        mixed_(config::mixed_precision_of(config)),
        target_(config::target_of(config)) {}

  std::vector<OperatorBits> bits(const std::vector<size_t>& choice) const {
    std::vector<OperatorBits> all = meter_.base();
    for (size_t k = 0; k < choice.size(); ++k)
      for (const size_t node : operators_[k].nodes) {
        const OperatorBits& chosen = operators_[k].bits[choice[k]];
        all[node].weights = chosen.weights;
        // Inside a fused group an output has no bits of its own.
        if (chosen.activation != 0 && all[node].activation != 0) all[node].activation = chosen.activation;
      }
    return all;
  }

  ResourceUtilization utilization(const std::vector<size_t>& choice) const { return meter_.all(bits(choice)); }

  /// The choice, with what it costs in all and how far that may be from the least.
  BitChoice choose(const Sensitivities& sensitivities) const {
    std::vector<size_t> minimal;
    for (const Configurable& one : operators_) minimal.push_back(one.candidates.size() - 1);
    BitProblem problem = linear_problem(sensitivities, budgets(minimal), minimal, [&](const auto& choice) {
      std::vector<double> taken;
      for (const Budget& one : budgets(choice)) taken.push_back(one.base);
      return taken;
    });
    BitChoice found = choose_bits(problem);
    // Where weights and inputs of one operator are both chosen, bit operations are no sum.
    for (int round = 0; std::isfinite(target_.bops) && round < 50; ++round) {
      const double over = utilization(found.candidates).bops - target_.bops;
      if (over <= 0) break;
      problem.budgets.back().limit -= over;
      found = choose_bits(problem);
    }
    if (mixed_.refine_mp_solution) found.candidates = refined(sensitivities, std::move(found.candidates));
    return found;
  }

  std::vector<size_t> overwritten() const {
    const std::vector<int64_t>& given = *mixed_.configuration_overwrite;
    const char* place = "config.mixed_precision_config.configuration_overwrite";
    if (given.size() != operators_.size())
      throw Error(ErrorCode::kInvalidConfig,
                  "Found " + std::to_string(given.size()) + " candidates; the model has " +
                      std::to_string(operators_.size()) + " operators to configure.",
                  place, "Give one for each, in the order of the graph.");
    std::vector<size_t> choice;
    for (size_t k = 0; k < given.size(); ++k) {
      const size_t count = operators_[k].candidates.size();
      if (given[k] < 0 || given[k] >= static_cast<int64_t>(count))
        throw Error(ErrorCode::kInvalidConfig,
                    "Found " + std::to_string(given[k]) + " where one of " + std::to_string(count) +
                        " candidates is expected, counted from 0.",
                    std::string(place) + "[" + std::to_string(k) + "]");
      choice.push_back(static_cast<size_t>(given[k]));
    }
    return choice;
  }

 private:
  double in_float(const std::vector<size_t>& choice) const {
    double count = 0;
    for (size_t k = 0; k < choice.size(); ++k) count += operators_[k].bits[choice[k]].is_float() ? 1 : 0;
    return count;
  }

  double most_in_float() const { return static_cast<double>(mixed_.float_operators.value_or(0)); }

  /// Those that are restricted, with what the choice takes of each as their base.
  std::vector<Budget> budgets(const std::vector<size_t>& choice) const {
    const std::vector<OperatorBits> all = bits(choice);
    const double weights = meter_.weights_memory(all);
    const bool of_activations = std::isfinite(target_.activation_memory), of_both = std::isfinite(target_.total_memory);
    const std::vector<double> cuts = of_activations || of_both ? meter_.cuts(all) : std::vector<double>{};
    std::vector<Budget> list;
    if (std::isfinite(target_.weights_memory)) list.push_back({"weights_memory", target_.weights_memory, weights});
    if (of_activations)
      for (const double cut : cuts) list.push_back({"activation_memory", target_.activation_memory, cut});
    if (of_both)
      for (const double cut : cuts) list.push_back({"total_memory", target_.total_memory, weights + cut});
    list.push_back({"float_operators", most_in_float(), in_float(choice)});
    if (std::isfinite(target_.bops)) list.push_back({"bops", target_.bops, meter_.bops(all)});
    return list;
  }

  std::vector<size_t> refined(const Sensitivities& sensitivities, std::vector<size_t> choice) const {
    std::vector<std::vector<RefinedCandidate>> nodes;
    for (size_t k = 0; k < operators_.size(); ++k) {
      auto& candidates = nodes.emplace_back();
      for (size_t c = 0; c < operators_[k].bits.size(); ++c)
        candidates.push_back({sensitivities[k][c], operators_[k].bits[c].weights, operators_[k].bits[c].activation});
    }
    return refine_choice(nodes, std::move(choice), target_, [&](const std::vector<size_t>& one) {
      ResourceUtilization taken = utilization(one);
      if (in_float(one) > most_in_float()) taken.weights_memory = std::numeric_limits<double>::infinity();
      return taken;
    });
  }

  const UtilizationMeter& meter_;
  const std::vector<Configurable>& operators_;
  const MixedPrecisionQuantizationConfig mixed_;
  const ResourceUtilization target_;
};

calibrate::TakenResources taken(const ResourceUtilization& one) {
  return {one.weights_memory, one.activation_memory, one.total_memory, one.bops};
}

}  // namespace

calibrate::BitConfiguration choose_configuration(const Graph& graph, const framework::Attachment& attachment,
                                                 const UtilizationMeter& meter,
                                                 const std::vector<Configurable>& operators,
                                                 const Sensitivities& measured,
                                                 const config::QuantizationConfig& config) {
  const Chooser chooser(meter, operators, config);
  const MixedPrecisionQuantizationConfig mixed = config::mixed_precision_of(config);
  std::vector<NodeSensitivity> nodes;
  for (const std::vector<double>& one : measured) nodes.push_back({one, 0, one.size() - 1});
  clean_up(nodes, mixed);
  Sensitivities sensitivities;
  for (NodeSensitivity& one : nodes) sensitivities.push_back(std::move(one.candidates));
  BitChoice choice;
  if (mixed.configuration_overwrite)
    choice.candidates = chooser.overwritten();
  else
    choice = chooser.choose(sensitivities);
  calibrate::BitConfiguration found;
  for (size_t k = 0; k < operators.size(); ++k) {
    const Configurable& one = operators[k];
    const Node& node = *graph.find(attachment.nodes[one.nodes[0]].node);
    calibrate::SearchedOperator row{
        graph.label_of(node), node.op_type, {}, {}, static_cast<int64_t>(choice.candidates[k])};
    for (size_t n = 1; n < one.nodes.size(); ++n)
      row.shared_with.push_back(graph.label_of(*graph.find(attachment.nodes[one.nodes[n]].node)));
    for (size_t c = 0; c < one.candidates.size(); ++c)
      row.candidates.push_back(
          {static_cast<int64_t>(one.candidates[c]), one.bits[c].weights, one.bits[c].activation, measured[k][c]});
    found.sensitivity += sensitivities[k][choice.candidates[k]];
    found.operators.push_back(std::move(row));
  }
  found.gap = choice.gap;
  std::vector<size_t> fewest, most;
  for (const Configurable& one : operators) fewest.push_back(one.candidates.size() - 1), most.push_back(0);
  found.taken = taken(chooser.utilization(choice.candidates));
  found.least = taken(chooser.utilization(fewest));
  found.most = taken(chooser.utilization(most));
  return found;
}

}  // namespace tersor::mixed
