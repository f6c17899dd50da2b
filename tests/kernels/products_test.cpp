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

TEST_CASE("rows of codes become columns of differences, whatever their number and width") {
  test::on_every_target([] {
    for (const size_t count : {size_t{1}, size_t{8}, size_t{19}, size_t{64}})
      for (const size_t width : {size_t{1}, size_t{8}, size_t{21}, size_t{144}}) {
        constexpr size_t kStride = 80;
        std::vector<std::vector<uint8_t>> rows(count, std::vector<uint8_t>(width));
        std::vector<const uint8_t*> pointers;
        for (size_t r = 0; r < count; ++r) {
          for (size_t c = 0; c < width; ++c) rows[r][c] = static_cast<uint8_t>(r * 151 + c * 37);
          pointers.push_back(rows[r].data());
        }
        for (const kernels::Differences to : {kernels::Differences{0, 3}, kernels::Differences{0x80, 255}}) {
          std::vector<int16_t> columns(width * kStride, 1234);
          kernels::columns_of_rows(pointers.data(), count, width, to, columns.data(), kStride);
          for (size_t c = 0; c < width; ++c)
            for (size_t r = 0; r < kStride; ++r)
              REQUIRE(columns[c * kStride + r] == (r < count ? (rows[r][c] ^ to.turned) - to.zero : 1234));
        }
      }
  });
}
