// SPDX-License-Identifier: Apache-2.0
// Whether a model's answers can be what it was trained to give, or samples, preprocessing or labels do not fit it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/names.h"
#include "core/evaluate/interval.h"

namespace tersor::evaluate {

enum class Doubt {
  kGuessing,       // not significantly more answers are right than guessing gives
  kWeak,           // fewer are right than of any trained model
  kOverconfident,  // far fewer are right than the model is sure of
  kUnsure,         // it is hardly surer of its answers than guessing would be
};

/// Of the way from guessing to all right, less than which no trained model has.
inline constexpr double kLeastOfTrained = 0.25;
/// Right answers of 1 below which a model is no trained one, where guessing gives `chance` of them.
constexpr double least_of_trained(double chance) {
  return chance + kLeastOfTrained * (1 - chance);
}

/// An answer, how sure the model is of it, 0 to 1, and whether it is right.
struct SureAnswer {
  double sure = 0;
  bool right = false;
};

/// The scores are shares of one whole, as after a softmax.
bool are_shares(std::span<const double> scores);
/// How sure a model is of its largest score: the score itself where all lie between 0 and 1, as after a softmax or a
/// sigmoid; else its share after a softmax. Nothing for numbers that are not finite.
std::optional<double> sureness(std::span<const double> scores);

/// What is to be doubted of labelled answers. `correct` of `count` are right, `chance` of 1 by guessing; `answers`
/// holds those of which it is known how sure the model is. A trained model is about as sure of its answers as they are
/// right (Guo and others, "On Calibration of Modern Neural Networks", 2017, found differences of 0.02 to 0.17).
std::optional<Doubt> doubt_of_labelled(int64_t correct, int64_t count, double chance,
                                       std::span<const SureAnswer> answers);
/// The same of `count` answers of `classes` without labels, of which the model is so sure on average.
std::optional<Doubt> doubt_of_unlabelled(int64_t count, double mean_sureness, int64_t classes);

}  // namespace tersor::evaluate

template <>
struct tersor::EnumWords<tersor::evaluate::Doubt> {
  using E = tersor::evaluate::Doubt;
  static constexpr const char* kind = "doubt";
  static constexpr std::pair<E, std::string_view> words[] = {
      {E::kGuessing, "guessing"}, {E::kWeak, "weak"}, {E::kOverconfident, "overconfident"}, {E::kUnsure, "unsure"}};
};
