// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/doubt.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tersor::evaluate {

namespace {

/// Fewer answers do not tell chance from a weak model, or a weak model from one whose samples do not fit.
constexpr int64_t kEnoughForChance = 16, kEnoughForWeak = 32;
constexpr double kTooSure = 0.1;     // above the share of right answers, significantly
constexpr double kHardlySure = 0.1;  // of the way from guessing to sure
constexpr double kTwoSided = 1.96;   // standard errors, at 95 %
constexpr double kRounding = 1e-3;   // of a sum of shares

/// Lower end of the interval (95 %) of the mean of how much surer each answer is than right.
double least_excess(std::span<const SureAnswer> answers) {
  const auto count = static_cast<double>(answers.size());
  double sum = 0, squares = 0;
  for (const SureAnswer& one : answers) {
    const double excess = one.sure - (one.right ? 1 : 0);
    sum += excess;
    squares += excess * excess;
  }
  const double mean = sum / count;
  return mean - kTwoSided * std::sqrt(std::max(0.0, squares / count - mean * mean) / count);
}

}  // namespace

bool are_shares(std::span<const double> scores) {
  return scores.size() > 1 && std::all_of(scores.begin(), scores.end(), [](double one) { return one >= 0; }) &&
         std::fabs(std::accumulate(scores.begin(), scores.end(), 0.0) - 1) < kRounding;
}

std::optional<double> sureness(std::span<const double> scores) {
  if (scores.size() < 2 || !std::all_of(scores.begin(), scores.end(), [](double one) { return std::isfinite(one); }))
    return std::nullopt;
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  if (*least >= 0 && *most <= 1 + kRounding) return std::min(*most, 1.0);
  double sum = 0;
  for (const double one : scores) sum += std::exp(one - *most);
  return 1 / sum;
}

std::optional<Doubt> doubt_of_labelled(int64_t correct, int64_t count, double chance,
                                       std::span<const SureAnswer> answers) {
  const Interval interval = wilson_interval(correct, count);
  const double trained = least_of_trained(chance);
  if (count >= kEnoughForChance && interval.lower <= chance) return Doubt::kGuessing;
  if (interval.upper < trained ||
      (count >= kEnoughForWeak && static_cast<double>(correct) < trained * static_cast<double>(count)))
    return Doubt::kWeak;
  if (static_cast<int64_t>(answers.size()) >= kEnoughForChance && least_excess(answers) > kTooSure)
    return Doubt::kOverconfident;
  return std::nullopt;
}

std::optional<Doubt> doubt_of_unlabelled(int64_t count, double mean_sureness, int64_t classes) {
  if (count < kEnoughForChance || classes < 2) return std::nullopt;
  const double chance = 1 / static_cast<double>(classes);
  return mean_sureness < chance + kHardlySure * (1 - chance) ? std::optional(Doubt::kUnsure) : std::nullopt;
}

}  // namespace tersor::evaluate
