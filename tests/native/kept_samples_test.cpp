// SPDX-License-Identifier: Apache-2.0
#include "core/native/kept_samples.h"

#include <catch2/catch.hpp>

using namespace tersor;

TEST_CASE("samples are kept as long as they fit") {
  const auto sample = [](float value) { return std::vector<Tensor>{Tensor::of<float>({4}, {value, value, 0, 0})}; };
  KeptSamples kept(3, 40);
  kept.keep(2, sample(2));
  kept.keep(0, sample(1));
  kept.keep(1, sample(3));  // 48 bytes by now
  REQUIRE(kept.look_at(2)[0].data<float>()[0] == 2);
  REQUIRE(kept.look_at(1).empty());
  REQUIRE(kept.look_at(0)[0].data<float>()[0] == 1);
}
