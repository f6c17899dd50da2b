// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/own_metric.h"

#include <cmath>

#include "tests/catch.h"

namespace own_metric_test {
using namespace tersor;
using evaluate::own_figures;
using evaluate::standard_error;

namespace {

/// Samples 0, 1, ..., and their mean number as a metric.
std::vector<evaluate::SampleOutputs> samples_of(int64_t count) {
  std::vector<evaluate::SampleOutputs> samples;
  for (int64_t k = 0; k < count; ++k) samples.push_back({k, nullptr});
  return samples;
}

const evaluate::OwnMetric kMean{"mean", [](std::span<const evaluate::SampleOutputs> samples) {
                                  double sum = 0;
                                  for (const auto& one : samples) sum += static_cast<double>(one.sample);
                                  return sum / static_cast<double>(samples.size());
                                }};

}  // namespace

TEST_CASE("a metric is asked of all samples, and without each part") {
  const auto figures = own_figures(kMean, samples_of(4), 2);
  CHECK(figures.all == 1.5);
  CHECK(figures.without == std::vector<double>{2, 1});
  CHECK(own_figures(kMean, samples_of(3), 16).without.size() == 3);
  CHECK(own_figures(kMean, samples_of(1), 16).without.empty());
  CHECK(own_figures(kMean, {}, 16).without.empty());
}

TEST_CASE("the jackknife of a mean is its standard error") {
  const auto figures = own_figures(kMean, samples_of(10), 10);
  const evaluate::OwnFigures none{0, std::vector<double>(10, 0.0)};
  CHECK(standard_error(figures, none) == Approx(std::sqrt(82.5 / 9 / 10)));
  CHECK(standard_error(figures, figures) == 0);
  CHECK(standard_error({}, {}) == 0);
}
}  // namespace own_metric_test
