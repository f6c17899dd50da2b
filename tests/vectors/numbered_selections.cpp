// SPDX-License-Identifier: Apache-2.0
// Numbered cases that select parameters: ours have at most the expected error.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/quant/error_functions.h"
#include "core/quant/kl_divergence.h"
#include "core/quant/lut_quantizer.h"
#include "core/quant/quantizer.h"
#include "tests/vectors/case.h"
#include "tests/vectors/plain_errors.h"

namespace tersor::vectors {

using namespace quant;

namespace {

using Method = ThresholdSelectionMethod;

constexpr double kLeast = 1.52587890625e-05;  // 2^-16

Criterion by(Method method, int p = 2) {
  return {method, p, kLeast};
}

EvenBins bins_of_edges(const Json& input) {
  const std::vector<double> edges = numbers(input["edges"]);
  EvenBins bins{
      edges[0], (edges.back() - edges[0]) / static_cast<double>(edges.size() - 1), numbers(input["counts"]), 0, {}};
  bool seen = false;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    if (!(bins.counts[i] > 0)) continue;
    if (!seen) bins.extremes.low = edges[i];
    bins.extremes.high = edges[i + 1], seen = true;
  }
  return bins;
}

/// "edges=linspace(-8,8,2049); counts[i]=floor(1e6*exp(-abs(center_i)/0.5)+0.5)", with any numbers.
std::optional<EvenBins> generated_bins(const std::string& text) {
  double low = 0, high = 0, most = 0, decay = 1;
  int edges = 0;
  if (std::sscanf(text.c_str(), "edges=linspace(%lf,%lf,%d); counts[i]=floor(%lf*exp(-abs(center_i)/%lf)+0.5)", &low,
                  &high, &edges, &most, &decay) != 5)
    return std::nullopt;
  EvenBins bins{low, (high - low) / (edges - 1), {}, 0, {}};
  for (int i = 0; i + 1 < edges; ++i)
    bins.counts.push_back(std::floor(most * std::exp(-std::fabs(bins.center(static_cast<size_t>(i))) / decay) + 0.5));
  for (size_t i = 0; i < bins.counts.size(); ++i)
    if (bins.counts[i] > 0) {
      bins.extremes.low = std::min(bins.extremes.low, bins.edge(i));
      bins.extremes.high = std::max(bins.extremes.high, bins.edge(i + 1));
    }
  return bins;
}

/// "w[j][i]=sin(1.7*i+0.9*j)*exp(-0.15*i), i=0..17, j=0..1", with any numbers; "as V32" are those.
std::vector<std::vector<double>> generated_rows(const std::string& text) {
  double along = 1.7, across = 0.9, decay = 0.15;
  int last = 17, rows = 1;
  std::sscanf(text.c_str(), "w[j][i]=sin(%lf*i+%lf*j)*exp(-%lf*i), i=0..%d, j=0..%d", &along, &across, &decay, &last,
              &rows);
  std::vector<std::vector<double>> made(static_cast<size_t>(rows) + 1);
  for (int j = 0; j <= rows; ++j)
    for (int i = 0; i <= last; ++i)
      made[static_cast<size_t>(j)].push_back(std::sin(along * i + across * j) * std::exp(-decay * i));
  return made;
}

Verdict no_more(double allowed, double got, const Range& theirs, const Range& ours) {
  return verdict(got <= allowed * (1 + 1e-6), text_of({theirs}) + " error " + text_of(std::vector{allowed}),
                 text_of({ours}) + " error " + text_of(std::vector{got}));
}

Verdict activation_search(const Case& one) {
  const Json& input = one.input;
  const auto method = enum_from_word<Method>(input["method"].get<std::string>(), one.id);
  const Criterion criterion = by(method, input.value("p", 2));
  const bool uniform = one.output.contains("range_min"), power = one.output.contains("candidates");
  const QuantizationMethod family = uniform ? QuantizationMethod::kUniform
                                    : power ? QuantizationMethod::kPowerOfTwo
                                            : QuantizationMethod::kSymmetric;
  const bool is_signed = one.output.value("signed", true);
  const IntegerGrid grid{input["n_bits"].get<int>(), is_signed && !uniform, false};
  EvenBins bins = bins_of_edges(input);
  const int p = *error_exponent(criterion);
  const Range ours = select_binned_range(bins, family, grid, criterion), theirs = ranges_of(one.output, is_signed)[0];
  const Verdict found =
      no_more(plain_error(bins, {family, grid, theirs}, p), plain_error(bins, {family, grid, ours}, p), theirs, ours);
  if (!power) return found;
  bins.first -= bins.width / 2;  // at the lower edges the expected errors themselves come out
  const BinnedValues edges(bins, p);
  std::vector<double> got;
  for (const double t : numbers(one.output["candidates"]))
    got.push_back(edges.error(quantizer_of(family).step_of({grid.is_signed ? -t : 0, t}, grid), grid));
  return both(found, compared(numbers(one.output["errors"]), got, one.tolerance));
}

Verdict activation_extremes(const Case& one) {
  const EvenBins bins = bins_of_edges(one.input);
  Verdict found;
  for (const auto& [name, expected] : one.output.items()) {
    const bool is_signed = expected.value("signed", true) && name != "UNIFORM";
    const Range ours = select_binned_range(bins, enum_from_word<QuantizationMethod>(name, one.id),
                                           {8, is_signed, false}, by(Method::kNoClipping));
    const Range theirs = ranges_of(expected, is_signed)[0];
    found = both(found, compared({theirs.low, theirs.high}, {ours.low, ours.high}, one.tolerance));
  }
  return found;
}

Verdict long_tailed(const Case& one) {
  const auto bins = generated_bins(one.input["generator"].get<std::string>());
  if (!bins) return skipped("an unknown generator: " + one.input["generator"].get<std::string>());
  Verdict found;
  for (const auto& [bits, by_method] : one.output.items())
    for (const auto& [word, expected] : by_method.items())
      for (const auto& [name, theirs] : expected.items()) {
        if (!theirs.contains("threshold")) continue;
        const auto method = enum_from_word<Method>(word, one.id);
        const auto family = enum_from_word<QuantizationMethod>(name, one.id);
        const Criterion criterion = by(method, 3);
        const IntegerGrid grid{std::stoi(bits), true, false};
        const double t = number(theirs["threshold"]);
        const Range ours = select_binned_range(*bins, family, grid, criterion);
        if (method == Method::kNoClipping) {
          found = both(found, compared({t}, {ours.high}, one.tolerance));
          continue;
        }
        const auto error = [&](const Range& range) {
          const PlainQuantizer quantizer{family, grid, range};
          return method == Method::kKl ? plain_divergence(*bins, range, quantizer)
                                       : plain_error(*bins, quantizer, *error_exponent(criterion));
        };
        found = both(found, no_more(error({-t, t}), error(ours), {-t, t}, ours));
      }
  return found;
}

/// KL with powers of two: the errors of the halvings, and the threshold among those that cover enough bins.
Verdict divergence_of_powers(const Case& one) {
  const auto bins = generated_bins(one.input["generator"].get<std::string>());
  if (!bins) return skipped("an unknown generator");
  Verdict found;
  for (const auto& [bits, expected] : one.output["guarded_10_candidates"].items()) {
    const IntegerGrid grid{std::stoi(bits), true, false};
    const Quantizer& quantizer = quantizer_of(QuantizationMethod::kPowerOfTwo);
    const Range ours = select_binned_range(*bins, quantizer.method, grid, by(Method::kKl));
    KlDivergence divergence(*bins);
    std::vector<double> got;
    double t = 2 * quantizer.cover(bins->edge(0), bins->edge(bins->counts.size()), grid, kLeast).high;
    const std::vector<double> errors = numbers(one.output["errors"][bits]);
    for (size_t k = 0; k < errors.size(); ++k, t /= 2)
      got.push_back(divergence.of({-t, t}, quantizer.step_of({-t, t}, grid), grid));
    found = both(found, compared({number(expected)}, {ours.high}, one.tolerance));
    found = both(found, compared(errors, got, one.tolerance));
  }
  found.remark = "[Q1] of 20 candidates the reference takes one narrower than a bin; ours is that of 10";
  return found;
}

Verdict divergence_search(const Case& one) {
  const auto bins = generated_bins(one.input["generator"].get<std::string>());
  if (!bins) return skipped("an unknown generator");
  const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
  const Range ours = select_binned_range(*bins, QuantizationMethod::kSymmetric, grid, by(Method::kKl));
  const double got = plain_divergence(*bins, ours, {QuantizationMethod::kSymmetric, grid, ours});
  const double allowed = number(one.output["loss"]), t = number(one.output["threshold"]);
  return verdict(got <= allowed * (1 + one.tolerance),
                 text_of(std::vector<Range>{{-t, t}}) + " divergence " + text_of(std::vector{allowed}),
                 text_of({ours}) + " divergence " + text_of(std::vector{got}));
}

Verdict weight_extremes(const Case& one) {
  std::vector<double> got, expected = numbers(one.output["max"]);
  for (const Json& row : one.input["w"])
    for (const Json& bits : one.input["n_bits"])
      got.push_back(select_weight_range(numbers(row), QuantizationMethod::kSymmetric, {bits.get<int>(), true, false},
                                        true, by(Method::kNoClipping))
                        .high);
  return compared(expected, got, one.tolerance);
}

Verdict weights_unclipped(const Case& one) {
  const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
  Verdict found;
  for (const auto& [name, expected] : one.output.items()) {
    const auto method = name.find("POT") == 0   ? QuantizationMethod::kPowerOfTwo
                        : name.find("SYM") == 0 ? QuantizationMethod::kSymmetric
                                                : QuantizationMethod::kUniform;
    const bool per_channel = name.find("per_channel") != std::string::npos;
    std::vector<std::vector<double>> rows;
    if (per_channel)
      for (const Json& row : one.input["w"]) rows.push_back(numbers(row));
    else
      rows.push_back(numbers(one.input["w"]));
    std::vector<double> got;
    for (const auto& row : rows) {
      const Range range = select_weight_range(row, method, grid, per_channel, by(Method::kNoClipping));
      if (method == QuantizationMethod::kUniform) got.push_back(range.low);
      got.push_back(range.high);
    }
    found = both(found, compared(numbers(expected), got, one.tolerance));
  }
  return found;
}

Verdict weights_by_powers(const Case& one) {
  const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
  std::vector<double> got, errors;
  for (size_t r = 0; r < one.input["w"].size(); ++r) {
    const auto row = numbers(one.input["w"][r]);
    const auto method = enum_from_word<Method>(one.input["method"].get<std::string>(), one.id);
    got.push_back(select_weight_range(row, QuantizationMethod::kPowerOfTwo, grid, true, by(method)).high);
    for (const double t : numbers(one.output["candidates"][r]))
      errors.push_back(mean_error(row, quantizer_of(QuantizationMethod::kPowerOfTwo).step_of({-t, t}, grid), grid,
                                  *error_exponent(by(method))));
  }
  return both(compared(numbers(one.output["threshold"]), got, one.tolerance),
              compared(numbers(one.output["errors"]), errors, one.tolerance));
}

Verdict weight_search(const Case& one) {
  const auto rows = generated_rows(one.input["generator"].get<std::string>());
  const int n_bits = one.input["n_bits"].get<int>();
  const auto judge = [&](const std::vector<double>& row, const Json& expected, bool per_channel) {
    const bool uniform = expected.contains("range_min");
    const auto method = uniform ? QuantizationMethod::kUniform : QuantizationMethod::kSymmetric;
    const IntegerGrid grid{n_bits, !uniform, false};
    const Range ours = select_weight_range(row, method, grid, per_channel, by(Method::kMse));
    return no_more(number(expected["loss"]), plain_error(row, {}, {method, grid, ours}, 2),
                   ranges_of(expected, true)[0], ours);
  };
  Verdict found;
  for (size_t r = 0; r < rows.size() && r < one.output["per_channel"].size(); ++r)
    found = both(found, judge(rows[r], one.output["per_channel"][r], true));
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return one.output.contains("per_tensor") ? both(found, judge(all, one.output["per_tensor"], false)) : found;
}

Verdict weighted_error(const Case& one) {
  const auto row = numbers(one.input["w"]);
  const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
  const auto method = QuantizationMethod::kPowerOfTwo;
  std::vector<double> got{select_weight_range(row, method, grid, false, by(Method::kMse)).high};
  std::vector<double> expected{number(one.output["MSE"])};
  for (const char* which : {"A", "B"}) {
    const auto importance = numbers(one.input[std::string("hessian_") + which]);
    got.push_back(select_weight_range(row, method, grid, false, by(Method::kHmse), importance).high);
    expected.push_back(number(one.output[std::string("HMSE_") + which]));
    const double most = std::max(-*std::min_element(row.begin(), row.end()), *std::max_element(row.begin(), row.end()));
    double t = 2 * quantizer_of(method).cover(-most, most, grid, kLeast).high;
    for (const double error : numbers(one.output[std::string("errors_") + which])) {
      expected.push_back(error);
      got.push_back(mean_error(row, quantizer_of(method).step_of({-t, t}, grid), grid, 2, importance));
      t /= 2;
    }
  }
  return compared(expected, got, one.tolerance);
}

Verdict weight_table(const Case& one) {
  const auto w = numbers(one.input["w"]);
  const int n_bits = one.input["n_bits"].get<int>(), value_bits = one.input["lut_values_bitwidth"].get<int>();
  const double t = number(one.output["threshold"]);
  std::vector<double> places;
  for (const double x : w) places.push_back(lut_place(x, t, {value_bits, true}));
  const Tensor exact = tensor_of(w, {static_cast<int64_t>(w.size())});
  const LutParams ours = choose_lut_weight_params(exact, QuantizationMethod::kLutSymQuantizer, n_bits, value_bits,
                                                  std::nullopt, by(Method::kMse))
                             .params;
  const std::vector<double> back = dequantize(quantize(exact, ours), ours).to_doubles();
  const std::vector<double> theirs = numbers(one.output["y"]);
  double got = 0, allowed = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    got += (w[i] - back[i]) * (w[i] - back[i]);
    allowed += (w[i] - theirs[i]) * (w[i] - theirs[i]);
  }
  const Verdict values =
      verdict(got <= allowed * (1 + 1e-6), text_of(theirs) + " square error " + text_of(std::vector{allowed}),
              text_of(back) + " square error " + text_of(std::vector{got}),
              "[Q7] the reference's threshold makes room by the indices' bits");
  return both(compared(numbers(one.output["int_values"]), places, one.tolerance), values);
}

using Rule = Verdict (*)(const Case&);
const std::map<std::string, Rule> kRules = {
    {"V11", weight_extremes},     {"V18", activation_search}, {"V19", activation_search},    {"V20", activation_search},
    {"V21", activation_extremes}, {"V22", activation_search}, {"V23", activation_search},    {"V24", activation_search},
    {"V25", activation_search},   {"V27", long_tailed},       {"V28", divergence_of_powers}, {"V29", divergence_search},
    {"V30", weights_by_powers},   {"V31", weights_unclipped}, {"V32", weight_search},        {"V33", weight_search},
    {"V34", weighted_error},      {"V35", weight_table}};

}  // namespace

std::optional<Verdict> judge_numbered_selection(const Case& one) {
  if (!one.function.empty()) return std::nullopt;
  const auto rule = kRules.find(one.id);
  return rule == kRules.end() ? std::nullopt : std::optional(rule->second(one));
}

}  // namespace tersor::vectors
