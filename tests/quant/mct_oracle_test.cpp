// SPDX-License-Identifier: Apache-2.0
// Cases made by running Sony's Model Compression Toolkit (mct_oracle.json). A case is reproduced; or, where its
// "deviates" says that Tersor differs on purpose, the parameters chosen here must have at most the error of the
// reference's. Cases that choose nothing or concern what does not act yet are listed by number with the reason.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

struct Oracle {
  Json inputs;
  std::vector<Json> cases;
};

Oracle read_oracle() {
  Oracle oracle;
  const auto path = test::shared_file("spec/mct_oracle.json");
  if (!path) return oracle;
  const auto bytes = test::read_file(*path);
  const Json json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "mct_oracle.json");
  oracle.inputs = json["inputs"];
  for (const Json& one : json["vectors"]) oracle.cases.push_back(one);
  return oracle;
}

/// Counts what was checked and prints what was left out, by reason.
class Tally {
 public:
  explicit Tally(const char* what) : what_(what) {}
  void passed() { ++passed_; }
  void skip(const Json& one, const std::string& reason) { skipped_[reason].push_back(one["id"].get<std::string>()); }
  ~Tally() {
    std::cout << what_ << ": " << passed_ << " cases hold\n";
    for (const auto& [reason, ids] : skipped_) {
      std::cout << "skipped: " << reason << ":";
      for (const std::string& id : ids) std::cout << " " << id;
      std::cout << "\n";
    }
  }

 private:
  const char* what_;
  int passed_ = 0;
  std::map<std::string, std::vector<std::string>> skipped_;
};

double number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  return json == "inf" ? HUGE_VAL : json == "-inf" ? -HUGE_VAL : NAN;
}

/// All numbers of nested lists, in order; a single number is a list of one.
std::vector<double> numbers(const Json& json) {
  if (!json.is_array()) return {number(json)};
  std::vector<double> all;
  for (const Json& one : json)
    for (const double x : numbers(one)) all.push_back(x);
  return all;
}

std::vector<int64_t> shape_of(const Json& input) {
  std::vector<int64_t> dims;
  for (const Json& dim : input["shape"]) dims.push_back(dim.get<int64_t>());
  return dims;
}

/// The rows of a tensor along its first axis, or the whole as one row.
std::vector<std::vector<double>> rows_of(const Json& input, bool per_channel, int axis, bool as_float32) {
  std::vector<double> data = numbers(input["data"]);
  if (as_float32)
    for (double& x : data) x = static_cast<float>(x);
  if (!per_channel) return {data};
  const Shape shape(shape_of(input));
  std::vector<std::vector<double>> rows(static_cast<size_t>(shape[axis]));
  const int64_t inner = shape.elements(axis + 1, shape.rank());
  for (size_t i = 0; i < data.size(); ++i) rows[i / static_cast<size_t>(inner) % rows.size()].push_back(data[i]);
  return rows;
}

QuantizationMethod method_of(const std::string& function) {
  if (function.find("power_of_two") == 0 || function.find("POT") != std::string::npos)
    return QuantizationMethod::kPowerOfTwo;
  if (function.find("symmetric") == 0 || function.find("SYM") == 0 || function.find("Symmetric") != std::string::npos)
    return QuantizationMethod::kSymmetric;
  return QuantizationMethod::kUniform;
}

Criterion criterion_of(const Json& input) {
  Criterion criterion;
  criterion.method = enum_from_word<ThresholdSelectionMethod>(input["error_method"].get<std::string>(), "error_method");
  criterion.p = input["p"].get<int>();
  criterion.min_threshold = input["min_threshold"].get<double>();
  return criterion;
}

/// The reference's ranges: one, or one per channel.
std::vector<Range> ranges_of(const Json& output, bool is_signed) {
  std::vector<Range> ranges;
  if (output.contains("threshold")) {
    for (const double t : numbers(output["threshold"])) ranges.push_back({is_signed ? -t : 0.0, t});
  } else {
    const auto low = numbers(output["range_min"]), high = numbers(output["range_max"]);
    for (size_t i = 0; i < low.size(); ++i) ranges.push_back({low[i], high[i]});
  }
  return ranges;
}

bool near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::max(std::fabs(a), std::fabs(b))) ||
         std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

/// Equal as quantizers see them: both with 0 inside.
bool same_range(const Range& a, const Range& b, double tolerance) {
  return near(std::min(a.low, 0.0), std::min(b.low, 0.0), tolerance) &&
         near(std::max(a.high, 0.0), std::max(b.high, 0.0), tolerance);
}

