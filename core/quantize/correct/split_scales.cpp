// SPDX-License-Identifier: Apache-2.0
#include "core/correct/split_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "core/choose/two_ends.h"
#include "core/correct/caution.h"
#include "core/correct/unary_region.h"
#include "core/decide/runtime_fusions.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

using calibrate::ChannelStatistics;
using calibrate::TensorStatistics;
using passes::KernelOp;

namespace {

constexpr double kMargin = 1.25;          // for other samples, besides caution_of()
constexpr double kLeastPart = 1.0 / 256;  // of the widest channel's range
constexpr double kSteps = 255;
constexpr double kRoom = 3;          // for other samples, where it is not known what becomes of what is cut off
constexpr double kMustFallTo = 0.5;  // the noise, there
constexpr std::array kShrinks{1.0,   0.841, 0.707, 0.595, 0.5,   0.42,  0.354,  0.297,  0.25,  0.21,
                              0.177, 0.149, 0.125, 0.105, 0.088, 0.074, 0.0625, 0.0526, 0.044, 0.037};
constexpr size_t kCells = 64;
constexpr size_t kPoints = 3 * kCells + kShrinks.size();  // three of each cell, lower ends of the range

/// What a Conv writes whose channels are stretched: all integers from end to end.
struct StretchedOutput {
  NodeId conv;
  double low = 0, high = 0;
};

struct Inserted {
  std::vector<NodeId> before_quantizers;  // Muls by ones
  std::vector<StretchedOutput> stretched;
};

/// As a factor of what a Conv of that weight reads or makes.
Tensor per_channel(const std::vector<double>& values, const Tensor& weight) {
  std::vector<int64_t> shape(weight.shape().rank(), 1);
  shape[1] = static_cast<int64_t>(values.size());
  return passes::from_doubles(values, Shape(shape));
}

class Inserter {
 public:
  explicit Inserter(CorrectedModel& model)
      : model_(model.model),
        graph_(model.model.graph),
        attachment_(model.attachment),
        placement_(model.placement),
        statistics_(model.statistics),
        caution_(caution_of(statistics_.samples.size())) {}

  Inserted insert() {
    const Uses uses(graph_);
    struct Before {
      NodeId conv;
      KernelOp op;
    };
    std::vector<Before> before, in_float;
    std::vector<UnaryRegion> regions;
    std::vector<Tensor> points;
    std::vector<ValueId> after;
    for (size_t i = 0; i < placement_.roles.size(); ++i) {
      const NodeRole& role = placement_.roles[i];
      const Node& node = graph_.nodes()[i];
      if (role.role != Role::kKernel || !role.op || !node.is("Conv") || placement_.find(node.outputs[0]) == nullptr)
        continue;
      if (attachment_.of(node.id).config().activation_by_table()) continue;
      const TensorStatistics* tensor = seen(node.outputs[0]);
      if (tensor == nullptr || static_cast<int64_t>(tensor->channels.size()) != role.op->outputs) continue;
      auto region = unary_region_after(graph_, uses, placement_, node.outputs[0]);
      if (!region && read_in_float(uses, node)) in_float.push_back({node.id, *role.op});
      if (!region) continue;
      before.push_back({node.id, *role.op});
      regions.push_back(std::move(*region));
      points.push_back(points_of(*tensor));
    }
    if (!before.empty()) {
      for (const PlacedTensor& tensor : placement_.tensors)
        if (!tensor.integer_made && scales_after(uses, tensor.value)) after.push_back(tensor.value);
      const std::vector<Tensor> values = evaluate(model_, regions, points);
      for (size_t k = 0; k < before.size(); ++k) stretch(before[k].conv, before[k].op, points[k], values[k]);
      for (const ValueId value : after) prepare_after(value);
    }
    for (const Before& one : in_float) stretch(one.conv, one.op);
    graph_.sort_topologically();
    return done_;
  }

 private:
  bool scales_after(const Uses& uses, ValueId value) const {
    if (!uses.producer_index(value) || uses.is_output(value)) return false;
    bool any = false;
    for (const size_t reader : uses.reader_indices(value)) {
      const NodeRole& role = placement_.roles[reader];
      if (!role.reads_integers()) continue;
      const bool conv = role.op && graph_.nodes()[reader].is("Conv") && graph_.nodes()[reader].inputs[0] == value &&
                        (role.op->groups == 1 || role.op->groups == role.op->inputs);
      if (!conv) return false;
      any = true;
    }
    return any;
  }

