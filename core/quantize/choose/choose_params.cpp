// SPDX-License-Identifier: Apache-2.0
#include "core/choose/choose_params.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/choose/block_weight.h"
#include "core/choose/choose_activations.h"
#include "core/choose/choose_constants.h"
#include "core/choose/choose_weights.h"
#include "core/choose/shared_weights.h"
#include "core/choose/take_concat_ranges.h"
#include "core/decide/outcomes.h"
#include "core/decide/runtime_fusions.h"
#include "core/graph/core_operator.h"
#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

using framework::Attachment;

namespace {

/// The kernels whose weights are stored, and how.
class KernelChoice {
 public:
  KernelChoice(const Graph& graph, const Attachment& attachment, const Placement& placement,
               const calibrate::Statistics& statistics, const config::QuantizationConfig& config,
               const QuantizationPlan& plan)
      : graph_(graph), uses_(graph), attachment_(attachment), statistics_(statistics), config_(config), plan_(plan) {
    for (size_t i = 0; i < placement.roles.size(); ++i) {
      const NodeRole& role = placement.roles[i];
      if (!role.has_kernel() || !role.op || role.float_weight) continue;
      nodes_.push_back(&graph.nodes()[i]);
      float_operands_.push_back(role.float_operands);
      ops_.push_back(*role.op);
    }
    shared_ = find_shared_weights(graph, ops_);
  }

  std::vector<KernelPlan> choose() {
    for (size_t k = 0; k < ops_.size(); ++k) {
      const bool of_first = shared_[k].first != k && may_share(k);
      if (!of_first) shared_[k] = {k, shared_[k].first != k || shared_[k].is_one, {}};
      std::optional<quant::QuantizationParams> known;
      if (of_first) known = scaled(kernels_[shared_[k].first].weight, shared_[k].factors);
      kernels_.push_back(choose_one(k, known ? &*known : nullptr));
    }
    for (size_t k = 0; k < ops_.size(); ++k)
      if (shared_[k].first == k && !shared_[k].is_one) agree(k);
    return std::move(kernels_);
  }

 private:
  /// What its integers are read by; null where it computes in float.
  const ActivationPlan* input_plan(size_t k) const {
    return float_operands_[k] ? nullptr : plan_.find(nodes_[k]->inputs[0]);
  }

  KernelPlan choose_one(size_t k, const quant::QuantizationParams* known) const {
    const Node& node = *nodes_[k];
    const ActivationPlan* input = input_plan(k);
    WeightContext context{graph_, attachment_, config_};
    context.input = statistics_.find(graph_.name_of(node.inputs[0]));
    context.input_params = input != nullptr ? &input->params : nullptr;
    const auto is_quantized = [&](ValueId value) { return plan_.find(value) != nullptr; };
    const ValueId before =
        float_operands_[k] ? ValueId{} : dequantized_before(graph_, uses_, node.inputs[0], is_quantized);
    if (before.valid()) context.bias_input_scale = plan_.find(before)->params.scale[0];
    context.known = known;
    return choose_weight(node, ops_[k], context);
  }

  /// Its platform and settings want of the weight what they want of the first kernel's, and its factors are of scales
  /// that there are.
  bool may_share(size_t k) const {
    const framework::NodeAttachment &own = attachment_.of(nodes_[k]->id),
                                    &first = attachment_.of(nodes_[shared_[k].first]->id);
    const tpc::AttributeQuantizationConfig& config = own.weight(tpc::kKernelAttr)->config;
    if (config != first.weight(tpc::kKernelAttr)->config || own.kernel_quantizer || first.kernel_quantizer)
      return false;
    const bool same_input = (input_plan(k) == nullptr) == (input_plan(shared_[k].first) == nullptr);
    if (config.weights_by_table() || config.weights_block_size) return false;
    const std::vector<float>& factors = shared_[k].factors;
    const bool of_tensor = std::all_of(factors.begin(), factors.end(), [&](float one) { return one == factors[0]; });
    const bool in_octaves =
        quant::even_form(config.weights_quantization_method) == quant::QuantizationMethod::kPowerOfTwo;
    return same_input && (factors.empty() || (!in_octaves && (config.weights_per_channel_threshold || of_tensor)));
  }

