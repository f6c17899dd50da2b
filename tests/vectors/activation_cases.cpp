// SPDX-License-Identifier: Apache-2.0
// Ranges of activations chosen over a histogram.
#include <algorithm>
#include <cmath>

#include "core/quant/error_functions.h"
#include "core/quant/kl_divergence.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/quantizer.h"
#include "tests/vectors/case.h"
#include "tests/vectors/plain_errors.h"

namespace tersor::vectors {

using namespace quant;

namespace {

/// Both ranges as quantizers see them, with 0 inside.
bool same_range(const Range& a, const Range& b, double tolerance) {
  return near(std::min(a.low, 0.0), std::min(b.low, 0.0), tolerance) &&
         near(std::max(a.high, 0.0), std::max(b.high, 0.0), tolerance);
}

/// A divergence is judged by its own value, or, where the reference fell into a range of too few bins and its
/// divergence says nothing, by the square error.
Verdict judge_divergence(const Case& one, const EvenBins& bins, const PlainQuantizer& ours,
                         const PlainQuantizer& theirs) {
  const double got = plain_divergence(bins, ours.range, ours), allowed = plain_divergence(bins, theirs.range, theirs);
  const double got_square = plain_error(bins, ours, 2), allowed_square = plain_error(bins, theirs, 2);
  const int n_bits = ours.grid.n_bits;
  const size_t covered = KlDivergence(bins).covered_bins(theirs.range);
  const bool says_something = covered >= std::max<size_t>(16, std::min<size_t>(size_t{1} << (n_bits - 1), 128));
  const bool no_more = got <= allowed * (1 + 1e-4) + 1e-6;
  const bool less_square = !says_something && got_square <= allowed_square * (1 + 1e-9);
  return verdict(no_more || less_square,
                 text_of({theirs.range}) + " divergence " + text_of(std::vector{allowed, allowed_square}),
                 text_of({ours.range}) + " divergence " + text_of(std::vector{got, got_square}),
                 says_something ? one.deviates
                                : "theirs covers " + std::to_string(covered) +
                                      " bins, too few for a divergence; square errors compared (the second numbers)");
}

Verdict judge_selection(const Case& one) {
  const Json& input = one.input;
  const QuantizationMethod method = one.function.find("power_of_two") == 0 ? QuantizationMethod::kPowerOfTwo
                                    : one.function.find("symmetric") == 0  ? QuantizationMethod::kSymmetric
                                                                           : QuantizationMethod::kUniform;
  const Criterion criterion = criterion_of(input);
  const bool is_signed = one.output.is_object() ? one.output.value("is_signed", input["is_signed"].get<bool>())
                                                : input["is_signed"].get<bool>();
  const IntegerGrid grid{input["n_bits"].get<int>(), is_signed && method != QuantizationMethod::kUniform, false};
  const EvenBins bins = bins_of_case(one.named("histogram"));
  const Range ours = select_binned_range(bins, method, grid, criterion);
  const PlainQuantizer our_quantizer{method, grid, ours};
  if (one.output.contains("error")) {
    const double error = plain_error(bins, our_quantizer, 2);
    return verdict(std::isfinite(error) && ours.high > ours.low, "an error: " + one.output["error"].get<std::string>(),
                   text_of({ours}) + ", square error " + text_of(std::vector{error}), one.deviates);
  }
  const Range theirs = ranges_of(one.output, is_signed)[0];
  const PlainQuantizer their_quantizer{method, grid, theirs};
  if (criterion.method == ThresholdSelectionMethod::kKl)
    return judge_divergence(one, bins, our_quantizer, their_quantizer);
  if (criterion.method == ThresholdSelectionMethod::kNoClipping) {
    const bool holds = one.deviates.empty()
                           ? same_range(ours, theirs, std::max(one.tolerance, 1e-12))
                           : ours.high >= theirs.high && ours.high >= std::max(-bins.extremes.low, bins.extremes.high);
    return verdict(holds, text_of({theirs}), text_of({ours}), one.deviates);
  }
  const int p = *error_exponent(criterion);
  const double got = plain_error(bins, our_quantizer, p), allowed = plain_error(bins, their_quantizer, p);
  const bool same = one.deviates.empty() && same_range(ours, theirs, std::max(one.tolerance, 1e-12));
  return verdict(same || got <= allowed * (1 + 1e-9), text_of({theirs}) + " error " + text_of(std::vector{allowed}),
                 text_of({ours}) + " error " + text_of(std::vector{got}), one.deviates);
}

/// Sum of count * (place - nearest entry)^2 in real units, at bin centres.
double table_error(const EvenBins& bins, double threshold, const LutValues& values, const std::vector<int32_t>& table) {
  const double step = std::ldexp(threshold, (values.is_signed ? 1 : 0) - values.value_bits);
  double sum = 0;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const double x = bins.center(i), error = x - table[nearest_entry(table, lut_place(x, threshold, values))] * step;
    sum += bins.counts[i] * error * error;
  }
  return sum;
}

Verdict judge_table(const Case& one) {
  const Json& input = one.input;
  const EvenBins bins = bins_of_case(one.named("histogram"));
  const bool is_signed = input["is_signed"].get<bool>();
  const LutValues values{8, is_signed};
  const LutParams ours = choose_lut_activation_params(bins, QuantizationMethod::kLutPotQuantizer,
                                                      input["n_bits"].get<int>(), is_signed, 8, Criterion{})
                             .params;
  std::vector<int32_t> theirs;
  for (const double entry : numbers(one.output["lut_values_sorted"])) theirs.push_back(static_cast<int32_t>(entry));
  const double threshold = number(one.output["threshold"]);
  const double got = table_error(bins, ours.threshold[0], values, ours.table),
               allowed = table_error(bins, threshold, values, theirs);
  const std::vector<double> our_table(ours.table.begin(), ours.table.end());
  return verdict(
      got <= allowed * (1 + 1e-9),
      "t " + text_of(std::vector{threshold}) + " table " + text_of(numbers(one.output["lut_values_sorted"])) +
          " error " + text_of(std::vector{allowed}),
      "t " + text_of(ours.threshold) + " table " + text_of(our_table) + " error " + text_of(std::vector{got}),
      one.deviates);
}

}  // namespace

std::optional<Verdict> judge_activation(const Case& one) {
  if (one.function == "lut_kmeans_histogram") return judge_table(one);
  if (one.function.find("_selection_histogram") != std::string::npos) return judge_selection(one);
  return std::nullopt;
}

}  // namespace tersor::vectors
