// SPDX-License-Identifier: Apache-2.0
#include "core/tune/augment.h"

#include <algorithm>
#include <set>

#include "tests/catch.h"

using namespace tersor;

namespace {

/// Each pixel holds its column, in every channel.
Tensor columns(Shape shape, bool channels_last) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  const auto inner = static_cast<size_t>(channels_last ? shape[3] : 1);
  const auto side = static_cast<size_t>(channels_last ? shape[2] : shape[3]);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k / inner % side);
  return Tensor::of<float>(std::move(shape), values);
}

}  // namespace

TEST_CASE("pictures are moved by up to an eighth and mirrored, whichever way their channels stand") {
  std::set<bool> mirrored;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const bool last : {false, true}) {
      std::vector<Tensor> inputs{columns(last ? Shape{1, 32, 32, 3} : Shape{1, 3, 32, 32}, last)};
      tune::Random random(seed);
      REQUIRE(tune::move_pictures(inputs, random));
      const auto values = inputs[0].data<float>();
      const size_t step = last ? 3 : 1;
      const float first = values[0], behind = values[31 * step];
      const bool turned = first > behind;
      mirrored.insert(turned);
      for (size_t c = 1; c < 32; ++c) {
        const float by = values[c * step] - values[(c - 1) * step];
        CHECK((by == 0 || by == (turned ? -1.0f : 1.0f)));
      }
      CHECK(std::min(first, behind) <= 4);
      CHECK(std::max(first, behind) >= 27);
    }
  CHECK(mirrored.size() == 2);
}

TEST_CASE("what is no picture is not moved") {
  tune::Random random(1);
  for (const Shape& shape : {Shape{1, 3, 32, 24}, Shape{1, 16, 32, 32}, Shape{1, 49, 10, 1}, Shape{1, 640}}) {
    std::vector<Tensor> inputs{Tensor::make(DType::kFloat32, shape)};
    CHECK(!tune::move_pictures(inputs, random));
  }
}

TEST_CASE("samples are mixed in shares; whole numbers stay") {
  std::vector<Tensor> inputs{Tensor::of<float>({2}, {1, 2}), Tensor::of<int64_t>({1}, {7})};
  tune::mix(inputs, {Tensor::of<float>({2}, {5, -2}), Tensor::of<int64_t>({1}, {9})}, 0.75f);
  CHECK(inputs[0].data<float>()[0] == 2);
  CHECK(inputs[0].data<float>()[1] == 1);
  CHECK(inputs[1].data<int64_t>()[0] == 7);
}
