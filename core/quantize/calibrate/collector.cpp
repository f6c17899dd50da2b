// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/collector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/observe.h"

namespace tersor::calibrate {

using quant::Histogram;

namespace {

constexpr size_t kInCache = size_t{1} << 17;  // elements that stay in cache between two passes over them
constexpr size_t kFewRows = 64;               // rows below which fetching the sums of all channels is not worth it
constexpr size_t kRoom = Histogram::kMaxBins + 1;
constexpr int32_t kMaxIndex = 1 << 24;  // largest magnitude of a bin's index
constexpr size_t kManyValues =
    Histogram::kMaxBins / 2;                       // values below which adding up four counters per bin is not worth it
constexpr size_t kManyEnds = Histogram::kMaxBins;  // values that take as much memory as the bins would
constexpr size_t kMostHeld = (1 << 16) - 1;        // values that a counter holds even if all of them are equal
// Number of values sampled from each tensor; more would not make its range any better.
constexpr size_t kEnoughValues = size_t{1} << 13;
constexpr size_t kMostWeight = 64;
// In units of the root mean square. Values beyond it are rare, so that a sampled part may have none of them or too
// many.
constexpr double kFarthest = 8;
constexpr size_t kAllOfOne = 16;       // scanning this many channels side by side takes as long as scanning one alone
constexpr size_t kValuesOfPart = 128;  // least number of values in a part; fewer take longer to start on than to count
constexpr size_t kNotWatched = std::numeric_limits<size_t>::max();

}  // namespace

size_t BinCounter::place(float x, float per_width) const {
  return static_cast<size_t>(static_cast<int32_t>(std::floor(x * per_width)) - bins_.first);
}

bool BinCounter::holds(float min, float max) const {
  if (counts_.empty()) return false;
  if (min >= min_ && max <= max_) return true;
  const double scale = std::ldexp(1.0, -bins_.exponent);
  return std::floor(min * scale) >= bins_.first && std::floor(max * scale) < bins_.first + Histogram::kMaxBins;
}

void BinCounter::widen(float min, float max) {
  if (!counts_.empty()) {
    min = std::min(min, min_);
    max = std::max(max, max_);
  }
  const int exponent = Histogram::exponent_for(min, max);
  const int32_t least = Histogram::bin_of(min, exponent), most = Histogram::bin_of(max, exponent);
  const int32_t first = std::max(least - (Histogram::kMaxBins - 1 - (most - least)) / 2, -kMaxIndex);
  const Bins before = std::exchange(bins_, {exponent, first});
  counts_ = moved(counts_, before);
}

size_t BinCounter::moved(size_t place, const Bins& before) const {
  const int64_t bin = before.first + static_cast<int64_t>(place);
  const int halvings = bins_.exponent - before.exponent;
  return static_cast<size_t>((halvings > 62 ? (bin < 0 ? -1 : 0) : bin >> halvings) - bins_.first);
}

std::vector<uint64_t> BinCounter::moved(const std::vector<uint64_t>& counts, const Bins& before) const {
  std::vector<uint64_t> now(kRoom, 0);
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k] != 0) now[moved(k, before)] += counts[k];
  return now;
}

void BinCounter::include(float min, float max) {
  const bool is_first = counts_.empty();
  if (!holds(min, max)) widen(min, max);
  min_ = is_first ? min : std::min(min_, min);
  max_ = is_first ? max : std::max(max_, max);
}

void BinCounter::add(std::span<const float> values, float min, float max) {
  if (values.empty()) return;
  include(min, max);
  const float per_width = std::ldexp(1.0f, -bins_.exponent);
  for (const float x : values) {
    ++counts_[place(x, per_width)];
    zeros_ += x == 0 ? 1 : 0;
  }
}

void BinCounter::begin_turns(size_t values, float min, float max, BinTurns& turns) {
  const bool grows = turns.counted != 0 && !holds(min, max);
  if (grows) spill(turns);
  const Bins before = bins_;
  include(min, max);
  if (grows) {
    turns.spilled = moved(turns.spilled, before);
    for (size_t& place : turns.apart) place = moved(place, before);
  }
  turns.by_four.resize(4 * kRoom);
  turns.low = turns.counted == 0 || grows ? min : std::min(turns.low, min);
  turns.high = turns.counted == 0 || grows ? max : std::max(turns.high, max);
  turns.per_width = std::ldexp(1.0f, -bins_.exponent);
  turns.values += values;
}

