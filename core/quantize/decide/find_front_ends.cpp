// SPDX-License-Identifier: Apache-2.0
#include "core/decide/find_front_ends.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/decide/corrected_model.h"
#include "core/decide/possible_front_ends.h"
#include "core/graph/operators.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

constexpr double kOperandDecibels = 30;
constexpr double kTolerableDrop = 10;
constexpr double kStatisticShrinks =
    8;  // elements that a reduction takes together, at least, for its result to be a statistic

/// An operand of an operator that may magnify errors, and the function it goes through.
struct Sensitive {
  size_t node = 0;
  ValueId operand;
  std::function<double(double)> f;
  bool positive_only = false;
};

/// Of a Pow whose exponent is one constant.
std::optional<double> exponent_of(const Graph& graph, const Node& node) {
  const Tensor* exponent =
      node.is("Pow") && node.inputs.size() == 2 ? passes::float_constant(graph, node.inputs[1]) : nullptr;
  if (exponent == nullptr || exponent->elements() != 1) return std::nullopt;
  return passes::to_doubles(*exponent)[0];
}

std::optional<Sensitive> sensitive(const Graph& graph, size_t index) {
  const Node& node = graph.nodes()[index];
  if (node.inputs.empty() || node.outputs.empty()) return std::nullopt;
  const auto of = [&](size_t slot, std::function<double(double)> f, bool positive) -> std::optional<Sensitive> {
    if (slot >= node.inputs.size() || !node.inputs[slot].valid() || graph.initializer(node.inputs[slot]) != nullptr)
      return std::nullopt;
    return Sensitive{index, node.inputs[slot], std::move(f), positive};
  };
  if (node.is("Log"))
    return of(
        0, [](double x) { return std::log(x); }, true);
  if (node.is("Sqrt"))
    return of(
        0, [](double x) { return std::sqrt(x); }, true);
  if (node.is("Reciprocal"))
    return of(
        0, [](double x) { return 1 / x; }, false);
  if (node.is("Div"))
    return of(
        1, [](double x) { return 1 / x; }, false);
  if (const std::optional<double> power = exponent_of(graph, node))
    return of(
        0, [power = *power](double x) { return std::pow(x, power); }, *power != std::floor(*power));
  return std::nullopt;
}

bool reduces(const Node& node) {
  return has_trait(node, Trait::kReduces) || node.is("GlobalAveragePool");
}

/// The first reduction met going back from the value through operators that are no kernels.
std::optional<size_t> reduction_before(const Graph& graph, const Uses& uses, const std::vector<NodeRole>& roles,
                                       ValueId value) {
  std::vector<ValueId> open = {value};
  std::set<size_t> visited;
  for (size_t next = 0; next < open.size(); ++next) {
    const auto maker = uses.producer_index(open[next]);
    if (!maker || !visited.insert(*maker).second || roles[*maker].has_kernel()) continue;
    const Node& node = graph.nodes()[*maker];
    if (reduces(node)) return maker;
    for (const ValueId input : node.inputs)
      if (input.valid()) open.push_back(input);
  }
  return std::nullopt;
}

std::set<size_t> kernels_before(const Graph& graph, const Uses& uses, const std::vector<NodeRole>& roles,
                                ValueId value) {
  std::vector<ValueId> open = {value};
  std::set<size_t> visited, kernels;
  while (!open.empty()) {
    const auto maker = uses.producer_index(open.back());
    open.pop_back();
    if (!maker || !visited.insert(*maker).second) continue;
    if (roles[*maker].has_kernel()) kernels.insert(*maker);
    for (const ValueId input : graph.nodes()[*maker].inputs)
      if (input.valid()) open.push_back(input);
  }
  return kernels;
}

