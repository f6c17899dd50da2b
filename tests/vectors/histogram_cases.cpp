// SPDX-License-Identifier: Apache-2.0
// Collected statistics, the outlier filter and errors over histograms.
#include <algorithm>
#include <cmath>

#include "core/quant/error_functions.h"
#include "core/quant/kl_divergence.h"
#include "core/quant/quantizer.h"
#include "tests/vectors/case.h"
#include "tests/vectors/plain_errors.h"

namespace tersor::vectors {

using namespace quant;

namespace {

/// The counts of an output, all of them or those above 0 as pairs.
std::vector<double> counts_of(const Json& output, size_t bins) {
  if (output.contains("counts")) return numbers(output["counts"]);
  std::vector<double> counts(bins, 0.0);
  for (const Json& pair : output["nonzero"]) counts[pair[0].get<size_t>()] = number(pair[1]);
  return counts;
}

/// Numbers of a batch, which is named, a part "name[:n]" of one along the first axis, or "const V x N".
std::vector<double> batch_of(const Case& one, const std::string& name) {
  double value = 0;
  int count = 0;
  if (std::sscanf(name.c_str(), "const %lf x %d", &value, &count) == 2)
    return std::vector<double>(static_cast<size_t>(count), value);
  const Json& tensor = (*one.inputs)[name.substr(0, name.find('['))];
  std::vector<double> values = numbers(tensor["data"]);
  if (std::sscanf(name.c_str(), "%*[^[][:%d]", &count) == 1)
    values.resize(values.size() / tensor["shape"][0].get<size_t>() * static_cast<size_t>(count));
  return values;
}

Verdict judge_collected(const Case& one) {
  const Json& input = one.input;
  const size_t bins = input["n_bins"].get<size_t>();
  std::vector<EvenBins> parts;
  if (input.contains("constant"))
    parts.push_back(even_histogram(std::vector<double>(input["count"].get<size_t>(), number(input["constant"])), bins));
  else if (input.contains("batch"))
    parts.push_back(even_histogram(numbers((*one.inputs)[input["batch"].get<std::string>()]["data"]), bins,
                                   numbers(input["weights"])));
  else
    for (const Json& name : input["batches"]) parts.push_back(even_histogram(batch_of(one, name), bins));
  bool constant = false;
  for (const EvenBins& part : parts) constant |= parts.size() > 1 && part.extremes.low == part.extremes.high;
  if (constant) return skipped(one.deviates.empty() ? "constants stay in one bin here" : one.deviates);
  const EvenBins sum = joined_bins(parts);
  std::vector<double> got{sum.first, sum.edge(bins)};
  got.insert(got.end(), sum.counts.begin(), sum.counts.end());
  std::vector<double> expected{number(one.output["lo"]), number(one.output["hi"])};
  for (const double count : counts_of(one.output, bins)) expected.push_back(count);
  // Interpolated counts carry the rounding of the sums they are differences of.
  return compared(expected, got, std::max(one.tolerance, 1e-9), one.deviates);
}

Verdict judge_extremes(const Case& one) {
  std::vector<double> expected{number(one.output["min"]), number(one.output["max"])}, got{HUGE_VAL, -HUGE_VAL};
  std::vector<double> lows, highs;
  for (const Json& name : one.input["batches"]) {
    const Json& tensor = (*one.inputs)[name.get<std::string>()];
    std::vector<int64_t> shape;
    for (const Json& dim : tensor["shape"]) shape.push_back(dim.get<int64_t>());
    const auto rows = rows_of(numbers(tensor["data"]), shape, one.input["axis"].get<int>());
    lows.resize(rows.size(), HUGE_VAL), highs.resize(rows.size(), -HUGE_VAL);
    for (size_t r = 0; r < rows.size(); ++r) {
      Histogram seen;
      seen.add(std::vector<float>(rows[r].begin(), rows[r].end()));
      lows[r] = std::min(lows[r], static_cast<double>(seen.min()));
      highs[r] = std::max(highs[r], static_cast<double>(seen.max()));
      got[0] = std::min(got[0], lows[r]), got[1] = std::max(got[1], highs[r]);
    }
  }
  for (const double x : numbers(one.output["min_per_channel"])) expected.push_back(x);
  for (const double x : numbers(one.output["max_per_channel"])) expected.push_back(x);
  got.insert(got.end(), lows.begin(), lows.end());
  got.insert(got.end(), highs.begin(), highs.end());
  return compared(expected, got, 1e-7, "extremes are float32");
}

Verdict judge_filter(const Case& one) {
  EvenBins bins = bins_of_case(one.named("histogram"));
  const std::vector<double> before = bins.counts;
  remove_outliers(bins, number(one.input["z_threshold"]));
  double kept = 0, emptied = 0, first = -1, last = -1;
  for (size_t i = 0; i < before.size(); ++i) {
    kept += bins.counts[i];
    emptied += before[i] > 0 && bins.counts[i] == 0 ? 1 : 0;
    if (bins.counts[i] == 0) continue;
    if (first < 0) first = static_cast<double>(i);
    last = static_cast<double>(i);
  }
  const Json& output = one.output;
  return compared({number(output["kept_total"]), number(output["zeroed_nonempty"]), number(output["first_kept"]),
                   number(output["last_kept"])},
                  {kept, emptied, first, last}, one.tolerance);
}

/// The step of a threshold.
Step step_of(double threshold, const IntegerGrid& grid) {
  return quantizer_of(QuantizationMethod::kSymmetric).step_of({-threshold, threshold}, grid);
}

double divergence(const Case& one, const char* range) {
  const IntegerGrid grid{one.input["n_bits"].get<int>(), one.input["signed"].get<bool>(), false};
  const std::vector<double> ends = numbers(one.input[range]);
  return KlDivergence(bins_of_case(one.named("histogram")))
      .of({ends[0], ends[1]}, step_of(number(one.input["threshold"]), grid), grid);
}

Verdict judge_errors(const Case& one) {
  const IntegerGrid grid{one.input["n_bits"].get<int>(), one.input["signed"].get<bool>(), false};
  EvenBins bins = bins_of_case(one.named("histogram"));
  bins.first -= bins.width / 2;  // the reference's places are the lower edges, where ours are the centres
  std::vector<double> expected, got;
  for (const auto& [name, p] : {std::pair<const char*, int>{"mse", 2}, {"mae", 1}, {"lp", one.input.value("p", 2)}}) {
    if (!one.output.contains(name)) continue;
    expected.push_back(number(one.output[name]));
    got.push_back(BinnedValues(bins, p).error(step_of(number(one.input["threshold"]), grid), grid));
  }
  const Verdict errors = compared(expected, got, one.tolerance, one.deviates);
  if (!one.output.contains("kl")) return errors;
  return both(errors,
              compared({number(one.output["kl"])}, {divergence(one, "kl_range")}, std::max(one.tolerance, 2e-6)));
}

}  // namespace

std::optional<Verdict> judge_histogram(const Case& one) {
  const std::string& function = one.function;
  if (function == "HistogramCollector" || function == "WeightedHistogramCollector") return judge_collected(one);
  if (function == "MinMaxPerChannelCollector") return judge_extremes(one);
  if (function == "MeanCollector")
    return skipped("means are over elements here, which the room calibrate sums exactly; " + one.deviates);
  if (function == "z_score_filter") return judge_filter(one);
  if (function == "histogram errors") return judge_errors(one);
  if (function == "_kl_error_histogram")
    return compared({number(one.output)}, {divergence(one, "range")}, std::max(one.tolerance, 2e-6),
                    "the reference sums in float32");
  if (function == "_kl_error_function") {
    const std::vector<double> ends = numbers(one.input["range"]);
    const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
    KlDivergence kl(even_histogram(numbers(one.named("tensor")["data"]), 2048));
    return compared(
        {number(one.output)},
        {kl.of({ends[0], ends[1]}, quantizer_of(QuantizationMethod::kUniform).step_of({ends[0], ends[1]}, grid), grid)},
        std::max(one.tolerance, 2e-6), "the reference sums in float32");
  }
  if (function == "_smooth_distribution")
    return compared(numbers(one.output), smoothed(numbers(one.input["probability"])), one.tolerance);
  return std::nullopt;
}

}  // namespace tersor::vectors
