// SPDX-License-Identifier: Apache-2.0
#include "core/trial/held_errors.h"

#include <cmath>

#include "tests/catch.h"

namespace held_errors_test {
using namespace tersor;

namespace {

/// Two outputs, and after them what is judged in their place.
HeldError error(double first, double second) {
  return {0, {100, 100, 100, 100}, {100 / std::pow(10, first / 10), 100 / std::pow(10, second / 10), 1, 1}};
}

}  // namespace

TEST_CASE("the figures of held samples are those of the output where they are lowest") {
  const std::vector<HeldError> errors = {error(80, 20), error(80, 22), error(80, 24), error(80, 26)};
  const HeldFigures figures = figures_of(errors);
  CHECK(figures.sqnr_db == Approx(22.44).margin(0.01));
  CHECK(figures.median_sqnr_db == Approx(23));
  REQUIRE(figures.range);
  // 2.3 times 2.58 times the root of 1.25 around 23.
  CHECK(figures.range->lower == Approx(16.3).margin(0.2));
  CHECK(figures.range->upper == Approx(29.7).margin(0.2));
}

TEST_CASE("an exact sample is as good as the best of the others") {
  std::vector<HeldError> errors = {error(80, 20), error(80, 22), error(80, 24), error(80, 26)};
  const HeldFigures without = figures_of(errors);
  errors[3].noise[1] = 0;
  const HeldFigures with = figures_of(errors);
  REQUIRE(with.range);
  CHECK(with.range->upper < without.range->upper);
  CHECK(with.median_sqnr_db == Approx(23));
}

TEST_CASE("few held samples give no range, and exact outputs the best figure") {
  CHECK_FALSE(figures_of({error(80, 20), error(80, 22)}).range);
  HeldError exact = error(80, 20);
  exact.noise = {0, 0, 0, 0};
  CHECK(figures_of({exact, exact}).sqnr_db == 120);
}

namespace {

/// Of samples 0, 1, ... with these figures each.
std::vector<HeldError> errors_of(const std::vector<double>& decibels) {
  std::vector<HeldError> errors;
  for (const double one : decibels) {
    errors.push_back({errors.size(), {100, 100}, {1, 100 / std::pow(10, one / 10)}});
  }
  return errors;
}

}  // namespace

TEST_CASE("a figure of the user's own comes before decibels, where it says something") {
  const auto with = [](std::vector<HeldError> errors, double all, const std::vector<double>& without) {
    for (size_t k = 0; k < errors.size(); ++k) errors[k].own = HeldError::Own{all, without[k]};
    return errors;
  };
  const std::vector<HeldError> plain = errors_of({20, 20, 20}), better = errors_of({25, 25, 25});
  const std::vector<HeldError> before = with(plain, 0.5, {0.5, 0.5, 0.5});
  CHECK(compared("c=1", before, with(plain, 0.6, {0.55, 0.7, 0.55})).taken);
  CHECK(may_gain("c=1", before, with(plain, 0.6, {0.55, 0.7, 0.55})));
  CHECK_FALSE(compared("c=1", before, with(plain, 0.6, {0.5, 0.7, 0.6})).taken);  // a single sample made it
  CHECK(compared("c=1", before, with(better, 0.5, {0.5, 0.5, 0.5})).taken);
  CHECK_FALSE(compared("c=1", before, with(better, 0.4, {0.4, 0.4, 0.6})).taken);
}

TEST_CASE("few samples rule a change out only where further ones cannot have it taken") {
  const std::vector<HeldError> before = errors_of({20, 30, 25, 35, 20, 30, 25, 35});
  CHECK(may_gain("c=1", before, {}));
  CHECK_FALSE(may_gain("c=1", before, errors_of({20.1, 30, 25.2, 35.1})));
  CHECK_FALSE(may_gain("c=1", before, errors_of({15, 25, 20, 30})));
  CHECK(may_gain("c=1", before, errors_of({21, 31, 26, 36})));
  CHECK(may_gain("c=1", before, errors_of({20, 28, 27, 35})));  // gains of 0, -2, 2 and 0: nobody knows yet
  CHECK(may_gain("c=1", before, errors_of({20.6, 30.6, 25.6, 35.6})));
  CHECK_FALSE(may_gain(kUnclipped, before, errors_of({20.6, 30.6, 25.6, 35.6})));
}

TEST_CASE("a change is compared on the samples that it was run on") {
  const std::vector<HeldError> before = errors_of({20, 30, 25, 35});
  std::vector<HeldError> after = errors_of({20, 32, 25, 37});
  after = {after[1], after[3]};
  const calibrate::TriedChange row = compared("c=1", before, after);
  CHECK(row.median_gain_db == Approx(2));
  CHECK(row.after_db - row.before_db == Approx(2).margin(0.011));
}

}  // namespace held_errors_test