/// By how many dB the function lowers the SQNR of an operand of kOperandDecibels.
double drop(const quant::Histogram& histogram, const Sensitive& sensitive) {
  double power = 0, signal = 0, noise = 0;
  for (size_t i = 0; i < histogram.counts().size(); ++i)
    power += static_cast<double>(histogram.counts()[i]) * histogram.center(i) * histogram.center(i);
  const double error =
      std::sqrt(power / static_cast<double>(histogram.total())) * std::sqrt(std::pow(10.0, -kOperandDecibels / 10));
  const double least = histogram.min() > 0 ? histogram.min() : histogram.bin_width() / 2;
  for (size_t i = 0; i < histogram.counts().size(); ++i) {
    const double x = histogram.center(i), count = static_cast<double>(histogram.counts()[i]);
    if (count == 0 || (sensitive.positive_only && x <= 0)) continue;
    const auto apart = [&](double at) {
      const double side = x > 0 ? std::max(at, least) : std::min(at, -least);
      return sensitive.f(sensitive.positive_only || x > 0 ? std::max(side, least) : side);
    };
    const double exact = sensitive.f(x), up = apart(x + error) - exact, down = apart(x - error) - exact;
    signal += count * exact * exact;
    noise += count * (up * up + down * down) / 2;
  }
  if (!(noise > 0) || !(signal > 0) || !std::isfinite(noise)) return 0;
  return kOperandDecibels - 10 * std::log10(signal / noise);
}

bool is_positive(const Graph& graph, ValueId value) {
  const Tensor* constant = passes::float_constant(graph, value);
  if (constant == nullptr) return false;
  const std::vector<double> terms = passes::to_doubles(*constant);
  return std::all_of(terms.begin(), terms.end(), [](double term) { return term >= 0; });
}

/// A sum of squares without a quantizer after any of its parts; terms that keep it above 0 may be among them.
bool is_sum_of_squares(const Graph& graph, const Uses& uses, const Placement& placement, ValueId value) {
  std::vector<ValueId> open = {value};
  std::set<size_t> visited;
  for (size_t next = 0; next < open.size(); ++next) {
    if (is_positive(graph, open[next])) continue;
    const auto maker = uses.producer_index(open[next]);
    if (!maker || placement.find(open[next]) != nullptr) return false;
    if (!visited.insert(*maker).second) continue;
    const Node& node = graph.nodes()[*maker];
    const bool is_square = exponent_of(graph, node) == 2 || node.is("ReduceSumSquare") ||
                           (node.is("Mul") && node.inputs[0] == node.inputs[1]);
    if (is_square) continue;
    if (!node.is("Add") && !node.is("ReduceSum")) return false;
    open.insert(open.end(), node.inputs.begin(), node.inputs.begin() + (node.is("Add") ? 2 : 1));
  }
  return true;
}

/// A root that undoes squares: a length moves by no more than what it is the length of.
bool is_length(const Graph& graph, const Uses& uses, const Placement& placement, const Sensitive& sensitive) {
  const Node& node = graph.nodes()[sensitive.node];
  return (node.is("Sqrt") || exponent_of(graph, node) == 0.5) &&
         is_sum_of_squares(graph, uses, placement, sensitive.operand);
}

const calibrate::TensorStatistics* seen(const Graph& graph, const calibrate::Statistics& statistics, ValueId value) {
  const calibrate::TensorStatistics* found = statistics.find(graph.name_of(value));
  return found == nullptr || found->histogram.empty() ? nullptr : found;
}

bool is_statistic(const Graph& graph, const Uses& uses, const std::vector<NodeRole>& roles, ValueId operand,
                  const calibrate::Statistics& statistics) {
  const auto reduction = reduction_before(graph, uses, roles, operand);
  if (!reduction) return false;
  const Node& node = graph.nodes()[*reduction];
  const auto *from = seen(graph, statistics, node.inputs[0]), *to = seen(graph, statistics, node.outputs[0]);
  return from != nullptr && to != nullptr &&
         static_cast<double>(from->elements) >= kStatisticShrinks * static_cast<double>(to->elements);
}

}  // namespace

