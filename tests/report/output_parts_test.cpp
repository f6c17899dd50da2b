// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_parts.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tersor;
using report::OutputParts;

namespace {

/// [1, 6, P]: four rows of boxes to 300 and two of scores to 1, each off by `boxes` and `scores`.
void add_detections(OutputParts& parts, int64_t positions, float boxes, float scores) {
  std::vector<float> exact, other;
  for (int row = 0; row < 6; ++row)
    for (int64_t p = 0; p < positions; ++p) {
      const float at = static_cast<float>(p + 1) / static_cast<float>(positions);
      exact.push_back(row < 4 ? 300 * at : at);
      other.push_back(exact.back() + (row < 4 ? boxes : scores));
    }
  parts.add(Shape{1, 6, positions}, exact, other);
}

}  // namespace

TEST_CASE("boxes and scores in one output are told apart, each with its own ratio") {
  OutputParts parts;
  add_detections(parts, 50, 1, 0.5f);
  const auto found = parts.result();
  REQUIRE(found.size() == 2);
  REQUIRE((found[0].axis == 1 && found[0].indices == "0 to 3" && found[0].largest == 300));
  REQUIRE((found[1].indices == "4 to 5" && found[1].largest == 1));
  // Squares of 1/50 to 1 have the mean 0.3434.
  REQUIRE(*found[0].sqnr_db == Approx(10 * std::log10(90000 * 0.3434)).margin(1e-6));
  REQUIRE(*found[1].sqnr_db == Approx(10 * std::log10(0.3434 / 0.25)).margin(1e-6));
}

TEST_CASE("values of like size have no parts, nor has what is not finite or an axis that changes its length") {
  OutputParts alike;
  alike.add(Shape{2, 3}, std::vector<float>{1, 2, 20, 0, 1, 0.5f}, std::vector<float>{1, 2, 21, 0, 1, 0});
  REQUIRE(alike.result().empty());
  OutputParts broken;
  add_detections(broken, 5, std::numeric_limits<float>::infinity(), 0);
  REQUIRE(broken.result().empty());
  REQUIRE(OutputParts::of_state(broken.state()).result().empty());
  OutputParts varying;
  add_detections(varying, 50, 1, 0.5f);
  add_detections(varying, 40, 1, 0.5f);
  REQUIRE(varying.result().size() == 2);
  varying.add(Shape{1, 2, 1}, std::vector<float>{1, 2}, std::vector<float>{1, 2});
  REQUIRE(varying.result().empty());
  OutputParts scalar;
  scalar.add(Shape(std::vector<int64_t>{}), std::vector<float>{1}, std::vector<float>{1});
  REQUIRE(scalar.result().empty());
}

TEST_CASE("small values at both ends of an axis are a border, and parts of another axis are found beside it") {
  // [1, 2, 5]: the first and the last two of five columns are nearly 0.
  const auto parts_of = [](float second_row) {
    std::vector<float> exact, other;
    for (const float row : {1.0f, second_row})
      for (const float column : {0.0001f, 1.0f, 0.8f, 0.0001f, 0.0002f}) {
        exact.push_back(row * column);
        other.push_back(exact.back() + 0.001f);
      }
    OutputParts parts;
    parts.add(Shape{1, 2, 5}, exact, other);
    return parts.result();
  };
  REQUIRE(parts_of(1).empty());
  const auto found = parts_of(0.01f);
  REQUIRE(found.size() == 2);
  REQUIRE((found[1].axis == 1 && found[1].indices == "1"));
}

TEST_CASE("sums of parts of the samples join, by object and by state") {
  OutputParts whole, first, second;
  add_detections(whole, 20, 1, 0.1f), add_detections(whole, 20, 2, 0.2f);
  add_detections(first, 20, 1, 0.1f), add_detections(second, 20, 2, 0.2f);
  OutputParts joined;
  joined.merge(first);
  joined.merge(OutputParts::of_state(second.state()));
  REQUIRE(joined.result().size() == 2);
  REQUIRE(*joined.result()[1].sqnr_db == Approx(*whole.result()[1].sqnr_db));
}
