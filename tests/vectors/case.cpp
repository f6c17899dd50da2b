// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tersor::vectors {

using quant::EvenBins;
using quant::Range;

Verdict skipped(std::string reason) {
  return {Verdict::kSkipped, {}, {}, std::move(reason)};
}

Verdict verdict(bool holds, std::string expected, std::string got, std::string remark) {
  return {holds ? Verdict::kPassed : Verdict::kFailed, std::move(expected), std::move(got), std::move(remark)};
}

bool near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <= tolerance || std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

std::string text_of(const std::vector<double>& numbers) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < std::min(numbers.size(), kShown); ++i) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", numbers[i]);
    text += (i > 0 ? ", " : "") + std::string(digits);
  }
  if (numbers.size() == 1) return text;
  if (numbers.size() > kShown) text += ", ... " + std::to_string(numbers.size()) + " in all";
  return "[" + text + "]";
}

std::string text_of(const std::vector<Range>& ranges) {
  std::vector<double> ends;
  for (const Range& range : ranges) ends.push_back(range.low), ends.push_back(range.high);
  return "ranges " + text_of(ends);
}

Verdict compared(const std::vector<double>& expected, const std::vector<double>& got, double tolerance,
                 std::string remark) {
  if (expected.size() != got.size())
    return verdict(false, text_of(expected), text_of(got), "another number of numbers");
  for (size_t i = 0; i < expected.size(); ++i)
    if (!near(expected[i], got[i], tolerance))
      return verdict(false, text_of(expected), text_of(got),
                     "number " + std::to_string(i) + ": " + text_of(std::vector{expected[i]}) + " became " +
                         text_of(std::vector{got[i]}));
  return verdict(true, text_of(expected), text_of(got), std::move(remark));
}

Verdict both(const Verdict& a, const Verdict& b) {
  if (a.kind == Verdict::kFailed) return a;
  if (b.kind == Verdict::kFailed) return b;
  return {Verdict::kPassed, a.expected + "; " + b.expected, a.got + "; " + b.got,
          a.remark + (a.remark.empty() || b.remark.empty() ? "" : "; ") + b.remark};
}

double number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  return json == "inf" ? HUGE_VAL : json == "-inf" ? -HUGE_VAL : NAN;
}

std::vector<double> numbers(const Json& json) {
  if (!json.is_array()) return {number(json)};
  std::vector<double> all;
  for (const Json& one : json)
    for (const double x : numbers(one)) all.push_back(x);
  return all;
}

std::vector<int64_t> shape_of(const Json& nested) {
  std::vector<int64_t> dims;
  for (const Json* level = &nested; level->is_array(); level = &(*level)[0])
    dims.push_back(static_cast<int64_t>(level->size()));
  return dims;
}

std::vector<std::vector<double>> rows_of(const std::vector<double>& data, const std::vector<int64_t>& shape,
                                         std::optional<int> axis) {
  if (!axis) return {data};
  const size_t a = static_cast<size_t>(*axis < 0 ? *axis + static_cast<int>(shape.size()) : *axis);
  size_t inner = 1;
  for (size_t d = a + 1; d < shape.size(); ++d) inner *= static_cast<size_t>(shape[d]);
  std::vector<std::vector<double>> rows(static_cast<size_t>(shape[a]));
  for (size_t i = 0; i < data.size(); ++i) rows[i / inner % rows.size()].push_back(data[i]);
  return rows;
}

EvenBins bins_of_case(const Json& histogram) {
  EvenBins bins;
  const double high = number(histogram["hi"]);
  bins.first = number(histogram["lo"]);
  bins.counts = numbers(histogram["counts"]);
  bins.width = (high - bins.first) / static_cast<double>(bins.counts.size());
  bool seen = false;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    if (!(bins.counts[i] > 0)) continue;
    if (!seen) bins.extremes.low = bins.edge(i);
    bins.extremes.high = i + 1 == bins.counts.size() ? high : bins.edge(i + 1);
    seen = true;
  }
  return bins;
}

EvenBins joined_bins(const std::vector<EvenBins>& batches) {
  if (batches.size() == 1) return batches[0];
  const size_t bins = batches[0].counts.size();
  EvenBins sum;
  double high = -HUGE_VAL;
  sum.first = HUGE_VAL;
  for (const EvenBins& batch : batches) {
    sum.first = std::min(sum.first, batch.first);
    high = std::max(high, batch.edge(bins));
  }
  sum.width = (high - sum.first) / static_cast<double>(bins);
  sum.counts.assign(bins, 0.0);
  for (const EvenBins& batch : batches) {
    const EvenBins moved = quant::rebin(batch, sum.first, high, bins);
    for (size_t i = 0; i < bins; ++i) sum.counts[i] += moved.counts[i];
  }
  sum.extremes = {sum.first, high};
  return sum;
}

Tensor tensor_of(const std::vector<double>& values, const std::vector<int64_t>& shape) {
  std::vector<float> floats(values.begin(), values.end());
  return Tensor::of<float>(Shape(shape), std::span<const float>(floats));
}

std::vector<Range> ranges_of(const Json& object, bool is_signed) {
  std::vector<Range> ranges;
  if (object.contains("threshold")) {
    for (const double t : numbers(object["threshold"])) ranges.push_back({is_signed ? -t : 0.0, t});
    return ranges;
  }
  const bool newer = object.contains("min_range");
  const auto low = numbers(object[newer ? "min_range" : "range_min"]),
             high = numbers(object[newer ? "max_range" : "range_max"]);
  for (size_t i = 0; i < low.size(); ++i) ranges.push_back({low[i], high[i]});
  return ranges;
}

quant::Criterion criterion_of(const Json& input) {
  quant::Criterion criterion;
  criterion.method =
      enum_from_word<quant::ThresholdSelectionMethod>(input["error_method"].get<std::string>(), "error_method");
  criterion.p = input.value("p", 2);
  criterion.min_threshold = input.value("min_threshold", criterion.min_threshold);
  return criterion;
}

}  // namespace tersor::vectors
