// SPDX-License-Identifier: Apache-2.0
#include "core/choose/take_concat_ranges.h"

#include <algorithm>
#include <cmath>

#include "core/graph/clamp_bounds.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

namespace {

class ConcatRanges {
 public:
  ConcatRanges(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
               QuantizationPlan& plan)
      : graph_(graph), attachment_(attachment), placement_(placement), plan_(plan), uses_(graph) {}

  std::vector<std::string> run() {
    std::vector<std::string> changed;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (!node.is("Concat") || placement_.roles[i].role != Role::kJoin) continue;
      const ActivationPlan* joined = plan_.find(value_after_clamps(graph_, uses_, placement_.roles, node.outputs[0]));
      if (joined == nullptr || !joined->tensor.integer_made || joined->table) continue;
      const quant::QuantizationParams params = joined->params;
      for (const ValueId input : node.inputs) {
        const ActivationPlan* fed = plan_.find(input);
        if (fed == nullptr || fed->params == params) continue;
        const std::vector<ActivationPlan*> tied = group_of(fed->tensor.group);
        if (!std::all_of(tied.begin(), tied.end(),
                         [&](const ActivationPlan* one) { return may_take(*one, params, i); }))
          continue;
        for (ActivationPlan* one : tied) one->params = params;
        changed.push_back(graph_.name_of(input));
      }
    }
    return changed;
  }

 private:
  std::vector<ActivationPlan*> group_of(size_t group) {
    std::vector<ActivationPlan*> members;
    for (ActivationPlan& one : plan_.activations)
      if (one.tensor.group == group) members.push_back(&one);
    return members;
  }

  /// Its one reader is the Concat, or a mover on the way there.
  bool leads_to(const PlacedTensor& tensor, size_t concat) const {
    if (uses_.reader_count(tensor.value) != 1 || uses_.is_output(tensor.value)) return false;
    const size_t reader = uses_.reader_indices(tensor.value)[0];
    if (reader == concat) return true;
    const auto& outputs = graph_.nodes()[reader].outputs;
    return placement_.roles[reader].role == Role::kMover &&
           std::all_of(outputs.begin(), outputs.end(), [&](ValueId id) {
             const PlacedTensor* after = placement_.find(id);
             return after != nullptr && after->group == tensor.group;
           });
  }

  bool may_take(const ActivationPlan& one, const quant::QuantizationParams& params, size_t concat) const {
    if (!one.tensor.integer_made || one.is_fixed || one.table || one.params.grid.n_bits != params.grid.n_bits ||
        !leads_to(one.tensor, concat))
      return false;
    const auto maker = uses_.producer_index(one.tensor.value);
    if (!maker) return true;
    const Node& node = graph_.nodes()[*maker];
    if (node.is("Concat") || !attachment_.of(node.id).output_quantizers.empty()) return false;
    if (placement_.roles[*maker].role != Role::kClamp) return true;
    const ClampBounds bounds = *clamp_bounds(graph_, node);
    const quant::Range range = params.representable();
    constexpr double kRounding = 1e-6;  // of a scale to float32
    return range.low >= bounds.low - std::fabs(bounds.low) * kRounding &&
           range.high <= bounds.high + std::fabs(bounds.high) * kRounding;
  }

  const Graph& graph_;
  const framework::Attachment& attachment_;
  const Placement& placement_;
  QuantizationPlan& plan_;
  const Uses uses_;
};

}  // namespace

void take_concat_ranges(const Graph& graph, const framework::Attachment& attachment, const Placement& placement,
                        QuantizationPlan& plan) {
  std::vector<std::string> changed = ConcatRanges(graph, attachment, placement, plan).run();
  if (!changed.empty())
    plan.corrections.push_back({"concat_threshold_update", std::move(changed),
                                "They have the range of the Concat that they feed, and are not rounded again in it"});
}

}  // namespace tersor::ptq
