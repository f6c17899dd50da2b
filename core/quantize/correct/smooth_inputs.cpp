// SPDX-License-Identifier: Apache-2.0
#include "core/correct/smooth_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "core/choose/two_ends.h"
#include "core/correct/append_node.h"
#include "core/correct/move_statistics.h"
#include "core/correct/row_scales.h"
#include "core/correct/shared_kernels.h"
#include "core/decide/role.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/quant/block_quantizer.h"

namespace tersor::ptq {

using calibrate::ChannelStatistics;
using calibrate::TensorStatistics;
using passes::KernelOp;

namespace {

constexpr double kNoiseFallsTo = 0.8;    // the noise, for an input to be rewritten
constexpr double kLowersTo = 0.98;       // over what was tried before
constexpr double kLeftInBlocks = 0.1;    // of the predicted noise of weights in blocks, after their rounding
constexpr double kQuietest = 1.0 / 256;  // of the largest range and of the largest weight
/// Multiplications of a product in a run, below which the nodes of a scale per row take too large a part of its time.
constexpr double kFewestProducts = 1 << 21;

/// A kernel that reads the value in integers.
struct Reader {
  size_t node = 0;
  const KernelOp* op = nullptr;
  double steps = 0, weight_steps = 0;  // of its quantizers
  int64_t block = 0;                   // inputs that share a scale of the weight
  Tensor weight;
  std::vector<double> bias;        // what the next node adds to its outputs, where one does
  size_t adds = 0;                 // that node
  std::vector<double> power = {};  // by input: the sum of the squares of its weights
};

/// x' = (x - centre) / scale, by channel; then by row.
struct Smoothing {
  std::vector<double> centre, scale;
  RowScale rows = RowScale::kNone;

  bool moves() const {
    return std::any_of(centre.begin(), centre.end(), [](double c) { return c != 0; });
  }
  bool scales() const {
    return std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1; });
  }
};

class Smoother {
 public:
  Smoother(CorrectedModel& model, config::Preference prefer)
      : model_(model.model),
        graph_(model.model.graph),
        attachment_(model.attachment),
        placement_(model.placement),
        statistics_(model.statistics),
        uses_(graph_),
        shared_(shared_kernels(graph_, placement_)),
        tries_rows_(prefer != config::Preference::kSpeed) {}

  Rewrite smooth() {
    std::vector<NodeId> inserted;
    double worst = 0, best = 1;
    int64_t places = 0, by_row = 0;
    for (const PlacedTensor& tensor : placement_.tensors) {
      if (tensor.integer_made || !find_readers(tensor.value)) continue;
      seen_ = statistics_.find(graph_.name_of(tensor.value));
      if (!is_known()) continue;
      const auto [smoothing, ratio] = choose();
      if (!(ratio <= kNoiseFallsTo)) continue;
      worst = std::max(worst, ratio), best = std::min(best, ratio);
      ++places;
      by_row += smoothing.rows != RowScale::kNone ? 1 : 0;
      rewrite(tensor.value, smoothing, inserted);
    }
    graph_.sort_topologically();
    return {.field = "activation_smoothing",
            .places = places,
            .what = "The predicted noise of products" + fall_text(worst, best) + "." +
                    (by_row > 0 ? " " + std::to_string(by_row) + " of them scale each row by its largest value." : ""),
            .inserted = std::move(inserted),
            .attach = [](framework::Attachment&) {}};
  }

 private:
  /// By a node whose range nobody has set.
  bool is_made_in_float(ValueId value) const {
    auto maker = uses_.producer_index(value);
    if (!maker) return false;
    const framework::NodeAttachment& made = attachment_.of(graph_.nodes()[*maker].id);
    const bool is_bounded = made.bounds.low && made.bounds.high;  // all channels reach about as far
    if (is_bounded || !made.output_quantizers.empty() || has_fixed_range(made)) return false;
    while (maker && placement_.roles[*maker].role == Role::kMover)
      maker = uses_.producer_index(graph_.nodes()[*maker].inputs[0]);
    if (!maker) return false;
    const Role role = placement_.roles[*maker].role;
    return role == Role::kFloat || role == Role::kKernelFloatOutput;
  }