  /// Float nodes alone read what the Conv makes, and after none of them stands a quantizer: no kernel meets its
  /// integers, nor does ONNX Runtime make one of a node between the two.
  bool read_in_float(const Uses& uses, const Node& conv) const {
    const framework::NodeAttachment& attached = attachment_.of(conv.id);
    const auto& config = attached.config();
    if (!attached.output_quantizers.empty() || config.fixed_scale || config.activation_n_bits != 8 ||
        config.activation_quantization_method != quant::QuantizationMethod::kUniform)
      return false;
    std::vector<ValueId> reached{conv.outputs[0]};
    for (size_t k = 0; k < reached.size(); ++k)
      for (const size_t reader : uses.reader_indices(reached[k])) {
        const Node& node = graph_.nodes()[reader];
        const Role role = placement_.roles[reader].role;
        if (placement_.roles[reader].reads_integers()) return false;
        const bool passes_on = role == Role::kMover || role == Role::kClamp || lets_through(node) ||
                               (fuses_with_neighbours(node) && !takes_several(node));
        for (const ValueId output : node.outputs) {
          if (!output.valid()) continue;
          if (placement_.find(output) != nullptr) return false;
          if (passes_on && std::find(reached.begin(), reached.end(), output) == reached.end())
            reached.push_back(output);
        }
      }
    return true;
  }

  TensorStatistics* seen(ValueId value) {
    const auto found = std::find_if(statistics_.tensors.begin(), statistics_.tensors.end(),
                                    [&](const auto& one) { return one.name == graph_.name_of(value); });
    const bool usable = found != statistics_.tensors.end() && found->channel_axis == 1 && !found->channels.empty() &&
                        found->elements > 0;
    return usable ? &*found : nullptr;
  }

  NodeId insert_after(const char* type, ValueId input, ValueId output, const std::string& stem, Tensor constant) {
    Node node;
    node.op_type = type;
    node.name = graph_.name_of(input) + "_" + type;
    node.inputs = {input, graph_.add_initializer(stem, std::move(constant))};
    node.outputs = {output};
    return graph_.append(std::move(node));
  }

  /// A Mul by ones before the kernels that read the value, for equalize_channels() to fill.
  void prepare_after(ValueId value) {
    const TensorStatistics* tensor = seen(value);
    if (tensor == nullptr) return;
    const std::string name = graph_.name_of(value) + "_scaled";
    const ValueId scaled = graph_.add_unique_value(name, DType::kFloat32);
    const Tensor* weight = nullptr;
    for (size_t i = 0; i < placement_.roles.size(); ++i) {
      if (!placement_.roles[i].reads_integers() || graph_.nodes()[i].inputs[0] != value) continue;
      graph_.nodes()[i].inputs[0] = scaled;
      weight = graph_.initializer(placement_.roles[i].op->weight);
    }
    TensorStatistics copy = *tensor;
    copy.name = graph_.name_of(scaled);
    done_.before_quantizers.push_back(insert_after(
        "Mul", value, scaled, name + "_factors", per_channel(std::vector<double>(copy.channels.size(), 1.0), *weight)));
    statistics_.tensors.push_back(std::move(copy));
  }

  struct Stretch {
    double scale = 1;
    double zero_point = 128;
  };

  double low_of(const ChannelStatistics& channel, const TensorStatistics& tensor) const {
    return std::min(0.0, kMargin * std::max(caution_ * channel.min, static_cast<double>(tensor.histogram.min())));
  }
  double high_of(const ChannelStatistics& channel, const TensorStatistics& tensor) const {
    return std::max(0.0, kMargin * std::min(caution_ * channel.max, static_cast<double>(tensor.histogram.max())));
  }

  /// By channel, where the function after it is looked at: [1, channels, kPoints, 1].
  Tensor points_of(const TensorStatistics& tensor) const {
    std::vector<float> points;
    for (const ChannelStatistics& channel : tensor.channels) {
      const double width = (static_cast<double>(channel.max) - channel.min) / kCells;
      for (size_t k = 0; k < kCells; ++k)
        for (const double place : {0.375, 0.5, 0.625})
          points.push_back(static_cast<float>(channel.min + (static_cast<double>(k) + place) * width));
      for (const double shrink : kShrinks) points.push_back(static_cast<float>(shrink * low_of(channel, tensor)));
    }
    return Tensor::of<float>(Shape{1, static_cast<int64_t>(tensor.channels.size()), kPoints, 1}, points);
  }

  /// A channel's values, taken to be normal between its extremes, and what the function after it makes of them.
  struct Seen {
    std::span<const float> x, y;
    double mean, variance;

