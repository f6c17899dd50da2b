// SPDX-License-Identifier: Apache-2.0
// Numbered cases without a choice in them.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/quant/corrections.h"
#include "core/quant/kl_divergence.h"
#include "core/quant/lut_table.h"
#include "core/quant/quantizer.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

using namespace quant;

namespace {

QuantizationParams params(QuantizationMethod method, const IntegerGrid& grid, const Range& range) {
  return params_of_ranges(method, grid, std::span<const Range>(&range, 1));
}

std::vector<double> on_grid(const std::vector<double>& x, const QuantizationParams& made) {
  return fake_quantize(tensor_of(x, {static_cast<int64_t>(x.size())}), made).to_doubles();
}

Range range_for(double threshold, bool is_signed) {
  return {is_signed ? -threshold : 0, threshold};
}

/// As compared(), but a value half-way between two codes may go to either.
Verdict compared_on_grid(const std::vector<double>& x, const std::vector<double>& expected, std::vector<double> got,
                         double step, double tolerance) {
  for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    const bool half_way = std::fabs(std::fabs(x[i] - expected[i]) / step - 0.5) < 1e-6;
    if (half_way && std::fabs(std::fabs(got[i] - expected[i]) - step) < 1e-5 * step) got[i] = expected[i];
  }
  return compared(expected, got, std::max(tolerance, 1e-6));
}

Verdict power_of_two(const Case& one) {
  std::vector<double> got;
  for (const double x : numbers(one.input["x"]))
    got.push_back(quantizer_of(QuantizationMethod::kPowerOfTwo)
                      .cover(0, x, {8, true, false}, number(one.input["min_threshold"]))
                      .high);
  return compared(numbers(one.output["y"]), got, one.tolerance);
}

Verdict symmetric_quantizer(const Case& one) {
  const bool is_signed = one.input["signed"].get<bool>();
  const QuantizationParams made =
      params(QuantizationMethod::kSymmetric, {one.input["n_bits"].get<int>(), is_signed, false},
             range_for(number(one.input["threshold"]), is_signed));
  const std::vector<double> x = numbers(one.input["x"]);
  return both(compared({number(one.output["delta"])}, {made.scale[0]}, 1e-6),
              compared_on_grid(x, numbers(one.output["y"]), on_grid(x, made), made.scale[0], one.tolerance));
}

Verdict adjusted_ranges(const Case& one) {
  std::vector<double> got, scales;
  for (const Json& range : one.input["ranges"]) {
    const auto made = params(QuantizationMethod::kUniform, {one.input["n_bits"].get<int>(), false, false},
                             {number(range[0]), number(range[1])});
    got.push_back(made.representable().low), got.push_back(made.representable().high);
    scales.push_back(made.scale[0]);
  }
  return both(compared(numbers(one.output["adjusted"]), got, 1e-6),
              compared(numbers(one.output["scale"]), scales, 1e-6));
}

Verdict uniform_quantizer(const Case& one) {
  const auto made = params(QuantizationMethod::kUniform, {one.input["n_bits"].get<int>(), false, false},
                           {number(one.input["range_min"]), number(one.input["range_max"])});
  const std::vector<double> x = numbers(one.input["x"]);
  return compared_on_grid(x, numbers(one.output["y"]), on_grid(x, made), made.scale[0], one.tolerance);
}

Verdict power_of_two_quantizer(const Case& one) {
  const std::vector<double> x = numbers(one.input["x"]);
  Verdict found;
  for (const bool is_signed : {true, false}) {
    const auto made = params(QuantizationMethod::kPowerOfTwo, {one.input["n_bits"].get<int>(), is_signed, false},
                             range_for(number(one.input["threshold"]), is_signed));
    found = both(found, compared_on_grid(x, numbers(one.output[is_signed ? "signed" : "unsigned"]), on_grid(x, made),
                                         made.scale[0], one.tolerance));
  }
  return found;
}

Verdict table_quantizer(const Case& one) {
  const LutValues values{one.input["lut_values_bitwidth"].get<int>(), one.input["signed"].get<bool>()};
  const double t = number(one.input["threshold"]);
  std::vector<int32_t> table;
  for (const double entry : numbers(one.input["lut_values"])) table.push_back(static_cast<int32_t>(entry));
  std::vector<double> got;
  for (const double x : numbers(one.input["x"]))
    got.push_back(std::ldexp(table[nearest_entry(table, lut_place(x, t, values))],
                             (values.is_signed ? 1 : 0) - values.value_bits) *
                  t);
  return compared(numbers(one.output["y"]), got, one.tolerance);
}

