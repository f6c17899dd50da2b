// SPDX-License-Identifier: Apache-2.0
#include "core/report/kept_neighbours.h"

#include "tests/catch.h"

using namespace tersor;
using report::EmbeddingPair;

TEST_CASE("a neighbour is kept where the nearest other sample stays, or one that is as near") {
  const std::vector<float> right = {1, 0}, up = {0, 1}, between = {0.8F, 0.6F}, left = {-1, 0};
  const auto kept = [](std::vector<EmbeddingPair> samples) {
    const evaluate::Agreement agreement = report::kept_neighbours(samples);
    return std::pair(agreement.same, agreement.count);
  };
  // The nearest: of right and of up it is `between`, of `between` it is right.
  CHECK(kept({{right, right}, {up, up}, {between, between}}) == std::pair<int64_t, int64_t>{3, 3});
  // Turned to be nearer to up: `between` alone has another neighbour.
  CHECK(kept({{right, right}, {up, up}, {between, {0.6F, 0.8F}}}) == std::pair<int64_t, int64_t>{2, 3});
  // Its length says nothing.
  CHECK(kept({{right, {7, 0}}, {up, {0, 0.1F}}, {between, {80, 60}}}) == std::pair<int64_t, int64_t>{3, 3});
  // Two samples that are the same in float: either is the nearest of the third.
  CHECK(kept({{right, {1, 0.02F}}, {right, {1, 0.01F}}, {up, up}}) == std::pair<int64_t, int64_t>{3, 3});
  CHECK(kept({{right, {1, 0.01F}}, {right, {1, 0.02F}}, {up, up}}) == std::pair<int64_t, int64_t>{3, 3});
  CHECK(kept({{right, right}, {left, left}}) == std::pair<int64_t, int64_t>{0, 0});
}
