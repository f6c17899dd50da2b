// SPDX-License-Identifier: Apache-2.0
// Watches runs of the float model and gathers statistics. One per thread; what several gathered merges exactly.
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

/// A tensor to watch.
struct Request {
  ValueId value;
  std::string name;
  int channel_axis = -1;  // of the ONNX shape; -1: not per channel
  /// Per channel alone: no histogram. For tensors whose range nobody needs.
  bool channels_only = false;
  /// Its histogram holds its extremes alone. For tensors of which nothing else is read.
  bool extremes_only = false;

  bool operator==(const Request&) const = default;
};

/// Counters for the tensor that is being counted: four to each bin, in cache. One set serves all bin counters in turn.
struct BinTurns {
  std::vector<uint16_t> by_four;  // all 0 but those of bins from `low` to `high`
  std::vector<uint64_t> spilled;  // what they held before they were full or the range grew, by bins of today; or empty
  size_t held = 0;                // values in `by_four`
  float low = 0, high = 0;        // which lie between them
  float per_width = 0;            // bins to a unit
  uint64_t counted = 0, zeros = 0;
  uint64_t values = 0;        // that those counted stand for, with themselves
  uint64_t far = 0;           // of `values`, so many are counted one by one
  std::vector<size_t> apart;  // places of those among the values counted
};

/// Which values of a large tensor its bins count, each for `weight` of them. Of `weight` lines after another (a line of
/// a picture with all its channels, say) each gives another part of itself, so that every place of a line and every
/// line is there as often as the others; lines that are left over are counted whole. Values far out are counted one by
/// one.
struct Sampling {
  size_t line = 1;  // values
  size_t weight = 1;
  size_t step = 1;   // from the part that a line gives to that of the next
  size_t whole = 0;  // the first line that is counted whole

  /// Of a tensor that lies in memory as `dims`; parts of a line begin at multiples of `unit` values.
  static Sampling of(std::span<const int64_t> dims, size_t unit);
  /// Which of the `weight` parts of itself line `index` gives.
  size_t part_of(size_t index) const { return (index % weight * step + index / weight) % weight; }
  /// Where that part begins and ends in the line.
  std::pair<size_t, size_t> ends_of(size_t index, size_t unit) const {
    const size_t units = line / unit, k = part_of(index);
    return {k * units / weight * unit, (k + 1) * units / weight * unit};
  }
};

/// Counts values into dyadic bins while the range that holds them is still growing. The result is the Histogram of the
/// multiset of values, whatever their order.
class BinCounter {
 public:
  /// Counts `values`, which lie between `min` and `max` and are finite.
  void add(std::span<const float> values, float min, float max);
  /// The same, faster for many: makes room for `values` of them, for which those stand that follow by add_in_turn().
  void begin_turns(size_t values, float min, float max, BinTurns& turns);
  void add_in_turn(std::span<const float> values, BinTurns& turns) const;
  /// Counts one of these values for itself; `in_turn`: it is among those that stand for others.
  void add_far(float value, bool in_turn, BinTurns& turns);
  /// Due before another counter uses `turns`, and before what stands for another number of values. What it adds does
  /// not depend on what was counted before.
  void settle(BinTurns& turns);
  quant::Histogram histogram() const;
  bool empty() const { return counts_.empty(); }

 private:
  struct Bins {
    int exponent = 0;  // of their width
    int32_t first = 0;
  };
  /// Of a value's count in counts_; `per_width`: 2^-exponent.
  size_t place(float x, float per_width) const;
  bool holds(float min, float max) const;
  /// Where the count at `place` has gone since the bins were as `before`.
  size_t moved(size_t place, const Bins& before) const;
  /// Counts of bins that were as `before`, by today's.
  std::vector<uint64_t> moved(const std::vector<uint64_t>& counts, const Bins& before) const;
  /// Adds up the turns' counters, which are 0 after, by place in counts_.
  void add_up(BinTurns& turns, uint64_t weight, std::span<uint64_t> counts) const;
  void spill(BinTurns& turns) const;
  /// Makes room for [min, max] besides all that was counted.
  void widen(float min, float max);
  void include(float min, float max);

  float min_ = 0, max_ = 0;
  Bins bins_;
  uint64_t zeros_ = 0;
  std::vector<uint64_t> counts_;  // from bins_.first on; more than the range needs, so that it seldom grows
};

class Collector : public run::Observer {
 public:
  explicit Collector(std::vector<Request> requests);

  /// An element that is NaN or infinite counts as 0, which every range holds: what a mask hides may be one inside a
  /// model whose outputs are finite.
  void observe(const run::ObservedTensor& tensor) override;

  struct LeftOut {
    std::string tensor;
    bool is_nan = false;  // else infinite
  };
  /// The first such element since the last call.
  std::optional<LeftOut> take_left_out() { return std::exchange(left_out_, std::nullopt); }

  /// What was seen since the construction, in the order of the requests.
  std::vector<TensorStatistics> statistics() const;
  const std::vector<Request>& requests() const { return requests_; }

  /// Bytes that statistics of such tensors take at most, `channels` being the number of channels of each.
  static int64_t bound_bytes(std::span<const int64_t> channels);

 private:
  struct Gathered {
    BinCounter bins;
    std::vector<float> ends;  // of samples, where nothing else is wanted; not in the bins yet
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
  /// A copy with zeros for what is not finite, until the next call.
  std::span<const float> without_not_finite(const Request& request, std::span<const float> values);
  void count(const Request& request, Gathered& gathered, std::span<const float> values);
  /// `part`: whole lines of the sampling, the first of them line `line`; `squares`: the sum of those of all values of
  /// the tensor up to its end, which lie between `min` and `max`.
  void add_bins(Gathered& gathered, std::span<const float> part, size_t line, size_t unit, float min, float max,
                double squares);
  /// Takes the ends of the tensor that is shown.
  void add_ends(Gathered& gathered) const;
  /// Counts each value beyond `far` by itself in a part of which the sampling counts some.
  void add_far(Gathered& gathered, std::span<const float> part, size_t line, size_t unit, float far);
  /// Between begin and end, lows_, highs_, sums_ and squares_ hold what this tensor adds to its channels. None where
  /// this sample has another number of them than one before: then they are not the same things.
  std::optional<Blocks> begin_channels(const Request& request, Gathered& gathered, const run::ObservedTensor& tensor);
  void begin_sums(size_t channels);
  /// Bins of lines before line `counted` have been counted.
  void gather_rows(const Request& request, Gathered& gathered, const Blocks& blocks, std::span<const float> values,
                   size_t counted = 0);
  void sum_plain(const Request& request, const Blocks& blocks, std::span<const float> values);
  void end_channels(Gathered& gathered);

  std::vector<Request> requests_;
  std::vector<Gathered> gathered_;
  std::vector<size_t> by_value_;  // index into requests_, or npos
  BinTurns turns_;
  bool ends_only_ = false;          // of the tensor that is shown
  bool many_ = false;               // values in the tensor that is shown
  Sampling sampling_;               // of it
  float lowest_ = 0, highest_ = 0;  // of them so far
  std::vector<float> lows_, highs_;
  std::vector<double> sums_, squares_;
  std::vector<uint32_t> places_;  // of values far out
  std::vector<float> finite_;
  std::optional<LeftOut> left_out_;
};

}  // namespace tersor::calibrate
