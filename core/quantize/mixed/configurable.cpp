// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/configurable.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/choose/shared_weights.h"
#include "core/config/search_settings.h"
#include "core/mixed/bit_operations.h"
#include "core/ops/registry.h"
#include "core/passes/kernel_op.h"
#include "core/run/ports.h"

namespace tersor::mixed {

using framework::ActivationMode;
using framework::Attachment;
using framework::NodeAttachment;
using framework::WeightAttribute;
using tpc::OpQuantizationConfig;

namespace {

/// The constant whose bits are chosen: the kernel, else the first that is no bias.
const WeightAttribute* chosen_weight(const NodeAttachment& attached) {
  if (const WeightAttribute* kernel = attached.weight(tpc::kKernelAttr)) return kernel;
  for (const WeightAttribute& one : attached.weights)
    if (one.name != tpc::kBiasAttr) return &one;
  return nullptr;
}

bool is_quantized_in_some(const NodeAttachment& attached, const WeightAttribute& weight) {
  return std::any_of(attached.candidates.begin(), attached.candidates.end(), [&](const OpQuantizationConfig& op) {
    return op.attribute_config(weight.name).enable_weights_quantization;
  });
}

/// Its output passes a quantizer of its own, whichever candidate it has.
bool has_output_choice(const NodeAttachment& attached) {
  return attached.activation == ActivationMode::kQuant || attached.activation == ActivationMode::kFlnQuant ||
         (attached.activation == ActivationMode::kNoQuant &&
          std::any_of(attached.candidates.begin(), attached.candidates.end(),
                      [](const OpQuantizationConfig& op) { return op.enable_activation_quantization; }));
}

/// What a candidate comes to.
struct Kind {
  OperatorBits bits;
  std::optional<quant::QuantizationMethod> of_weights, of_outputs;

  bool has_methods_of(const Kind& other) const {
    return (!of_weights || of_weights == other.of_weights) && (!of_outputs || of_outputs == other.of_outputs);
  }
};

Kind kind_of(const NodeAttachment& attached, size_t candidate) {
  Kind kind{bits_of(attached, candidate), {}, {}};
  const OpQuantizationConfig& op = attached.candidates[candidate];
  if (kind.bits.weights != 0 && kind.bits.weights != kFloatBits)
    kind.of_weights = op.attribute_config(chosen_weight(attached)->name).weights_quantization_method;
  if (kind.bits.activation != 0 && kind.bits.activation != kFloatBits)
    kind.of_outputs = op.activation_quantization_method;
  return kind;
}

/// What restricts the search, and what a person lets it choose among.
struct Scope {
  bool weights = true, activations = true;
  config::MixedPrecisionQuantizationConfig config;

  explicit Scope(const config::QuantizationConfig& settings) : config(config::mixed_precision_of(settings)) {
    const config::ResourceUtilization target = config::target_of(settings);
    const bool both = std::isfinite(target.total_memory) || std::isfinite(target.bops);
    if (both || config.configuration_overwrite) return;
    weights = std::isfinite(target.weights_memory) || !config.weights_n_bits.empty();
    activations = std::isfinite(target.activation_memory) || !config.activation_n_bits.empty();
  }

  static bool has(const std::vector<int64_t>& list, int bits) {
    return list.empty() || bits == 0 || bits == kFloatBits || std::find(list.begin(), list.end(), bits) != list.end();
  }
  bool keeps(const Kind& base, const Kind& one) const {
    if (one.bits.is_float()) return one.bits.weights != 0 && config.float_operators.value_or(0) > 0;
    if (!has(config.weights_n_bits, one.bits.weights) || !has(config.activation_n_bits, one.bits.activation))
      return false;
    return (weights || one.bits.weights == base.bits.weights) &&
           (activations || one.bits.activation == base.bits.activation);
  }
};

/// By node, the first one that multiplies by the same weight; itself where there is none.
std::vector<size_t> weight_owners(const Graph& graph) {
  std::vector<size_t> owners, nodes;
  std::vector<passes::KernelOp> kernels;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    owners.push_back(i);
    if (auto op = passes::kernel_op(graph, graph.nodes()[i])) nodes.push_back(i), kernels.push_back(*op);
  }
  const std::vector<ptq::SharedWeight> shared = ptq::find_shared_weights(graph, kernels);
  for (size_t k = 0; k < nodes.size(); ++k) owners[nodes[k]] = nodes[shared[k].first];
  return owners;
}

}  // namespace