/// The reference's own quantizer in plain loops, for the error of either side.
double plain_error(const std::vector<double>& values, const std::vector<double>& weights, const Range& range,
                   const IntegerGrid& grid, QuantizationMethod method, int p) {
  double low = range.low, high = range.high, scale = 0;
  if (method == QuantizationMethod::kUniform) {
    low = std::min(low, 0.0), high = std::max(high, 0.0);
    scale = (high - low) / (grid.q_max() - grid.q_min());
    low = scale == 0 ? 0 : scale * std::nearbyint(low / scale);
  } else {
    scale = std::ldexp(high, grid.is_signed ? 1 - grid.n_bits : -grid.n_bits);
    low = grid.is_signed ? -high : 0;
  }
  const double top = (grid.q_max() - grid.q_min()) * scale + low;
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double inside = std::min(std::max(values[i], low), top);
    const double back = scale == 0 ? 0 : low + scale * std::nearbyint((inside - low) / scale);
    sum += weights[i] * std::pow(std::fabs(values[i] - back), p);
    total += weights[i];
  }
  return sum / total;
}

struct Bins {
  double first_center = 0, width = 1;
  std::vector<double> centers, counts;
  Range extremes;
};

Bins bins_of(const Json& input) {
  Bins bins;
  const double low = input["lo"].get<double>(), high = input["hi"].get<double>();
  bins.counts = numbers(input["counts"]);
  bins.width = (high - low) / static_cast<double>(bins.counts.size());
  bins.first_center = low + bins.width / 2;
  bool seen = false;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    bins.centers.push_back(bins.first_center + static_cast<double>(i) * bins.width);
    if (bins.counts[i] == 0) continue;
    if (!seen) bins.extremes.low = low + static_cast<double>(i) * bins.width;
    bins.extremes.high = low + static_cast<double>(i + 1) * bins.width;
    seen = true;
  }
  return bins;
}

int p_of(const Criterion& criterion) {
  return error_exponent(criterion).value_or(2);
}

}  // namespace

TEST_CASE("weight ranges are those of the reference or better") {
  const Oracle oracle = read_oracle();
  Tally tally("weight ranges");
  for (const Json& one : oracle.cases) {
    const std::string function = one["function"];
    if (function.find("_selection_tensor") == std::string::npos) continue;
    const Json& input = one["input"];
    const Criterion criterion = input["error_method"] == "KL" ? Criterion{} : criterion_of(input);
    const IntegerGrid grid{input["n_bits"].get<int>(), true, false};
    if (input["error_method"] == "KL") {
      tally.skip(one, "KL does not act yet");
      continue;
    }
    const QuantizationMethod method = method_of(function);
    const bool per_channel = input["per_channel"].get<bool>();
    // Without an axis the reference tries each; given its choice, the ranges must be the same.
    const Json& axis = input["channel_axis"].is_null() ? one["output"]["axis"] : input["channel_axis"];
    const auto rows = rows_of(oracle.inputs[input["tensor"].get<std::string>()], per_channel,
                              per_channel ? axis.get<int>() : 0, input["dtype"] == "f32");
    const std::vector<Range> reference = ranges_of(one["output"], true);
    REQUIRE(reference.size() == rows.size());
    const double tolerance = std::max(one["tolerance"].get<double>(), 1e-12);
    const int p = p_of(criterion);
    const bool searches = criterion.method != ThresholdSelectionMethod::kNoClipping;
    double error_of_all = 0, allowed_for_all = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      const Range ours = select_weight_range(rows[r], method, grid, per_channel, criterion);
      const std::vector<double> ones(rows[r].size(), 1.0);
      const double error = plain_error(rows[r], ones, ours, grid, method, p);
      const double allowed = plain_error(rows[r], ones, reference[r], grid, method, p);
      INFO(one["id"] << " " << one["title"] << " row " << r << ": " << ours.low << " to " << ours.high << " error "
                     << error << ", reference " << reference[r].low << " to " << reference[r].high << " error "
                     << allowed << "; " << one.value("deviates", ""));
      if (!one.contains("deviates")) {
        CHECK((same_range(ours, reference[r], tolerance) || (searches && error <= allowed * (1 + 1e-6))));
      } else if (!searches) {
        // No more than the extremes, but for a range too narrow for the least threshold.
        const Range extremes{*std::min_element(rows[r].begin(), rows[r].end()),
                             *std::max_element(rows[r].begin(), rows[r].end())};
        const bool widened = ours.high - ours.low <= 2 * criterion.min_threshold * (1 + 1e-9);
        CHECK((same_range(ours, extremes, 1e-12) || widened));
      }
      const bool too_narrow = ours.high - ours.low <= 2 * criterion.min_threshold * (1 + 1e-9);
      error_of_all += too_narrow ? 0 : error;
      allowed_for_all += too_narrow ? 0 : allowed;
    }
    INFO(one["id"] << " " << one["title"] << ": error " << error_of_all << ", reference " << allowed_for_all);
    if (searches) CHECK(error_of_all <= allowed_for_all * (1 + 1e-6));
    tally.passed();
  }
}

