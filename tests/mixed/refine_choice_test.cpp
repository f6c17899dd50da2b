// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/refine_choice.h"

#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;

namespace {

using Choice = std::vector<size_t>;
using Nodes = std::vector<std::vector<RefinedCandidate>>;

/// Each node has as many weights and activations as `sizes` says; all activations are there at once.
Utilization utilization_of(const Nodes& nodes, std::vector<double> sizes) {
  return [nodes, sizes](const Choice& choice) {
    ResourceUtilization taken{0, 0, 0, 0};
    for (size_t n = 0; n < choice.size(); ++n) {
      taken.weights_memory += sizes[n] * nodes[n][choice[n]].weights_n_bits / 8;
      taken.activation_memory += sizes[n] * nodes[n][choice[n]].activation_n_bits / 8;
    }
    taken.total_memory = taken.weights_memory + taken.activation_memory;
    return taken;
  };
}

ResourceUtilization weights_target(double bytes) {
  ResourceUtilization target;
  target.weights_memory = bytes;
  return target;
}

}  // namespace

TEST_CASE("what is left of a budget goes where a byte gains most") {
  const Nodes nodes{{{3, 2, 8}, {2, 4, 8}}, {{3, 2, 8}, {2.5, 4, 8}}, {{9, 2, 8}, {6, 8, 8}}};
  const auto utilization = utilization_of(nodes, {8, 2, 100});
  // From 27.5 bytes: the second node gains 1 in 1 byte of half a byte each, the first 0.5 in a byte, the third too
  // little.
  REQUIRE(refine_choice(nodes, {0, 0, 0}, weights_target(28), utilization) == Choice{0, 1, 0});
  REQUIRE(refine_choice(nodes, {0, 0, 0}, weights_target(30), utilization) == Choice{1, 1, 0});
  REQUIRE(refine_choice(nodes, {0, 0, 0}, weights_target(27.5), utilization) == Choice{0, 0, 0});
  REQUIRE(refine_choice(nodes, {0, 0, 0}, weights_target(1000), utilization) == Choice{1, 1, 1});
}

TEST_CASE("equal gains go to the fewest bytes, then to the first node") {
  const Nodes nodes{{{1, 2, 8}, {1, 4, 8}}, {{1, 2, 8}, {1, 4, 8}}, {{1, 2, 8}, {1, 4, 8}}};
  REQUIRE(refine_choice(nodes, {0, 0, 0}, weights_target(5), utilization_of(nodes, {8, 4, 4})) == Choice{0, 1, 0});
}

TEST_CASE("bits are raised only of what is restricted, and never where that makes it more sensitive") {
  const Nodes nodes{{{3, 4, 4}, {2, 8, 4}, {1, 4, 8}, {0, 8, 8}}};
  const auto utilization = utilization_of(nodes, {8});
  REQUIRE(refine_choice(nodes, {0}, weights_target(100), utilization) == Choice{1});
  ResourceUtilization target;
  target.activation_memory = 100;
  REQUIRE(refine_choice(nodes, {0}, target, utilization) == Choice{2});
  target = {};
  target.total_memory = 12;
  REQUIRE(refine_choice(nodes, {0}, target, utilization) == Choice{2});
  REQUIRE(refine_choice(nodes, {0}, {}, utilization) == Choice{0});
  target.bops = 1e9;
  REQUIRE(refine_choice(nodes, {0}, target, utilization) == Choice{0});
  const Nodes worse{{{3, 4, 4}, {4, 8, 4}}};
  REQUIRE(refine_choice(worse, {0}, weights_target(100), utilization_of(worse, {8})) == Choice{0});
}

TEST_CASE("what is no choice is refused") {
  const Nodes nodes{{{3, 4, 4}}}, broken{{{std::numeric_limits<double>::quiet_NaN(), 4, 4}}};
  const auto utilization = utilization_of(nodes, {8});
  REQUIRE_THROWS_AS(refine_choice(nodes, {}, {}, utilization), Error);
  REQUIRE_THROWS_AS(refine_choice(nodes, {1}, {}, utilization), Error);
  REQUIRE_THROWS_AS(refine_choice(broken, {0}, {}, utilization), Error);
}
