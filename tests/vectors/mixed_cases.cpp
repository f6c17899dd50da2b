// SPDX-License-Identifier: Apache-2.0
// Numbered cases of mixed precision: resources, sensitivities, the choice of candidates within budgets.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/mixed/bit_operations.h"
#include "core/mixed/choose_bits.h"
#include "core/mixed/distance.h"
#include "core/mixed/linear_problem.h"
#include "core/mixed/memory.h"
#include "core/mixed/refine_choice.h"
#include "core/mixed/sensitivity.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

using namespace mixed;
using namespace config;

namespace {

using Choice = std::vector<size_t>;

std::vector<std::vector<double>> by_node(const Json& object) {
  std::vector<std::vector<double>> nodes;
  for (const auto& entry : object.items()) nodes.push_back(numbers(entry.value()));
  return nodes;
}

/// {"n1": 0, "n2": 1}, or null where nothing fits, as numbers: none.
std::vector<double> choice_of(const Json& object) {
  std::vector<double> choice;
  for (const auto& entry : object.items()) choice.push_back(number(entry.value()));
  return choice;
}

std::vector<double> chosen(const BitProblem& problem) {
  try {
    const Choice choice = choose_bits(problem).candidates;
    return {choice.begin(), choice.end()};
  } catch (const Error& error) {
    if (error.code != ErrorCode::kInvalidConfig) throw;
    return {};
  }
}

Verdict one_budget(const Case& one) {
  const auto sensitivities = by_node(one.input["sensitivity"]), takes = by_node(one.input["utilization"]);
  Verdict found;
  for (size_t k = 0; k < one.input["constraints"].size(); ++k) {
    BitProblem problem{{{"weights_memory", number(one.input["constraints"][k])}}, {}};
    for (size_t n = 0; n < takes.size(); ++n) {
      auto& candidates = problem.nodes.emplace_back();
      for (size_t c = 0; c < takes[n].size(); ++c) candidates.push_back({sensitivities[n][c], {takes[n][c]}});
    }
    found = both(found, compared(choice_of(one.output["choice"][k]), chosen(problem), one.tolerance));
  }
  return found;
}

Verdict several_budgets(const Case& one) {
  const auto sensitivities = by_node(one.input["sensitivity"]);
  const Json& cuts = one.input["utilization_rows_are_cuts"];
  Verdict found;
  for (size_t k = 0; k < one.input["constraints"].size(); ++k) {
    BitProblem problem;
    for (const double limit : numbers(one.input["constraints"][k]))
      problem.budgets.push_back({"activation_memory", limit});
    size_t column = 0;
    for (const auto& node : sensitivities) {
      auto& candidates = problem.nodes.emplace_back();
      for (const double sensitivity : node) {
        std::vector<double> takes;
        for (const Json& cut : cuts) takes.push_back(number(cut[column]));
        candidates.push_back({sensitivity, takes});
        ++column;
      }
    }
    found = both(found, compared(choice_of(one.output["choice"][k]), chosen(problem), one.tolerance));
  }
  return found;
}

/// A model of weights alone: by node the number of weights, and the bits of each candidate.
struct WeightsModel {
  std::vector<int64_t> elements;
  std::vector<std::vector<int>> bits;

