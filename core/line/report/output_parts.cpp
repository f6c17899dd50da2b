// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/evaluate/similarity.h"

namespace tersor::report {

namespace {

constexpr double kUnlike = 32;
constexpr int64_t kMostIndices = 4096;  // more are positions, not kinds of values

/// "0 to 3", "4 to 83", "0, 2 to 5".
std::string ranges_text(const std::vector<bool>& here) {
  std::string text;
  for (size_t k = 0; k < here.size(); ++k) {
    if (!here[k]) continue;
    const size_t first = k;
    while (k + 1 < here.size() && here[k + 1]) ++k;
    if (!text.empty()) text += ", ";
    text += std::to_string(first);
    if (k > first) text += " to " + std::to_string(k);
  }
  return text;
}

bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

/// Small values at both ends of an axis, and large ones between them, are those of a picture's border.
bool is_border(const std::vector<bool>& large) {
  const auto begin = std::find(large.begin(), large.end(), true);
  const auto end = std::find(begin, large.end(), false);
  return begin != large.begin() && end != large.end() && std::find(end, large.end(), true) == large.end();
}

}  // namespace

void OutputParts::add(const Shape& shape, std::span<const float> reference, std::span<const float> values) {
  const auto rank = static_cast<size_t>(shape.rank());
  const bool first = !started_;
  started_ = true;
  if (first) axes_.resize(rank > 1 ? rank - 1 : 0);
  for (size_t a = 0; a < axes_.size(); ++a) {
    Axis& axis = axes_[a];
    const int64_t length = a + 1 < rank ? shape[static_cast<int>(a) + 1] : 0;
    const bool usable = length > 1 && length <= kMostIndices;
    if (first && usable) axis.resize(3 * static_cast<size_t>(length));
    if (!usable || axis.size() != 3 * static_cast<size_t>(length)) {
      axis.clear();
      continue;
    }
    const auto inner = static_cast<size_t>(shape.elements(static_cast<int>(a) + 2, shape.rank()));
    for (size_t i = 0; i < reference.size();) {
      double* at = &axis[3 * (i / inner % static_cast<size_t>(length))];
      for (const size_t end = i + inner; i < end; ++i) {
        const double x = reference[i], difference = x - static_cast<double>(values[i]);
        at[0] += x * x;
        at[1] += difference * difference;
        at[2] = std::max(at[2], std::fabs(x));
      }
    }
    if (!all_finite(axis)) axis.clear();
  }
}

void OutputParts::merge(const OutputParts& more) {
  if (!more.started_) return;
  if (!started_) {
    *this = more;
    return;
  }
  for (size_t a = 0; a < axes_.size(); ++a) {
    Axis& axis = axes_[a];
    if (a >= more.axes_.size() || more.axes_[a].size() != axis.size()) axis.clear();
    for (size_t k = 0; k < axis.size(); ++k)
      axis[k] = k % 3 == 2 ? std::max(axis[k], more.axes_[a][k]) : axis[k] + more.axes_[a][k];
  }
}

namespace {

constexpr size_t kBoxColumns = 4;

/// What of an axis (signal, noise and largest value by index) is in the part.
OutputPart part_of(const std::vector<double>& axis, size_t number, const std::vector<bool>& here, OutputKind kind) {
  double signal = 0, noise = 0, largest = 0;
  for (size_t k = 0; k < here.size(); ++k)
    if (here[k]) signal += axis[3 * k], noise += axis[3 * k + 1], largest = std::max(largest, axis[3 * k + 2]);
  return {static_cast<int64_t>(number) + 1, ranges_text(here), largest, evaluate::sqnr_db(signal, noise), kind};
}

}  // namespace

std::vector<OutputPart> OutputParts::boxes_and_scores() const {
  std::optional<size_t> shortest;
  for (size_t a = 0; a < axes_.size(); ++a) {
    const size_t length = axes_[a].size() / 3;
    bool fits = length > kBoxColumns;
    for (size_t k = kBoxColumns; k < length; ++k) fits = fits && axes_[a][3 * k + 2] <= 1;
    if (fits && (!shortest || length < axes_[*shortest].size() / 3)) shortest = a;
  }
  if (!shortest) return {};
  std::vector<bool> boxes(axes_[*shortest].size() / 3, false);
  std::fill_n(boxes.begin(), kBoxColumns, true);
  std::vector<bool> scores = boxes;
  scores.flip();
  return {part_of(axes_[*shortest], *shortest, boxes, OutputKind::kBoxes),
          part_of(axes_[*shortest], *shortest, scores, OutputKind::kScores)};
}

std::vector<OutputPart> OutputParts::result(bool detections) const {
  std::vector<OutputPart> parts;
  if (detections) parts = boxes_and_scores();
  if (!parts.empty()) return parts;
  double most = kUnlike;
  for (size_t a = 0; a < axes_.size(); ++a) {
    const Axis& axis = axes_[a];
    std::vector<std::pair<double, uint64_t>> order;  // largest value and index, without what is always 0
    for (size_t k = 0; k < axis.size() / 3; ++k)
      if (axis[3 * k + 2] > 0) order.push_back({axis[3 * k + 2], k});
    std::sort(order.begin(), order.end());
    size_t cut = 0;
    double ratio = most;
    for (size_t k = 1; k < order.size(); ++k)
      if (const double next = order[k].first / order[k - 1].first; next >= ratio) ratio = next, cut = k;
    std::vector<bool> large(axis.size() / 3, false), small = large;
    for (size_t k = 0; k < order.size(); ++k) (k < cut ? small : large)[static_cast<size_t>(order[k].second)] = true;
    if (cut == 0 || is_border(large)) continue;
    most = ratio;
    parts = {part_of(axis, a, large, OutputKind::kValues), part_of(axis, a, small, OutputKind::kValues)};
  }
  return parts;
}

std::vector<double> OutputParts::state() const {
  std::vector<double> numbers;
  for (const Axis& axis : axes_) {
    numbers.push_back(static_cast<double>(axis.size()));
    numbers.insert(numbers.end(), axis.begin(), axis.end());
  }
  return numbers;
}

OutputParts OutputParts::of_state(const std::vector<double>& state) {
  OutputParts parts;
  parts.started_ = true;
  for (auto at = state.begin(); at != state.end();) {
    const auto end = at + 1 + static_cast<std::ptrdiff_t>(*at);
    parts.axes_.emplace_back(at + 1, end);
    at = end;
  }
  return parts;
}

}  // namespace tersor::report
