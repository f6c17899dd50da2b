// SPDX-License-Identifier: Apache-2.0
#include "core/correct/equalize_channels.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "core/choose/two_ends.h"
#include "core/correct/caution.h"
#include "core/correct/channel_regions.h"
#include "core/correct/shared_kernels.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

using calibrate::TensorStatistics;
using passes::KernelOp;

namespace {

constexpr double kLeastPart = 1e-4;       // of the tensor's range that a channel is taken to have
constexpr double kMustWinBy = 0.98;       // a larger alpha, over a smaller one
constexpr double kMustFallTo = 0.8;       // the noise, for a region to be rescaled
constexpr double kSplitMustFallTo = 0.5;  // the same where a quantizer gets scales of its own for it
constexpr double kReachesBound = 0.98;    // of a Clip's bound: such a channel keeps its scale
constexpr double kRoomUnderBound = 1.1;   // for other samples
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// 2^(-k/4). Square roots are the same on every target.
double scale_of(int quarters) {
  const double part = quarters % 4 == 0 ? 1 : quarters % 4 == 2 ? std::sqrt(0.5) : std::sqrt(std::sqrt(0.5));
  const double root = quarters % 4 == 3 ? std::sqrt(0.5) * part : part;
  return std::ldexp(root, -(quarters / 4));
}

double largest(const calibrate::ChannelStatistics& channel) {
  return std::max(std::fabs(static_cast<double>(channel.min)), std::fabs(static_cast<double>(channel.max)));
}

class Equalizer {
 public:
  Equalizer(Model& model, const framework::Attachment& attachment, const Placement& placement,
            calibrate::Statistics& statistics)
      : graph_(model.graph),
        attachment_(attachment),
        placement_(placement),
        statistics_(statistics),
        caution_(caution_of(statistics.samples.size())),
        shared_(shared_kernels(graph_, placement)) {}

  std::optional<EqualizedRegion> equalize(const ChannelRegion& region) {
    channels_ = static_cast<size_t>(region.channels);
    spans_ = &region.values;
    if (is_by_table(region) || changes_shared(region) || !find_parts(region) || !find_limits(region))
      return std::nullopt;
    find_readers(region);
    const double plain = cost(std::vector<double>(channels_, 1.0));
    EqualizedRegion best{region.values, {}, 0, 1};
    for (const double alpha : {0.25, 0.5, 0.75, 1.0}) {
      const std::vector<double> scales = scales_for(alpha);
      const double ratio = plain > 0 ? cost(scales) / plain : 1;
      if (ratio < kMustWinBy * best.noise_ratio) best.alpha = alpha, best.noise_ratio = ratio, best.scales = scales;
    }
    const bool split = std::any_of(region.sources.begin(), region.sources.end(), [&](size_t source) {
      return channel_factors(graph_, graph_.nodes()[source]) != nullptr;
    });
    if (best.alpha == 0 || best.noise_ratio > (split ? kSplitMustFallTo : kMustFallTo)) return std::nullopt;
    apply(region, best.scales);
    return best;
  }

 private:
  TensorStatistics* seen(ValueId value) {
    const auto found = std::find_if(statistics_.tensors.begin(), statistics_.tensors.end(),
                                    [&](const auto& one) { return one.name == graph_.name_of(value); });
    const bool usable = found != statistics_.tensors.end() && found->channels.size() == count_of(value) &&
                        found->channel_axis == 1 && found->elements > 0;
    return usable ? &*found : nullptr;
  }
  size_t first_of(ValueId value) const { return static_cast<size_t>(spans_->at(value).first); }
  size_t count_of(ValueId value) const { return static_cast<size_t>(spans_->at(value).count); }
  std::span<const double> part_of(const std::vector<double>& scales, ValueId value) const {
    return std::span(scales).subspan(first_of(value), count_of(value));
  }