namespace {

/// Of each weight where it is kept, the device's memory or the file: fewer bits than that save nothing anywhere. A file
/// for a device states the bits that its compiler will store.
int stored_bits(const tpc::ExportRules& rules, const Node& node, const OpQuantizationConfig& config, int n_bits) {
  if (n_bits == 0 || n_bits > 8) return n_bits;
  const bool by_nbits = rules.float_weights == tpc::FloatWeights::kMatMulNBits &&
                        (node.is("MatMul") || node.is("Gemm")) &&
                        config.attribute_config(tpc::kKernelAttr).weights_block_size;
  if (by_nbits) return n_bits <= 2 ? 2 : n_bits <= 4 ? 4 : 8;
  const bool for_runtime = rules.placement == tpc::Placement::kOperands;
  return for_runtime && !tpc::folds(rules.float_weights) ? (n_bits <= 4 ? 4 : 8) : n_bits;
}

}  // namespace

OperatorBits bits_of(const NodeAttachment& attached, size_t candidate) {
  const OpQuantizationConfig& op = attached.candidates[candidate];
  OperatorBits bits;
  const WeightAttribute* weight = chosen_weight(attached);
  if (weight != nullptr && is_quantized_in_some(attached, *weight)) {
    const auto& config = op.attribute_config(weight->name);
    bits.weights = config.enable_weights_quantization ? config.weights_n_bits : kFloatBits;
  }
  if (has_output_choice(attached))
    bits.activation = op.enable_activation_quantization ? op.activation_n_bits : kFloatBits;
  return bits;
}

std::vector<Configurable> configurable_operators(const Graph& graph, const Attachment& attachment,
                                                 const config::QuantizationConfig& config) {
  const Scope scope(config);
  const std::vector<size_t> owners = weight_owners(graph);
  std::vector<Configurable> found;
  std::map<size_t, size_t> by_owner;  // of the weight, to an index in `found`
  for (size_t i = 0; i < attachment.nodes.size(); ++i) {
    const NodeAttachment& attached = attachment.nodes[i];
    const Kind base = kind_of(attached, attached.base);
    Configurable one{{i}, {}, {}};
    // Of equal bits the base's methods, else the first.
    std::vector<Kind> kinds;
    for (const bool of_base : {true, false})
      for (size_t k = 0; k < attached.candidates.size(); ++k) {
        const Kind kind = kind_of(attached, k);
        const bool is_known =
            std::any_of(kinds.begin(), kinds.end(), [&](const Kind& other) { return other.bits == kind.bits; });
        if (is_known || (of_base && !kind.has_methods_of(base)) || !scope.keeps(base, kind)) continue;
        kinds.push_back(kind);
        one.candidates.push_back(k);
      }
    std::stable_sort(one.candidates.begin(), one.candidates.end(), [&](size_t a, size_t b) {
      const OperatorBits x = bits_of(attached, a), y = bits_of(attached, b);
      return x.weights != y.weights ? x.weights > y.weights : x.activation > y.activation;
    });
    std::set<std::pair<int, int>> stored;
    std::erase_if(one.candidates, [&](size_t candidate) {
      const int bits = stored_bits(attachment.export_rules, graph.nodes()[i], attached.candidates[candidate],
                                   bits_of(attached, candidate).weights);
      return !stored.insert({bits, bits_of(attached, candidate).activation}).second;
    });
    if (one.candidates.size() < 2) continue;
    for (const size_t candidate : one.candidates) one.bits.push_back(bits_of(attached, candidate));
    if (one.bits[0].weights != 0) {
      const auto [first, is_new] = by_owner.emplace(owners[i], found.size());
      const auto same_weights = [](const OperatorBits& x, const OperatorBits& y) { return x.weights == y.weights; };
      const Configurable* owner = is_new ? nullptr : &found[first->second];
      if (owner != nullptr && owner->candidates == one.candidates &&
          std::equal(owner->bits.begin(), owner->bits.end(), one.bits.begin(), same_weights)) {
        found[first->second].nodes.push_back(i);
        continue;
      }
    }
    found.push_back(std::move(one));
  }
  return found;
}

