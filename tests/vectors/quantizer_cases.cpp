// SPDX-License-Identifier: Apache-2.0
// Quantizers, ranges and places: functions of the reference without a choice in them.
#include <cmath>

#include "core/quant/corrections.h"
#include "core/quant/lut_table.h"
#include "core/quant/quantizer.h"
#include "core/trainable/inferable_quantizers.h"
#include "tests/vectors/case.h"
#include "tests/vectors/plain_errors.h"

namespace tersor::vectors {

using namespace quant;

namespace {

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// The data of a case: "x", or those of a named tensor; with their shape.
struct Data {
  std::vector<double> values;
  std::vector<int64_t> shape;
};

Data data_of(const Case& one) {
  if (one.input.contains("tensor")) {
    const Json& tensor = one.named("tensor");
    Data data{numbers(tensor["data"]), {}};
    for (const Json& dim : tensor["shape"]) data.shape.push_back(dim.get<int64_t>());
    return data;
  }
  Data data{numbers(one.input["x"]), shape_of(one.input["x"])};
  if (data.shape.empty()) data.shape = {static_cast<int64_t>(data.values.size())};
  return data;
}

/// Where 0 lies half-way between two codes the reference's double and our float32 scale may choose differently.
bool zero_is_tied(const Range& range, int n_bits) {
  const double width = std::max(range.high, 0.0) - std::min(range.low, 0.0);
  const double steps = std::min(range.low, 0.0) * ((1 << n_bits) - 1) / width;
  return std::fabs(steps - std::floor(steps) - 0.5) < 1e-6;
}

/// The class that a case of mct_quantizers is about, with the case's own arguments.
trainable::InferableQuantizer inferable(const Case& one) {
  trainable::InferableQuantizerArguments arguments;
  Json given = one.input;
  given.erase("x");
  given.erase("tensor");
  const bool is_weights = has(one.function, "Weights");
  if (!is_weights) given.erase("channel_axis");
  from_json(given, arguments, "");
  const auto& ranges = arguments.threshold ? arguments.threshold : arguments.min_range;
  if (is_weights) arguments.per_channel = ranges->values.size() > 1;
  if (is_weights && *arguments.per_channel && !arguments.channel_axis) arguments.channel_axis = 0;
  for (const trainable::QuantizerMark* mark : trainable::inferable_quantizer_marks())
    if (mark->class_name == one.function) return {*mark, arguments};
  throw Error(ErrorCode::kInternal, "There is no class " + one.function + ".");
}

Verdict judge_even_grid(const Case& one) {
  const Json& input = one.input;
  const int n_bits = input[input.contains("n_bits") ? "n_bits" : "num_bits"].get<int>();
  const bool uniform = input.contains("range_min") || input.contains("min_range");
  const bool is_signed = !uniform && input.value("signed", true);
  if (n_bits < (is_signed ? 2 : 1)) return skipped("a sign and no value, in 1 bit; " + one.deviates);
  const std::vector<Range> ranges = ranges_of(input, is_signed);
  const Data data = data_of(one);
  const auto method = uniform ? QuantizationMethod::kUniform : QuantizationMethod::kSymmetric;
  std::optional<int> axis;
  if (ranges.size() > 1) {
    axis = input.value("channel_axis", 0);
    if (*axis < 0) *axis += static_cast<int>(data.shape.size());
  }
  const QuantizationParams params = params_of_ranges(method, {n_bits, is_signed, false}, ranges, axis);
  const Tensor x = tensor_of(data.values, data.shape);
  const Tensor result = has(one.function, "InferableQuantizer") ? inferable(one)(x) : fake_quantize(x, params);
  const std::vector<double> back = result.to_doubles();
  const Json& output = one.output;
  const std::vector<double> expected = numbers(output.is_object() ? output["y"] : output);
  if (expected.size() != back.size()) return compared(expected, back, 0);
  size_t inner = 1;
  for (size_t d = static_cast<size_t>(axis.value_or(0)) + 1; d < data.shape.size(); ++d)
    inner *= static_cast<size_t>(data.shape[d]);
  std::string remark;
  for (size_t i = 0; i < back.size(); ++i) {
    const size_t channel = axis ? i / inner % ranges.size() : 0;
    const double step = params.scale[channel], apart = std::fabs(back[i] - expected[i]);
    // A value half-way between two codes may go to either: the reference counts from the lower end of the range.
    const bool half_way =
        std::fabs(std::fabs(data.values[i] - expected[i]) / step - 0.5) < 1e-3 && std::fabs(apart - step) < 1e-5 * step;
    if (half_way) remark = "a value half-way between two codes";
    const bool tied = uniform && zero_is_tied(ranges[channel], n_bits) && apart < 1.01 * step;
    if (tied && apart > 1e-5 * step) remark = "0 half-way between two codes, and the scale as float32 breaks the tie";
    if (apart > 2e-6 * std::fabs(expected[i]) + 1e-9 && !half_way && !tied)
      return verdict(false, text_of(expected), text_of(back), "number " + std::to_string(i));
  }
  return verdict(true, text_of(expected), text_of(back), remark);
}

Verdict judge_table(const Case& one) {
  const Json& input = one.input;
  const Data data = data_of(one);
  const LutValues values{input.value("lut_values_bitwidth", 8), true};
  std::vector<int32_t> table;
  for (const double entry : numbers(input.at(input.contains("lut") ? "lut" : "lut_values")))
    table.push_back(static_cast<int32_t>(entry));
  const std::vector<double> thresholds =
      numbers(input.at(input.contains("scale_per_channel") ? "scale_per_channel" : "threshold"));
  const std::vector<double> expected = numbers(one.output);
  if (has(one.function, "InferableQuantizer"))
    return compared(expected, inferable(one)(tensor_of(data.values, data.shape)).to_doubles(),
                    std::max(one.tolerance, 1e-7));
  const size_t per_row = data.values.size() / thresholds.size();
  std::vector<double> back;
  for (size_t i = 0; i < data.values.size(); ++i) {
    const double t = thresholds[i / per_row];
    back.push_back(
        std::ldexp(table[nearest_entry(table, lut_place(data.values[i], t, values))], 1 - values.value_bits) * t);
  }
  return compared(expected, back, std::max(one.tolerance, 1e-7));
}

Verdict judge_places(const Case& one) {
  const Data data = data_of(one);
  const std::vector<double> thresholds = numbers(one.input["threshold"]);
  const LutValues values{one.input["n_bits"].get<int>(), one.input.value("signed", true)};
  const size_t per_row = data.values.size() / thresholds.size();
  std::vector<double> places;
  for (size_t i = 0; i < data.values.size(); ++i)
    places.push_back(lut_place(data.values[i], thresholds[i / per_row], values));
  return compared(numbers(one.output), places, one.tolerance);
}

Verdict judge_tensor_max(const Case& one) {
  const int n_bits = one.input["n_bits"].get<int>();
  if (n_bits < 2) return skipped("quantizers have 2 to 16 bits here; " + one.deviates);
  const Data data = data_of(one);
  const Criterion criterion{ThresholdSelectionMethod::kNoClipping};
  std::vector<double> expected = numbers(one.output["per_channel"]), got;
  const auto most = [&](const std::vector<double>& row, bool per_channel) {
    return select_weight_range(row, QuantizationMethod::kSymmetric, {n_bits, true, false}, per_channel, criterion).high;
  };
  for (const auto& row : rows_of(data.values, data.shape, one.input.value("channel_axis", 0)))
    got.push_back(most(row, true));
  expected.push_back(number(one.output["per_tensor"]));
  got.push_back(most(data.values, false));
  if (one.output.contains("per_tensor_uniform")) {
    const Range all =
        select_weight_range(data.values, QuantizationMethod::kUniform, {n_bits, true, false}, false, criterion);
    expected.push_back(number(one.output["per_tensor_uniform"]));
    got.push_back(std::max(-all.low, all.high));
  }
  return compared(expected, got, std::max(one.tolerance, 1e-12));
}

Verdict judge_known_range(const Case& one) {
  const Json& input = one.input;
  const bool is_signed = input["is_signed"].get<bool>();
  const auto method = one.function.find("POT") == 0   ? QuantizationMethod::kPowerOfTwo
                      : one.function.find("SYM") == 0 ? QuantizationMethod::kSymmetric
                                                      : QuantizationMethod::kUniform;
  const double low = number(input["min_value"]), high = number(input["max_value"]);
  const double least = input.value("min_threshold", std::ldexp(1.0, -16));
  const Range ours = quantizer_of(method).cover(low, high, {input["n_bits"].get<int>(), is_signed, false}, least);
  const Range theirs = ranges_of(one.output, is_signed)[0];
  // On purpose: the end that reaches further decides.
  if (!one.deviates.empty())
    return verdict(ours.high >= std::max(-low, high), text_of({theirs}), text_of({ours}), one.deviates);
  return compared({std::min(theirs.low, 0.0), std::max(theirs.high, 0.0)}, {ours.low, ours.high}, one.tolerance);
}

}  // namespace

std::optional<Verdict> judge_quantizer(const Case& one) {
  const std::string& function = one.function;
  if (has(function, "LUT") && has(function, "InferableQuantizer")) return judge_table(one);
  if (function == "lut_kmeans_quantizer") return judge_table(one);
  if (function == "quantize_tensor" || function == "uniform_quantize_tensor" || has(function, "InferableQuantizer"))
    return judge_even_grid(one);
  if (function == "int_quantization_with_threshold") return judge_places(one);
  if (function == "get_tensor_max") return judge_tensor_max(one);
  if (has(function, "no_clipping_selection_min_max")) return judge_known_range(one);
  if (function == "max_power_of_two") {
    std::vector<double> got;
    const double least = one.input.value("min_threshold", std::ldexp(1.0, -16));
    for (const double x : numbers(one.input["x"]))
      got.push_back(quantizer_of(QuantizationMethod::kPowerOfTwo).cover(0, x, {8, true, false}, least).high);
    return compared(numbers(one.output), got, one.tolerance);
  }
  if (function == "fix_range_to_include_zero") {
    const Range range{number(one.input["range_min"]), number(one.input["range_max"])};
    const QuantizationParams params = params_of_ranges(
        QuantizationMethod::kUniform, {one.input["n_bits"].get<int>(), false, false}, std::span(&range, 1));
    const std::vector<double> ends{params.representable().low, params.representable().high};
    if (range.low == range.high)
      return verdict(params.scale[0] == 1 && params.zero_point[0] == 0, "scale 1, zero point 0", text_of(ends),
                     one.deviates);
    return compared(numbers(one.output), ends, std::max(one.tolerance, 1e-6));
  }
  return std::nullopt;
}

}  // namespace tersor::vectors