  /// A table follows the histogram, which a rescaled tensor loses.
  bool is_by_table(const ChannelRegion& region) const {
    return std::any_of(graph_.nodes().begin(), graph_.nodes().end(), [&](const Node& node) {
      return region.values.count(node.outputs[0]) != 0 && attachment_.of(node.id).config().activation_by_table();
    });
  }

  /// A weight that other kernels have too would be stored once more. What its output channels are multiplied by scales
  /// of its own take up, where it has one for each.
  bool changes_shared(const ChannelRegion& region) const {
    const auto is_shared = [this](size_t node) { return shared_.count(node) != 0; };
    return std::any_of(region.ends.begin(), region.ends.end(), is_shared) ||
           std::any_of(region.sources.begin(), region.sources.end(),
                       [&](size_t node) { return is_shared(node) && has_one_scale(node); });
  }

  /// A Concat makes another quantized tensor of it and more. What the channels of a part have in common its own
  /// quantizer takes up.
  bool is_part(const ChannelRegion& region, const ChannelSpan& span) const {
    return std::any_of(region.values.begin(), region.values.end(), [&](const auto& other) {
      return other.second.count > span.count && other.second.first <= span.first &&
             other.second.first + other.second.count >= span.first + span.count &&
             placement_.find(other.first) != nullptr;
    });
  }

  /// Each channel's part of the range, the largest over the region's quantized tensors.
  bool find_parts(const ChannelRegion& region) {
    parts_.assign(channels_, kLeastPart);
    bool any = false;
    for (const auto& [value, span] : region.values) {
      if (placement_.find(value) == nullptr) continue;
      const TensorStatistics* tensor = seen(value);
      if (tensor == nullptr) return false;
      double whole = 0;
      for (const auto& channel : tensor->channels) whole = std::max(whole, largest(channel));
      if (whole == 0) return false;
      if (is_part(region, span)) continue;
      double* const parts = parts_.data() + span.first;
      for (size_t c = 0; c < count_of(value); ++c)
        parts[c] = std::max(parts[c], std::min(1.0, caution_ * largest(tensor->channels[c]) / whole));
      any = true;
    }
    return any;
  }

  /// Its weight has one scale for all outputs, which the largest of them sets.
  bool has_one_scale(size_t node) const {
    const framework::WeightAttribute* weight = attachment_.of(graph_.nodes()[node].id).weight(tpc::kKernelAttr);
    return weight != nullptr && !weight->config.weights_per_channel_threshold;
  }

  /// A weight with one scale is not to reach further than it does, or its other channels pay for those that are raised.
  void limit_by_weight(size_t source) {
    const Node& node = graph_.nodes()[source];
    if (!placement_.roles[source].op || !has_one_scale(source)) return;
    const KernelOp& op = *placement_.roles[source].op;
    const Tensor weight = graph_.initializer(op.weight)->aligned();
    std::vector<float> rows(static_cast<size_t>(op.outputs), 0.0f);
    for (int64_t o = 0; o < op.outputs; ++o)
      for (int64_t i = 0; i < op.inputs_per_group(); ++i)
        for (int64_t tap = 0; tap < op.taps; ++tap) {
          float& row = rows[static_cast<size_t>(o)];
          row = std::max(row, std::fabs(weight.data<float>()[op.at(o, i, tap)]));
        }
    const float whole = *std::max_element(rows.begin(), rows.end());
    double* const least = least_.data() + first_of(node.outputs[0]);
    for (size_t c = 0; whole > 0 && c < rows.size(); ++c)
      least[c] = std::max(least[c], static_cast<double>(rows[c]) / static_cast<double>(whole));
  }

  /// How far each channel may be raised under the bounds of Clips, and in weights with one scale.
  bool find_limits(const ChannelRegion& region) {
    least_.assign(channels_, 0.0);
    for (const size_t source : region.sources) limit_by_weight(source);
    for (const Node& node : graph_.nodes()) {
      if (!node.is("Clip") || region.values.count(node.outputs[0]) == 0) continue;
      const TensorStatistics* tensor = seen(node.outputs[0]);
      if (tensor == nullptr) return false;
      const double bound = clamp_bounds(graph_, node)->high;
      double* const least = least_.data() + first_of(node.outputs[0]);
      for (size_t c = 0; c < count_of(node.outputs[0]); ++c) {
        const double most = tensor->channels[c].max;
        least[c] = std::max(
            least[c], most >= kReachesBound * bound ? 1.0 : std::min(1.0, caution_ * kRoomUnderBound * most / bound));
      }
    }
    return true;
  }