void BinCounter::add_in_turn(std::span<const float> values, BinTurns& turns) const {
  for (std::span<const float> part; !values.empty(); values = values.subspan(part.size())) {
    if (turns.held == kMostHeld) spill(turns);
    part = values.first(std::min(values.size(), kMostHeld - turns.held));
    turns.held += part.size();
    turns.counted += part.size();
    turns.zeros += kernels::count_bins_by_four(part, turns.per_width, bins_.first, turns.by_four.data());
  }
}

void BinCounter::spill(BinTurns& turns) const {
  turns.spilled.resize(kRoom);
  add_up(turns, 1, turns.spilled);
}

void BinCounter::add_far(float value, bool in_turn, BinTurns& turns) {
  const size_t at = place(value, turns.per_width);
  ++counts_[at];
  ++turns.far;
  if (in_turn) turns.apart.push_back(at);
}

void BinCounter::add_up(BinTurns& turns, uint64_t weight, std::span<uint64_t> counts) const {
  // As the values were: rounded to float, so that what lies too near below zero is found where it was counted.
  const size_t begin = place(turns.low, turns.per_width), end = place(turns.high, turns.per_width) + 1;
  kernels::add_up_bins(turns.by_four.data() + 4 * begin, static_cast<uint32_t>(weight),
                       counts.subspan(begin, end - begin));
  turns.held = 0;
}

void BinCounter::settle(BinTurns& turns) {
  if (turns.counted == 0) return;
  if (const uint64_t weight = turns.values / turns.counted;
      turns.far == 0 && turns.spilled.empty() && turns.values == weight * turns.counted) {
    zeros_ += weight * turns.zeros;
    add_up(turns, weight, counts_);
  } else {
    std::vector<uint64_t> near = std::exchange(turns.spilled, {});
    near.resize(kRoom);
    add_up(turns, 1, near);
    uint64_t sampled = turns.counted;
    if (turns.apart.size() < sampled)
      for (const size_t place : turns.apart) --near[place], --sampled;
    // Whole numbers that together are as many as there are values.
    const uint64_t all = turns.values - turns.far;
    zeros_ += turns.zeros * all / sampled;
    uint64_t so_far = 0, given = 0;
    for (size_t k = 0; k < kRoom; ++k) {
      if (near[k] == 0) continue;
      so_far += near[k];
      const uint64_t due = so_far * all / sampled;
      counts_[k] += due - given;
      given = due;
    }
  }
  turns.counted = turns.zeros = turns.values = turns.far = 0;
  turns.apart.clear();
}

Sampling Sampling::of(std::span<const int64_t> dims, size_t unit) {
  size_t values = 1, dim_line = unit;
  for (const int64_t dim : dims) values *= static_cast<size_t>(dim);
  const size_t place = dims.size() - (unit == 1 ? 1 : 2);
  if (place < dims.size()) dim_line *= static_cast<size_t>(dims[place]);
  Sampling best;
  size_t fewest = values;
  for (size_t weight = std::min(kMostWeight, values / kEnoughValues); weight > 1; --weight) {
    size_t line = values / dim_line < weight ? unit : dim_line;
    line *= std::max<size_t>(1, (weight * kValuesOfPart + line - 1) / line);
    const size_t whole = values / line / weight * weight, counted = values - whole * line + whole * line / weight;
    if (counted >= fewest) continue;
    fewest = counted;
    best = {line, weight, 1, whole};
  }
  if (best.weight == 1) return best;
  best.step = best.weight * 3 / 8;
  while (std::gcd(best.step, best.weight) != 1) ++best.step;
  return best;
}

Histogram BinCounter::histogram() const {
  if (counts_.empty()) return {};
  std::vector<uint64_t> counts = counts_;
  // A negative number whose product with the bins' scale is too small for a float was counted in bin 0.
  if (max_ < 0 && -bins_.first >= 1 && -bins_.first < static_cast<int32_t>(kRoom)) {
    const auto zero = static_cast<size_t>(-bins_.first);
    counts[zero - 1] += std::exchange(counts[zero], 0);
  }
  return Histogram::of_counts(min_, max_, bins_.exponent, bins_.first, counts, zeros_);
}

