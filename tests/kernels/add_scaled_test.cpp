// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/add_scaled.h"

#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor;

namespace {

template <class T>
void check_rows() {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{33}})
    for (const size_t count : {size_t{0}, size_t{1}, size_t{4}, size_t{9}, size_t{21}}) {
      std::vector<std::vector<T>> rows(count, std::vector<T>(n));
      std::vector<const T*> pointers;
      std::vector<T> factors, expected(n), once(n), together(n);
      for (size_t k = 0; k < n; ++k) expected[k] = once[k] = together[k] = 1 / (3 + static_cast<T>(k));
      for (size_t r = 0; r < count; ++r) {
        factors.push_back(static_cast<T>(0.1) * static_cast<T>(r + 1));
        pointers.push_back(rows[r].data());
        for (size_t k = 0; k < n; ++k) {
          rows[r][k] = 1000 / static_cast<T>(7 * k + r + 1);
          const volatile T product = factors[r] * rows[r][k];
          expected[k] += product;
        }
        kernels::add_scaled(factors[r], rows[r].data(), n, once.data());
      }
      kernels::add_scaled_rows(factors.data(), pointers.data(), count, n, together.data());
      REQUIRE(once == expected);
      REQUIRE(together == expected);
    }
}

}  // namespace

TEST_CASE("scaled rows are added one after another, each product and sum rounded") {
  test::on_every_target([] {
    check_rows<double>();
    check_rows<float>();
  });
}