namespace {

/// 0 where one scale serves a whole output channel.
double blocks_of(const WeightAttribute& weight, double elements) {
  const auto& size = weight.config.weights_block_size;
  if (!size || weight.block_columns == 0) return 0;
  const auto columns = static_cast<double>(weight.block_columns);
  return elements / columns * std::ceil(columns / *size);
}

/// What one run makes of elements, and multiplies.
class Sizes {
 public:
  Sizes(const Model& model, const Attachment& attachment, const calibrate::Statistics& statistics)
      : graph_(model.graph), attachment_(attachment), statistics_(statistics) {
    std::vector<Shape> inputs;
    for (const ValueId input : graph_.inputs) {
      const calibrate::TensorStatistics* seen = statistics.find(graph_.name_of(input));
      if (const auto declared = run::shape_of_one_sample(graph_, input))
        inputs.push_back(*declared);
      else if (seen != nullptr && !seen->shape_varies)
        inputs.push_back(seen->shape);
      else
        return;
    }
    try {
      const auto program = run::Program::compile(model, ops::standard(), run::sizes_of_all(graph_));
      types_ = program->value_types(inputs);
      macs_ = program->macs_of_nodes(inputs);
    } catch (const Error&) {
      // A shape that does not fit is told when the model is run.
    }
  }

  double elements(ValueId value) const {
    const auto index = static_cast<size_t>(value.index);
    if (index < types_.size() && types_[index]) return static_cast<double>(types_[index]->shape.elements());
    const calibrate::TensorStatistics* seen = statistics_.find(graph_.name_of(value));
    if (seen == nullptr || statistics_.samples.empty()) return 0;
    return static_cast<double>(seen->elements) / static_cast<double>(statistics_.samples.size());
  }

  /// Of the node of that index. Where shapes depend on data, as many as its group's output has elements.
  double macs(size_t node, const passes::KernelOp& op) const {
    if (node < macs_.size() && macs_[node] > 0) return static_cast<double>(macs_[node]);
    const Node* last = &graph_.nodes()[node];
    if (const auto group = attachment_.nodes[node].fused_group)
      last = graph_.find(attachment_.groups[*group].nodes.back());
    return elements(op.is_transposed ? graph_.nodes()[node].inputs[0] : last->outputs[0]) *
           static_cast<double>((op.is_transposed ? op.outputs / op.groups : op.inputs_per_group()) * op.taps);
  }

 private:
  const Graph& graph_;
  const Attachment& attachment_;
  const calibrate::Statistics& statistics_;
  std::vector<std::optional<ops::TensorType>> types_;
  std::vector<int64_t> macs_;
};

/// By node, the index of the last of its fused group; its own where it has none.
std::vector<size_t> steps_of(const Attachment& attachment) {
  std::vector<size_t> last(attachment.groups.size(), 0), steps(attachment.nodes.size());
  for (size_t i = 0; i < steps.size(); ++i)
    if (const auto group = attachment.nodes[i].fused_group) last[*group] = i;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto group = attachment.nodes[i].fused_group;
    steps[i] = group ? last[*group] : i;
  }
  return steps;
}

}  // namespace