Collector::Collector(std::vector<Request> requests) : requests_(std::move(requests)), gathered_(requests_.size()) {
  for (size_t k = 0; k < requests_.size(); ++k) {
    const auto index = static_cast<size_t>(requests_[k].value.index);
    if (index >= by_value_.size()) by_value_.resize(index + 1, kNotWatched);
    by_value_[index] = k;
  }
}

namespace {

/// In a Loop a tensor is seen several times in a sample.
void add_sample(std::vector<SampleExtremes>& all, const SampleExtremes& seen) {
  if (all.empty() || all.back().sample != seen.sample) {
    all.push_back(seen);
    return;
  }
  all.back().low = std::min(all.back().low, seen.low);
  all.back().high = std::max(all.back().high, seen.high);
}

}  // namespace

void Collector::observe(const run::ObservedTensor& tensor) {
  const auto index = static_cast<size_t>(tensor.value.index);
  if (index >= by_value_.size() || by_value_[index] == kNotWatched || tensor.data.empty()) return;
  const Request& request = requests_[by_value_[index]];
  Gathered& gathered = gathered_[by_value_[index]];
  if (gathered.elements == 0)
    gathered.shape = tensor.shape;
  else if (!gathered.shape_varies && !(gathered.shape == tensor.shape))
    gathered.shape_varies = true;
  gathered.elements += tensor.data.size();
  ends_only_ = request.extremes_only;
  many_ = tensor.data.size() > kManyValues;
  lowest_ = std::numeric_limits<float>::infinity(), highest_ = -lowest_;
  const std::optional<Blocks> blocks =
      request.channel_axis >= 0 ? begin_channels(request, gathered, tensor) : std::nullopt;
  const bool in_rows = blocks && blocks->inner == 1;
  sampling_ =
      Sampling::of(ops::physical_dims({DType::kFloat32, tensor.shape, tensor.layout}), in_rows ? blocks->channels : 1);
  if (in_rows) {
    gather_rows(request, gathered, *blocks, tensor.data);
  } else {
    if (!request.channels_only) count(request, gathered, tensor.data);
    if (blocks) sum_plain(request, *blocks, tensor.data);
  }
  gathered.bins.settle(turns_);
  if (!request.channels_only) gathered.extremes.add(lowest_, highest_);
  if (request.by_sample) add_sample(gathered.extremes.by_sample, {sample_, lowest_, highest_});
  if (!request.channels_only && ends_only_) add_ends(gathered);
  if (blocks) end_channels(gathered);
}

std::span<const float> Collector::without_not_finite(const Request& request, std::span<const float> values) {
  finite_.assign(values.begin(), values.end());
  for (float& x : finite_) {
    if (std::isfinite(x)) continue;
    if (!left_out_) left_out_ = LeftOut{request.name, std::isnan(x)};
    x = 0;
  }
  return finite_;
}

void Collector::add_ends(Gathered& gathered) const {
  std::vector<float>& ends = gathered.ends;
  ends.push_back(lowest_), ends.push_back(highest_);
  if (ends.size() < kManyEnds) return;
  gathered.bins.add(ends, *std::min_element(ends.begin(), ends.end()), *std::max_element(ends.begin(), ends.end()));
  ends.clear();
}

void Collector::count(const Request& request, Gathered& gathered, std::span<const float> values) {
  const size_t lines = std::max<size_t>(1, kInCache / sampling_.line), at_once = lines * sampling_.line;
  float low = values[0], high = values[0];
  double sum = 0, squares = 0;
  for (size_t line = 0; !values.empty(); line += lines, values = values.subspan(std::min(values.size(), at_once))) {
    auto part = values.first(std::min(values.size(), at_once));
    if (sampling_.weight > 1 && !ends_only_) {
      const float low_before = low, high_before = high;
      const double squares_before = squares;
      kernels::channel_sums(part.data(), part.size(), 1, &low, &high, &sum, &squares);
      if (!std::isfinite(squares)) {
        values = without_not_finite(request, values), part = values.first(part.size());
        low = std::isfinite(low_before) ? low_before : 0, high = std::isfinite(high_before) ? high_before : 0;
        squares = squares_before;
        kernels::channel_sums(part.data(), part.size(), 1, &low, &high, &sum, &squares);
      }
    } else {
      kernels::Extremes extremes = kernels::extremes(part);
      if (!extremes.finite) {
        values = without_not_finite(request, values), part = values.first(part.size());
        extremes = kernels::extremes(part);
      }
      low = extremes.min, high = extremes.max;
    }
    add_bins(gathered, part, line, 1, low + 0.0f, high + 0.0f, squares);
  }
}

