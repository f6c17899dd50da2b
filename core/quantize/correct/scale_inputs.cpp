// SPDX-License-Identifier: Apache-2.0
#include "core/correct/scale_inputs.h"
#include "core/decide/role.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/choose/choose_activations.h"
#include "core/correct/move_statistics.h"
#include "core/graph/edit.h"
#include "core/graph/operators.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

using calibrate::TensorStatistics;

namespace {

constexpr const char* kRescaled = "_rescaled";

bool is_there(ValueId id) {
  return id.valid();
}

/// Its output is a positive multiple of what it would be of a multiple of its input.
bool passes_a_factor_on(const Graph& graph, const Node& node) {
  if (has_trait(node, Trait::kView | Trait::kReorders) || node.is("Slice") || node.is("MaxPool"))
    return std::count_if(node.outputs.begin(), node.outputs.end(), is_there) == 1;
  return pads_with_zeros(graph, node);
}

struct ScaledInput {
  ValueId input;
  NodeId mul;
};

/// In a new attachment of the model: such an input stays float, its Mul is quantized as the input was.
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

class InputScaler {
 public:
  explicit InputScaler(CorrectedModel& model)
      : graph_(model.model.graph), placement_(model.placement), statistics_(model.statistics) {}

  Rewrite scale(const std::vector<ActivationPlan>& plans) {
    std::vector<ScaledInput> scaled;
    std::vector<std::string> said;
    for (const ValueId input : graph_.inputs) {
      const auto path = path_of(input);
      const ActivationPlan* plan = path ? first_plan(plans, input, *path) : nullptr;
      const auto factor = plan != nullptr ? factor_of(*plan) : std::nullopt;
      if (!factor) continue;
      const NodeId mul = rewrite(input, *path, *factor);
      scaled.push_back({input, mul});
      said.push_back(graph_.name_of(input) + " by " + number_text(*factor));
    }
    graph_.sort_topologically();
    Rewrite done{"input_scaling", static_cast<int64_t>(said.size()),
                 said.empty()
                     ? "Nothing was changed: no input that alone feeds a kernel ends below the threshold of "
                       "its quantizer."
                     : "Multiplied inside the model, so that the range is used in full: " + first_few(said) + "."};
    if (scaled.empty()) return done;
    for (const ScaledInput& one : scaled) done.inserted.push_back(one.mul);
    done.attach = [scaled](framework::Attachment& attachment) { quantize_scaled(attachment, scaled); };
    return done;
  }

 private:
  struct Path {
    std::vector<ValueId> passed;  // between the input and the kernel
    size_t kernel = 0;
  };

  /// Where the input is quantized: itself, or after what only moves it.
  static const ActivationPlan* first_plan(const std::vector<ActivationPlan>& plans, ValueId input, const Path& path) {
    std::vector<ValueId> values{input};
    values.insert(values.end(), path.passed.begin(), path.passed.end());
    for (const ValueId value : values)
      if (const ActivationPlan* plan = find_plan(plans, value)) return plan;
    return nullptr;
  }

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
    for (ValueId value = input; const auto reader = passes::sole_reader(graph_, uses, value);) {
      // Placement speaks of the nodes by their position, which appended ones do not change.
      if (*reader >= placement_.roles.size() || graph_.nodes()[*reader].inputs[0] != value) return std::nullopt;
      const NodeRole& role = placement_.roles[*reader];
      if (role.has_kernel()) {
        path.kernel = *reader;
        return role.op ? std::optional(path) : std::nullopt;
      }
      if (!passes_a_factor_on(graph_, graph_.nodes()[*reader])) return std::nullopt;
      value = graph_.nodes()[*reader].outputs[0];
      path.passed.push_back(value);
    }
    return std::nullopt;
  }

  NodeId rewrite(ValueId input, const Path& path, double factor) {
    const std::string name = graph_.name_of(input);
    const ValueId scaled = graph_.add_unique_value(name + kRescaled, DType::kFloat32);
    graph_.value(scaled).shape = graph_.value(input).shape;
    replace_reads(graph_, input, scaled);
    passes::scale_weight(graph_, *placement_.roles[path.kernel].op, 1 / factor);
    for (const ValueId value : path.passed) rename_moved(graph_, statistics_, value, kRescaled, factor, 0);
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

std::optional<Rewrite> scale_inputs(CorrectedModel& model, const config::QuantizationConfig& config) {
  return InputScaler(model).scale(choose_activations(model, config));
}

}  // namespace tersor::ptq