  static quant::QuantizationParams scaled(quant::QuantizationParams params, const std::vector<float>& factors) {
    for (size_t c = 0; !factors.empty() && c < params.scale.size(); ++c) {
      params.scale[c] *= factors[c];
      params.range[c] = params.representable(c);
    }
    return params;
  }

  /// Whether the kernel's scales are the first one's, times its factors.
  bool agrees(size_t k) const {
    return kernels_[k].weight.scale == scaled(kernels_[shared_[k].first].weight, shared_[k].factors).scale;
  }

  /// A scale that is raised for the bias of one kernel is raised for all that have its integers.
  void agree(size_t first) {
    constexpr int kRounds = 3;  // a raised scale moves the biases a little
    std::vector<size_t> readers;
    for (size_t k = first; k < ops_.size(); ++k)
      if (shared_[k].first == first) readers.push_back(k);
    const auto all_agree = [&] {
      return std::all_of(readers.begin(), readers.end(), [this](size_t k) { return agrees(k); });
    };
    for (int round = 0; round < kRounds && !all_agree(); ++round) {
      quant::QuantizationParams raised = kernels_[first].weight;
      for (const size_t k : readers)
        for (size_t c = 0; c < raised.scale.size(); ++c) {
          const float factor = shared_[k].factors.empty() ? 1 : shared_[k].factors[c];
          raised.scale[c] = std::max(raised.scale[c], kernels_[k].weight.scale[c] / factor);
          raised.range[c] = raised.representable(c);
        }
      for (const size_t k : readers) {
        const quant::QuantizationParams known = scaled(raised, shared_[k].factors);
        const int64_t channels = kernels_[k].raised_channels;
        kernels_[k] = choose_one(k, &known);
        kernels_[k].raised_channels = std::max(channels, kernels_[k].raised_channels);
      }
    }
    if (std::none_of(readers.begin() + 1, readers.end(), [this](size_t k) { return agrees(k); })) return;
    for (const size_t k : readers)
      if (agrees(k)) kernels_[k].shared = kernels_[first].node;
  }

  const Graph& graph_;
  const Uses uses_;
  const Attachment& attachment_;
  const calibrate::Statistics& statistics_;
  const config::QuantizationConfig& config_;
  const QuantizationPlan& plan_;
  std::vector<const Node*> nodes_;
  std::vector<passes::KernelOp> ops_;
  std::vector<bool> float_operands_;
  std::vector<SharedWeight> shared_;
  std::vector<KernelPlan> kernels_;
};

void note_input_corrections(const Graph& graph, QuantizationPlan& plan) {
  AppliedCorrection made{"activation_bias_correction", {}, "Their biases make up for the mean error of their inputs"};
  for (const KernelPlan& kernel : plan.kernels) {
    const Node& node = *graph.find(kernel.node);
    if (kernel.input_correction != 0) made.where.push_back(graph.label_of(node));
  }
  if (!made.where.empty()) plan.corrections.push_back(std::move(made));
}

/// Which runtimes read the form, where it takes more than the operators that all have.
std::string form_text(BlockForm form, int bits) {
  if (form == BlockForm::kFold) return "restored when the file is opened";
  if (form == BlockForm::kLevels) return "made int8 of for the integer kernel when the file is opened";
  if (form == BlockForm::kDequantize) return "as DequantizeLinear with block_size (ONNX Runtime 1.20 or newer)";
  const char* const oldest = bits <= 2 ? "1.24" : bits <= 4 ? "1.18" : "1.22";
  return std::string("as MatMulNBits (ONNX Runtime ") + oldest + " or newer)";
}

/// Kernels alike in one entry.
void note_blocks(const Graph& graph, QuantizationPlan& plan) {
  std::vector<AppliedCorrection> made;
  for (const KernelPlan& kernel : plan.kernels) {
    if (!kernel.blocks) continue;
    const Node& node = *graph.find(kernel.node);
    const int bits = kernel.blocks->grid.n_bits;
    const std::string gained = "Weights of " + std::to_string(bits) + " bits (" +
                               std::string(enum_word(kernel.blocks->method)) + ") have a scale for each " +
                               std::to_string(kernel.blocks->size) + " inputs, " +
                               form_text(block_form(plan, kernel, node), bits);
    auto known = std::find_if(made.begin(), made.end(), [&](const auto& one) { return one.gained == gained; });
    if (known == made.end()) known = made.insert(made.end(), {"weights_block_size", {}, gained});
    known->where.push_back(graph.label_of(node));
  }
  plan.corrections.insert(plan.corrections.end(), made.begin(), made.end());
}

/// Of the graphs in the node's attributes, and in theirs.
int64_t core_nodes_inside(const Node& node) {
  int64_t count = 0;
  for_each_subgraph(node, [&](const Graph& body) {
    for (const Node& inner : body.nodes()) count += (is_core(inner) ? 1 : 0) + core_nodes_inside(inner);
  });
  return count;
}

/// The work of some models lies in the branches of an If, such as one for each sample rate.
void refuse_work_in_bodies(const Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), is_core)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (const int64_t inside = core_nodes_inside(nodes[i]); inside > 0)
      throw Error(ErrorCode::kUnsupportedModel,
                  "Nothing in this model can be quantized: its Conv, Gemm and MatMul lie in the bodies of If, Loop or "
                  "Scan, which stay in float. The first holds " +
                      std::to_string(inside) + ".",
                  place_of(nodes[i], i),
                  "Have the weights alone quantized (platforms weight-only-int8, weight-only-int4, ...), or export the "
                  "branch that you use as a model of its own; an If whose condition is a constant is replaced by its "
                  "branch.");
  }
}

}  // namespace