    /// Mean square of the error after the function when the range begins at point `bottom`.
    double error(size_t bottom, double step) const {
      double error = 0, weight = 0;
      for (size_t k = 1; k < 3 * kCells; k += 3) {
        const double density = variance > 0 ? std::exp(-(x[k] - mean) * (x[k] - mean) / (2 * variance)) : 1;
        const double width = static_cast<double>(x[k + 1]) - x[k - 1], rise = static_cast<double>(y[k + 1]) - y[k - 1];
        const double slope = width > 0 ? rise / width : 0, lost = static_cast<double>(y[k]) - y[bottom];
        error += density * (x[k] < x[bottom] ? lost * lost : slope * slope * step * step / 12);
        weight += density;
      }
      return weight > 0 ? error / weight : 0;
    }
  };

  /// The channel's 8-bit range of least error after the function; its upper end stays.
  static Stretch stretch_of(const Seen& channel, double high, double least) {
    Stretch best;
    double least_error = std::numeric_limits<double>::infinity();
    for (size_t bottom = 3 * kCells; bottom < kPoints; ++bottom) {
      const double step = std::max(high - channel.x[bottom], least) / kSteps, error = channel.error(bottom, step);
      if (!(error < 0.999 * least_error)) continue;
      least_error = error;
      const float scale = static_cast<float>(step);
      best = {scale, std::clamp(std::nearbyint(-static_cast<double>(channel.x[bottom]) / scale), 0.0, kSteps)};
    }
    return best;
  }

  void stretch(NodeId id, const KernelOp& op, const Tensor& points, const Tensor& values) {
    const TensorStatistics* tensor = seen(graph_.find(id)->outputs[0]);
    const size_t count = tensor->channels.size();
    double widest = 0;
    for (const ChannelStatistics& channel : tensor->channels)
      widest = std::max(widest, high_of(channel, *tensor) - low_of(channel, *tensor));
    const auto finite = [](float y) { return std::isfinite(y); };
    const auto x = points.data<float>(), y = values.data<float>();
    if (!(widest > 0) || !std::all_of(y.begin(), y.end(), finite)) return;
    std::vector<Stretch> stretches;
    for (size_t c = 0; c < count; ++c) {
      const double mean = tensor->channel_mean(c), variance = tensor->channel_mean_square(c) - mean * mean;
      const Seen channel{x.subspan(c * kPoints, kPoints), y.subspan(c * kPoints, kPoints), mean, variance};
      stretches.push_back(stretch_of(channel, high_of(tensor->channels[c], *tensor), kLeastPart * widest));
    }
    write(*graph_.find(id), op, stretches);
  }

  /// Between what was seen of the channel and of the tensor: the quieter it was, the more room it has.
  double roomy(double seen, double whole) const {
    return whole == 0 ? 0 : std::sqrt(std::clamp(kRoom * caution_ * seen / whole, kLeastPart, 1.0)) * whole;
  }

  /// Where the noise of all channels together is what counts.
  void stretch(NodeId id, const KernelOp& op) {
    const TensorStatistics* tensor = seen(graph_.find(id)->outputs[0]);
    const double low = std::min(0.0f, tensor->histogram.min()), high = std::max(0.0f, tensor->histogram.max());
    std::vector<Stretch> stretches;
    double squares = 0;
    for (const ChannelStatistics& channel : tensor->channels) {
      const double bottom = roomy(std::min(0.0f, channel.min), low), top = roomy(std::max(0.0f, channel.max), high);
      const auto scale = static_cast<float>((top - bottom) / kSteps);
      if (!(scale > 0)) return;
      stretches.push_back({scale, std::clamp(std::nearbyint(-bottom / scale), 0.0, kSteps)});
      squares += static_cast<double>(scale) * scale;
    }
    const double common = (high - low) / kSteps;
    if (squares > kMustFallTo * common * common * static_cast<double>(stretches.size())) return;
    write(*graph_.find(id), op, stretches);
  }

