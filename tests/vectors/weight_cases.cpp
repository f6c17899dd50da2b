// SPDX-License-Identifier: Apache-2.0
// Parameters of weights.
#include <algorithm>
#include <cmath>

#include "core/quant/error_functions.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/quantizer.h"
#include "tests/vectors/case.h"
#include "tests/vectors/plain_errors.h"

namespace tersor::vectors {

using namespace quant;

namespace {

bool same_range(const Range& a, const Range& b, double tolerance) {
  const auto close = [&](double x, double y) {
    return std::fabs(x - y) <= tolerance * std::max(1.0, std::max(std::fabs(x), std::fabs(y)));
  };
  return close(std::min(a.low, 0.0), std::min(b.low, 0.0)) && close(std::max(a.high, 0.0), std::max(b.high, 0.0));
}

std::vector<int64_t> dims_of(const Json& tensor) {
  std::vector<int64_t> shape;
  for (const Json& dim : tensor["shape"]) shape.push_back(dim.get<int64_t>());
  return shape;
}

/// One row of a selection: the reference's range and ours.
struct RowJudge {
  const Case& one;
  QuantizationMethod method;
  IntegerGrid grid;
  bool per_channel;
  Criterion criterion;

  bool searches() const { return criterion.method != ThresholdSelectionMethod::kNoClipping; }
  bool by_divergence() const { return criterion.method == ThresholdSelectionMethod::kKl; }

