// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/refine_choice.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace tersor::mixed {

namespace {

/// The memories that a target restricts.
struct Restricted {
  bool weights = false, activations = false, total = false;

  explicit Restricted(const ResourceUtilization& target)
      : weights(std::isfinite(target.weights_memory)),
        activations(std::isfinite(target.activation_memory)),
        total(std::isfinite(target.total_memory)) {}

  double bytes(const ResourceUtilization& taken) const {
    if (total) return taken.total_memory;
    return (weights ? taken.weights_memory : 0) + (activations ? taken.activation_memory : 0);
  }
  /// Whether one candidate may follow another: more bits of one kind, and no fewer of the other.
  bool raises(const RefinedCandidate& from, const RefinedCandidate& to) const {
    const int by_weights = to.weights_n_bits - from.weights_n_bits;
    const int by_activations = to.activation_n_bits - from.activation_n_bits;
    if (by_weights < 0 || by_activations < 0 || by_weights + by_activations == 0) return false;
    return (by_weights == 0 || weights || total) && (by_activations == 0 || activations || total);
  }
};

struct Step {
  size_t node = 0, candidate = 0;
  double gain = 0, bytes = 0;

  bool is_free() const { return bytes <= 0; }
  bool better_than(const Step& other) const {
    if (is_free() != other.is_free()) return is_free();
    const double mine = is_free() ? gain : gain * other.bytes, its = is_free() ? other.gain : other.gain * bytes;
    return mine != its ? mine > its : bytes < other.bytes;
  }
};

void check(const std::vector<std::vector<RefinedCandidate>>& nodes, const std::vector<size_t>& choice) {
  if (choice.size() != nodes.size())
    throw Error(ErrorCode::kInvalidArgument, "The choice is for " + std::to_string(choice.size()) + " of " +
                                                 std::to_string(nodes.size()) + " nodes.");
  for (size_t n = 0; n < nodes.size(); ++n) {
    const bool finite = std::all_of(nodes[n].begin(), nodes[n].end(),
                                    [](const RefinedCandidate& one) { return std::isfinite(one.sensitivity); });
    if (choice[n] >= nodes[n].size() || !finite)
      throw Error(ErrorCode::kInvalidArgument, "The choice is no candidate, or a sensitivity is not finite.",
                  "nodes[" + std::to_string(n) + "]");
  }
}

}  // namespace

std::vector<size_t> refine_choice(const std::vector<std::vector<RefinedCandidate>>& nodes, std::vector<size_t> choice,
                                  const ResourceUtilization& target, const Utilization& utilization) {
  check(nodes, choice);
  if (std::isfinite(target.bops)) return choice;
  const Restricted restricted(target);
  for (;;) {
    const double bytes = restricted.bytes(utilization(choice));
    std::optional<Step> best;
    std::vector<size_t> tried = choice;
    for (size_t n = 0; n < nodes.size(); ++n) {
      const RefinedCandidate& from = nodes[n][choice[n]];
      for (tried[n] = 0; tried[n] < nodes[n].size(); ++tried[n]) {
        const RefinedCandidate& to = nodes[n][tried[n]];
        if (to.sensitivity > from.sensitivity || !restricted.raises(from, to)) continue;
        const ResourceUtilization taken = utilization(tried);
        if (!target.is_satisfied_by(taken)) continue;
        const Step step{n, tried[n], from.sensitivity - to.sensitivity, restricted.bytes(taken) - bytes};
        if (!best || step.better_than(*best)) best = step;
      }
      tried[n] = choice[n];
    }
    if (!best) return choice;
    choice[best->node] = best->candidate;
  }
}

}  // namespace tersor::mixed
