// SPDX-License-Identifier: Apache-2.0
#include "core/report/corrections.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tersor::report {

namespace {

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string rounded_db(double ratio) {
  return rounded(-10 * std::log10(ratio));
}

/// By how much noise falls, from the least to the most.
std::string fall_text(double least, double most) {
  const std::string low = rounded_db(least), high = rounded_db(most);
  return " falls by " + (low == high ? low : low + " to " + high) + " dB";
}

/// The first few names, and how many more there are.
std::string names_text(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t k = 0; k < std::min(names.size(), kNamed); ++k) text += (k == 0 ? "" : ", ") + names[k];
  return names.size() > kNamed ? text + " and " + std::to_string(names.size() - kNamed) + " more" : text;
}

void add_collapsing(const std::vector<passes::PassResult>& prepared, std::vector<Correction>& list) {
  for (const passes::PassResult& pass : prepared)
    if (!pass.gone.empty())
      list.push_back({std::string(pass.name), pass.changed,
                      "The convolution in front computes them too, so they are gone: " + names_text(pass.gone) + "."});
}

void add_front_ends(const ptq::Placement& placed, const ptq::Placement& kept, std::vector<Correction>& list) {
  int64_t freed = 0;
  for (size_t i = 0; i < placed.roles.size(); ++i)
    freed += placed.roles[i].has_kernel() && !kept.roles[i].has_kernel() ? 1 : 0;
  if (freed > 0)
    list.push_back({"keep_float_automatically", freed,
                    "Operators that feed a logarithm, root or reciprocal keep float precision; each says in "
                    "coverage.stays_float how much would be lost."});
}

void add_equalization(const std::vector<ptq::EqualizedRegion>& regions, std::vector<Correction>& list) {
  if (regions.empty()) return;
  double worst = 0, best = 1;
  for (const ptq::EqualizedRegion& region : regions) {
    worst = std::max(worst, region.noise_ratio);
    best = std::min(best, region.noise_ratio);
  }
  list.push_back({"activation_channel_equalization", static_cast<int64_t>(regions.size()),
                  "The predicted noise in their readers" + fall_text(worst, best) + "."});
}

void add_biases(const ptq::QuantizationPlan& plan, std::vector<Correction>& list) {
  int64_t corrected = 0;
  double largest = 0;
  for (const ptq::KernelPlan& kernel : plan.kernels) {
    if (kernel.largest_correction == 0 || kernel.bias.empty()) continue;
    ++corrected;
    double power = 0;
    for (const double bias : kernel.bias) power += bias * bias;
    const double size = std::sqrt(power / static_cast<double>(kernel.bias.size()));
    if (size > 0) largest = std::max(largest, kernel.largest_correction / size);
  }
  if (corrected > 0)
    list.push_back(
        {"weights_bias_correction", corrected,
         "Means of output channels that had moved are back where the float model has them; the largest shift "
         "was " +
             rounded(100 * largest) + " % of its layer's typical bias."});
}

void add_deviations(const ptq::QuantizationPlan& plan, std::vector<Correction>& list) {
  int64_t places = 0;
  double least = 1, largest = 1;
  for (const ptq::KernelPlan& kernel : plan.kernels) {
    if (!kernel.rounded_by) continue;
    ++places;
    least = std::min(least, kernel.least_gain);
    largest = std::max(largest, kernel.largest_gain);
  }
  if (places == 0) return;
  char gains[64];
  std::snprintf(gains, sizeof gains, "%.3f to %.3f", least, largest);
  list.push_back({"weights_second_moment_correction", places,
                  "Mean and deviation of output channels are back where the float model has them; their scales were "
                  "multiplied by " +
                      std::string(gains) + "."});
}

void add_rounding(const ptq::QuantizationPlan& plan, std::vector<Correction>& list) {
  int64_t places = 0;
  double worst = 0, best = 1;
  for (const ptq::KernelPlan& kernel : plan.kernels) {
    if (kernel.codes.empty()) continue;
    ++places;
    worst = std::max(worst, kernel.noise_ratio);
    best = std::min(best, kernel.noise_ratio);
  }
  if (places == 0) return;
  const int64_t others = static_cast<int64_t>(plan.kernels.size()) - places;
  std::string left;
  if (others > 0)
    left = " " + std::to_string(others) + (others == 1 ? " kernel keeps" : " kernels keep") +
           " the nearest integers: their input is not in 8 bits, or nothing better held on samples held aside.";
  list.push_back({"effort", places,
                  "The noise that rounded weights make behind their kernel" + fall_text(worst, best) +
                      ", on samples that the rounding had not seen." + left});
}

}  // namespace

std::vector<Correction> corrections_of(const std::vector<passes::PassResult>& prepared, const ptq::Placement& placed,
                                       const ptq::Placement& kept, const std::vector<ptq::Rewrite>& rewrites,
                                       const std::vector<ptq::EqualizedRegion>& equalized,
                                       const ptq::QuantizationPlan& plan) {
  std::vector<Correction> list;
  add_collapsing(prepared, list);
  add_front_ends(placed, kept, list);
  for (const ptq::Rewrite& one : rewrites) list.push_back({std::string(one.field), one.places, one.what});
  add_equalization(equalized, list);
  for (const ptq::AppliedCorrection& one : plan.corrections)
    list.push_back(
        {one.field, static_cast<int64_t>(one.where.size()), one.gained + ": " + names_text(one.where) + "."});
  add_rounding(plan, list);
  add_deviations(plan, list);
  add_biases(plan, list);
  return list;
}

std::vector<Correction> left_out(const config::QuantizationConfig& config) {
  std::vector<Correction> list;
  const auto add = [&](bool is_on, const char* name, const char* cost) {
    if (!is_on) list.push_back({name, 0, std::string("Switched off: ") + cost});
  };
  add(config.keep_float_automatically, "keep_float_automatically",
      "what feeds a logarithm, root or reciprocal may be in 8 bits, which ruins models with a spectrum in front.");
  add(config.split_scales, "split_scales",
      "quiet channels around a Swish share the step of loud ones; such networks lost up to 6 dB.");
  add(config.activation_channel_equalization, "activation_channel_equalization",
      "quiet channels between convolutions share the step of loud ones; depthwise networks lost 4 to 6 dB.");
  add(config.weights_bias_correction, "weights_bias_correction",
      "means that quantization moves stay moved, layer upon layer; thin networks lost up to 10 dB.");
  return list;
}

}  // namespace tersor::report