void Collector::add_bins(Gathered& gathered, std::span<const float> part, size_t line, size_t unit, float min,
                         float max, double squares) {
  lowest_ = std::min(lowest_, min), highest_ = std::max(highest_, max);
  if (ends_only_) return;
  if (!many_) return gathered.bins.add(part, min, max);
  const double most = std::max(std::fabs(static_cast<double>(min)), std::fabs(static_cast<double>(max)));
  const auto values = static_cast<double>(line * sampling_.line + part.size());
  const bool reaches_far = most * most * values > kFarthest * kFarthest * squares;
  const size_t lines = line < sampling_.whole ? std::min(sampling_.whole - line, part.size() / sampling_.line) : 0;
  const auto in_parts = part.first(lines * sampling_.line);
  if (lines > 0) {
    gathered.bins.begin_turns(in_parts.size(), min, max, turns_);
    for (size_t k = 0; k < lines; ++k) {
      const auto [begin, end] = sampling_.ends_of(line + k, unit);
      gathered.bins.add_in_turn(in_parts.subspan(k * sampling_.line + begin, end - begin), turns_);
    }
    if (reaches_far)
      add_far(gathered, in_parts, line, unit, static_cast<float>(kFarthest * std::sqrt(squares / values)));
  }
  if (const auto rest = part.subspan(in_parts.size()); !rest.empty()) {
    if (line <= sampling_.whole) gathered.bins.settle(turns_);  // the first of them
    gathered.bins.begin_turns(rest.size(), min, max, turns_);
    gathered.bins.add_in_turn(rest, turns_);
  }
}

void Collector::add_far(Gathered& gathered, std::span<const float> part, size_t line, size_t unit, float far) {
  const auto add = [&](size_t place) {
    const size_t in_line = place % sampling_.line;
    const auto [begin, end] = sampling_.ends_of(line + place / sampling_.line, unit);
    gathered.bins.add_far(part[place], begin <= in_line && in_line < end, turns_);
  };
  const auto reaches = [&](size_t c) { return std::max(-lows_[c], highs_[c]) > far; };
  const size_t channels = unit > 1 ? unit : 0;  // whose ends are known
  size_t reaching = 0;
  for (size_t c = 0; c < channels; ++c) reaching += reaches(c) ? 1 : 0;
  if (channels > kAllOfOne * reaching) {
    for (size_t c = 0; c < channels; ++c) {
      if (!reaches(c)) continue;
      for (size_t place = c; place < part.size(); place += unit)
        if (std::fabs(part[place]) > far) add(place);
    }
    return;
  }
  places_.resize(std::max(places_.size(), part.size()));
  const size_t found = kernels::find_beyond(part, far, places_.data());
  for (size_t k = 0; k < found; ++k) add(places_[k]);
}

/// Channels last: sums, extremes and bins of as many rows at a time as stay in cache.
void Collector::gather_rows(const Request& request, Gathered& gathered, const Blocks& blocks,
                            std::span<const float> values, size_t counted) {
  const std::span<const float> all = values;
  double squares = 0;
  const size_t line_values = std::max(sampling_.line, blocks.channels);
  const size_t lines = std::max<size_t>(1, std::max(kFewRows * blocks.channels, kInCache) / line_values);
  const size_t at_once = lines * line_values;
  for (size_t line = 0; !values.empty(); line += lines, values = values.subspan(std::min(values.size(), at_once))) {
    const auto part = values.first(std::min(values.size(), at_once));
    squares += kernels::channel_sums(part.data(), part.size() / blocks.channels, blocks.channels, lows_.data(),
                                     highs_.data(), sums_.data(), squares_.data());
    if (!std::isfinite(squares)) {
      begin_sums(blocks.channels);
      return gather_rows(request, gathered, blocks, without_not_finite(request, all), line);
    }
    if (request.channels_only || line < counted) continue;
    add_bins(gathered, part, line, blocks.channels, kernels::extremes(lows_).min, kernels::extremes(highs_).max,
             squares);
  }
}

