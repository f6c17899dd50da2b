// SPDX-License-Identifier: Apache-2.0
#include "core/report/corrections.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/number_text.h"
#include "core/correct/corrections.h"

namespace tersor::report {

namespace {

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
                      "The convolution before it computes them too, so they are gone: " + names_text(pass.gone) + "."});
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
             formatted("%.1f", 100 * largest) + " % of its layer's typical bias."});
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
                  "The noise that rounded weights make after their kernel" + ptq::fall_text(worst, best) +
                      ", on samples that the rounding had not seen." + left});
}

}  // namespace

std::vector<Correction> corrections_of(const std::vector<passes::PassResult>& prepared,
                                       const std::vector<ptq::Rewrite>& rewrites, const ptq::QuantizationPlan& plan) {
  std::vector<Correction> list;
  add_collapsing(prepared, list);
  for (const ptq::Rewrite& one : rewrites) list.push_back({std::string(one.field), one.places, one.what});
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
  for (const ptq::Correction& one : ptq::corrections())
    if (!one.cost_of_leaving_out.empty() && one.is_switched_off(config))
      list.push_back({std::string(one.field), 0, "Switched off: " + std::string(one.cost_of_leaving_out)});
  return list;
}

}  // namespace tersor::report
