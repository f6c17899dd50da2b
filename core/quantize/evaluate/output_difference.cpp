// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/output_difference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"

namespace tersor::evaluate {

namespace {

/// log10 of a positive finite number: x = m * 2^e with m in [sqrt(1/2), sqrt(2)), ln m = 2 atanh((m-1)/(m+1)) as a
/// series.
double log10_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  constexpr double kHalfRoot = 0.70710678118654752;
  if (m < kHalfRoot) m *= 2, --exponent;
  const double t = (m - 1) / (m + 1), square = t * t;
  double sum = 0;
  // |t| < 0.172, so the terms after t^21 are below 1e-17.
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  constexpr double kLog10Of2 = 0.30102999566398120, kLog10OfE = 0.43429448190325183;
  return static_cast<double>(exponent) * kLog10Of2 + 2 * t * sum * kLog10OfE;
}

bool equal_or_both_nan(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

double decibels(double signal, double noise) {
  return 10 * (log10_of(signal) - log10_of(noise));
}

OutputDifferences::OutputDifferences(std::vector<std::string> names) : names_(std::move(names)) {}

void OutputDifferences::add(int64_t sample, std::span<const Tensor> reference, std::span<const Tensor> outputs) {
  TERSOR_CHECK(reference.size() == names_.size() && outputs.size() == names_.size());
  Record record{sample, std::vector<Sums>(names_.size())};
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (reference[o].elements() != outputs[o].elements())
      throw Error(ErrorCode::kMismatch, "The output \"" + names_[o] + "\" has the shape " + outputs[o].shape().text() +
                                            ", the reference's has " + reference[o].shape().text() + ".");
    const std::vector<double> a = reference[o].to_doubles(), b = outputs[o].to_doubles();
    Sums& sums = record.outputs[o];
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isfinite(a[i]) && std::isfinite(b[i])) {
        sums.signal += a[i] * a[i];
        sums.noise += (a[i] - b[i]) * (a[i] - b[i]);
      } else if (!equal_or_both_nan(a[i], b[i])) {
        ++sums.not_finite;
      }
    }
  }
  records_.push_back(std::move(record));
}

void OutputDifferences::merge(OutputDifferences&& other) {
  TERSOR_CHECK(other.names_ == names_);
  for (Record& record : other.records_) records_.push_back(std::move(record));
  other.records_.clear();
}

std::vector<OutputDifference> OutputDifferences::result() const {
  std::vector<const Record*> order;
  for (const Record& record : records_) order.push_back(&record);
  std::sort(order.begin(), order.end(), [](const Record* a, const Record* b) { return a->sample < b->sample; });
  std::vector<OutputDifference> results;
  for (size_t o = 0; o < names_.size(); ++o) {
    Sums sums;
    for (const Record* record : order) {
      sums.signal += record->outputs[o].signal;
      sums.noise += record->outputs[o].noise;
      sums.not_finite += record->outputs[o].not_finite;
    }
    OutputDifference result{names_[o], sums.noise == 0 && sums.not_finite == 0, std::nullopt, sums.not_finite};
    // An all-zero reference has no signal; the smallest double stands for it, as a very low ratio.
    constexpr double kTiny = 1e-300;
    if (!result.exact && sums.not_finite == 0)
      result.sqnr_db = decibels(std::max(sums.signal, kTiny), std::max(sums.noise, kTiny));
    results.push_back(std::move(result));
  }
  return results;
}

std::optional<double> OutputDifferences::least_sqnr_db() const {
  std::optional<double> least;
  for (const OutputDifference& one : result())
    if (one.sqnr_db) least = std::min(least.value_or(*one.sqnr_db), *one.sqnr_db);
  return least;
}

}  // namespace tersor::evaluate