Collector::Blocks Collector::blocks_of(const run::ObservedTensor& tensor, int channel_axis) {
  const Shape& shape = tensor.shape;
  const auto product = [&](int begin, int end) { return static_cast<size_t>(shape.elements(begin, end)); };
  const auto channels = static_cast<size_t>(shape[channel_axis]);
  if (tensor.layout == ops::Layout::kPlain)
    return {product(0, channel_axis), channels, product(channel_axis + 1, shape.rank())};
  if (channel_axis == 1) return {static_cast<size_t>(shape.elements()) / std::max<size_t>(channels, 1), channels, 1};
  // In memory axis 1 comes last.
  if (channel_axis == 0) return {1, channels, product(1, shape.rank())};
  const auto last = static_cast<size_t>(shape[1]);
  return {product(0, 1) * product(2, channel_axis), channels, product(channel_axis + 1, shape.rank()) * last};
}

std::optional<Collector::Blocks> Collector::begin_channels(const Request& request, Gathered& gathered,
                                                           const run::ObservedTensor& tensor) {
  const bool has_axis = request.channel_axis < tensor.shape.rank();
  const Blocks blocks = has_axis ? blocks_of(tensor, request.channel_axis) : Blocks{};
  const bool others = gathered.sums.size() != 0 && gathered.sums.size() != blocks.channels;
  if (gathered.channels_vary || !has_axis || others) {
    gathered.channels_vary = true;
    gathered.sums = gathered.squares = ExactSums();
    return std::nullopt;
  }
  if (gathered.sums.size() == 0) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    gathered.lows.assign(blocks.channels, kInfinity);
    gathered.highs.assign(blocks.channels, -kInfinity);
    gathered.sums = gathered.squares = ExactSums(blocks.channels);
  }
  begin_sums(blocks.channels);
  return blocks;
}

void Collector::begin_sums(size_t channels) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  lows_.assign(channels, kInfinity);
  highs_.assign(channels, -kInfinity);
  sums_.assign(channels, 0);
  squares_.assign(channels, 0);
}

void Collector::end_channels(Gathered& gathered) {
  kernels::widen(lows_, highs_, gathered.lows, gathered.highs);
  gathered.sums.add(sums_);
  gathered.squares.add(squares_);
}

void Collector::sum_plain(const Request& request, const Blocks& blocks, std::span<const float> values) {
  double squares = 0;
  const float* x = values.data();
  for (size_t outer = 0; outer < blocks.outer; ++outer)
    for (size_t c = 0; c < blocks.channels; ++c, x += blocks.inner)
      squares += kernels::channel_sums(x, blocks.inner, 1, &lows_[c], &highs_[c], &sums_[c], &squares_[c]);
  if (std::isfinite(squares)) return;
  begin_sums(blocks.channels);
  sum_plain(request, blocks, without_not_finite(request, values));
}

std::vector<TensorStatistics> Collector::statistics() const {
  std::vector<TensorStatistics> all;
  for (size_t k = 0; k < requests_.size(); ++k) {
    const Gathered& gathered = gathered_[k];
    TensorStatistics one;
    one.name = requests_[k].name;
    one.channel_axis = requests_[k].channel_axis;
    one.histogram = gathered.bins.histogram();
    one.histogram.add(gathered.ends);
    one.extremes = gathered.extremes;
    std::sort(one.extremes.by_sample.begin(), one.extremes.by_sample.end(),
              [](const SampleExtremes& a, const SampleExtremes& b) { return a.sample < b.sample; });
    one.channels.reserve(gathered.sums.size());
    for (size_t c = 0; c < gathered.sums.size(); ++c)
      one.channels.push_back({gathered.lows[c], gathered.highs[c], gathered.sums.sum(c), gathered.squares.sum(c)});
    one.elements = gathered.elements;
    one.shape_varies = gathered.shape_varies;
    if (!one.shape_varies) one.shape = gathered.shape;
    all.push_back(std::move(one));
  }
  return all;
}

int64_t Collector::bound_bytes(std::span<const int64_t> channels) {
  // Bins and channels exist once while gathering and once more in the statistics made of them.
  constexpr size_t kOfBins = 2 * kRoom * sizeof(uint64_t);
  constexpr size_t kOfChannel = 2 * sizeof(ChannelStatistics) + 4 * sizeof(double);
  int64_t bytes = 0;
  for (const int64_t count : channels) bytes += static_cast<int64_t>(kOfBins) + count * int64_t{kOfChannel};
  return bytes;
}

}  // namespace tersor::calibrate
