// SPDX-License-Identifier: Apache-2.0
// Uses prefix sums over bins, so that a range costs a logarithm per integer instead of a logarithm per bin.
#include "core/quant/kl_divergence.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/quant/whole_number.h"
#include "core/tensor/rounding.h"

namespace tersor::quant {

/// How smoothing changes a distribution of `entries` entries, of which `held` are above 0, the least of them `least`.
struct KlDivergence::Smooth {
  double filled = 0;  // what an empty entry gets
  double loss = 0;    // what the others give up

  Smooth(double least, double entries, double held)
      : filled(least / (2 * entries)), loss(held > 0 ? filled * (entries - held) / held : 0) {}
};

KlDivergence::KlDivergence(const EvenBins& bins) : bins_(bins) {
  const size_t count = bins_.counts.size();
  held_.resize(count + 1);
  sums_.resize(count + 1);
  groups_.resize(count);
  ends_.resize(count);
  std::vector<double> least(count, HUGE_VAL);
  for (size_t i = 0; i < count; ++i) {
    const double c = bins_.counts[i];
    held_[i + 1] = held_[i];
    sums_[i + 1] = sums_[i];
    if (!(c > 0)) continue;
    const double logarithm = log_(c);
    held_[i + 1].bins += 1;
    held_[i + 1].counts += c;
    Sums& sums = sums_[i + 1];
    sums.entropy += c * logarithm;
    sums.logarithms += logarithm;
    sums.inverse += 1 / c;
    sums.inverse_square += 1 / (c * c);
    least[i] = c;
  }
  next_.assign(count + 1, count);
  for (size_t i = count; i-- > 0;) next_[i] = bins_.counts[i] > 0 ? i : next_[i + 1];
  least_.push_back(std::move(least));
  for (size_t reach = 1; 2 * reach <= count; reach *= 2) {
    const std::vector<double>& half = least_.back();
    std::vector<double> whole(count - 2 * reach + 1);
    for (size_t i = 0; i < whole.size(); ++i) whole[i] = std::min(half[i], half[i + reach]);
    least_.push_back(std::move(whole));
  }
}

double KlDivergence::least_count(size_t begin, size_t end) const {
  size_t level = 0;
  while ((size_t{2} << level) <= end - begin) ++level;
  return std::min(least_[level][begin], least_[level][end - (size_t{1} << level)]);
}

/// How many of the edges lie below first + place * width.
size_t KlDivergence::edges_below(double place) const {
  const double edges = static_cast<double>(bins_.counts.size() + 1);
  if (!(place >= 0)) return 0;
  if (place >= edges) return bins_.counts.size() + 1;
  const size_t whole = static_cast<size_t>(place);
  return whole + (static_cast<double>(whole) == place ? 0 : 1);
}

KlDivergence::Window KlDivergence::window_of(const Range& range) const {
  const size_t edges = bins_.counts.size() + 1;
  const size_t below_low = edges_below((range.low - bins_.first) / bins_.width);
  const size_t below_high = edges_below((range.high - bins_.first) / bins_.width);
  if (!(range.low < range.high) || below_low == edges || below_high == 0) return {};
  return {below_low == 0 ? 0 : below_low - 1, below_high - 1, false};
}

size_t KlDivergence::covered_bins(const Range& range) const {
  const Window window = window_of(range);
  return window.empty || window.end < window.begin ? 0 : window.end - window.begin;
}

namespace {

/// Edges so near the middle between two integers, in bins, may go either way.
constexpr double kNearTie = 1e-6;

}  // namespace

/// ends_[code]: the bin after the last whose lower edge goes to that integer or a lower one, of all bins there are.
/// False when an edge lies so near the middle between two integers that only code_of() can tell.
bool KlDivergence::find_ends(double bins_per_step, double base, size_t codes) {
  const double most = static_cast<double>(bins_.counts.size());
  int64_t near_ties = 0;
  for (size_t code = 0; code < codes; ++code) {
    const double place = (static_cast<double>(code) + 0.5) * bins_per_step + base;
    const double end = round_half_even_small(place + 0.5);  // place rounded up, as it is no integer
    near_ties += std::fabs((end - place) - 0.5) > 0.5 - kNearTie ? 1 : 0;
    ends_[code] = std::min(std::max(end, 0.0), most);
  }
  return near_ties == 0;
}

/// The bins of the window that hold something by the integer their lower edge goes to, counted from the grid's lower
/// end as the reference does: edges half-way between two are common, and which way they go is in the last bit.
std::span<const KlDivergence::Group> KlDivergence::groups_of(const Window& window, const Step& step,
                                                             const IntegerGrid& grid) {
  const double top = grid.q_max() - grid.q_min(), low = (grid.q_min() - step.zero_point) * step.scale;
  const auto code_of = [&](size_t i) {
    const double clipped = std::min(std::max(bins_.edge(i), low), low + top * step.scale);
    return round_half_even_small((clipped - low) / step.scale);
  };
  Group* group = groups_.data();
  const auto add = [&](size_t begin, size_t end) {
    const double held = held_[end].bins - held_[begin].bins, counts = held_[end].counts - held_[begin].counts;
    *group++ = {begin, end, held, counts, counts / (held + 1e-6)};
  };
  const double bins_per_step = step.scale / bins_.width, base = (low - bins_.first) / bins_.width;
  size_t begin = next_[window.begin];
  // Steps of a bin or more leave no integer out, and there are no more integers than bins.
  const size_t codes = static_cast<size_t>(top);
  if (bins_per_step >= 1 && codes <= ends_.size() && find_ends(bins_per_step, base, codes)) {
    for (size_t code = 0; code < codes; ++code) {
      const size_t end = std::min<size_t>(whole_number(ends_[code]), window.end);
      if (end <= begin) continue;
      add(begin, end);
      begin = next_[end];
    }
    if (begin < window.end) add(begin, window.end);
    return {groups_.data(), group};
  }
  for (size_t end = window.end; begin < window.end; begin = next_[end]) {
    const double code = code_of(begin);
    end = window.end;
    if (code < top) {
      const double place = (code + 0.5) * bins_per_step + base;
      if (place < static_cast<double>(window.end))
        end = std::max(place >= 0 ? static_cast<size_t>(place) + 1 : 0, begin + 1);
      if (std::fabs(place - round_half_even_small(place)) < kNearTie) {
        while (end < window.end && code_of(end) <= code) ++end;
        while (end > begin + 1 && code_of(end - 1) > code) --end;
      }
    }
    add(begin, end);
  }
  return {groups_.data(), group};
}

double KlDivergence::x_log_x(double x) const {
  return x > 0 ? x * log_(x) : 0;
}

/// Sum of (c - loss) ln(c - loss) over the bins that hold something.
double KlDivergence::plain_entropy(size_t begin, size_t end, double loss) const {
  constexpr double kFew = 64;
  const Sums &from = sums_[begin], &to = sums_[end];
  const double bins = held_[end].bins - held_[begin].bins;
  if (loss == 0) return to.entropy - from.entropy;
  if (bins <= kFew) {
    double sum = 0;
    for (size_t i = next_[begin]; i < end; i = next_[i + 1]) sum += x_log_x(bins_.counts[i] - loss);
    return sum;
  }
  // The loss is below c / 128: four terms of the series in it.
  return (to.entropy - from.entropy) - loss * ((to.logarithms - from.logarithms) + bins) +
         loss * loss / 2 * (to.inverse - from.inverse) +
         loss * loss * loss / 6 * (to.inverse_square - from.inverse_square);
}

double KlDivergence::of(const Range& range, const Step& step, const IntegerGrid& grid) {
  const Window window = window_of(range);
  if (window.empty || !(step.scale > 0)) return HUGE_VAL;
  if (window.end <= window.begin) return 0;
  const size_t first = window.begin, last = window.end - 1;
  const double inside = held_[window.end].counts - held_[first].counts;
  if (!(inside > 0)) return HUGE_VAL;
  const std::vector<double>& c = bins_.counts;
  const double all = held_.back().counts, entries = static_cast<double>(window.end - first);

  // r before it is smoothed: its sum, and the least entry.
  const std::span<const Group> groups = groups_of(window, step, grid);
  double sum_r = 0, least_r = HUGE_VAL;
  for (const Group& group : groups) {
    sum_r += group.each * group.held;
    least_r = std::min(least_r, group.each);
  }
  const double held_r = held_[window.end].bins - held_[first].bins;
  const Smooth r(least_r / sum_r, entries, held_r);

  // p before it is smoothed, in counts: as r's bins, but for the tails at both ends.
  double at_first = c[first] + held_[first].counts, at_last = c[last] + (all - held_[window.end].counts);
  if (first == last) at_first = at_last = all;
  double least_p = std::min(at_first > 0 ? at_first : HUGE_VAL, at_last > 0 ? at_last : HUGE_VAL);
  if (last > first + 1) least_p = std::min(least_p, least_count(first + 1, last));
  const double inner_held = last > first ? held_[last].bins - held_[first + 1].bins : 0;
  const double ends_held = (at_first > 0 ? 1 : 0) + (last > first && at_last > 0 ? 1 : 0);
  const Smooth p(least_p, entries, inner_held + ends_held);
  const double smooth_first = at_first > 0 ? at_first - p.loss : p.filled;
  const double smooth_last = at_last > 0 ? at_last - p.loss : p.filled;

  // Sum of p ln p over the bins that hold something between the ends, and over the ends.
  double entropy = x_log_x(smooth_first);
  if (last > first) entropy += x_log_x(smooth_last);
  if (last > first + 1) entropy += plain_entropy(first + 1, last, p.loss);

  // Minus p ln r, group by group; the ends may hold something in p only.
  const double log_filled = log_(r.filled), by_sum = 1 / sum_r;
  double cross = c[first] > 0 ? 0 : smooth_first * log_filled;
  const auto log_of = [&](const Group& group) { return log_(group.each * by_sum - r.loss); };
  const auto add_cut = [&](const Group& group) {
    const double log_r = log_of(group);
    if (group.begin == first) cross += smooth_first * log_r;
    if (last > first && group.end > last && c[last] > 0) cross += smooth_last * log_r;
    const size_t from = std::max(group.begin, first + 1), to = std::min(group.end, last);
    if (to <= from) return;
    const double bins = held_[to].bins - held_[from].bins;
    cross += ((held_[to].counts - held_[from].counts) - p.loss * bins) * log_r;
  };
  // Only the outermost two hold an end.
  add_cut(groups.front());
  for (size_t k = 1; k + 1 < groups.size(); ++k)
    cross += (groups[k].counts - p.loss * groups[k].held) * log_of(groups[k]);
  if (groups.size() > 1) add_cut(groups.back());
  if (last > first && !(c[last] > 0)) cross += smooth_last * log_filled;
  // Empty bins between the ends are filled in both.
  const double inner_empty = last > first ? static_cast<double>(last - first - 1) - inner_held : 0;
  if (inner_empty > 0) {
    entropy += inner_empty * x_log_x(p.filled);
    cross += inner_empty * p.filled * log_filled;
  }
  // p is in counts: its sum, `all`, is divided out here.
  return (entropy - cross) / all - log_(all);
}

}  // namespace tersor::quant
