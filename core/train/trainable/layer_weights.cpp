// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/layer_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/kernels/transcendental.h"

namespace tersor::trainable {

namespace {

constexpr double kLittle = 1e-8;
constexpr double kLog10OfE = 0.43429448190325182765;

void check(std::span<const double> scores) {
  if (scores.empty()) throw Error(ErrorCode::kInvalidArgument, "There are no layers.");
  for (const double one : scores)
    if (!std::isfinite(one) || one < 0)
      throw Error(ErrorCode::kInvalidArgument,
                  "Found " + std::to_string(one) + " where a Hessian score of 0 or more is expected.");
}

}  // namespace

std::vector<double> mean_hessian_scores(std::span<const std::vector<double>> scores) {
  if (scores.empty()) throw Error(ErrorCode::kInvalidArgument, "There are no samples.");
  std::vector<double> means(scores[0].size(), 0.0);
  for (const std::vector<double>& sample : scores) {
    check(sample);
    if (sample.size() != means.size())
      throw Error(ErrorCode::kInvalidArgument, "Samples have scores of " + std::to_string(means.size()) + " and of " +
                                                   std::to_string(sample.size()) + " layers.");
    double sum = kLittle;
    for (const double one : sample) sum += one;
    for (size_t l = 0; l < means.size(); ++l) means[l] += sample[l] / sum;
  }
  for (double& one : means) one /= static_cast<double>(scores.size());
  return means;
}

std::vector<double> layer_weights(std::span<const double> mean_scores, LogScores form) {
  check(mean_scores);
  double least = HUGE_VAL, most = 0;
  for (const double score : mean_scores) {
    if (score > 0) least = std::min(least, score);
    most = std::max(most, score);
  }
  const double count = static_cast<double>(mean_scores.size());
  if (!(least < most)) return std::vector<double>(mean_scores.size(), 1 / count);
  const auto logarithm = [](double x) { return kernels::natural_logarithm(x) * kLog10OfE; };
  const double reach = form == LogScores::kScaled ? logarithm(most) - logarithm(least) : 1;
  std::vector<double> weights;
  for (const double score : mean_scores)
    weights.push_back((logarithm(score > 0 ? score : least) - logarithm(least)) / reach);
  return weights;
}

}  // namespace tersor::trainable
