// SPDX-License-Identifier: Apache-2.0
#include "core/correct/channel_regions.h"

#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::NamedModel;

namespace {

/// So many Convs of one input with a Relu each, joined by a Concat "all".
NamedModel wide(int branches) {
  NamedModel model;
  model.input("x", {1, 3, 4, 4});
  std::vector<std::string> joined;
  for (int k = 0; k < branches; ++k) {
    const std::string name = std::to_string(k);
    model.weight("w" + name, {2, 3, 1, 1});
    model.node("Conv", {"x", "w" + name}, {"c" + name}).node("Relu", {"c" + name}, {"r" + name});
    joined.push_back("r" + name);
  }
  return model.node("Concat", joined, {"all"}, {{"axis", int64_t{1}}});
}

std::vector<ptq::ChannelRegion> regions_of(NamedModel& model) {
  // All in integers, whatever takes longer.
  config::QuantizationConfig config = test::plain_config();
  config.prefer = config::Preference::kIntegers;
  const auto job = test::job_of(model.build(), "ort-cpu", config);
  return ptq::find_channel_regions(job->model.graph, job->placement);
}

}  // namespace

TEST_CASE("a Concat that a Conv reads joins all its branches to one region, side by side") {
  constexpr int kBranches = 400;  // each of which the others are reached from
  NamedModel model = wide(kBranches);
  model.weight("v", {4, 2 * kBranches, 1, 1}).node("Conv", {"all", "v"}, {"y"}).output("y");
  const auto regions = regions_of(model);
  REQUIRE(regions.size() == 1);
  REQUIRE(regions[0].channels == 2 * kBranches);
  REQUIRE(regions[0].sources.size() == kBranches);
  REQUIRE(regions[0].ends.size() == 1);
  REQUIRE(regions[0].values.size() == 2 * kBranches + 1);
  std::set<int64_t> starts;
  for (const auto& [value, span] : regions[0].values)
    if (span.count == 2) starts.insert(span.first);
  REQUIRE(starts.size() == kBranches);
  REQUIRE(*starts.rbegin() == 2 * kBranches - 2);
}

TEST_CASE("nothing that leads to an output is in a region, however many ways lead there") {
  NamedModel model = wide(400);
  model.weight("v", {4, 2, 1, 1}).node("Conv", {"r7", "v"}, {"y"}).output("y").output("all");
  REQUIRE(regions_of(model).empty());
}

TEST_CASE("what is gated is in a region, and its gate is not") {
  NamedModel model;
  model.input("x", {1, 3, 4, 4}).weight("w", {4, 3, 1, 1}).weight("g", {4, 3, 1, 1}).weight("v", {2, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"}).node("Conv", {"x", "g"}, {"s"}).node("Sigmoid", {"s"}, {"gate"});
  model.node("Mul", {"c", "gate"}, {"m"}).node("Conv", {"m", "v"}, {"y"}).output("y");
  const auto regions = regions_of(model);
  REQUIRE(regions.size() == 1);
  REQUIRE(regions[0].values.size() == 2);
  REQUIRE(regions[0].sources == std::set<size_t>{0});
}