TEST_CASE("activation ranges are those of the reference or better") {
  const Oracle oracle = read_oracle();
  Tally tally("activation ranges");
  for (const Json& one : oracle.cases) {
    const std::string function = one["function"];
    if (function.find("_selection_histogram") == std::string::npos) continue;
    const Json& input = one["input"];
    if (input["error_method"] == "KL") {
      tally.skip(one, "KL does not act yet");
      continue;
    }
    const Criterion criterion = criterion_of(input);
    const QuantizationMethod method = method_of(function);
    const bool is_signed = one["output"].value("is_signed", input["is_signed"].get<bool>());
    const IntegerGrid grid{input["n_bits"].get<int>(), is_signed && method != QuantizationMethod::kUniform, false};
    const Bins bins = bins_of(oracle.inputs[input["histogram"].get<std::string>()]);
    const int p = p_of(criterion);
    const EvenBins even{bins.first_center - bins.width / 2, bins.width, bins.counts, 0, bins.extremes};
    const Range ours = select_binned_range(even, method, grid, criterion);
    const Range reference = ranges_of(one["output"], is_signed)[0];
    const double error = plain_error(bins.centers, bins.counts, ours, grid, method, p);
    const double allowed = plain_error(bins.centers, bins.counts, reference, grid, method, p);
    INFO(one["id"] << " " << one["title"] << ": " << ours.low << " to " << ours.high << " error " << error
                   << ", reference " << reference.low << " to " << reference.high << " error " << allowed << "; "
                   << one.value("deviates", ""));
    const bool no_clipping = criterion.method == ThresholdSelectionMethod::kNoClipping;
    if (one.contains("deviates") && no_clipping)
      CHECK((ours.high >= reference.high && ours.high >= std::max(-bins.extremes.low, bins.extremes.high)));
    else if (one.contains("deviates"))
      CHECK(error <= allowed * (1 + 1e-9));
    else
      CHECK(same_range(ours, reference, std::max(one["tolerance"].get<double>(), 1e-12)));
    tally.passed();
  }
}

TEST_CASE("ranges known beforehand give the reference's parameters") {
  const Oracle oracle = read_oracle();
  Tally tally("known ranges");
  for (const Json& one : oracle.cases) {
    const std::string function = one["function"];
    if (function.find("no_clipping_selection_min_max") == std::string::npos) continue;
    const Json& input = one["input"];
    const QuantizationMethod method = method_of(function);
    const bool is_signed = input["is_signed"].get<bool>();
    const IntegerGrid grid{input["n_bits"].get<int>(), is_signed, false};
    const Range ours = quantizer_of(method).cover(input["min_value"].get<double>(), input["max_value"].get<double>(),
                                                  grid, std::ldexp(1.0, -16));
    INFO(one["id"] << " " << one["title"] << ": " << ours.low << " to " << ours.high);
    if (one.contains("deviates"))
      CHECK(ours.high >= std::fabs(input["min_value"].get<double>()));
    else
      CHECK(same_range(ours, ranges_of(one["output"], is_signed)[0], 1e-12));
    tally.passed();
  }
}

