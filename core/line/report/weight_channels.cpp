// SPDX-License-Identifier: Apache-2.0
#include "core/report/weight_channels.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/framework/overrides.h"
#include "core/passes/kernel_op.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"

namespace tersor::report {

namespace {

const Node& node_called(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes())
    if (framework::override_name(graph, node) == name) return node;
  throw Error(ErrorCode::kInvalidArgument, "No node of the model is called \"" + name + "\".", "name");
}

struct Energy {
  double largest = 0, signal = 0, noise = 0;
};

std::vector<Energy> energies(const Tensor& exact, const Tensor& other, int axis) {
  const Shape& shape = exact.shape();
  const auto channels = static_cast<size_t>(shape[axis]),
             inner = static_cast<size_t>(shape.elements(axis + 1, shape.rank()));
  const auto values = exact.data<float>(), rounded = other.data<float>();
  std::vector<Energy> sums(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    Energy& sum = sums[i / inner % channels];
    const double x = static_cast<double>(values[i]), error = x - static_cast<double>(rounded[i]);
    sum.largest = std::max(sum.largest, std::fabs(x));
    sum.signal += x * x;
    sum.noise += error * error;
  }
  return sums;
}

}  // namespace

WeightChannels weight_channels(const Graph& graph, const framework::Attachment& attachment,
                               const config::QuantizationConfig& config, const std::string& name) {
  const Node& node = node_called(graph, name);
  WeightChannels result;
  const auto op = passes::kernel_op(graph, node);
  if (!op) return result;
  const Tensor weight = graph.initializer(op->weight)->aligned();
  const framework::WeightAttribute* kernel = attachment.of(node.id).weight(tpc::kKernelAttr);
  Tensor rounded = weight;
  if (kernel != nullptr && kernel->config.enable_weights_quantization && !kernel->config.weights_by_table()) {
    const tpc::AttributeQuantizationConfig& chosen = kernel->config;
    result.n_bits = chosen.weights_n_bits;
    result.per_channel = chosen.weights_per_channel_threshold;
    const auto axis = result.per_channel ? std::optional(op->output_axis) : std::nullopt;
    const quant::IntegerGrid grid{chosen.weights_n_bits, true, attachment.export_rules.narrow_weights};
    rounded = quant::fake_quantize(
        weight,
        quant::choose_weight_params(weight, quant::even_form(chosen.weights_quantization_method), grid, axis,
                                    attachment.of(node.id).weights_criterion.value_or(config.weights_criterion()))
            .params);
  }
  for (const Energy& one : energies(weight, rounded, op->output_axis)) {
    WeightChannel channel{one.largest, std::nullopt};
    if (one.noise > 0) channel.sqnr_db = quant::decibels(one.signal, one.noise);
    result.channels.push_back(channel);
  }
  return result;
}

}  // namespace tersor::report
