// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/gram_factor.h"

#include <Eigen/Cholesky>
#include <random>

#include "tests/catch.h"

using namespace tersor;

namespace {

/// The lower half of the mean products of random rows whose columns have something in common.
ptq::Matrix products(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  const size_t rows = 3 * size;
  std::vector<double> values(rows * size);
  for (size_t r = 0; r < rows; ++r) {
    const double common = static_cast<double>(random() % 1000) / 1000 - 0.5;
    for (size_t c = 0; c < size; ++c)
      values[r * size + c] =
          static_cast<double>(c % 5 + 1) * (common + static_cast<double>(random() % 1000) / 1000 - 0.5);
  }
  ptq::Matrix h{size, std::vector<double>(size * size, 0.0)};
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j)
      for (size_t r = 0; r < rows; ++r)
        h.row(i)[j] += values[r * size + i] * values[r * size + j] / static_cast<double>(rows);
  return h;
}

}  // namespace

TEST_CASE("the factor is Eigen's of the damped matrix, its columns in ascending order of their power") {
  const size_t size = GENERATE(size_t{1}, size_t{7}, size_t{8}, size_t{40}, size_t{130});
  INFO(size);
  const ptq::Matrix h = products(size, static_cast<uint32_t>(size));
  const ptq::Factor factor = ptq::factor_of(h, true);
  REQUIRE(factor.order.size() == size);
  double trace = 0;
  for (size_t i = 0; i < size; ++i) trace += h.row(i)[i];
  const auto n = static_cast<Eigen::Index>(size);
  Eigen::MatrixXd damped(n, n);
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < size; ++j) {
      const auto [a, b] = std::minmax(factor.order[i], factor.order[j]);
      const double damping = i == j ? 0.01 * trace / static_cast<double>(size) : 0;
      damped(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = h.row(b)[a] + damping;
      REQUIRE(factor.damped.row(factor.order[i])[factor.order[j]] == Approx(h.row(b)[a] + damping));
    }
  for (Eigen::Index i = 1; i < n; ++i) REQUIRE(damped(i - 1, i - 1) <= damped(i, i));
  const Eigen::MatrixXd lower = damped.llt().matrixL();
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < i; ++j) {
      const double theirs = lower(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) /
                            lower(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(j));
      REQUIRE(factor.lower.row(i)[j] == Approx(theirs).margin(1e-4));
    }
}

TEST_CASE("inputs that never vary have no factor") {
  REQUIRE(ptq::factor_of({3, std::vector<double>(9, 0.0)}, false).order.empty());
}

TEST_CASE("noise is the quadratic form of each row of errors") {
  const ptq::Matrix h = products(9, 3);
  std::vector<double> errors;
  for (int k = 0; k < 18; ++k) errors.push_back(0.1 * (k % 7) - 0.3);
  Eigen::MatrixXd full(9, 9);
  for (size_t i = 0; i < 9; ++i)
    for (size_t j = 0; j <= i; ++j) {
      const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
      full(a, b) = full(b, a) = h.row(i)[j];
    }
  const std::vector<double> noise = ptq::noise_of(h, errors);
  REQUIRE(noise.size() == 2);
  for (size_t o = 0; o < 2; ++o) {
    const Eigen::Map<const Eigen::VectorXd> e(errors.data() + 9 * o, 9);
    REQUIRE(noise[o] == Approx(e.dot(full * e)));
  }
}