TEST_CASE("values on the grid are the reference's") {
  const Oracle oracle = read_oracle();
  Tally tally("quantizers");
  for (const Json& one : oracle.cases) {
    const std::string function = one["function"];
    const bool by_threshold = function == "quantize_tensor" || function.find("InferableQuantizer") != std::string::npos;
    if (!by_threshold && function != "uniform_quantize_tensor") continue;
    if (function.find("LUT") != std::string::npos) {
      tally.skip(one, "LUT quantizers do not act yet");
      continue;
    }
    const Json& input = one["input"];
    const int n_bits = input[input.contains("n_bits") ? "n_bits" : "num_bits"].get<int>();
    if (n_bits < 2) {
      tally.skip(one, "quantizers have 2 to 16 bits");
      continue;
    }
    const bool uniform = input.contains("range_min") || input.contains("min_range");
    const bool is_signed = uniform ? false : input.value("signed", true);
    const IntegerGrid grid{n_bits, is_signed, false};
    const Json data = input.contains("tensor") ? oracle.inputs[input["tensor"].get<std::string>()]["data"] : input["x"];
    std::vector<float> x;
    for (const double value : numbers(data)) x.push_back(static_cast<float>(value));
    std::vector<Range> ranges;
    if (uniform) {
      const bool newer = input.contains("min_range");
      const auto low = numbers(input[newer ? "min_range" : "range_min"]),
                 high = numbers(input[newer ? "max_range" : "range_max"]);
      for (size_t i = 0; i < low.size(); ++i) ranges.push_back({low[i], high[i]});
    } else {
      for (const double t : numbers(input["threshold"])) ranges.push_back({is_signed ? -t : 0.0, t});
    }
    const double tied_steps = uniform ? ranges[0].low * ((1 << n_bits) - 1) / (ranges[0].high - ranges[0].low) : 0;
    if (std::fabs(tied_steps - std::floor(tied_steps) - 0.5) < 1e-6) {
      tally.skip(one, "0 lies half-way between two codes, and the scale as float32 breaks the tie");
      continue;
    }
    const int64_t rows = static_cast<int64_t>(ranges.size());
    const Tensor tensor = Tensor::of<float>({rows, static_cast<int64_t>(x.size()) / rows}, std::span<const float>(x));
    const QuantizationMethod method = uniform ? QuantizationMethod::kUniform : QuantizationMethod::kSymmetric;
    const QuantizationParams params =
        params_of_ranges(method, grid, ranges, rows > 1 ? std::optional<int>(0) : std::nullopt);
    const Tensor back = fake_quantize(tensor, params);
    const Json& output = one["output"];
    const auto expected = numbers(output.is_object() ? output["y"] : output);
    REQUIRE(expected.size() == x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double scale = params.scale[rows > 1 ? i / (x.size() / static_cast<size_t>(rows)) : 0];
      // Values half-way between two codes may fall to either: the reference counts from the lower end of the range, in
      // double or float32.
      const double distance = std::fabs(x[i] - expected[i]);
      const bool half_way = std::fabs(distance / scale - 0.5) < 1e-3 &&
                            std::fabs(std::fabs(back.data<float>()[i] - expected[i]) - scale) < 1e-5 * scale;
      INFO(one["id"] << " " << one["title"] << " element " << i << ": " << x[i] << " became " << back.data<float>()[i]
                     << ", reference " << expected[i]);
      CHECK((std::fabs(back.data<float>()[i] - expected[i]) <= 2e-6 * std::fabs(expected[i]) + 1e-9 || half_way));
    }
    if (output.is_object()) {
      const auto adjusted = numbers(output["adjusted"]);
      CHECK(same_range(params.representable(), {adjusted[0], adjusted[1]}, 1e-6));
    }
    tally.passed();
  }
}

TEST_CASE("small functions give the reference's numbers") {
  const Oracle oracle = read_oracle();
  Tally tally("small functions");
  for (const Json& one : oracle.cases) {
    const std::string function = one["function"];
    const Json& input = one["input"];
    if (function == "max_power_of_two") {
      const auto x = numbers(input["x"]), expected = numbers(one["output"]);
      for (size_t i = 0; i < x.size(); ++i)
        CHECK(
            quantizer_of(QuantizationMethod::kPowerOfTwo).cover(0, x[i], {8, true, false}, std::ldexp(1.0, -16)).high ==
            expected[i]);
      tally.passed();
    } else if (function == "get_tensor_max") {
      if (one.contains("deviates")) {
        tally.skip(one, one["deviates"]);
        continue;
      }
      const Criterion criterion{ThresholdSelectionMethod::kNoClipping};
      const IntegerGrid grid{input["n_bits"].get<int>(), true, false};
      const Json& tensor = oracle.inputs[input["tensor"].get<std::string>()];
      const auto rows = rows_of(tensor, true, input["channel_axis"].get<int>(), false);
      const auto expected = numbers(one["output"]["per_channel"]);
      for (size_t r = 0; r < rows.size(); ++r)
        CHECK(select_weight_range(rows[r], QuantizationMethod::kSymmetric, grid, true, criterion).high ==
              Approx(expected[r]).epsilon(1e-12));
      const auto whole = rows_of(tensor, false, 0, false)[0];
      CHECK(select_weight_range(whole, QuantizationMethod::kSymmetric, grid, false, criterion).high ==
            Approx(number(one["output"]["per_tensor"])).epsilon(1e-12));
      tally.passed();
    } else if (function == "fix_range_to_include_zero") {
      const Range none{0, 0};
      CHECK(params_of_ranges(QuantizationMethod::kUniform, {8, false, false}, std::span<const Range>(&none, 1))
                .scale[0] == 1.0f);
      tally.skip(one, one["deviates"]);
    }
  }
}
