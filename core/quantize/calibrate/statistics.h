// SPDX-License-Identifier: Apache-2.0
// The result of a calibration: extremes, sums and histogram of each observed tensor, and what model and samples they
// belong to.
//
// Statistics of parts of the samples merge into the statistics of all. Every member is a function of the multiset of
// samples: counts are integers, extremes and sums are exact, bins are dyadic. So any partition, merged in any grouping,
// gives equal values and equal files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/calibrate/choices.h"
#include "core/calibrate/exact_sum.h"
#include "core/quant/histogram.h"
#include "core/quant/params.h"
#include "core/tensor/shape.h"

namespace tersor::calibrate {

/// Statistics of one channel of an observed tensor.
struct ChannelStatistics {
  float min = 0;  // min and max are 0 while nothing was seen
  float max = 0;
  /// Sums over the samples of the sample's own sum, which is computed in one fixed order (kernels/observe.h).
  ExactSum sum;
  ExactSum sum_of_squares;

  /// Replaces the sums by those of factor * x + offset, where x has `elements` elements.
  void map_sums(double factor, double offset, double elements);
  bool operator==(const ChannelStatistics&) const = default;
};

/// The lowest and the highest value of a tensor in a sample.
struct SampleExtremes {
  uint64_t sample = 0;  // its index in the whole data set
  float low = 0, high = 0;

  bool operator==(const SampleExtremes&) const = default;
};

/// Sums of the lowest and of the highest value of each time the tensor was seen, for ONNX Runtime's moving average. A
/// tensor is seen once per sample, in a Loop more often. Empty if the values were rescaled afterwards.
struct ExtremeSums {
  uint64_t times = 0;
  ExactSum low, high;
  /// The two lowest and the two highest of these values, the farther one first; the same value twice if the tensor was
  /// seen once.
  std::array<float, 2> lowest{}, highest{};
  /// Ascending by sample; only where a request asked for it.
  std::vector<SampleExtremes> by_sample = {};

  void add(float least, float largest);
  void merge(const ExtremeSums& more);
  bool operator==(const ExtremeSums&) const = default;
};

/// Statistics of an observed tensor over all samples.
struct TensorStatistics {
  std::string name;            // of the value in the prepared graph
  uint64_t elements = 0;       // in all samples
  quant::Histogram histogram;  // of the elements (docs/statistics.md); empty where only channels are gathered
  int channel_axis = -1;       // -1: no statistics per channel
  std::vector<ChannelStatistics> channels;  // also empty where samples differ in the number of channels
  /// The tensor's shape in every sample; rank 0 and `shape_varies` when samples differ.
  Shape shape;
  bool shape_varies = false;
  ExtremeSums extremes = {};

  uint64_t count() const { return elements; }
  /// Number of elements in each channel.
  double per_channel() const;
  /// Means over the elements of a channel; 0 if none was seen.
  double channel_mean(size_t channel) const;
  double channel_mean_square(size_t channel) const;
  /// The mean of the lowest and the mean of the highest values; the overall extremes if these means are not known.
  quant::Range mean_extremes() const;
  bool operator==(const TensorStatistics&) const = default;
};

/// A sample as it enters the digest of the data set.
struct SampleRecord {
  uint64_t index = 0;  // position in the whole data set
  std::string digest;  // SHA-256 of its tensors, 64 hexadecimal digits

  bool operator==(const SampleRecord&) const = default;
  bool operator<(const SampleRecord& other) const {
    return index != other.index ? index < other.index : digest < other.digest;
  }
};

/// The model, settings and preprocessing that statistics belong to. Statistics with different provenance cannot be
/// merged.
struct Provenance {
  std::string model_digest;   // SHA-256 of the model file
  std::string graph_digest;   // SHA-256 of the prepared graph's structure and of what is observed in it
  std::string settings;       // canonical JSON of the settings that shape the graph
  std::string preprocessing;  // canonical JSON, "null" when the samples were taken as they are

  bool operator==(const Provenance&) const = default;
};

/// The shift of the mean of each channel of a kernel's output that quantization causes, as a sweep over the samples
/// measured it (sweep/sweep.h).
struct MeasuredShift {
  std::string name;  // of the kernel's output in the prepared graph
  /// Float mean minus quantized mean of each channel, to be added to the channel. A kernel that keeps its deviation has
  /// twice as many entries: first the addend of each channel, then the factor that the channel is multiplied by first.
  std::vector<double> shifts;

  bool operator==(const MeasuredShift&) const = default;
};

/// The shifts of all measured kernels.
struct MeasuredShifts {
  std::string plan;  // SHA-256 of the plan they were measured for
  std::vector<MeasuredShift> outputs;

  bool operator==(const MeasuredShifts&) const = default;
};

/// A weight whose rounding takes the correlation of its inputs into account (sweep/round_weights.h).
struct RoundedWeight {
  std::string name;  // of the weight in the prepared graph
  std::vector<float> scales;
  std::vector<int8_t> codes;  // in the order of the weight's elements
  double noise_ratio = 1;     // output noise relative to rounding to nearest, on samples held out

