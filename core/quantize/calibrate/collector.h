// SPDX-License-Identifier: Apache-2.0
// Gathers statistics of tensors during runs of the float model. Each thread has its own collector; their statistics
// merge exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <optional>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/run/observer.h"

namespace tersor::calibrate {

/// A tensor to gather statistics of.
struct Request {
  ValueId value;
  std::string name;
  int channel_axis = -1;  // of the ONNX shape; -1: not per channel
  /// Gathers statistics per channel but no histogram: for tensors whose range is not needed.
  bool channels_only = false;
  /// Keeps only the extremes in the histogram: for tensors of which nothing else is read.
  bool extremes_only = false;
  /// Keeps the extremes of each sample.
  bool by_sample = false;

  bool operator==(const Request&) const = default;
};

/// Scratch counters for the tensor that is being counted: four per bin, small enough for the cache. All BinCounters
/// share a single set, each tensor in its turn.
struct BinTurns {
  std::vector<uint16_t> by_four;  // four counters per bin; nonzero only from the bin of `low` to that of `high`
  std::vector<uint64_t> spilled;  // counts moved out of `by_four` when it was full or the range grew; in today's bins
  size_t held = 0;                // values in `by_four`
  float low = 0, high = 0;        // the range of the values in `by_four`
  float per_width = 0;            // bins per unit: 1 / bin width
  uint64_t counted = 0, zeros = 0;
  uint64_t values = 0;        // values that the counted ones represent, themselves included
  uint64_t far = 0;           // how many of `values` were counted by add_far()
  std::vector<size_t> apart;  // places in counts_ of those of the sampled values that add_far() counted too
};

/// Decides which values of a large tensor are counted in its bins; each counted value represents `weight` values.
///
/// The tensor is cut into lines, such as a row of a picture with all its channels, and each line into `weight` parts.
/// Each line contributes only one part, and `weight` consecutive lines contribute `weight` different parts. So every
/// position in a line and every line is sampled equally often. Lines that do not fill a group of `weight` are counted
/// whole. Values far from zero are counted individually (Collector::add_far).
struct Sampling {
  size_t line = 1;    // values per line
  size_t weight = 1;  // also the number of parts of a line
  size_t step = 1;    // difference between the parts that two consecutive lines contribute; coprime with `weight`
  size_t whole = 0;   // index of the first line that is counted whole

  /// The sampling of a tensor that lies in memory as `dims`. Parts of a line begin at multiples of `unit` values.
  static Sampling of(std::span<const int64_t> dims, size_t unit);
  /// The part that line `index` contributes, from 0 to weight - 1.
  size_t part_of(size_t index) const { return (index % weight * step + index / weight) % weight; }
  /// The begin and end, in values from the start of the line, of the part that line `index` contributes.
  std::pair<size_t, size_t> ends_of(size_t index, size_t unit) const {
    const size_t units = line / unit, k = part_of(index);
    return {k * units / weight * unit, (k + 1) * units / weight * unit};
  }
};

/// Counts values into dyadic bins whose range grows as values arrive. The result is the Histogram of the multiset of
/// values and does not depend on their order.
class BinCounter {
 public:
  /// Counts `values`, which are finite and lie between `min` and `max`.
  void add(std::span<const float> values, float min, float max);
  /// Prepares for counting with `turns`, which is faster for many values. The values that add_in_turn() then counts
  /// represent `values` values, all between `min` and `max`.
  void begin_turns(size_t values, float min, float max, BinTurns& turns);
  void add_in_turn(std::span<const float> values, BinTurns& turns) const;
  /// Counts `value` as a single value, not as a representative of others. `in_turn`: add_in_turn() counts it as well.
  void add_far(float value, bool in_turn, BinTurns& turns);
  /// Adds what `turns` counted and clears it. Call it before another counter uses `turns` and before the ratio of
  /// represented to counted values changes. What it adds does not depend on what was counted before.
  void settle(BinTurns& turns);
  quant::Histogram histogram() const;
  bool empty() const { return counts_.empty(); }

 private:
  struct Bins {
    int exponent = 0;  // bins are 2^exponent wide
    int32_t first = 0;
  };
  /// The index of the value's bin in counts_; `per_width` is 2^-exponent.
  size_t place(float x, float per_width) const;
  bool holds(float min, float max) const;
  /// The index today of the bin that had the index `place` while the bins were as `before`.
  size_t moved(size_t place, const Bins& before) const;
  /// Converts counts of bins that were as `before` into counts of today's bins.
  std::vector<uint64_t> moved(const std::vector<uint64_t>& counts, const Bins& before) const;
  /// Adds `weight` times the counters of `turns` to `counts`, indexed like counts_, and clears them.
  void add_up(BinTurns& turns, uint64_t weight, std::span<uint64_t> counts) const;
  void spill(BinTurns& turns) const;
  /// Changes the bins so that they hold [min, max] and all that was counted.
  void widen(float min, float max);
  void include(float min, float max);