  /// False where a reader cannot take up a factor.
  bool find_readers(ValueId value) {
    readers_.clear();
    moves_ = true;
    if (!is_made_in_float(value)) return false;
    for (const size_t index : uses_.reader_indices(value)) {
      const NodeRole& role = placement_.roles[index];
      const Node& node = graph_.nodes()[index];
      if (!role.reads_integers()) continue;
      const bool fits = role.op && node.is("MatMul") && !role.float_weight && node.inputs[0] == value &&
                        shared_.count(index) == 0 && std::count(node.inputs.begin(), node.inputs.end(), value) == 1;
      const framework::NodeAttachment& attached = attachment_.of(node.id);
      const framework::WeightAttribute* quantized = attached.weight(tpc::kKernelAttr);
      // With fewer bits for a whole output the weights lose more than the input gains.
      const bool fine = quantized != nullptr && (quantized->config.weights_n_bits == quant::kBitsOfLevels ||
                                                 quantized->config.weights_block_size);
      if (!fits || !fine || quantized->config.weights_by_table()) return false;
      Reader reader{index,
                    &*role.op,
                    std::ldexp(1.0, attached.config().activation_n_bits) - 1,
                    std::ldexp(1.0, quantized->config.weights_n_bits - 1) - 1,
                    quantized->config.weights_block_size.value_or(static_cast<int>(role.op->inputs)),
                    graph_.initializer(role.op->weight)->aligned(),
                    {},
                    {}};
      find_bias(node, reader);
      moves_ = moves_ && !reader.bias.empty();
      readers_.push_back(std::move(reader));
    }
    return !readers_.empty();
  }

  /// Left empty where there is none that an offset could join.
  void find_bias(const Node& node, Reader& reader) const {
    const auto next = passes::sole_reader(graph_, uses_, node.outputs[0]);
    if (!next || !graph_.nodes()[*next].is("Add") || placement_.find(node.outputs[0]) != nullptr) return;
    const Node& add = graph_.nodes()[*next];
    const Tensor* bias = passes::float_constant(graph_, add.inputs[add.inputs[0] == node.outputs[0] ? 1 : 0]);
    if (bias == nullptr || bias->shape().rank() == 0 || bias->elements() != reader.op->outputs ||
        bias->shape()[bias->shape().rank() - 1] != bias->elements())
      return;
    reader.bias = passes::to_doubles(*bias);
    reader.adds = *next;
  }

  bool is_known() const {
    const auto is_finite = [](const ChannelStatistics& channel) {
      return std::isfinite(channel.min) && std::isfinite(channel.max);
    };
    return seen_ != nullptr && seen_->elements > 0 && seen_->channel_axis > 0 &&
           std::all_of(seen_->channels.begin(), seen_->channels.end(), is_finite) &&
           std::all_of(readers_.begin(), readers_.end(), [&](const Reader& reader) {
             return reader.op->inputs == static_cast<int64_t>(seen_->channels.size());
           });
  }