void require_kernels(const Graph& graph, const Placement& placement, const std::vector<FloatChoice>& in_float) {
  for (const NodeRole& role : placement.roles)
    if (role.has_kernel()) return;
  if (!in_float.empty()) {
    const std::vector<Node>& nodes = graph.nodes();
    const auto first =
        std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == in_float[0].node; });
    throw Error(
        ErrorCode::kUnsupportedModel,
        "Every operator of this model that could be quantized would lose too much. The first: " + in_float[0].reason,
        place_of(*first, static_cast<size_t>(first - nodes.begin())),
        "Run the model as it is, or have it quantized all the same: --keep-float none "
        "(keep_float_automatically false).");
  }
  refuse_work_in_bodies(graph);
  for (const bool core : {true, false})
    for (size_t i = 0; i < placement.roles.size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (placement.roles[i].reason.empty() || node.inputs.size() < 2 || (core && !is_core(node))) continue;
      throw Error(ErrorCode::kUnsupportedModel,
                  "Nothing in this model can be quantized. This is the first operator that stays in float. " +
                      placement.roles[i].reason,
                  place_of(node, i),
                  "Export the model in float32 with constant weights, or choose other settings or another platform.");
    }
  throw Error(ErrorCode::kUnsupportedModel,
              "There is nothing to quantize: the model has no Conv, ConvTranspose, Gemm or MatMul with constant "
              "weights.",
              "graph", "Run it as it is, or export it with its weights as constants.");
}

QuantizationPlan choose_params(const Graph& graph, const Attachment& attachment, const Placement& placement,
                               const calibrate::Statistics& statistics, const config::QuantizationConfig& config,
                               quant::RangeMemo* ranges) {
  QuantizationPlan plan;
  plan.float_weights = attachment.export_rules.float_weights;
  plan.accuracy_level =
      config.accuracy_level.value_or(config.prefer == config::Preference::kSpeed ? kSumsOf8Bits : kFloatSums);
  plan.activations = choose_activations(graph, attachment, placement, statistics, config, ranges);
  if (config.concat_threshold_update) take_concat_ranges(graph, attachment, placement, plan);
  plan.kernels = KernelChoice(graph, attachment, placement, statistics, config, plan).choose();
  note_input_corrections(graph, plan);
  note_blocks(graph, plan);
  plan.constants = choose_constants(graph, attachment, config, plan);
  for (const ConstantPlan& constant : plan.constants)
    for (KernelPlan& kernel : plan.kernels)
      if (constant.tied == kernel.node && !kernel.shared) kernel.shared = kernel.node;
  for (size_t i = 0; i < placement.roles.size(); ++i)
    if (placement.roles[i].reads_integers()) plan.operand_readers.push_back(graph.nodes()[i].id);
  std::sort(plan.operand_readers.begin(), plan.operand_readers.end());
  find_outcomes(graph, attachment, placement, plan);
  return plan;
}

}  // namespace tersor::ptq