  std::vector<double> scales_for(double alpha) const {
    std::vector<double> scales(channels_);
    for (size_t c = 0; c < channels_; ++c) {
      // The smallest step of the ladder at or above r^alpha and what a Clip allows.
      const double root = alpha == 1     ? parts_[c]
                          : alpha == 0.5 ? std::sqrt(parts_[c])
                                         : std::sqrt(std::sqrt(parts_[c]));
      const double wanted = alpha == 0.75 ? root * root * root : root;
      int quarters = 0;
      while (quarters + 1 < static_cast<int>(kDigits.size()) && scale_of(quarters + 1) >= std::max(wanted, least_[c]))
        ++quarters;
      scales[c] = scale_of(quarters);
    }
    return scales;
  }

  /// What the cost needs of a Conv that reads the region: it does not change with the scales.
  struct Reader {
    ValueId value;
    const TensorStatistics* input;
    const KernelOp* op;
    bool has_one_scale;                     // for all outputs of its weight
    double activation_steps, weight_steps;  // of its quantizers
    std::vector<double> power;              // per input channel: the sum of the squares of all weights that meet it
    std::vector<float> largest;             // per output, per input of its group: the largest weight of all taps
  };

  void find_readers(const ChannelRegion& region) {
    readers_.clear();
    for (const size_t end : region.ends) {
      const KernelOp& op = *placement_.roles[end].op;
      const ValueId value = graph_.nodes()[end].inputs[0];
      const TensorStatistics* input = seen(value);
      if (input == nullptr) continue;
      const framework::NodeAttachment& attached = attachment_.of(graph_.nodes()[end].id);
      const framework::WeightAttribute* quantized = attached.weight(tpc::kKernelAttr);
      Reader reader{value,
                    input,
                    &op,
                    has_one_scale(end),
                    std::ldexp(1.0, attached.config().activation_n_bits) - 1,
                    std::ldexp(1.0, (quantized == nullptr ? 8 : quantized->config.weights_n_bits) - 1) - 1,
                    std::vector<double>(count_of(value), 0.0),
                    {}};
      reader.largest.reserve(static_cast<size_t>(op.outputs * op.inputs_per_group()));
      const Tensor weight = graph_.initializer(op.weight)->aligned();
      const auto w = weight.data<float>();
      for (int64_t o = 0; o < op.outputs; ++o)
        for (int64_t i = 0; i < op.inputs_per_group(); ++i) {
          double& power = reader.power[input_of(op, o, i)];
          float largest = 0;
          for (int64_t tap = 0; tap < op.taps; ++tap) {
            const float x = w[op.at(o, i, tap)];
            power += static_cast<double>(x) * x;
            largest = std::max(largest, std::fabs(x));
          }
          reader.largest.push_back(largest);
        }
      readers_.push_back(std::move(reader));
    }
  }

  /// Predicted noise power over signal power, summed over the readers: of the activation, and of the weights of
  /// ungrouped Convs (those of depthwise ones have a scale for each channel, which takes up the factor) and of those
  /// with one scale.
  double cost(const std::vector<double>& all) const {
    double total = 0;
    for (const Reader& reader : readers_) {
      const std::span<const double> scales = part_of(all, reader.value);
      double low = 0, high = 0, signal = 0, activation = 0, inputs = 0;
      for (size_t c = 0; c < scales.size(); ++c) {
        low = std::min(low, reader.input->channels[c].min / scales[c]);
        high = std::max(high, reader.input->channels[c].max / scales[c]);
        const double mean_square = reader.input->channel_mean_square(c);
        signal += reader.power[c] * mean_square;
        activation += reader.power[c] * scales[c] * scales[c];
        inputs += mean_square / (scales[c] * scales[c]);
      }
      const double step = (high - low) / reader.activation_steps;
      double noise = step * step / 12 * activation;
      if (reader.op->groups == 1 || reader.has_one_scale)
        noise += weight_noise(reader, scales) * inputs * static_cast<double>(reader.op->taps);
      if (signal > 0) total += noise / signal;
    }
    return total;
  }

