// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/scale_inputs.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/ptq/choose_activations.h"
#include "core/ptq/move_statistics.h"

namespace tersor::ptq {

using calibrate::TensorStatistics;

namespace {

constexpr const char* kSuffix = "_rescaled";

bool pads_with_zeros(const Graph& graph, const Node& node) {
  if (!node.is("Pad") || node.string_or("mode", "constant") != "constant") return false;
  if (node.inputs.size() < 3 || !node.inputs[2].valid()) return true;
  const Tensor* value = passes::float_constant(graph, node.inputs[2]);
  return value != nullptr && value->elements() == 1 && passes::to_doubles(*value)[0] == 0;
}

class InputScaler {
 public:
  InputScaler(Model& model, const Placement& placement, calibrate::Statistics& statistics)
      : graph_(model.graph), placement_(placement), statistics_(statistics) {}

  ScaledInputs scale(const std::vector<ActivationPlan>& plans) {
    ScaledInputs result;
    std::vector<std::string> said;
    for (const ValueId input : graph_.inputs) {
      const auto plan = std::find_if(plans.begin(), plans.end(),
                                     [&](const ActivationPlan& one) { return one.tensor.value == input; });
      if (plan == plans.end()) continue;
      const auto factor = factor_of(*plan);
      const auto path = path_of(input);
      if (!factor || !path) continue;
      const NodeId mul = rewrite(input, *path, *factor);
      result.list.push_back({input, mul, *factor});
      said.push_back(graph_.name_of(input) + " by " + number_text(*factor));
    }
    graph_.sort_topologically();
    result.done = {"input_scaling", static_cast<int64_t>(said.size()),
                   said.empty()
                       ? "Nothing was changed: no input that alone feeds a kernel ends below the threshold of "
                         "its quantizer."
                       : "Multiplied inside the model, so that the range is used in full: " + first_few(said) + "."};
    return result;
  }

 private:
  struct Path {
    std::optional<ValueId> padded;
    size_t kernel = 0;
  };

  static std::optional<double> factor_of(const ActivationPlan& plan) {
    const quant::QuantizationMethod method = plan.params.method;
    if (plan.is_fixed ||
        (method != quant::QuantizationMethod::kPowerOfTwo && method != quant::QuantizationMethod::kSymmetric))
      return std::nullopt;
    const double largest = std::max(std::fabs(plan.seen.low), plan.seen.high), threshold = plan.params.range[0].high;
    if (!(largest > 0) || !(threshold > largest)) return std::nullopt;
    const auto factor = static_cast<float>(threshold / largest);
    return factor > 1 && std::isfinite(factor) ? std::optional<double>(factor) : std::nullopt;
  }

  std::optional<Path> path_of(ValueId input) const {
    const Uses uses(graph_);
    Path path;
    auto reader = passes::sole_reader(graph_, uses, input);
    ValueId value = input;
    if (reader && pads_with_zeros(graph_, graph_.nodes()[*reader]) && graph_.nodes()[*reader].inputs[0] == input) {
      path.padded = value = graph_.nodes()[*reader].outputs[0];
      reader = passes::sole_reader(graph_, uses, value);
    }
    // Placement speaks of the nodes by their position, which appended ones do not change.
    if (!reader || *reader >= placement_.roles.size()) return std::nullopt;
    const NodeRole& role = placement_.roles[*reader];
    if (!role.has_kernel() || !role.op || graph_.nodes()[*reader].inputs[0] != value) return std::nullopt;
    path.kernel = *reader;
    return path;
  }

  NodeId rewrite(ValueId input, const Path& path, double factor) {
    const std::string name = graph_.name_of(input);
    const ValueId scaled = graph_.add_unique_value(name + kSuffix, DType::kFloat32);
    graph_.value(scaled).shape = graph_.value(input).shape;
    passes::replace_reads(graph_, input, scaled);
    passes::scale_weight(graph_, *placement_.roles[path.kernel].op, 1 / factor);
    if (path.padded) rename_moved(graph_, statistics_, *path.padded, kSuffix, factor, 0);
    if (const TensorStatistics* seen = statistics_.find(name)) {
      TensorStatistics of_mul = moved(*seen, factor, 0);
      of_mul.name = graph_.name_of(scaled);
      statistics_.tensors.push_back(std::move(of_mul));
    }
    Node mul;
    mul.op_type = "Mul";
    mul.name = graph_.name_of(scaled);
    mul.inputs = {input, graph_.add_initializer(name + "_factor", Tensor::scalar(static_cast<float>(factor)))};
    mul.outputs = {scaled};
    return graph_.append(std::move(mul));
  }

  Graph& graph_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
};

}  // namespace

ScaledInputs scale_inputs(Model& model, const framework::Attachment& attachment, const Placement& placement,
                          calibrate::Statistics& statistics, const config::QuantizationConfig& config) {
  const std::vector<ActivationPlan> plans = choose_activations(model.graph, attachment, placement, statistics, config);
  return InputScaler(model, placement, statistics).scale(plans);
}

void quantize_scaled(framework::Attachment& attachment, const std::vector<ScaledInput>& scaled) {
  for (const ScaledInput& one : scaled) {
    framework::NodeAttachment& mul =
        *std::find_if(attachment.nodes.begin(), attachment.nodes.end(),
                      [&](const framework::NodeAttachment& node) { return node.node == one.mul; });
    mul.candidates = {attachment.input_config};
    mul.base = 0;
    mul.weights.clear();
    mul.activation = framework::ActivationMode::kQuant;
    if (attachment.export_rules.placement == tpc::Placement::kOperands) mul.kernel = tpc::RuntimeKernel::kFloat;
    attachment.float_inputs.push_back(one.input);
  }
}

}  // namespace tersor::ptq
