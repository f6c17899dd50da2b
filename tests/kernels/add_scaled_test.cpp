// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/add_scaled.h"

#include <vector>

#include "tests/catch.h"

using namespace tersor;

TEST_CASE("scaled rows are added one after another, each product and sum rounded") {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{33}})
    for (const size_t count : {size_t{0}, size_t{1}, size_t{4}, size_t{9}}) {
      std::vector<std::vector<double>> rows(count, std::vector<double>(n));
      std::vector<const double*> pointers;
      std::vector<double> factors, expected(n), once(n), together(n);
      for (size_t k = 0; k < n; ++k) expected[k] = once[k] = together[k] = 1.0 / (3.0 + static_cast<double>(k));
      for (size_t r = 0; r < count; ++r) {
        factors.push_back(0.1 * static_cast<double>(r + 1));
        pointers.push_back(rows[r].data());
        for (size_t k = 0; k < n; ++k) {
          rows[r][k] = 1e3 / static_cast<double>(7 * k + r + 1);
          const volatile double product = factors[r] * rows[r][k];
          expected[k] += product;
        }
        kernels::add_scaled(factors[r], rows[r].data(), n, once.data());
      }
      kernels::add_scaled_rows(factors.data(), pointers.data(), count, n, together.data());
      REQUIRE(once == expected);
      REQUIRE(together == expected);
    }
}
