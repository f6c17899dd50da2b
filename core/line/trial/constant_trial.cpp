// SPDX-License-Identifier: Apache-2.0
#include "core/trial/constant_trial.h"

#include <algorithm>

namespace tersor {

namespace {

/// What 8 bits of all the constants that are stored in them may cost, in noise over that of float constants: 2 dB.
constexpr double kStoredNoise = 0.58;
constexpr size_t kMostConstants = 32;  // tried one by one

}  // namespace

ConstantTrial::ConstantTrial(std::vector<std::string> all, bool prefers_accuracy)
    : all_(std::move(all)), single_(0), singles_(prefers_accuracy ? 0 : std::min(all_.size(), kMostConstants)) {
  if (singles_ == 1) singles_ = 0;  // all others in float are none
}

std::optional<ConstantTrial::InFloat> ConstantTrial::next() {
  if (!std::exchange(begun_, true)) return InFloat{all_};
  if (all_in_float_.empty() || over_) return std::nullopt;
  if (single_ == singles_) {
    over_ = true;
    return InFloat{costly(), {}, true};
  }
  InFloat others{all_, all_[single_]};
  others.names.erase(others.names.begin() + static_cast<std::ptrdiff_t>(single_++));
  return others;
}

void ConstantTrial::take(const InFloat& tried, std::vector<HeldError> errors, bool gains) {
  if (!tried.stored.empty())
    costs_.emplace_back(more_noise(all_in_float_, errors), tried.stored);
  else if (!tried.is_last && gains)
    all_in_float_ = std::move(errors);
}

/// All if none was tried alone.
std::vector<std::string> ConstantTrial::costly() const {
  if (costs_.empty()) return all_;
  auto costs = costs_;
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> costly;
  double noise = 0;
  for (const auto& [more, name] : costs) {
    noise += more;
    if (noise > kStoredNoise) costly.push_back(name);
  }
  return costly;
}

}  // namespace tersor