UtilizationMeter::UtilizationMeter(const Model& model, const Attachment& attachment,
                                   const calibrate::Statistics& statistics) {
  const Graph& graph = model.graph;
  const std::vector<size_t> owners = weight_owners(graph);
  std::set<ValueId> counted;
  for (size_t i = 0; i < attachment.nodes.size(); ++i) {
    const NodeAttachment& attached = attachment.nodes[i];
    base_.push_back(bits_of(attached, attached.base));
    const WeightAttribute* chosen = chosen_weight(attached);
    for (const WeightAttribute& weight : attached.weights) {
      if (!is_quantized_in_some(attached, weight) || owners[i] != i || !counted.insert(weight.value).second) continue;
      const auto elements = static_cast<double>(graph.initializer(weight.value)->shape().elements());
      const bool follows = &weight == chosen;
      const int n_bits = weight.config.enable_weights_quantization ? weight.config.weights_n_bits : kFloatBits;
      weights_.push_back({elements, follows ? std::optional(i) : std::nullopt, n_bits, blocks_of(weight, elements)});
    }
  }
  const Sizes sizes(model, attachment, statistics);
  activations_.resize(graph.value_count());
  for (const ValueId input : graph.inputs) {
    const bool quantized = attachment.input_config.enable_activation_quantization;
    activations_[static_cast<size_t>(input.index)] = {sizes.elements(input), std::nullopt,
                                                      quantized ? attachment.input_config.activation_n_bits : 0};
  }
  const auto& nodes = graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeAttachment& attached = attachment.nodes[i];
    for (const ValueId output : nodes[i].outputs) {
      if (!output.valid()) continue;
      Activation& activation = activations_[static_cast<size_t>(output.index)];
      activation.elements = sizes.elements(output);
      if (attached.activation == ActivationMode::kPreserveQuant && !nodes[i].inputs.empty() &&
          nodes[i].inputs[0].valid()) {
        const Activation& of_input = activations_[static_cast<size_t>(nodes[i].inputs[0].index)];
        activation.node = of_input.node;
        activation.n_bits = of_input.n_bits;
      } else if (base_[i].activation != 0 && attached.activation != ActivationMode::kFlnQuant) {
        activation.node = i;
      }
    }
    const auto op = passes::kernel_op(graph, nodes[i]);
    if (!op) continue;
    products_.push_back({i, sizes.macs(i, *op), activations_[static_cast<size_t>(nodes[i].inputs[0].index)]});
  }
  for (const std::vector<ValueId>& cut : cuts_of(graph, steps_of(attachment))) {
    std::vector<size_t>& values = cuts_.emplace_back();
    for (const ValueId value : cut) values.push_back(static_cast<size_t>(value.index));
  }
}

double UtilizationMeter::weights_memory(const std::vector<OperatorBits>& bits) const {
  constexpr double kScale = 4;
  double bytes = 0;
  for (const Weight& weight : weights_) {
    const int n_bits = weight.node ? bits[*weight.node].weights : weight.n_bits;
    bytes += weight.elements * n_bits / 8;
    if (n_bits < kFloatBits) bytes += kScale * weight.blocks;
  }
  return bytes;
}

std::vector<double> UtilizationMeter::cuts(const std::vector<OperatorBits>& bits) const {
  std::vector<double> sums;
  for (const std::vector<size_t>& cut : cuts_) {
    double bytes = 0;
    for (const size_t value : cut) bytes += activations_[value].elements * activations_[value].bits(bits) / 8;
    sums.push_back(bytes);
  }
  return sums;
}

namespace {

int bits_or_float(int bits) {
  return bits == 0 ? kFloatBits : bits;
}

}  // namespace

double UtilizationMeter::bops(const std::vector<OperatorBits>& bits) const {
  double sum = 0;
  for (const Product& one : products_) {
    if (one.macs > 0)
      sum += bit_operations(static_cast<int64_t>(one.macs), bits_or_float(one.input.bits(bits)),
                            bits_or_float(bits[one.node].weights));
  }
  return sum;
}

config::ResourceUtilization UtilizationMeter::all(const std::vector<OperatorBits>& bits) const {
  config::ResourceUtilization taken;
  taken.weights_memory = weights_memory(bits);
  taken.activation_memory = 0;
  for (const double cut : cuts(bits)) taken.activation_memory = std::max(taken.activation_memory, cut);
  taken.total_memory = taken.weights_memory + taken.activation_memory;
  taken.bops = bops(bits);
  return taken;
}

}  // namespace tersor::mixed