  double bytes(const Choice& choice) const {
    std::vector<QuantizedTensor> weights;
    for (size_t n = 0; n < choice.size(); ++n) weights.push_back({elements[n], bits[n][choice[n]]});
    return weights_memory(weights);
  }
  Choice minimal() const {
    Choice choice;
    for (const auto& node : bits)
      choice.push_back(static_cast<size_t>(std::min_element(node.begin(), node.end()) - node.begin()));
    return choice;
  }
  BitProblem problem(const std::vector<std::vector<double>>& sensitivities, double budget) const {
    return linear_problem(sensitivities, {{"weights_memory", budget}}, minimal(),
                          [&](const Choice& choice) { return std::vector{bytes(choice)}; });
  }
};

Verdict relative_memory(const Case& one) {
  WeightsModel model;
  std::vector<std::vector<double>> sensitivities;
  for (const auto& entry : one.input.items()) {
    model.elements.push_back(entry.value()["params"].get<int64_t>());
    model.bits.push_back(entry.value()["bits"].get<std::vector<int>>());
    sensitivities.emplace_back(model.bits.back().size(), 0.0);
  }
  const BitProblem problem = model.problem(sensitivities, HUGE_VAL);
  std::vector<double> relative;
  for (const auto& node : problem.nodes)
    for (const BitCandidate& candidate : node) relative.push_back(candidate.takes[0]);
  return both(compared({number(one.output["min_bytes"])}, {problem.budgets[0].base}, one.tolerance),
              compared(numbers(one.output["relative_to_min"]), relative, one.tolerance));
}

/// The model of V49, which the case does not repeat.
const WeightsModel kTwoNodes{{42, 142}, {{4, 8, 2}, {12, 4, 8}}};

/// Chosen and refined.
std::vector<double> refined(const std::vector<std::vector<double>>& sensitivities, double budget) {
  const std::vector<double> first = chosen(kTwoNodes.problem(sensitivities, budget));
  if (first.empty()) return {};
  std::vector<std::vector<RefinedCandidate>> nodes(2);
  for (size_t n = 0; n < nodes.size(); ++n)
    for (size_t c = 0; c < sensitivities[n].size(); ++c)
      nodes[n].push_back({sensitivities[n][c], kTwoNodes.bits[n][c], 8});
  ResourceUtilization target;
  target.weights_memory = budget;
  const Choice choice = refine_choice(nodes, Choice(first.begin(), first.end()), target, [&](const Choice& tried) {
    ResourceUtilization taken;
    taken.weights_memory = kTwoNodes.bytes(tried);
    return taken;
  });
  return {choice.begin(), choice.end()};
}

Verdict whole_choice(const Case& one) {
  const auto a = by_node(one.input["sensitivity_A"]), b = by_node(one.input["sensitivity_B"]);
  Verdict found;
  for (const auto& [name, sensitivities, budget] : {std::tuple("A", a, "budget_A"),
                                                    {"B", b, "budget_B"},
                                                    {"at_min", a, "budget_min"},
                                                    {"infeasible", a, "budget_infeasible"}})
    found = both(
        found, compared(choice_of(one.output[name]), refined(sensitivities, number(one.input[budget])), one.tolerance));
  return found;
}

/// The sizes of the cuts stand in the text: "... in bits [48,288,...]".
Verdict cut_memory(const Case& one) {
  const std::string text = one.input["tensor_elements_and_bits"];
  std::vector<double> bytes;
  std::vector<std::vector<QuantizedTensor>> cuts;
  for (const double bits : numbers(Json::parse(text.substr(text.find('['))))) {
    cuts.push_back({{static_cast<int64_t>(bits), 1}});
    bytes.push_back(activation_memory(std::span(&cuts.back(), 1)));
  }
  return both(compared(numbers(one.output["bytes"]), bytes, one.tolerance),
              compared({number(one.output["activation_memory"])}, {activation_memory(cuts)}, one.tolerance));
}

Verdict operations(const Case& one) {
  const Json &conv = one.input["conv"], &linear = one.input["linear"];
  const int64_t conv_count =
      conv_macs(conv["kernel"].get<std::vector<int64_t>>(), conv["out_hw"].get<std::vector<int64_t>>());
  const int64_t linear_count = linear_macs(linear["out_features"].get<int64_t>() * linear["rows"].get<int64_t>(),
                                           linear["in_features"].get<int64_t>());
  const auto bops = [](const Json& node, int64_t macs) {
    return bit_operations(macs, node["act_bits"].get<int>(), node["w_bits"].get<int>());
  };
  std::vector<double> expected;
  for (const char* name : {"conv_macs", "conv_bops", "linear_macs", "linear_bops"})
    expected.push_back(number(one.output[name]));
  return compared(expected,
                  {static_cast<double>(conv_count), bops(conv, conv_count), static_cast<double>(linear_count),
                   bops(linear, linear_count)},
                  one.tolerance);
}

Verdict distances(const Case& one) {
  const auto x = numbers(one.input["x"]), y = numbers(one.input["y"]), p = numbers(one.input["p"]),
             q = numbers(one.input["q"]);
  std::vector<double> opposite, expected;
  for (const double value : x) opposite.push_back(-value);
  for (const char* name : {"normalized_mse", "cs_distance", "cs_distance_opposite", "kl"})
    expected.push_back(number(one.output[name]));
  const Verdict found = compared(expected,
                                 {normalized_mse(x, y), mixed::cosine_distance(x, y),
                                  mixed::cosine_distance(x, opposite), kl_divergence(p, q, p.size())},
                                 one.tolerance);
  // On purpose: two tensors of zeros are alike.
  const std::vector<double> zeros(3, 0.0);
  return both(found, compared({0}, {mixed::cosine_distance(zeros, zeros)}, one.tolerance,
                              "[Q22] of two tensors of zeros the reference says " +
                                  text_of(numbers(one.output["cs_distance_both_zero_mct"]))));
}

Verdict weighting(const Case& one) {
  MixedPrecisionQuantizationConfig config;
  config.exp_distance_weighting_sigma = number(one.input["sigma"]);
  std::vector<double> expected, got;
  for (const auto& [word, value] : one.output.items()) {
    config.distance_weighting_method = enum_from_word<MpDistanceWeighting>(word, one.id);
    expected.push_back(number(value));
    got.push_back(weighted_distance(numbers(one.input["mean_distances"]), numbers(one.input["hessians"]), config));
  }
  return compared(expected, got, one.tolerance);
}

Verdict cleaned(const Case& one) {
  Verdict found;
  for (const auto& [name, normalization] :
       {std::pair("NONE", MpMetricNormalization::kNone), {"MAXBIT_then_clean", MpMetricNormalization::kMaxBit}}) {
    MixedPrecisionQuantizationConfig config;
    config.metric_normalization = normalization;
    config.metric_epsilon = number(one.input["eps"]);
    std::vector<NodeSensitivity> nodes{{numbers(one.input["raw"]), one.input["max_candidate_index"].get<size_t>(), 2}};
    clean_up(nodes, config);
    found = both(found, compared(numbers(one.output[name]), nodes[0].candidates, one.tolerance));
  }
  return found;
}

using Rule = Verdict (*)(const Case&);
const std::map<std::string, Rule> kRules = {{"V47", one_budget},   {"V48", several_budgets}, {"V49", relative_memory},
                                            {"V50", whole_choice}, {"V51", cut_memory},      {"V52", operations},
                                            {"V54", distances},    {"V55", weighting},       {"V56", cleaned}};

}  // namespace

std::optional<Verdict> judge_mixed(const Case& one) {
  if (!one.function.empty()) return std::nullopt;
  const auto rule = kRules.find(one.id);
  return rule == kRules.end() ? std::nullopt : std::optional(rule->second(one));
}

}  // namespace tersor::vectors