  float min_ = 0, max_ = 0;
  Bins bins_;
  uint64_t zeros_ = 0;
  std::vector<uint64_t> counts_;  // starts at bin bins_.first; more bins than the range needs, so that it seldom grows
};

/// Observes the runs of a thread and gathers statistics of the requested tensors.
class Collector : public run::Observer {
 public:
  explicit Collector(std::vector<Request> requests);

  /// The sample that the tensors observed from now on are of, by its index in the whole data set.
  void begin_sample(uint64_t index) { sample_ = index; }
  /// Gathers statistics of a requested tensor. An element that is NaN or infinite counts as 0, which every range
  /// contains: a masked element may be infinite inside a model whose outputs are finite.
  void observe(const run::ObservedTensor& tensor) override;

  struct LeftOut {
    std::string tensor;
    bool is_nan = false;  // else infinite
  };
  /// The first element since the last call that was NaN or infinite.
  std::optional<LeftOut> take_left_out() { return std::exchange(left_out_, std::nullopt); }

  /// Statistics of all tensors observed so far, in the order of the requests.
  std::vector<TensorStatistics> statistics() const;
  const std::vector<Request>& requests() const { return requests_; }

  /// An upper bound in bytes for the statistics of tensors; `channels` has the number of channels of each.
  static int64_t bound_bytes(std::span<const int64_t> channels);

 private:
  struct Gathered {
    BinCounter bins;
    std::vector<float> ends;  // lowest and highest value of each sample, not yet in the bins; for extremes_only
    ExtremeSums extremes;
    std::vector<float> lows, highs;  // by channel
    ExactSums sums, squares;
    Shape shape;
    bool shape_varies = false, channels_vary = false;
    uint64_t elements = 0;
  };
  /// A tensor as `outer` blocks of `channels` runs of `inner` elements each, in memory order.
  struct Blocks {
    size_t outer = 1, channels = 1, inner = 1;
  };
  static Blocks blocks_of(const run::ObservedTensor& tensor, int channel_axis);
  /// A copy of `values` with zeros in place of NaN and infinity, valid until the next call.
  std::span<const float> without_not_finite(const Request& request, std::span<const float> values);
  void count(const Request& request, Gathered& gathered, std::span<const float> values);
  /// Adds whole lines of the sampling to the bins; `line` is the index of the first of them. All values of the tensor
  /// up to the end of `part` lie between `min` and `max`, and `squares` is the sum of their squares.
  void add_bins(Gathered& gathered, std::span<const float> part, size_t line, size_t unit, float min, float max,
                double squares);
  /// Adds the lowest and highest value of the current tensor.
  void add_ends(Gathered& gathered) const;
  /// Counts individually each value of a sampled `part` whose magnitude is above `far`.
  void add_far(Gathered& gathered, std::span<const float> part, size_t line, size_t unit, float far);
  /// Between begin_channels() and end_channels(), lows_, highs_, sums_ and squares_ hold what the current tensor adds
  /// to its channels. Returns nothing if this sample has another number of channels than an earlier sample: then
  /// channels do not correspond.
  std::optional<Blocks> begin_channels(const Request& request, Gathered& gathered, const run::ObservedTensor& tensor);
  void begin_sums(size_t channels);
  /// Gathers sums, extremes and bins of a tensor whose channels are last. Skips the bins of lines before line
  /// `counted`.
  void gather_rows(const Request& request, Gathered& gathered, const Blocks& blocks, std::span<const float> values,
                   size_t counted = 0);
  void sum_plain(const Request& request, const Blocks& blocks, std::span<const float> values);
  void end_channels(Gathered& gathered);

  std::vector<Request> requests_;
  std::vector<Gathered> gathered_;
  std::vector<size_t> by_value_;  // index into requests_, or npos
  BinTurns turns_;
  uint64_t sample_ = 0;
  bool ends_only_ = false;          // of the current tensor
  bool many_ = false;               // the current tensor has many values
  Sampling sampling_;               // of the current tensor
  float lowest_ = 0, highest_ = 0;  // extremes of the current tensor so far
  std::vector<float> lows_, highs_;
  std::vector<double> sums_, squares_;
  std::vector<uint32_t> places_;  // of values far from zero
  std::vector<float> finite_;
  std::optional<LeftOut> left_out_;
};

}  // namespace tersor::calibrate
