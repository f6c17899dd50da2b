// SPDX-License-Identifier: Apache-2.0
// Corrections: of a bias, of channels of unlike ranges, of small negative sides.
#include <cmath>

#include "core/quant/corrections.h"
#include "core/quant/quantizer.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

using namespace quant;

namespace {

Verdict judge_bias(const Case& one) {
  const Json& input = one.input;
  if (one.output.is_object() && one.output.contains("error")) return skipped(one.deviates);
  const std::vector<double> kernel = numbers(input["kernel"]), quantized = numbers(input["quantized_kernel"]);
  const KernelView view{kernel, shape_of(input["kernel"]), input["out_axis"].get<int>(), input["in_axis"].get<int>()};
  const std::vector<double> got = weights_bias_correction(view, quantized, numbers(input["mean"]));
  // On purpose: every group has its outputs.
  if (!one.deviates.empty()) return verdict(got.size() > 0, text_of(numbers(one.output)), text_of(got), one.deviates);
  return compared(numbers(one.output), got, one.tolerance);
}

Verdict judge_activation_bias(const Case& one) {
  const Json& input = one.input;
  const std::vector<double> kernel = numbers(input["kernel"]);
  const KernelView view{kernel, shape_of(input["kernel"]), input["out_axis"].get<int>(),
                        1 - input["out_axis"].get<int>()};
  const IntegerGrid grid{input["n_bits"].get<int>(), input["signed"].get<bool>(), false};
  const double t = number(input["threshold"]);
  const Step step = quantizer_of(QuantizationMethod::kSymmetric).step_of({-t, t}, grid);
  const auto got = activation_bias_correction(bins_of_case(one.named("histogram")), step, grid, view,
                                              number(input["correction_threshold"]));
  if (one.output.is_null() || !got)
    return verdict(one.output.is_null() && !got, one.output.is_null() ? "none" : text_of(numbers(one.output)),
                   got ? text_of(*got) : "none");
  return compared(numbers(one.output), *got, one.tolerance);
}

Verdict judge_scale(const Case& one) {
  const std::vector<double> means = numbers(one.input["mean"]), deviations = numbers(one.input["std"]);
  std::vector<double> scales, rectified, seconds;
  for (size_t c = 0; c < means.size(); ++c) {
    const RectifiedMoments moments = rectified_moments(means[c], deviations[c]);
    scales.push_back(equalization_scale(means[c], deviations[c]));
    rectified.push_back(moments.mean), seconds.push_back(moments.second);
  }
  if (!one.output.is_object() || !one.deviates.empty()) {
    bool finite = true;
    for (const double scale : scales) finite = finite && scale > 0 && scale <= 1;
    return verdict(finite, one.output.is_object() ? "scales" : text_of(numbers(one.output)), text_of(scales),
                   one.deviates);
  }
  Verdict found = compared(numbers(one.output["scale"]), scales, one.tolerance);
  found = both(found, compared(numbers(one.output["mean_after_relu"]), rectified, one.tolerance));
  return both(found, compared(numbers(one.output["second_moment_after_relu"]), seconds, one.tolerance));
}

Verdict judge_shift(const Case& one) {
  const Json& input = one.input;
  const double min = number(input["min"]), threshold = number(input["threshold"]);
  const double ratio = number(input["shift_negative_ratio"]);
  const int n_bits = input["n_bits"].get<int>();
  std::optional<NegativeShift> got;
  if (input.value("params_search", false)) {
    EvenBins bins = bins_of_case(one.named("histogram"));
    got = search_negative_shift(bins, min, threshold, n_bits, ratio);
  } else {
    got = negative_shift(min, threshold, n_bits, ratio);
  }
  const bool applied = one.output["applied"].get<bool>();
  if (!applied || !got)
    return verdict(applied == got.has_value(), applied ? "a shift" : "none", got ? "a shift" : "none");
  return compared({number(one.output["shift"]), number(one.output["threshold"])}, {got->shift, got->threshold},
                  std::max(one.tolerance, 1e-7));
}

}  // namespace

std::optional<Verdict> judge_correction(const Case& one) {
  const std::string& function = one.function;
  if (function == "_compute_bias_correction") return judge_bias(one);
  if (function == "compute_activation_bias_correction") return judge_activation_bias(one);
  if (function == "calculate_scale_correction") return judge_scale(one);
  if (function == "shift_negative_function") return judge_shift(one);
  return std::nullopt;
}

}  // namespace tersor::vectors