Verdict places(const Case& one) {
  Verdict found;
  for (const bool is_signed : {true, false}) {
    std::vector<double> got;
    for (const double x : numbers(one.input["x"]))
      got.push_back(lut_place(x, number(one.input["threshold"]), {one.input["n_bits"].get<int>(), is_signed}));
    found = both(found, compared(numbers(one.output[is_signed ? "signed" : "unsigned"]), got, one.tolerance));
  }
  return found;
}

Verdict constant_histogram(const Case& one) {
  const size_t bins = one.input["n_bins"].get<size_t>();
  const EvenBins made = even_histogram(numbers(one.input["x"]), bins);
  std::vector<double> edges;
  for (size_t i = 0; i <= bins; ++i) edges.push_back(made.edge(i));
  return both(compared(numbers(one.output["counts"]), made.counts, one.tolerance),
              compared(numbers(one.output["edges"]), edges, one.tolerance));
}

Verdict merged_histograms(const Case& one) {
  const size_t bins = one.input["n_bins"].get<size_t>();
  std::vector<EvenBins> parts;
  double low = HUGE_VAL, high = -HUGE_VAL;
  Verdict found;
  for (const Json& batch : one.input["batches"]) {
    parts.push_back(even_histogram(numbers(batch), bins));
    low = std::min(low, parts.back().first), high = std::max(high, parts.back().edge(bins));
    found = both(found, compared(numbers(one.output["batch_histograms"][parts.size() - 1]["counts"]),
                                 parts.back().counts, one.tolerance));
  }
  std::vector<double> sum(bins, 0.0);
  for (const EvenBins& part : parts) {
    const EvenBins merged = rebin(part, low, high, bins);
    for (size_t i = 0; i < bins; ++i) sum[i] += merged.counts[i];
  }
  return both(found, compared(numbers(one.output["merged_counts"]), sum, one.tolerance));
}

EvenBins bins_of_edges(const Json& input) {
  const std::vector<double> edges = numbers(input["edges"]);
  return {edges[0],
          (edges.back() - edges[0]) / static_cast<double>(edges.size() - 1),
          numbers(input["counts"]),
          0,
          {edges[0], edges.back()}};
}

Verdict outliers(const Case& one) {
  Verdict found;
  for (size_t k = 0; k < one.input["z"].size(); ++k) {
    EvenBins bins = bins_of_edges(one.input);
    remove_outliers(bins, number(one.input["z"][k]));
    found = both(found, compared(numbers(one.output["filtered"][k]), bins.counts, one.tolerance));
  }
  return found;
}

Verdict known_ranges(const Case& one) {
  Verdict found;
  if (one.input.contains("min")) {
    const double low = number(one.input["min"]), high = number(one.input["max"]);
    for (const auto& [name, expected] : one.output.items()) {
      const auto method = enum_from_word<QuantizationMethod>(name, one.id);
      const Range range = quantizer_of(method).cover(low, high, {8, low < 0, false}, 1e-9);
      found = both(found, expected.contains("threshold")
                              ? compared({number(expected["threshold"])}, {range.high}, one.tolerance)
                              : compared({number(expected["range_min"]), number(expected["range_max"])},
                                         {range.low, range.high}, one.tolerance));
    }
    return found;
  }
  for (const auto& [name, by_range] : one.output.items())
    for (const auto& [which, expected] : by_range.items()) {
      const double low = number(one.input[which][0]), high = number(one.input[which][1]);
      const Range range =
          quantizer_of(enum_from_word<QuantizationMethod>(name, one.id)).cover(low, high, {8, low < 0, false}, 1e-9);
      found = both(found, compared({number(expected[0]), expected[1].get<bool>() ? 1.0 : 0.0},
                                   {range.high, low < 0 ? 1.0 : 0.0}, one.tolerance));
    }
  return found;
}