  /// The least predicted noise, as a part of that without smoothing.
  std::pair<Smoothing, double> choose() {
    const size_t channels = seen_->channels.size();
    std::vector<double> weights(channels, 0.0);
    const Smoothing plain{std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0)};
    for (Reader& reader : readers_) measure(reader, weights);
    floor(weights);
    const double before = cost(plain, 1);
    std::pair<Smoothing, double> best{plain, 1}, by_row = best;
    const auto take_better = [&](Smoothing tried, double reach, std::pair<Smoothing, double>& least) {
      const double ratio = cost(tried, reach) / before;
      if (ratio < kLowersTo * least.second) least = {std::move(tried), ratio};
    };
    const auto try_around = [&](const std::vector<double>& centre, RowScale rows, double reach,
                                std::pair<Smoothing, double>& least) {
      std::vector<double> ranges(channels);
      for (size_t k = 0; k < channels; ++k)
        ranges[k] = std::max(seen_->channels[k].max - centre[k], centre[k] - seen_->channels[k].min);
      floor(ranges);
      for (int eighths = 0; before > 0 && eighths <= 8; ++eighths) {
        Smoothing tried{centre, std::vector<double>(channels), rows};
        for (size_t k = 0; k < channels; ++k)
          tried.scale[k] = power_of(ranges[k], eighths) / power_of(weights[k], 8 - eighths);
        const double largest = *std::max_element(tried.scale.begin(), tried.scale.end());
        for (double& one : tried.scale) one = static_cast<float>(one / largest);
        take_better(std::move(tried), reach, least);
      }
    };
    try_around(plain.centre, RowScale::kNone, 1, best);
    if (moves_) {
      std::vector<double> middle;
      for (const ChannelStatistics& channel : seen_->channels)
        middle.push_back(static_cast<float>((static_cast<double>(channel.min) + channel.max) / 2));
      try_around(middle, RowScale::kNone, 1, best);
    }
    if (!(best.second <= kNoiseFallsTo)) best = {plain, 1};
    if (!may_scale_rows()) return best;
    const auto try_rows = [&](double centre, RowScale rows) {
      const double reach = mean_square_of_reach(seen_->histogram, centre, rows, channels);
      const std::vector<double> all(channels, centre);
      take_better({all, plain.scale, rows}, reach, by_row);
      try_around(all, rows, reach, by_row);
    };
    try_rows(0, RowScale::kTwoSided);
    const double least = seen_->histogram.min();
    if (moves_ || least == 0) try_rows(least, RowScale::kOneSided);
    return by_row.second <= kNoiseFallsTo * best.second ? by_row : best;
  }

  /// A scale per row may pay, and how the values spread is known.
  bool may_scale_rows() const {
    double outputs = 0;
    for (const Reader& reader : readers_) outputs += static_cast<double>(reader.op->outputs);
    const double elements = static_cast<double>(seen_->elements) / static_cast<double>(statistics_.samples.size());
    return tries_rows_ && elements * outputs >= kFewestProducts && !seen_->histogram.empty() &&
           !is_two_ends(seen_->histogram) && graph_.initializer(readers_[0].op->weight)->shape().rank() == 2;
  }

  static void measure(Reader& reader, std::vector<double>& largest) {
    reader.power.assign(largest.size(), 0.0);
    const auto w = reader.weight.data<float>();
    for (int64_t o = 0; o < reader.op->outputs; ++o)
      for (int64_t i = 0; i < reader.op->inputs; ++i) {
        const double one = w[reader.op->at(o, i, 0)];
        reader.power[static_cast<size_t>(i)] += one * one;
        largest[static_cast<size_t>(i)] = std::max(largest[static_cast<size_t>(i)], std::fabs(one));
      }
  }

  /// Keeps quiet channels within a part of the loudest, which other samples may ask of them.
  static void floor(std::vector<double>& values) {
    const double most = *std::max_element(values.begin(), values.end());
    for (double& one : values) one = most > 0 ? std::max(one, kQuietest * most) : 1;
  }

  /// x^(eighths / 8). Square roots are the same on every target.
  static double power_of(double x, int eighths) {
    double power = 1;
    for (int bit = 8; bit > 0; bit /= 2, x = std::sqrt(x))
      if ((eighths & bit) != 0) power *= x;
    return power;
  }

  /// Predicted noise power of all readers: of the input's rounding and of the weights'. `reach` is that of a row: the
  /// mean of its square over that of all.
  double cost(const Smoothing& by, double reach) const {
    double low = 0, high = 0;
    std::vector<double> squares(by.scale.size());
    for (size_t k = 0; k < by.scale.size(); ++k) {
      const ChannelStatistics& channel = seen_->channels[k];
      const double c = by.centre[k], s = by.scale[k];
      low = std::min(low, (channel.min - c) / s), high = std::max(high, (channel.max - c) / s);
      const double about = seen_->channel_mean_square(k) - 2 * c * seen_->channel_mean(k) + c * c;
      squares[k] = std::max(0.0, about) / (s * s);
    }
    if (by.rows == RowScale::kTwoSided) low = -(high = std::max(high, -low));
    if (by.rows == RowScale::kOneSided) low = 0;
    double noise = 0;
    for (const Reader& reader : readers_) {
      const double step = (high - low) * std::sqrt(reach) / reader.steps;
      double power = 0;
      for (size_t k = 0; k < by.scale.size(); ++k) power += reader.power[k] * by.scale[k] * by.scale[k];
      const double left = reader.block < reader.op->inputs ? kLeftInBlocks : 1;
      noise += step * step / 12 * power + left * noise_of_weights(reader, by.scale, squares);
    }
    return noise;
  }

  /// The power of what rounded weights make, of all outputs together. `squares`: mean square of each channel.
  static double noise_of_weights(const Reader& reader, const std::vector<double>& scale,
                                 const std::vector<double>& squares) {
    const auto w = reader.weight.data<float>();
    const int64_t inputs = reader.op->inputs;
    double noise = 0;
    for (int64_t begin = 0; begin < inputs; begin += reader.block) {
      const int64_t end = std::min(begin + reader.block, inputs);
      double variance = 0;
      for (int64_t o = 0; o < reader.op->outputs; ++o) {
        double most = 0;
        for (int64_t i = begin; i < end; ++i)
          most = std::max(most, std::fabs(w[reader.op->at(o, i, 0)] * scale[static_cast<size_t>(i)]));
        const double step = most / reader.weight_steps;
        variance += step * step / 12;
      }
      noise += std::accumulate(squares.begin() + begin, squares.begin() + end, 0.0) * variance;
    }
    return noise;
  }

  void rewrite(ValueId value, const Smoothing& by, std::vector<NodeId>& inserted) {
    const bool by_row = by.rows != RowScale::kNone;
    const std::string name = graph_.name_of(value);
    const auto like_value = [&](const std::string& stem) {
      const ValueId made = graph_.add_unique_value(stem, DType::kFloat32);
      graph_.value(made).shape = graph_.value(value).shape;
      return made;
    };
    const ValueId smoothed = like_value(name + std::string(kSmoothed));
    const bool by_channel = by.moves() || by.scales();
    const ValueId whole = !by_row ? smoothed : by_channel ? like_value(name + "_by_channel") : value;
    TensorStatistics of_smoothed = smoothed_statistics(*seen_, by);
    const auto norm = norm_of(value);
    for (const Reader& reader : readers_) {
      graph_.nodes()[reader.node].inputs[0] = smoothed;
      take_up(reader, by);
    }
    if (by_channel && norm)
      absorb(*norm, whole, by);
    else if (by_channel)
      insert(value, whole, by, inserted);
    if (by_row) {
      const double most = std::max<double>(of_smoothed.histogram.max(), -of_smoothed.histogram.min());
      const ValueId r = divide_rows(model_, whole, smoothed, by.rows, most, inserted);
      for (const Reader& reader : readers_) multiply_rows(graph_, reader.node, r, inserted);
      of_smoothed.channels.clear(), of_smoothed.channel_axis = -1;
      of_smoothed.histogram = two_ends(by.rows == RowScale::kOneSided ? 0 : -1, 1, of_smoothed.elements);
    }
    of_smoothed.name = graph_.name_of(smoothed);
    statistics_.tensors.push_back(std::move(of_smoothed));
  }

  void take_up(const Reader& reader, const Smoothing& by) {
    const KernelOp& op = *reader.op;
    const auto w = reader.weight.data<float>();
    std::vector<double> scaled(w.begin(), w.end()), bias = reader.bias;
    const bool moves = by.moves();
    for (int64_t o = 0; o < op.outputs; ++o)
      for (int64_t i = 0; i < op.inputs; ++i) {
        const auto k = static_cast<size_t>(i);
        if (moves) bias[static_cast<size_t>(o)] += by.centre[k] * scaled[op.at(o, i, 0)];
        scaled[op.at(o, i, 0)] *= by.scale[k];
      }
    graph_.set_initializer(op.weight, passes::from_doubles(scaled, reader.weight.shape()));
    if (!moves) return;
    Node& kernel = graph_.nodes()[reader.node];
    // What the product gives is another value now, which is not to be taken for the float model's.
    const ValueId product = kernel.outputs[0];
    rename_moved(graph_, statistics_, product, "_moved", 1, 0);
    Node& add = graph_.nodes()[reader.adds];
    const size_t slot = add.inputs[0] == product ? 1 : 0;
    const Shape shape = graph_.initializer(add.inputs[slot])->shape();
    passes::set_constant(graph_, uses_, add, slot, passes::from_doubles(bias, shape), add.name + "_bias");
  }

  /// The LayerNormalization that makes the value for these kernels alone, along the channels.
  std::optional<size_t> norm_of(ValueId value) const {
    const size_t maker = *uses_.producer_index(value);
    const Node& node = graph_.nodes()[maker];
    if (!node.is("LayerNormalization") || uses_.is_output(value) || uses_.reader_count(value) != readers_.size())
      return std::nullopt;
    const int64_t axis = int_of(node, "axis");
    const auto fits = [&](size_t slot) {
      const Tensor* one = passes::float_constant(graph_, node.inputs[slot]);
      return one != nullptr && one->shape().rank() == 1 &&
             one->elements() == static_cast<int64_t>(seen_->channels.size());
    };
    const bool last = axis == -1 || axis == seen_->channel_axis;
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2].valid();
    return last && node.outputs.size() == 1 && fits(1) && (!has_bias || fits(2)) ? std::optional(maker) : std::nullopt;
  }

  void absorb(size_t index, ValueId smoothed, const Smoothing& by) {
    Node& norm = graph_.nodes()[index];
    std::vector<double> scale = passes::to_doubles(*graph_.initializer(norm.inputs[1]));
    const bool has_bias = norm.inputs.size() > 2 && norm.inputs[2].valid();
    std::vector<double> bias =
        has_bias ? passes::to_doubles(*graph_.initializer(norm.inputs[2])) : std::vector<double>(scale.size(), 0.0);
    for (size_t k = 0; k < scale.size(); ++k) {
      scale[k] /= by.scale[k];
      bias[k] = (bias[k] - by.centre[k]) / by.scale[k];
    }
    const Shape shape{static_cast<int64_t>(scale.size())};
    const std::string stem = graph_.name_of(smoothed);
    norm.inputs[1] = graph_.add_initializer(stem + "_scale", passes::from_doubles(scale, shape));
    norm.inputs.resize(3);
    norm.inputs[2] = graph_.add_initializer(stem + "_bias", passes::from_doubles(bias, shape));
    norm.outputs[0] = smoothed;
  }

  void insert(ValueId value, ValueId smoothed, const Smoothing& by, std::vector<NodeId>& inserted) {
    std::vector<double> factors, offsets;
    for (size_t k = 0; k < by.scale.size(); ++k) {
      factors.push_back(static_cast<float>(1 / by.scale[k]));
      offsets.push_back(-by.centre[k] / by.scale[k]);
    }
    const Shape shape{static_cast<int64_t>(factors.size())};
    const std::string stem = graph_.name_of(smoothed);
    const bool moves = by.moves();
    if (!by.scales()) {
      const auto offset = static_cast<float>(offsets[0]);  // what is not scaled is moved as one
      inserted.push_back(append_node(
          graph_, "Add", {value, graph_.add_initializer(stem + "_offset", Tensor::scalar(offset))}, smoothed));
      return;
    }
    const ValueId scaled = moves ? graph_.add_unique_value(stem + "_scaled", DType::kFloat32) : smoothed;
    inserted.push_back(
        append_node(graph_, "Mul",
                    {value, graph_.add_initializer(stem + "_factors", passes::from_doubles(factors, shape))}, scaled));
    if (moves)
      inserted.push_back(append_node(
          graph_, "Add", {scaled, graph_.add_initializer(stem + "_offsets", passes::from_doubles(offsets, shape))},
          smoothed));
  }

  static TensorStatistics smoothed_statistics(const TensorStatistics& of, const Smoothing& by) {
    TensorStatistics result = of;
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (size_t k = 0; k < of.channels.size(); ++k) {
      ChannelStatistics& channel = result.channels[k];
      channel.min = static_cast<float>((of.channels[k].min - by.centre[k]) / by.scale[k]);
      channel.max = static_cast<float>((of.channels[k].max - by.centre[k]) / by.scale[k]);
      channel.map_sums(1 / by.scale[k], -by.centre[k] / by.scale[k], of.per_channel());
      low = std::min(low, channel.min), high = std::max(high, channel.max);
    }
    result.histogram = two_ends(low, high, of.elements);
    result.extremes = {};
    return result;
  }

  Model& model_;
  Graph& graph_;
  const framework::Attachment& attachment_;
  const Placement& placement_;
  calibrate::Statistics& statistics_;
  const Uses uses_;
  const std::set<size_t> shared_;
  const bool tries_rows_;
  std::vector<Reader> readers_;             // of the input at hand
  bool moves_ = false;                      // an offset can go into all their biases
  const TensorStatistics* seen_ = nullptr;  // of the input at hand
};

}  // namespace

std::optional<Rewrite> smooth_inputs(CorrectedModel& model, const config::QuantizationConfig& config) {
  constexpr size_t kFewest = 16;  // samples, or others reach beyond what was seen of a channel
  if (model.attachment.export_rules.placement != tpc::Placement::kOperands || model.statistics.samples.size() < kFewest)
    return std::nullopt;
  Rewrite done = Smoother(model, config.prefer).smooth();
  return done.places > 0 ? std::optional(std::move(done)) : std::nullopt;
}

}  // namespace tersor::ptq