  void write(Node& conv, const KernelOp& op, const std::vector<Stretch>& stretches) {
    const NodeId conv_id = conv.id;
    const ValueId output = conv.outputs[0];
    const TensorStatistics* tensor = seen(output);
    double sum = 0;
    for (const Stretch& one : stretches) sum += one.scale;
    const float common = static_cast<float>(sum / static_cast<double>(stretches.size()));
    std::vector<double> factors, offsets, inverse;
    for (const Stretch& one : stretches) {
      factors.push_back(static_cast<float>(one.scale / common));
      inverse.push_back(1 / factors.back());
      offsets.push_back(static_cast<float>(common * factors.back() * (128 - one.zero_point)));
    }
    rescale(conv, op, inverse, offsets);
    const std::string name = graph_.name_of(output);
    const ValueId stretched = graph_.add_unique_value(name + "_stretched", DType::kFloat32),
                  multiplied = graph_.add_unique_value(name + "_multiplied", DType::kFloat32);
    conv.outputs[0] = stretched;
    const Tensor weight = *graph_.initializer(op.weight);
    insert_after("Mul", stretched, multiplied, name + "_factors", per_channel(factors, weight));
    insert_after("Add", multiplied, output, name + "_offsets", per_channel(offsets, weight));
    statistics_.tensors.push_back(stretched_statistics(*tensor, graph_.name_of(stretched), factors, offsets, common));
    const quant::Histogram& range = statistics_.tensors.back().histogram;
    done_.stretched.push_back({conv_id, range.min(), range.max()});
  }

  void rescale(Node& conv, const KernelOp& op, const std::vector<double>& inverse, const std::vector<double>& offsets) {
    std::vector<double> bias = *passes::bias_values(graph_, op);
    for (size_t c = 0; c < bias.size(); ++c) bias[c] = (bias[c] - offsets[c]) * inverse[c];
    graph_.set_initializer(op.weight, passes::scale_outputs(op, *graph_.initializer(op.weight), inverse));
    const Tensor shifted = passes::from_doubles(bias, Shape{static_cast<int64_t>(bias.size())});
    if (op.bias.valid()) {
      graph_.set_initializer(op.bias, shifted);
      return;
    }
    if (conv.inputs.size() <= op.bias_slot) conv.inputs.resize(op.bias_slot + 1);
    conv.inputs[op.bias_slot] = graph_.add_initializer(graph_.name_of(op.weight) + "_bias", shifted);
  }

  /// Of (x - offset) / factor; its range is all of -128 to 127 steps.
  static TensorStatistics stretched_statistics(const TensorStatistics& of, const std::string& name,
                                               const std::vector<double>& factors, const std::vector<double>& offsets,
                                               float common) {
    TensorStatistics result = of;
    result.name = name;
    for (size_t c = 0; c < of.channels.size(); ++c) {
      ChannelStatistics& channel = result.channels[c];
      channel.min = static_cast<float>((of.channels[c].min - offsets[c]) / factors[c]);
      channel.max = static_cast<float>((of.channels[c].max - offsets[c]) / factors[c]);
      channel.map_sums(1 / factors[c], -offsets[c] / factors[c], of.per_channel());
    }
    result.histogram = two_ends(-128 * common, 127 * common, of.elements);
    result.extremes = {};
    return result;
  }

  const Model& model_;
  Graph& graph_;
  const framework::Attachment& attachment_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
  double caution_;
  Inserted done_;
};

/// A search would move the ends of a stretched output's range by part of a step, and the zero point of each channel,
/// which has to be whole, by as much.
void keep_ranges(framework::Attachment& attachment, const std::vector<StretchedOutput>& stretched) {
  for (const StretchedOutput& one : stretched)
    std::find_if(attachment.nodes.begin(), attachment.nodes.end(), [&](const framework::NodeAttachment& attached) {
      return attached.node == one.conv;
    })->bounds = {one.low, one.high};
}

std::string sentence(size_t stretched, size_t scaled) {
  std::string text = "So that quiet channels get as many steps as loud ones: ";
  if (stretched > 0) text += "the outputs of " + std::to_string(stretched) + " convolutions are stretched by channel";
  if (stretched > 0 && scaled > 0) text += ", and ";
  if (scaled > 0) text += std::to_string(scaled) + " tensors may be scaled by channel before they are quantized";
  return text + ".";
}

}  // namespace

std::optional<Rewrite> split_scales(CorrectedModel& model, const config::QuantizationConfig&) {
  if (model.attachment.export_rules.placement != tpc::Placement::kOperands) return std::nullopt;
  Inserted inserted = Inserter(model).insert();
  if (inserted.stretched.empty() && inserted.before_quantizers.empty()) return std::nullopt;
  return Rewrite{.field = "split_scales",
                 .places = static_cast<int64_t>(inserted.stretched.size() + inserted.before_quantizers.size()),
                 .what = sentence(inserted.stretched.size(), inserted.before_quantizers.size()),
                 .inserted = std::move(inserted.before_quantizers),
                 .attach = [stretched = std::move(inserted.stretched)](framework::Attachment& attachment) {
                   keep_ranges(attachment, stretched);
                 }};
}

}  // namespace tersor::ptq