std::vector<ValueId> front_end_operands(const Graph& graph, const std::vector<NodeRole>& roles) {
  const Uses uses(graph);
  std::vector<ValueId> operands;
  const auto add = [&](ValueId value) {
    if (graph.initializer(value) == nullptr && std::count(operands.begin(), operands.end(), value) == 0)
      operands.push_back(value);
  };
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto found = sensitive(graph, i);
    if (!found || kernels_before(graph, uses, roles, found->operand).empty()) continue;
    add(found->operand);
    if (const auto reduction = reduction_before(graph, uses, roles, found->operand)) {
      add(graph.nodes()[*reduction].inputs[0]);
      add(graph.nodes()[*reduction].outputs[0]);
    }
  }
  return operands;
}

std::vector<FloatChoice> find_front_ends(const Graph& graph, const Placement& placement,
                                         const calibrate::Statistics& statistics) {
  const Uses uses(graph);
  const std::vector<NodeRole>& roles = placement.roles;
  std::map<size_t, std::string> reasons;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto found = sensitive(graph, i);
    const auto* operand = found ? seen(graph, statistics, found->operand) : nullptr;
    if (operand == nullptr || is_length(graph, uses, placement, *found)) continue;
    const double lost = drop(operand->histogram, *found);
    if (lost < kTolerableDrop || is_statistic(graph, uses, roles, found->operand, statistics)) continue;
    for (const size_t kernel : kernels_before(graph, uses, roles, found->operand))
      reasons.try_emplace(kernel, "It feeds " + place_of(graph.nodes()[i], i) +
                                      ", which magnifies the errors of small operands: about " +
                                      std::to_string(static_cast<int>(std::lround(lost))) + " dB would be lost there.");
  }
  std::vector<FloatChoice> choices;
  for (const auto& [index, reason] : reasons) choices.push_back({graph.nodes()[index].id, reason});
  return choices;
}

namespace {

/// x^p loses at most 20 log10 p dB of small errors: the noise is p² E[x^(2p-2)] E[e²], and E[x^(2p-2)] E[x²] is at most
/// E[x^(2p)].
bool is_tame_power(const Graph& graph, const Node& node) {
  const std::optional<double> power = exponent_of(graph, node);
  return power && *power >= 1 && 20 * std::log10(*power) < kTolerableDrop;
}

}  // namespace

std::vector<size_t> possible_front_ends(const Graph& graph, const Placement& placement,
                                        std::span<const int64_t> elements) {
  const Uses uses(graph);
  const std::vector<NodeRole>& roles = placement.roles;
  const auto count = [&](ValueId value) { return elements.empty() ? 0 : elements[static_cast<size_t>(value.index)]; };
  std::set<size_t> kernels;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto found = sensitive(graph, i);
    if (!found || is_length(graph, uses, placement, *found) || is_tame_power(graph, graph.nodes()[i])) continue;
    if (const auto reduction = reduction_before(graph, uses, roles, found->operand)) {
      const Node& node = graph.nodes()[*reduction];
      const int64_t from = count(node.inputs[0]), to = count(node.outputs[0]);
      const bool known = from != 0 && to != 0;
      if (known && static_cast<double>(from) >= kStatisticShrinks * static_cast<double>(to)) continue;
    }
    kernels.merge(kernels_before(graph, uses, roles, found->operand));
  }
  return {kernels.begin(), kernels.end()};
}

std::optional<Rewrite> keep_front_ends_in_float(CorrectedModel& model, const config::QuantizationConfig&) {
  const auto found = find_front_ends(model.model.graph, model.placement, model.statistics);
  if (found.empty()) return std::nullopt;
  const auto kernels = [&] {
    const auto has_kernel = [](const NodeRole& role) { return role.has_kernel(); };
    return std::count_if(model.placement.roles.begin(), model.placement.roles.end(), has_kernel);
  };
  const int64_t before = kernels();
  model.in_float.insert(model.in_float.end(), found.begin(), found.end());
  model.placement = place(model.model.graph, model.attachment, model.in_float);
  return Rewrite{"keep_float_automatically", before - kernels(),
                 "Operators that feed a logarithm, root or reciprocal keep float precision; the reason "
                 "of each says how much would be lost."};
}

}  // namespace tersor::ptq