  bool operator==(const RoundedWeight&) const = default;
};

/// All weights that a sweep has rounded.
struct RoundedWeights {
  std::string plan;  // SHA-256 of the plan they were rounded for
  int effort = 0;
  std::vector<RoundedWeight> weights;

  bool operator==(const RoundedWeights&) const = default;
};

/// The scale and zero point of an activation's quantizer after training.
struct TunedActivation {
  std::string name;  // of the tensor in the prepared graph
  float scale = 1;
  int32_t zero_point = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &TunedActivation::name, "The tensor."),
                           field("scale", &TunedActivation::scale, "Its quantizer's scale."),
                           field("zero_point", &TunedActivation::zero_point, "The integer that stands for 0."));
  }
  bool operator==(const TunedActivation&) const = default;
};

/// The course and the result of a training (core/tune).
struct Tuning {
  std::string plan;   // SHA-256 of the plan and settings of the training; empty: nothing was trained
  int64_t steps = 0;  // gradient steps taken
  int64_t steps_planned = 0;
  int64_t samples = 0, held = 0;         // trained on, and held out for the figures below
  double before_db = 0, after_db = 0;    // SQNR of the outputs on the held-out samples, before and after training
  double first_loss = 0, last_loss = 0;  // mean loss of the first and the last epoch
  std::string labels;                    // SHA-256 of the labels used in training; empty: none
  std::optional<double> before_cross_entropy = std::nullopt, after_cross_entropy = std::nullopt;  // with labels
  std::optional<int64_t> before_right = std::nullopt, after_right = std::nullopt;
  bool taken = false;               // the tuned model is better on the held-out samples and is kept
  std::vector<std::string> frozen;  // what was not trained, and why
  std::vector<TunedActivation> activations;

  static constexpr auto fields() {
    using C = Tuning;
    return std::make_tuple(
        field("plan", &C::plan, "SHA-256 of the plan and the settings that this was for."),
        field("steps", &C::steps, "Gradient steps taken."),
        field("steps_planned", &C::steps_planned, "Gradient steps of the whole schedule."),
        field("samples", &C::samples, "Samples that gradients were taken of."),
        field("held", &C::held, "Samples held aside, which the figures below are of."),
        field("before_db", &C::before_db, "SQNR of the outputs before, in dB."),
        field("after_db", &C::after_db, "The same after training."),
        field("first_loss", &C::first_loss, "Mean loss of the first epoch."),
        field("last_loss", &C::last_loss, "Mean loss of the last epoch."),
        field("labels", &C::labels, "SHA-256 of the labels that training took; empty: none."),
        field("before_cross_entropy", &C::before_cross_entropy, "Of the held samples' labels before; null without."),
        field("after_cross_entropy", &C::after_cross_entropy, "The same after training."),
        field("before_right", &C::before_right, "Right answers on the held samples before; null without labels."),
        field("after_right", &C::after_right, "The same after training."),
        field("taken", &C::taken, "The tuned model is better on the held samples, and the file has it."),
        field("frozen", &C::frozen, "What was not trained, and why."),
        field("activations", &C::activations, "Quantizers of activations that training has changed."));
  }
  bool operator==(const Tuning&) const = default;
};

/// The weights, biases and activation scales after training.
struct TunedModel {
  Tuning tuning;
  std::vector<RoundedWeight> weights;
  std::vector<MeasuredShift> biases;  // the trained bias by channel, under the name of the kernel's output

  bool operator==(const TunedModel&) const = default;
};

/// All that calibration and later measurements on the samples found.
struct Statistics {
  Provenance provenance;
  std::vector<SampleRecord> samples;      // ascending by index, then digest
  uint64_t data_set_size = 0;             // samples in the whole data set
  std::vector<TensorStatistics> tensors;  // in the order of the graph
  /// Number of samples in all parts of the calibration together; at most the number of `samples` if no part is missing.
  uint64_t all_parts = 0;
  /// The members below hold for all samples together; merging parts of a data set drops them.
  MeasuredShifts measured = {};
  RoundedWeights rounded = {};
  Choices choices = {};
  TunedModel tuned = {};

  /// Returns null if the value was not observed.
  const TensorStatistics* find(std::string_view name) const;
  /// The digest of the data set: SHA-256 over the lines "<digest>\n" of the samples in order.
  std::string samples_digest() const;
  bool operator==(const Statistics&) const = default;
};

/// Adds `more` to `into`. Error kMismatch if model, settings or preprocessing differ (the message says which), or if
/// both contain the same sample; `into` is then unchanged.
void merge(Statistics& into, const Statistics& more);

/// Error kMismatch, naming the difference, if statistics do not belong to what they are to be used for.
void check_provenance(const Provenance& found, const Provenance& expected);

/// Writes a .tstats file (docs/statistics.md). Equal statistics give equal bytes.
ByteBuffer write(const Statistics& statistics);
/// Reads a .tstats file. Error kInvalidArgument if the bytes are not such a file, are cut short or contradict
/// themselves.
Statistics read(std::span<const std::byte> bytes);

/// The file without its checksum, for exchange between workers of one program. Errors as in read().
ByteBuffer pack(const Statistics& statistics);
Statistics unpack(std::span<const std::byte> bytes);

}  // namespace tersor::calibrate
