// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/products.h"

#include <vector>

#include "tests/kernels/targets.h"

using namespace tersor;

TEST_CASE("products of columns are exact, up to the largest differences of codes") {
  test::on_every_target([] {
    constexpr size_t kStride = 512;
    for (const size_t count : {size_t{1}, size_t{2}, size_t{9}, size_t{31}})
      for (const size_t n : {size_t{1}, size_t{33}, kStride}) {
        std::vector<int16_t> columns(count * kStride, 7);
        for (size_t k = 0; k < columns.size(); ++k)
          columns[k] = static_cast<int16_t>(k % 5 == 0   ? 255
                                            : k % 3 == 0 ? -255
                                                         : static_cast<int>(k * 37 % 511) - 255);
        std::vector<int32_t> products(count * (count + 1) / 2);
        kernels::products_of_columns(columns.data(), count, kStride, n, products.data());
        for (size_t i = 0, at = 0; i < count; ++i) {
          int64_t sum = 0;
          for (size_t k = 0; k < n; ++k) sum += columns[i * kStride + k];
          REQUIRE(kernels::sum_of(columns.data() + i * kStride, n) == sum);
          for (size_t j = 0; j <= i; ++j, ++at) {
            int64_t expected = 0;
            for (size_t k = 0; k < n; ++k) expected += int64_t{columns[i * kStride + k]} * columns[j * kStride + k];
            REQUIRE(products[at] == expected);
          }
        }
      }
  });
}