  double error(const std::vector<double>& row, const Range& range) const {
    const PlainQuantizer quantizer{method, grid, range};
    if (by_divergence())  // over an even grid, whatever the quantizer
      return plain_divergence(even_histogram(row, 2048), range, {QuantizationMethod::kUniform, grid, range});
    return plain_error(row, {}, quantizer, error_exponent(criterion).value_or(2));
  }
  bool is_no_more(double got, double allowed) const {
    return by_divergence() ? got <= allowed * (1 + 1e-4) + 1e-6 : got <= allowed * (1 + 1e-6);
  }
  /// Whether a row that must be reproduced is, or, where Tersor differs, holds no more than the extremes.
  bool holds(const std::vector<double>& row, const Range& ours, const Range& theirs) const {
    const bool widened = ours.high - ours.low <= 2 * criterion.min_threshold * (1 + 1e-9);
    if (one.deviates.empty())
      return same_range(ours, theirs, std::max(one.tolerance, 1e-12)) ||
             (searches() && is_no_more(error(row, ours), error(row, theirs)));
    if (searches()) return true;  // judged over all rows
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    return widened || same_range(ours, {*least, *most}, 1e-12);
  }
};

Verdict judge_selection(const Case& one) {
  const Json& input = one.input;
  const QuantizationMethod method = one.function.find("power_of_two") == 0 ? QuantizationMethod::kPowerOfTwo
                                    : one.function.find("symmetric") == 0  ? QuantizationMethod::kSymmetric
                                                                           : QuantizationMethod::kUniform;
  const bool per_channel = input["per_channel"].get<bool>();
  const RowJudge judge{one, method, {input["n_bits"].get<int>(), true, false}, per_channel, criterion_of(input)};
  const Json& tensor = one.named("tensor");
  std::vector<double> data = numbers(tensor["data"]);
  if (input.value("dtype", "f64") == "f32")
    for (double& x : data) x = static_cast<float>(x);
  // Without an axis the reference tries each; given its choice, the ranges must be the same.
  const Json& axis = input["channel_axis"].is_null() && per_channel ? one.output["axis"] : input["channel_axis"];
  const auto rows = rows_of(data, dims_of(tensor), per_channel ? std::optional<int>(axis.get<int>()) : std::nullopt);
  std::vector<std::vector<double>> importance;
  if (input.contains("hessian"))
    importance = rows_of(numbers(input["hessian"]), dims_of(tensor),
                         per_channel ? std::optional<int>(axis.get<int>()) : std::nullopt);
  std::vector<Range> ours, theirs;
  if (!one.output.contains("error")) theirs = ranges_of(one.output, true);
  double got = 0, allowed = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    ours.push_back(select_weight_range(rows[r], method, judge.grid, per_channel, judge.criterion,
                                       importance.empty() ? std::span<const double>() : importance[r]));
    if (one.output.contains("error")) continue;
    if (theirs.size() != rows.size()) return verdict(false, text_of(theirs), text_of(ours), "another number of rows");
    if (!judge.holds(rows[r], ours[r], theirs[r]))
      return verdict(false, text_of({theirs[r]}) + " error " + text_of(std::vector{judge.error(rows[r], theirs[r])}),
                     text_of({ours[r]}) + " error " + text_of(std::vector{judge.error(rows[r], ours[r])}),
                     "row " + std::to_string(r));
    if (ours[r].high - ours[r].low <= 2 * judge.criterion.min_threshold * (1 + 1e-9)) continue;
    got += judge.error(rows[r], ours[r]);
    allowed += judge.error(rows[r], theirs[r]);
  }
  const bool holds = !judge.searches() || one.output.contains("error") || judge.is_no_more(got, allowed);
  return verdict(holds, text_of(theirs) + " error " + text_of(std::vector{allowed}),
                 text_of(ours) + " error " + text_of(std::vector{got}), one.deviates);
}

/// Sum of squares of a table in its own integers, and in real units.
struct TableErrors {
  double places = 0, values = 0;
};

TableErrors table_errors(const std::vector<std::vector<double>>& rows, const std::vector<double>& thresholds,
                         const std::vector<int32_t>& table) {
  const LutValues values;
  TableErrors errors;
  for (size_t r = 0; r < rows.size(); ++r)
    for (const double x : rows[r]) {
      const double t = thresholds[thresholds.size() == 1 ? 0 : r], place = lut_place(x, t, values);
      const int32_t entry = table[nearest_entry(table, place)];
      const double error = x - std::ldexp(entry, 1 - values.value_bits) * t;
      errors.places += (place - entry) * (place - entry);
      errors.values += error * error;
    }
  return errors;
}

Verdict judge_table(const Case& one) {
  const Json& input = one.input;
  const Json& tensor = one.named("tensor");
  const bool per_channel = input["per_channel"].get<bool>();
  const auto axis = per_channel ? std::optional<int>(input["channel_axis"].get<int>()) : std::nullopt;
  const auto method =
      input.value("is_symmetric", true) ? QuantizationMethod::kLutSymQuantizer : QuantizationMethod::kLutPotQuantizer;
  const std::vector<double> data = numbers(tensor["data"]);
  const LutParams ours = choose_lut_weight_params(tensor_of(data, dims_of(tensor)), method, input["n_bits"].get<int>(),
                                                  8, axis, Criterion{})
                             .params;
  std::vector<int32_t> theirs;
  for (const double entry : numbers(one.output["lut_values_sorted"])) theirs.push_back(static_cast<int32_t>(entry));
  const std::vector<double> thresholds = numbers(one.output["scale_per_channel"]);
  const auto rows = rows_of(data, dims_of(tensor), axis);
  const TableErrors got = table_errors(rows, ours.threshold, ours.table),
                    allowed = table_errors(rows, thresholds, theirs);
  bool same_thresholds = thresholds.size() == ours.threshold.size();
  for (size_t i = 0; same_thresholds && i < thresholds.size(); ++i)
    same_thresholds = near(thresholds[i], ours.threshold[i], 1e-6);
  // Integers of other thresholds cannot be compared; values can.
  const double slack = 1.02;
  const bool holds =
      same_thresholds ? got.places <= allowed.places * slack + 1e-9 : got.values <= allowed.values * slack + 1e-15;
  const std::vector<double> our_table(ours.table.begin(), ours.table.end());
  const auto text = [](const std::vector<double>& t, const std::vector<double>& table, const TableErrors& errors) {
    return "t " + text_of(t) + " table " + text_of(table) + " square errors " +
           text_of(std::vector{errors.places, errors.values});
  };
  return verdict(holds, text(thresholds, numbers(one.output["lut_values_sorted"]), allowed),
                 text(ours.threshold, our_table, got), one.deviates);
}

}  // namespace

std::optional<Verdict> judge_weight(const Case& one) {
  if (one.function == "lut_kmeans_tensor") return judge_table(one);
  if (one.function.find("_selection_tensor") != std::string::npos) return judge_selection(one);
  return std::nullopt;
}

}  // namespace tersor::vectors
