// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/configurable.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/config/search_settings.h"
#include "core/mixed/bit_operations.h"
#include "core/passes/kernel_op.h"
#include "core/ptq/shared_weights.h"

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

double product_of(const Shape& shape, int from) {
  double product = 1;
  for (int axis = from; axis < shape.rank(); ++axis) product *= static_cast<double>(shape[axis]);
  return product;
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
    if (one.candidates.size() < 2) continue;
    std::stable_sort(one.candidates.begin(), one.candidates.end(), [&](size_t a, size_t b) {
      const OperatorBits x = bits_of(attached, a), y = bits_of(attached, b);
      return x.weights != y.weights ? x.weights > y.weights : x.activation > y.activation;
    });
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

}  // namespace

UtilizationMeter::UtilizationMeter(const Graph& graph, const Attachment& attachment,
                                   const calibrate::Statistics& statistics) {
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
  // Without the batch.
  const auto elements_of = [&](ValueId value) -> double {
    if (const auto* seen = statistics.find(graph.name_of(value)); seen != nullptr && !seen->shape_varies)
      return product_of(seen->shape, 1);
    const auto& shape = graph.value(value).shape;
    if (!shape) return 0;
    double product = 1;
    for (size_t axis = 1; axis < shape->size(); ++axis)
      product *= (*shape)[axis].fixed() ? static_cast<double>((*shape)[axis].value) : 1;
    return product;
  };
  activations_.resize(graph.value_count());
  for (const ValueId input : graph.inputs) {
    const bool quantized = attachment.input_config.enable_activation_quantization;
    activations_[static_cast<size_t>(input.index)] = {elements_of(input), std::nullopt,
                                                      quantized ? attachment.input_config.activation_n_bits : 0};
  }
  const auto& nodes = graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeAttachment& attached = attachment.nodes[i];
    for (const ValueId output : nodes[i].outputs) {
      if (!output.valid()) continue;
      Activation& activation = activations_[static_cast<size_t>(output.index)];
      activation.elements = elements_of(output);
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
    if (!op || base_[i].weights == 0) continue;
    const double outputs = elements_of(nodes[i].outputs[0]);
    const double macs = outputs * static_cast<double>(op->inputs_per_group() * op->taps);
    products_.push_back({i, macs, activations_[static_cast<size_t>(nodes[i].inputs[0].index)]});
  }
  for (const std::vector<ValueId>& cut : cuts_of(graph)) {
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

double UtilizationMeter::bops(const std::vector<OperatorBits>& bits) const {
  double sum = 0;
  for (const Product& one : products_) {
    const int of_input = one.input.bits(bits);
    if (one.macs > 0)
      sum +=
          bit_operations(static_cast<int64_t>(one.macs), of_input == 0 ? kFloatBits : of_input, bits[one.node].weights);
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
