// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/sweep/round_weights.h"
#include "core/tune/tuner.h"

namespace tersor::tune {

void take_tuned(const Graph& graph, const calibrate::TunedModel& tuned, ptq::QuantizationPlan& plan) {
  ptq::take_rounded(graph, {{}, 0, tuned.weights}, plan);
  for (ptq::KernelPlan& kernel : plan.kernels) {
    const std::string& name = graph.name_of(graph.find(kernel.node)->outputs[0]);
    const auto found = std::find_if(tuned.biases.begin(), tuned.biases.end(),
                                    [&](const calibrate::MeasuredShift& one) { return one.name == name; });
    if (found == tuned.biases.end()) continue;
    if (static_cast<int64_t>(found->shifts.size()) != kernel.op.outputs)
      throw Error(ErrorCode::kMismatch, "The statistics hold a trained bias of \"" + name + "\" of another size.",
                  "statistics", "Train again.");
    for (size_t o = 0; o < kernel.bias.size(); ++o)
      if (kernel.bias_fits(found->shifts[o], kernel.weight.scale[kernel.scale_index(o)]))
        kernel.bias[o] = found->shifts[o];
  }
  for (const calibrate::TunedActivation& one : tuned.tuning.activations) {
    const auto value = graph.find(one.name);
    const ptq::ActivationPlan* trained = value ? plan.find(*value) : nullptr;
    if (trained == nullptr) continue;
    for (ptq::ActivationPlan& each : plan.activations) {
      if (each.tensor.group != trained->tensor.group) continue;
      each.params.scale[0] = one.scale;
      each.params.zero_point[0] = one.zero_point;
      each.params.range[0] = each.params.representable();
    }
  }
  for (ptq::KernelPlan& kernel : plan.kernels) {
    const ptq::ActivationPlan* input = plan.find(graph.find(kernel.node)->inputs[0]);
    if (kernel.input_scale && input != nullptr) kernel.input_scale = input->params.scale[0];
  }
}

}  // namespace tersor::tune