Verdict signedness(const Case& one) {
  std::vector<double> got, expected;
  for (const Json& kind : one.input["cases"]) {
    const std::string config = kind["config"];
    bool is_signed = config == "SIGNED";
    if (config == "AUTO" && kind["bounded"].get<bool>()) is_signed = number(kind["min"]) < 0;
    if (config == "AUTO" && !kind["bounded"].get<bool>()) {
      const std::vector<double> edges = numbers(kind["edges"]), counts = numbers(kind["counts"]);
      for (size_t i = 0; i < counts.size(); ++i) is_signed |= counts[i] > 0 && edges[i] < 0;
    }
    got.push_back(is_signed ? 1 : 0);
  }
  for (const Json& sign : one.output["signed"]) expected.push_back(sign.get<bool>() ? 1 : 0);
  return compared(expected, got, one.tolerance);
}

Verdict divergences(const Case& one) {
  KlDivergence divergence(bins_of_edges(one.input));
  const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
  std::vector<double> got;
  for (const double t : numbers(one.input["thresholds"]))
    got.push_back(divergence.of({-t, t}, quantizer_of(QuantizationMethod::kSymmetric).step_of({-t, t}, grid), grid));
  return compared(numbers(one.output["kl"]), got, one.tolerance);
}

Verdict equalization(const Case& one) {
  const auto means = numbers(one.input["mean"]), deviations = numbers(one.input["std"]);
  std::vector<double> got, expected;
  for (size_t c = 0; c < means.size(); ++c) {
    const RectifiedMoments moments = rectified_moments(means[c], deviations[c]);
    for (const double x : {moments.mean, moments.second, equalization_scale(means[c], deviations[c])}) got.push_back(x);
    for (const char* name : {"mean_after_relu", "second_moment", "scale"})
      expected.push_back(number(one.output[name][c]));
  }
  return compared(expected, got, one.tolerance);
}

Verdict second_moment(const Case& one) {
  const double variance = std::pow(number(one.input["gamma_original"][0]), 2), epsilon = number(one.input["eps"]);
  // Over a deviation of 1 the gain is the new gamma.
  const std::vector<double> got{second_moment_gain(variance, 1 - epsilon, epsilon),
                                second_moment_gain(variance, number(one.output["new_var"][0]), epsilon)};
  return compared({number(one.output["new_gamma"][0]), number(one.output["scale_after"][0])}, got, one.tolerance);
}

Verdict bounded_relu(const Case& one) {
  const double bound = number(one.input["relu_max"]);
  const double wider = quantizer_of(QuantizationMethod::kPowerOfTwo).cover(0, bound, {8, false, false}, 1e-9).high;
  const double scale = bound / wider;
  std::vector<double> got{scale, wider}, expected{number(one.output["scale"]), number(one.output["relu_max"])};
  const auto scaled = [&](const char* name, double by) {
    for (const double w : numbers(one.input[name])) got.push_back(w * by);
    for (const double w : numbers(one.output[name])) expected.push_back(w);
  };
  scaled("W1", 1 / scale), scaled("b1", 1 / scale), scaled("W2", scale);
  return compared(expected, got, one.tolerance);
}

Verdict negative_shifts(const Case& one) {
  std::vector<double> got, expected;
  for (size_t k = 0; k < one.input["cases"].size(); ++k) {
    const Json& input = one.input["cases"][k];
    const auto shift = negative_shift(number(input["min"]), number(input["threshold"]), input["n_bits"].get<int>(),
                                      number(input["ratio"]));
    got.push_back(shift ? 1 : 0), got.push_back(shift ? shift->shift : 0);
    const Json& theirs = one.output["shift"][k];
    expected.push_back(one.output["applies"][k].get<bool>() ? 1 : 0),
        expected.push_back(theirs.is_null() ? 0 : number(theirs));
  }
  return compared(expected, got, one.tolerance);
}

Verdict shifted_bias(const Case& one) {
  const std::vector<double> w = numbers(one.input["W"]);
  std::vector<double> bias = numbers(one.input["b"]);
  const std::vector<double> sums = output_sums({w, shape_of(one.input["W"]), 0, 1});
  for (size_t o = 0; o < bias.size(); ++o) bias[o] -= number(one.input["shift"]) * sums[o];
  return compared(numbers(one.output["b"]), bias, one.tolerance);
}

