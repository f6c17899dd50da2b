// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_figures.h"

#include <cmath>
#include <vector>

#include "tests/catch.h"

using namespace tersor;
using report::OutputComparison;
using report::OutputOfSample;

namespace {

/// Values -1 and 1, times `size`, off by `error`.
OutputOfSample sample_of(int64_t number, double size, double error) {
  OutputOfSample sample;
  sample.sample = number;
  for (const double sign : {-1.0, 1.0}) sample.add(sign * size, sign * size + error);
  return sample;
}

std::vector<OutputOfSample> alike(int64_t count) {
  std::vector<OutputOfSample> samples;
  for (int64_t k = 0; k < count; ++k) samples.push_back(sample_of(k, 1, 0.1));
  return samples;
}

}  // namespace

TEST_CASE("one sample makes neither the median nor the spread, and is the worst by its number") {
  std::vector<OutputOfSample> samples = alike(10);
  samples.push_back(sample_of(17, 1000, 900));
  OutputComparison output;
  add_figures(samples, output);
  REQUIRE(*output.median_sqnr_db == Approx(20));
  REQUIRE(*output.worst_sqnr_db == Approx(20 * std::log10(1000.0 / 900)));
  REQUIRE(*output.worst_sample == 17);
  REQUIRE(*output.error_to_spread == Approx(0.1));
  REQUIRE(*output.median_cosine == Approx(1 / std::sqrt(1.01)));
}

TEST_CASE("a spread is that of samples, too, where each is a single value") {
  std::vector<OutputOfSample> samples(5);
  for (int64_t k = 0; k < 5; ++k) {
    samples[static_cast<size_t>(k)].sample = k;
    samples[static_cast<size_t>(k)].add(100 + static_cast<double>(k), 100.1 + static_cast<double>(k));
  }
  OutputComparison output;
  add_figures(samples, output);
  REQUIRE(*output.error_to_spread == Approx(0.1));  // 100 to 104: most are 1 from the middle, and not 100 from 0
}

TEST_CASE("what is exact has no figures of error, and what is not finite is the worst") {
  std::vector<OutputOfSample> samples;
  for (int64_t k = 0; k < 5; ++k) samples.push_back(sample_of(k, 1, 0));
  OutputComparison output;
  add_figures(samples, output);
  REQUIRE_FALSE(output.median_sqnr_db.has_value());
  REQUIRE_FALSE(output.worst_sample.has_value());
  REQUIRE(*output.error_to_spread == 0);
  samples[3] = sample_of(3, std::nan(""), 0);
  add_figures(samples, output);
  REQUIRE(*output.worst_sample == 3);
}

TEST_CASE("a sample that reaches far beyond all others is named, and none where many do or few are there") {
  std::vector<OutputOfSample> samples = alike(20);
  OutputComparison output;
  output.name = "scores";
  REQUIRE(unusual_samples(samples, output).empty());
  samples[4] = sample_of(4, 58, 0);
  samples[4].low = -14729;
  const auto found = unusual_samples(samples, output);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].sample == 4);
  REQUIRE(found[0].output == "scores");
  REQUIRE(found[0].reaches == -14729);
  REQUIRE(found[0].others == 1);
  samples[5] = sample_of(5, 60, 0);
  REQUIRE(unusual_samples(samples, output).size() == 2);
  for (size_t k = 6; k < 10; ++k) samples[k] = sample_of(static_cast<int64_t>(k), 14000, 0);
  REQUIRE(unusual_samples(samples, output).empty());
  samples.resize(5);
  REQUIRE(unusual_samples(samples, output).empty());
}
