// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/equalize_channels.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/graph/clamp_bounds.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/ptq/two_ends.h"

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
constexpr double kActivationSteps = 255;
constexpr double kWeightSteps = 127;

/// 2^(-k/4). Square roots are the same on every target.
double scale_of(int quarters) {
  const double part = quarters % 4 == 0 ? 1 : quarters % 4 == 2 ? std::sqrt(0.5) : std::sqrt(std::sqrt(0.5));
  const double root = quarters % 4 == 3 ? std::sqrt(0.5) * part : part;
  return std::ldexp(root, -(quarters / 4));
}

/// A tensor region, and where it begins and ends.
struct Region {
  std::set<ValueId> values;
  std::set<size_t> sources, ends;  // Convs (or Muls by a constant) that make a value of it, Convs that read one
  int64_t channels = 0;
};

bool spatial_resize(const Node& node) {
  return node.string_or("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

/// Operators with f(s x) = s f(x) channel by channel for s > 0, in their first input.
bool is_homogeneous(const Node& node) {
  return node.is("Relu") || node.is("LeakyRelu") || node.is("PRelu") || node.is("MaxPool") || node.is("AveragePool") ||
         node.is("GlobalAveragePool") || node.is("GlobalMaxPool") || (node.is("Resize") && spatial_resize(node));
}

/// The constant of a Mul that has one factor per channel (split_scales.h inserts such).
const Tensor* channel_factors(const Graph& graph, const Node& node) {
  if (!node.is("Mul") || node.inputs.size() != 2) return nullptr;
  const Tensor* factors = passes::float_constant(graph, node.inputs[1]);
  const bool fits = factors != nullptr && factors->shape().rank() == 4 && factors->shape()[1] == factors->elements();
  return fits ? factors : nullptr;
}

class Finder {
 public:
  Finder(const Graph& graph, const Placement& placement)
      : graph_(graph), uses_(graph), placement_(placement), captured_(passes::captured_values(graph)) {}

  /// The region around the value; none when a factor per channel cannot pass through all of it.
  std::optional<Region> grow(ValueId start) {
    region_ = {};
    gates_.clear();
    open_ = {start};
    region_.values.insert(start);
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      if (!grow_from(value)) return std::nullopt;
    }
    for (const size_t gated : gates_)
      if (region_.values.count(graph_.nodes()[gated].inputs[0]) +
              region_.values.count(graph_.nodes()[gated].inputs[1]) !=
          1)
        return std::nullopt;
    return region_.ends.empty() ? std::nullopt : std::optional(std::move(region_));
  }

 private:
  void join(ValueId value) {
    if (region_.values.insert(value).second) open_.push_back(value);
  }
  const KernelOp* conv(size_t index) const {
    const NodeRole& role = placement_.roles[index];
    return role.has_kernel() && role.op && graph_.nodes()[index].is("Conv") ? &*role.op : nullptr;
  }
  bool fits(int64_t channels) {
    if (region_.channels == 0) region_.channels = channels;
    return region_.channels == channels;
  }
  bool constant(ValueId id) const { return !id.valid() || graph_.initializer(id) != nullptr; }

  bool grow_from(ValueId value) {
    if (constant(value) || uses_.is_output(value) || captured_[static_cast<size_t>(value.index)]) return false;
    const auto maker = uses_.producer_index(value);
    if (!maker || graph_.nodes()[*maker].outputs[0] != value || !pass_back(*maker)) return false;
    const auto& readers = uses_.reader_indices(value);
    return std::all_of(readers.begin(), readers.end(), [&](size_t reader) { return pass_on(reader, value); });
  }

  bool pass_back(size_t index) {
    const Node& node = graph_.nodes()[index];
    if (const KernelOp* op = conv(index)) {
      region_.sources.insert(index);
      return fits(op->outputs);
    }
    if (const Tensor* factors = channel_factors(graph_, node)) {
      region_.sources.insert(index);
      return fits(factors->elements());
    }
    return pass_through(index, node);
  }

  bool pass_on(size_t index, ValueId value) {
    const Node& node = graph_.nodes()[index];
    if (const KernelOp* op = conv(index)) {
      const bool as_data = node.inputs[0] == value && std::count(node.inputs.begin(), node.inputs.end(), value) == 1;
      region_.ends.insert(index);
      return as_data && fits(op->inputs) && (op->groups == 1 || op->groups == op->inputs);
    }
    if (node.is("Mul") && node.inputs.size() == 2 && node.inputs[0] != node.inputs[1]) {
      gates_.insert(index);
      join(node.outputs[0]);
      return !constant(node.inputs[0]) && !constant(node.inputs[1]);
    }
    return pass_through(index, node);
  }

  /// Joins what the node reads and makes; false when a factor cannot pass through it.
  bool pass_through(size_t index, const Node& node) {
    if (node.outputs.size() != 1) return false;
    if (node.is("Add") && node.inputs[0] != node.inputs[1]) {
      if (constant(node.inputs[0]) || constant(node.inputs[1])) return false;
      join(node.inputs[0]), join(node.inputs[1]);
    } else if (node.is("Mul")) {
      // Which side is the gate is not known from behind: the side that some other way has led to.
      if (gates_.count(index) == 0) return false;
    } else if (is_homogeneous(node) || clips_from_zero(node)) {
      join(node.inputs[0]);
    } else {
      return false;
    }
    join(node.outputs[0]);
    return true;
  }

  bool clips_from_zero(const Node& node) const {
    const auto bounds = node.is("Clip") ? clamp_bounds(graph_, node) : std::nullopt;
    return bounds && bounds->low == 0 && bounds->high > 0;
  }

  const Graph& graph_;
  const Uses uses_;
  const Placement& placement_;
  const std::vector<bool> captured_;
  Region region_;
  std::vector<ValueId> open_;
  std::set<size_t> gates_;
};

double largest(const calibrate::ChannelStatistics& channel) {
  return std::max(std::fabs(static_cast<double>(channel.min)), std::fabs(static_cast<double>(channel.max)));
}

class Equalizer {
 public:
  Equalizer(Model& model, const Placement& placement, calibrate::Statistics& statistics)
      : graph_(model.graph), placement_(placement), statistics_(statistics) {}

  std::optional<EqualizedRegion> equalize(const Region& region) {
    channels_ = static_cast<size_t>(region.channels);
    if (!find_parts(region) || !find_limits(region)) return std::nullopt;
    find_readers(region);
    const double plain = cost(std::vector<double>(channels_, 1.0));
    EqualizedRegion best{{region.values.begin(), region.values.end()}, {}, 0, 1};
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
    const bool usable = found != statistics_.tensors.end() && found->channels.size() == channels_ &&
                        found->channel_axis == 1 && found->elements > 0;
    return usable ? &*found : nullptr;
  }

  /// Each channel's part of the range, the largest over the region's quantized tensors.
  bool find_parts(const Region& region) {
    parts_.assign(channels_, kLeastPart);
    bool any = false;
    for (const ValueId value : region.values) {
      if (placement_.find(value) == nullptr) continue;
      const TensorStatistics* tensor = seen(value);
      if (tensor == nullptr) return false;
      double whole = 0;
      for (const auto& channel : tensor->channels) whole = std::max(whole, largest(channel));
      if (whole == 0) return false;
      for (size_t c = 0; c < channels_; ++c) parts_[c] = std::max(parts_[c], largest(tensor->channels[c]) / whole);
      any = true;
    }
    return any;
  }

  /// How far each channel may be raised under the bounds of Clips.
  bool find_limits(const Region& region) {
    least_.assign(channels_, 0.0);
    for (const Node& node : graph_.nodes()) {
      if (!node.is("Clip") || region.values.count(node.outputs[0]) == 0) continue;
      const TensorStatistics* tensor = seen(node.outputs[0]);
      if (tensor == nullptr) return false;
      const double bound = clamp_bounds(graph_, node)->high;
      for (size_t c = 0; c < channels_; ++c) {
        const double most = tensor->channels[c].max;
        least_[c] =
            std::max(least_[c], most >= kReachesBound * bound ? 1.0 : std::min(1.0, kRoomUnderBound * most / bound));
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
    const TensorStatistics* input;
    const KernelOp* op;
    std::vector<double> power;   // per input channel: the sum of the squares of all weights that meet it
    std::vector<float> largest;  // per output, per input of its group: the largest weight of all taps
  };

  void find_readers(const Region& region) {
    readers_.clear();
    for (const size_t end : region.ends) {
      const KernelOp& op = *placement_.roles[end].op;
      const TensorStatistics* input = seen(graph_.nodes()[end].inputs[0]);
      if (input == nullptr) continue;
      Reader reader{input, &op, std::vector<double>(channels_, 0.0), {}};
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

  /// Predicted noise power over signal power, summed over the readers: of the 8-bit activation, and of the weights of
  /// ungrouped Convs (those of depthwise ones have a scale for each channel, which takes up the factor).
  double cost(const std::vector<double>& scales) const {
    double total = 0;
    for (const Reader& reader : readers_) {
      double low = 0, high = 0, signal = 0, activation = 0, inputs = 0;
      for (size_t c = 0; c < channels_; ++c) {
        low = std::min(low, reader.input->channels[c].min / scales[c]);
        high = std::max(high, reader.input->channels[c].max / scales[c]);
        const double mean_square = reader.input->channel_mean_square(c);
        signal += reader.power[c] * mean_square;
        activation += reader.power[c] * scales[c] * scales[c];
        inputs += mean_square / (scales[c] * scales[c]);
      }
      const double step = (high - low) / kActivationSteps;
      double noise = step * step / 12 * activation;
      if (reader.op->groups == 1) noise += weight_noise(reader, scales) * inputs * static_cast<double>(reader.op->taps);
      if (signal > 0) total += noise / signal;
    }
    return total;
  }

  /// Sum over outputs of the variance of a weight's rounding error; without groups.
  double weight_noise(const Reader& reader, const std::vector<double>& scales) const {
    double noise = 0;
    for (size_t row = 0; row < reader.largest.size(); row += channels_) {
      double most = 0;
      for (size_t c = 0; c < channels_; ++c) most = std::max(most, reader.largest[row + c] * scales[c]);
      noise += most / kWeightSteps * (most / kWeightSteps) / 12;
    }
    return noise;
  }

  static size_t input_of(const KernelOp& op, int64_t o, int64_t i) {
    return static_cast<size_t>(o / (op.outputs / op.groups) * op.inputs_per_group() + i);
  }

  void apply(const Region& region, const std::vector<double>& scales) {
    for (const size_t source : region.sources) {
      if (placement_.roles[source].op)
        scale_rows(*placement_.roles[source].op, scales);
      else
        scale_factors(graph_.nodes()[source], scales);
    }
    for (const size_t end : region.ends) scale_inputs(*placement_.roles[end].op, scales);
    for (const ValueId value : region.values)
      if (TensorStatistics* tensor = seen(value)) scale(*tensor, scales);
  }

  void scale_rows(const KernelOp& op, const std::vector<double>& scales) {
    std::vector<double> factors(scales.size());
    for (size_t c = 0; c < scales.size(); ++c) factors[c] = 1 / scales[c];
    graph_.set_initializer(op.weight, passes::scale_outputs(op, *graph_.initializer(op.weight), factors));
    if (!op.bias.valid()) return;
    std::vector<double> bias = *passes::bias_values(graph_, op);
    const Shape shape = graph_.initializer(op.bias)->shape();
    for (size_t c = 0; c < bias.size(); ++c) bias[c] *= factors[c];
    graph_.set_initializer(op.bias, passes::from_doubles(bias, shape));
  }

  void scale_factors(const Node& node, const std::vector<double>& scales) {
    const Tensor& old = *channel_factors(graph_, node);
    std::vector<double> factors = passes::to_doubles(old);
    for (size_t c = 0; c < scales.size(); ++c) factors[c] /= scales[c];
    graph_.set_initializer(node.inputs[1], passes::from_doubles(factors, old.shape()));
  }

  void scale_inputs(const KernelOp& op, const std::vector<double>& scales) {
    const Tensor old = graph_.initializer(op.weight)->aligned();
    const auto w = old.data<float>();
    std::vector<double> scaled(w.begin(), w.end());
    for (int64_t o = 0; o < op.outputs; ++o)
      for (int64_t i = 0; i < op.inputs_per_group(); ++i)
        for (int64_t tap = 0; tap < op.taps; ++tap) scaled[op.at(o, i, tap)] *= scales[input_of(op, o, i)];
    graph_.set_initializer(op.weight, passes::from_doubles(scaled, old.shape()));
  }

  static void scale(TensorStatistics& tensor, const std::vector<double>& scales) {
    float low = tensor.channels.empty() ? 0 : std::numeric_limits<float>::infinity(), high = -low;
    for (size_t c = 0; c < scales.size(); ++c) {
      calibrate::ChannelStatistics& channel = tensor.channels[c];
      channel.min = static_cast<float>(channel.min / scales[c]);
      channel.max = static_cast<float>(channel.max / scales[c]);
      const double sum = channel.sum.value() / scales[c],
                   squares = channel.sum_of_squares.value() / (scales[c] * scales[c]);
      channel.sum = {}, channel.sum_of_squares = {};
      channel.sum.add(sum), channel.sum_of_squares.add(squares);
      low = std::min(low, channel.min), high = std::max(high, channel.max);
    }
    if (!tensor.histogram.empty()) tensor.histogram = two_ends(low, high, tensor.elements);
  }

  Graph& graph_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
  size_t channels_ = 0;
  std::vector<double> parts_, least_;
  std::vector<Reader> readers_;
};

}  // namespace

std::string channel_scales_text(const Graph& graph, const Placement& placement,
                                const std::vector<EqualizedRegion>& regions) {
  const Uses uses(graph);
  std::string text;
  for (const EqualizedRegion& region : regions) {
    std::string letters;
    for (const double scale : region.scales) {
      size_t quarters = 0;
      while (quarters + 1 < kDigits.size() && scale_of(static_cast<int>(quarters)) > scale) ++quarters;
      letters += kDigits[quarters];
    }
    for (const ValueId value : region.values) {
      if (placement.find(value) == nullptr) continue;
      // Factors in front of a quantizer move into it: the tensor is then known by the name of what they multiply.
      const auto maker = uses.producer_index(value);
      const bool moves = maker && channel_factors(graph, graph.nodes()[*maker]) != nullptr;
      text += letters + " " + graph.name_of(moves ? graph.nodes()[*maker].inputs[0] : value) + "\n";
    }
  }
  return text;
}

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

std::vector<EqualizedRegion> equalize_channels(Model& model, const Placement& placement,
                                               calibrate::Statistics& statistics) {
  std::vector<EqualizedRegion> done;
  std::set<ValueId> visited;
  for (size_t i = 0; i < placement.roles.size(); ++i) {
    const ValueId output = model.graph.nodes()[i].outputs[0];
    const bool begins =
        placement.roles[i].has_kernel() || channel_factors(model.graph, model.graph.nodes()[i]) != nullptr;
    if (!begins || visited.count(output) != 0) continue;
    const auto region = Finder(model.graph, placement).grow(output);
    if (!region) continue;
    visited.insert(region->values.begin(), region->values.end());
    if (auto equalized = Equalizer(model, placement, statistics).equalize(*region))
      done.push_back(std::move(*equalized));
  }
  return done;
}

}  // namespace tersor::ptq
