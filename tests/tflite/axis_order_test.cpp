// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/axis_order.h"

#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

TEST_CASE("a reshape leaves elements where they lie as long as merged axes follow each other") {
  const AxisOrder last = channels_last(4);
  CHECK(last == AxisOrder{0, 2, 3, 1});
  CHECK(order_after_reshape({1, 64, 1, 1}, last, {1, 64}) == plain_order(2));
  CHECK(order_after_reshape({1, 8, 5, 7}, last, {1, 8, 35}) == AxisOrder{0, 2, 1});
  CHECK(order_after_reshape({1, 8, 5, 7}, last, {1, 2, 4, 5, 7}) == AxisOrder{0, 3, 4, 1, 2});
  CHECK_FALSE(order_after_reshape({1, 8, 5, 7}, last, {1, 280}));
  CHECK_FALSE(order_after_reshape({1, 8, 5, 7}, last, {1, 4, 70}));
  CHECK(order_after_reshape({1, 8, 5, 7}, plain_order(4), {1, 280}) == plain_order(2));
  CHECK(order_after_reshape({1, 8, 1, 7}, last, {1, 8, 7}) == AxisOrder{0, 2, 1});
}

TEST_CASE("two orders that differ in axes of one element alone lie alike") {
  CHECK(lie_alike({1, 9, 1, 1}, plain_order(4), channels_last(4)));
  CHECK(lie_alike({1, 1, 4, 5}, plain_order(4), channels_last(4)));
  CHECK_FALSE(lie_alike({1, 2, 4, 5}, plain_order(4), channels_last(4)));
}

TEST_CASE("elements are rearranged with their axes") {
  const Tensor x = Tensor::of<int8_t>(Shape{2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(rearranged(x, {2, 0, 1}) == Tensor::of<int8_t>(Shape{2, 2, 3}, {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  CHECK(rearranged(x, {0, 1, 2}) == x);
}