  /// Sum over the outputs that an input meets of the variance of a weight's rounding error.
  static double weight_noise(const Reader& reader, std::span<const double> scales) {
    const auto variance = [&](double most) { return most / reader.weight_steps * (most / reader.weight_steps) / 12; };
    const auto inputs = static_cast<size_t>(reader.op->inputs_per_group());
    double noise = 0, most_of_all = 0;
    for (size_t o = 0, k = 0; o < static_cast<size_t>(reader.op->outputs); ++o) {
      double most = 0;
      for (size_t i = 0; i < inputs; ++i, ++k)
        most = std::max(
            most, reader.largest[k] * scales[input_of(*reader.op, static_cast<int64_t>(o), static_cast<int64_t>(i))]);
      noise += variance(most);
      most_of_all = std::max(most_of_all, most);
    }
    return reader.has_one_scale ? variance(most_of_all) * static_cast<double>(reader.op->outputs / reader.op->groups)
                                : noise;
  }

  static size_t input_of(const KernelOp& op, int64_t o, int64_t i) {
    return static_cast<size_t>(o / (op.outputs / op.groups) * op.inputs_per_group() + i);
  }

  void apply(const ChannelRegion& region, const std::vector<double>& scales) {
    for (const size_t source : region.sources) {
      const Node& node = graph_.nodes()[source];
      if (placement_.roles[source].op)
        scale_rows(*placement_.roles[source].op, part_of(scales, node.outputs[0]));
      else
        scale_factors(node, part_of(scales, node.outputs[0]));
    }
    for (const size_t end : region.ends)
      scale_inputs(*placement_.roles[end].op, part_of(scales, graph_.nodes()[end].inputs[0]));
    for (const auto& [value, span] : region.values)
      if (TensorStatistics* tensor = seen(value)) scale(*tensor, part_of(scales, value));
  }

  void scale_rows(const KernelOp& op, std::span<const double> scales) {
    std::vector<double> factors(scales.size());
    for (size_t c = 0; c < scales.size(); ++c) factors[c] = 1 / scales[c];
    graph_.set_initializer(op.weight, passes::scale_outputs(op, *graph_.initializer(op.weight), factors));
    if (!op.bias.valid()) return;
    std::vector<double> bias = *passes::bias_values(graph_, op);
    const Shape shape = graph_.initializer(op.bias)->shape();
    for (size_t c = 0; c < bias.size(); ++c) bias[c] *= factors[c];
    graph_.set_initializer(op.bias, passes::from_doubles(bias, shape));
  }

  void scale_factors(const Node& node, std::span<const double> scales) {
    const Tensor& old = *channel_factors(graph_, node);
    std::vector<double> factors = passes::to_doubles(old);
    for (size_t c = 0; c < scales.size(); ++c) factors[c] /= scales[c];
    graph_.set_initializer(node.inputs[1], passes::from_doubles(factors, old.shape()));
  }

  void scale_inputs(const KernelOp& op, std::span<const double> scales) {
    const Tensor old = graph_.initializer(op.weight)->aligned();
    const auto w = old.data<float>();
    std::vector<double> scaled(w.begin(), w.end());
    for (int64_t o = 0; o < op.outputs; ++o)
      for (int64_t i = 0; i < op.inputs_per_group(); ++i)
        for (int64_t tap = 0; tap < op.taps; ++tap) scaled[op.at(o, i, tap)] *= scales[input_of(op, o, i)];
    graph_.set_initializer(op.weight, passes::from_doubles(scaled, old.shape()));
  }

