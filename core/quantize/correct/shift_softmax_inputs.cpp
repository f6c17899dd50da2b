// SPDX-License-Identifier: Apache-2.0
#include "core/correct/shift_softmax_inputs.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/choose/choose_activations.h"
#include "core/correct/move_statistics.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

using calibrate::TensorStatistics;

namespace {

constexpr const char* kSoftmaxSuffix = "_shifted";
constexpr double kStepFallsTo = 0.98;  // the step, for a shift to be worth it

class SoftmaxShifter {
 public:
  SoftmaxShifter(CorrectedModel& model, const config::QuantizationConfig& config)
      : graph_(model.model.graph),
        attachment_(model.attachment),
        placement_(model.placement),
        statistics_(model.statistics),
        config_(config),
        plans_(choose_activations(model, config)) {}

  Rewrite shift() {
    const Uses uses(graph_);
    std::vector<std::string> said;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const NodeRole& role = placement_.roles[i];
      if (!role.has_kernel() || !role.op || !role.op->can_have_bias) continue;
      const ValueId value = graph_.nodes()[i].outputs[0];
      const auto reader = passes::sole_reader(graph_, uses, value);
      if (!reader) continue;
      const Node& softmax = graph_.nodes()[*reader];
      if (!softmax.is("Softmax") && !softmax.is("LogSoftmax")) continue;
      const double shift = shift_of(graph_.nodes()[i], value);
      if (shift == 0) continue;
      said.push_back(graph_.name_of(value) + " by " + number_text(shift));
      apply(i, value, shift);
    }
    return {"softmax_shift", static_cast<int64_t>(said.size()),
            said.empty()
                ? "Nothing was changed: no kernel with a bias and a quantized output alone feeds a Softmax and "
                  "would get a finer step."
                : "Centred on zero: " + first_few(said) + "."};
  }

 private:
  /// 0 where none is worth it.
  double shift_of(const Node& node, ValueId value) const {
    const ActivationPlan* plan = find_plan(plans_, value);
    const TensorStatistics* seen = statistics_.find(graph_.name_of(value));
    const framework::NodeAttachment& attached = attachment_.of(node.id);
    if (plan == nullptr || plan->is_fixed || plan->table || !attached.output_quantizers.empty() || seen == nullptr ||
        seen->histogram.empty())
      return 0;
    const double middle = (static_cast<double>(seen->histogram.max()) + seen->histogram.min()) / 2;
    const auto shift = static_cast<float>(-middle);
    const TensorStatistics shifted = moved(*seen, 1, shift);
    const quant::QuantizationMethod method = plan->params.method;
    const bool is_signed =
        method != quant::QuantizationMethod::kUniform && attached.config().signedness != tpc::Signedness::kUnsigned;
    const quant::IntegerGrid grid{plan->params.grid.n_bits, is_signed, false};
    const quant::Range range =
        quant::select_activation_range(shifted.histogram, method, grid, config_.activation_criterion(),
                                       {shifted.histogram.min(), shifted.histogram.max()})
            .range;
    const float step = quant::params_of_ranges(method, grid, std::span(&range, 1)).scale[0];
    return step <= kStepFallsTo * plan->params.scale[0] ? shift : 0;
  }

  void apply(size_t index, ValueId value, double shift) {
    const passes::KernelOp& op = *placement_.roles[index].op;
    std::vector<double> bias = *passes::bias_values(graph_, op);
    for (double& one : bias) one += shift;
    passes::set_bias(graph_, graph_.nodes()[index], op, bias);
    rename_moved(graph_, statistics_, value, kSoftmaxSuffix, 1, shift);
  }

  Graph& graph_;
  const framework::Attachment& attachment_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
  const config::QuantizationConfig& config_;
  const std::vector<ActivationPlan> plans_;
};

}  // namespace

std::optional<Rewrite> shift_softmax_inputs(CorrectedModel& model, const config::QuantizationConfig& config) {
  return SoftmaxShifter(model, config).shift();
}

}  // namespace tersor::ptq
