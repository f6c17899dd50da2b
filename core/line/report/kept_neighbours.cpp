// SPDX-License-Identifier: Apache-2.0
#include "core/report/kept_neighbours.h"

#include <algorithm>

#include "core/evaluate/similarity.h"

namespace tersor::report {

namespace {

constexpr double kAlike = 1e-6;

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  evaluate::Similarity sums;
  const size_t length = std::min(a.size(), b.size());
  for (size_t k = 0; k < length; ++k) sums.add(static_cast<double>(a[k]), static_cast<double>(b[k]));
  return sums.cosine();
}

}  // namespace

evaluate::Agreement kept_neighbours(std::span<const EmbeddingPair> samples) {
  evaluate::Agreement kept;
  if (samples.size() < 3) return kept;
  for (size_t i = 0; i < samples.size(); ++i) {
    double best = -2, nearest = -2, chosen = -2;  // in float; quantized; in float of what is nearest when quantized
    for (size_t k = 0; k < samples.size(); ++k) {
      if (k == i) continue;
      const double in_float = cosine(samples[i].reference, samples[k].reference),
                   quantized = cosine(samples[i].other, samples[k].other);
      best = std::max(best, in_float);
      if (quantized > nearest) nearest = quantized, chosen = in_float;
    }
    kept.count += 1;
    kept.same += chosen >= best - kAlike ? 1 : 0;
  }
  return kept;
}

}  // namespace tersor::report