  static void scale(TensorStatistics& tensor, std::span<const double> scales) {
    float low = tensor.channels.empty() ? 0 : std::numeric_limits<float>::infinity(), high = -low;
    for (size_t c = 0; c < scales.size(); ++c) {
      calibrate::ChannelStatistics& channel = tensor.channels[c];
      channel.min = static_cast<float>(channel.min / scales[c]);
      channel.max = static_cast<float>(channel.max / scales[c]);
      channel.map_sums(1 / scales[c], 0, tensor.per_channel());
      low = std::min(low, channel.min), high = std::max(high, channel.max);
    }
    if (!tensor.histogram.empty()) tensor.histogram = two_ends(low, high, tensor.elements);
    tensor.extremes = {};
  }

  Graph& graph_;
  const framework::Attachment& attachment_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
  size_t channels_ = 0;
  const std::map<ValueId, ChannelSpan>* spans_ = nullptr;
  double caution_;
  const std::set<size_t> shared_;
  std::vector<double> parts_, least_;
  std::vector<Reader> readers_;
};

}  // namespace

std::vector<double> EqualizedRegion::scales_of(ValueId value) const {
  const ChannelSpan& span = values.at(value);
  return {scales.begin() + span.first, scales.begin() + span.first + span.count};
}

namespace {

std::string channel_scales_text(const Graph& graph, const Placement& placement,
                                const std::vector<EqualizedRegion>& regions) {
  const Uses uses(graph);
  std::string text;
  for (const EqualizedRegion& region : regions) {
    for (const auto& [value, span] : region.values) {
      if (placement.find(value) == nullptr) continue;
      std::string letters;
      for (const double scale : region.scales_of(value)) {
        size_t quarters = 0;
        while (quarters + 1 < kDigits.size() && scale_of(static_cast<int>(quarters)) > scale) ++quarters;
        letters += kDigits[quarters];
      }
      // Factors before a quantizer move into it: the tensor is then known by the name of what they multiply.
      const auto maker = uses.producer_index(value);
      const bool moves = maker && channel_factors(graph, graph.nodes()[*maker]) != nullptr;
      text += letters + " " + graph.name_of(moves ? graph.nodes()[*maker].inputs[0] : value) + "\n";
    }
  }
  return text;
}

}  // namespace

std::map<std::string, std::vector<double>> read_channel_scales(std::string_view text) {
  std::map<std::string, std::vector<double>> scales;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    std::vector<double> one;
    for (const char letter : line.substr(0, space)) {
      const size_t quarters = kDigits.find(letter);
      if (quarters == std::string_view::npos) break;
      one.push_back(scale_of(static_cast<int>(quarters)));
    }
    if (one.size() == space) scales[std::string(line.substr(space + 1))] = std::move(one);
  }
  return scales;
}

std::vector<EqualizedRegion> equalize_regions(CorrectedModel& model) {
  std::vector<EqualizedRegion> done;
  Equalizer equalizer(model.model, model.attachment, model.placement, model.statistics);
  for (const ChannelRegion& region : find_channel_regions(model.model.graph, model.placement))
    if (auto equalized = equalizer.equalize(region)) done.push_back(std::move(*equalized));
  return done;
}

std::optional<Rewrite> equalize_channels(CorrectedModel& model, const config::QuantizationConfig&) {
  const std::vector<EqualizedRegion> regions = equalize_regions(model);
  if (regions.empty()) return std::nullopt;
  double worst = 0, best = 1;
  for (const EqualizedRegion& region : regions) {
    worst = std::max(worst, region.noise_ratio);
    best = std::min(best, region.noise_ratio);
  }
  return Rewrite{.field = "activation_channel_equalization",
                 .places = static_cast<int64_t>(regions.size()),
                 .what = "The predicted noise in their readers" + fall_text(worst, best) + ".",
                 .metadata = {kChannelScales, channel_scales_text(model.model.graph, model.placement, regions)}};
}

}  // namespace tersor::ptq