Verdict dense_bias(const Case& one) {
  const std::vector<double> w = numbers(one.input["W_out_in"]), thresholds = numbers(one.input["thresholds"]);
  const std::vector<int64_t> shape = shape_of(one.input["W_out_in"]);
  std::vector<Range> ranges;
  for (const double t : thresholds) ranges.push_back({-t, t});
  const auto made =
      params_of_ranges(QuantizationMethod::kSymmetric, {one.input["n_bits"].get<int>(), true, false}, ranges, 0);
  const std::vector<double> quantized = fake_quantize(tensor_of(w, shape), made).to_doubles();
  const auto correction = weights_bias_correction({w, shape, 0, 1}, quantized, numbers(one.input["input_mean"]));
  std::vector<double> bias = numbers(one.input["b"]);
  for (size_t o = 0; o < bias.size(); ++o) bias[o] -= correction[o];
  const Verdict found = both(compared(numbers(one.output["Wq"]), quantized, 1e-6),
                             compared(numbers(one.output["correction"]), correction, std::max(one.tolerance, 1e-7)));
  return both(found, compared(numbers(one.output["b"]), bias, std::max(one.tolerance, 1e-7)));
}

Verdict depthwise_bias(const Case& one) {
  const std::vector<double> w = numbers(one.input["W"]), quantized = numbers(one.input["Wq"]);
  const std::vector<int64_t> shape = shape_of(one.input["W"]);
  const auto correction = weights_bias_correction({w, shape, 0, 0}, quantized, numbers(one.input["input_mean"]));
  std::vector<double> bias = numbers(one.input["b"]);
  for (size_t o = 0; o < bias.size(); ++o) bias[o] -= correction[o];
  return compared(numbers(one.output["b"]), bias, one.tolerance);
}

Verdict activation_bias(const Case& one) {
  const Json& quantizer = one.input["quantizer"];
  const IntegerGrid grid{quantizer["n_bits"].get<int>(), quantizer["signed"].get<bool>(), false};
  const double t = number(quantizer["threshold"]);
  const std::vector<double> w = numbers(one.input["W_out_in"]);
  const auto correction = activation_bias_correction(
      bins_of_edges(one.input), quantizer_of(QuantizationMethod::kSymmetric).step_of({-t, t}, grid), grid,
      {w, shape_of(one.input["W_out_in"]), 0, 1}, 0);
  std::vector<double> bias = numbers(one.input["b"]);
  for (size_t o = 0; correction && o < bias.size(); ++o) bias[o] -= (*correction)[o];
  return compared(numbers(one.output["b"]), bias, one.tolerance);
}

Verdict weighted_histogram(const Case& one) {
  const auto total = [&](const char* x, const char* weights) {
    std::vector<double> values = numbers(one.input[x]), by = numbers(one.input[weights]);
    // Weights of fewer dimensions hold for each row.
    const size_t repeat = values.size() / by.size();
    std::vector<double> all;
    for (const double weight : by) all.insert(all.end(), repeat, weight);
    return even_histogram(values, 10, all).total();
  };
  return compared({number(one.output["total"]), number(one.output["total2"])},
                  {total("x", "weights"), total("x2", "weights2")}, one.tolerance);
}

using Rule = Verdict (*)(const Case&);
const std::map<std::string, Rule> kRules = {{"V01", power_of_two},
                                            {"V02", symmetric_quantizer},
                                            {"V03", symmetric_quantizer},
                                            {"V04", adjusted_ranges},
                                            {"V05", uniform_quantizer},
                                            {"V06", uniform_quantizer},
                                            {"V07", power_of_two_quantizer},
                                            {"V08", table_quantizer},
                                            {"V09", table_quantizer},
                                            {"V10", places},
                                            {"V12", constant_histogram},
                                            {"V13", merged_histograms},
                                            {"V14", outliers},
                                            {"V15", signedness},
                                            {"V16", known_ranges},
                                            {"V17", known_ranges},
                                            {"V26", divergences},
                                            {"V36", equalization},
                                            {"V37", bounded_relu},
                                            {"V38", negative_shifts},
                                            {"V39", shifted_bias},
                                            {"V44", dense_bias},
                                            {"V45", depthwise_bias},
                                            {"V46", activation_bias},
                                            {"V66", second_moment},
                                            {"V64", weighted_histogram}};

}  // namespace

std::optional<Verdict> judge_numbered(const Case& one) {
  if (!one.function.empty()) return std::nullopt;
  if (const auto rule = kRules.find(one.id); rule != kRules.end()) return rule->second(one);
  if (one.id == "V65") return skipped("[Q5] means are over elements here, not over batches");
  return std::nullopt;
}

}  // namespace tersor::vectors
