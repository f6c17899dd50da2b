// SPDX-License-Identifier: Apache-2.0
// What a report lists of a plan: ranges with the SQNR to expect of them, and padding to the platform's vectors.
#include "tests/catch.h"

#include "core/report/padding.h"
#include "core/report/range_remarks.h"
#include "core/report/ranges.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

/// 12 channels, 64 channels, 10 outputs.
Model three_layers() {
  NamedModel model;
  model.input("x", {1, 4, 6, 6}).weight("w1", {12, 4, 3, 3}).weight("w2", {64, 12, 1, 1}).weight("w3", {2304, 10});
  model.node("Conv", {"x", "w1"}, {"a"}, {{"pads", Ints{1, 1, 1, 1}}}).node("Relu", {"a"}, {"r"});
  model.node("Conv", {"r", "w2"}, {"b"}).node("Flatten", {"b"}, {"f"});
  return model.node("MatMul", {"f", "w3"}, {"y"}).output("y").build();
}

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;

  Made(const char* platform, const config::QuantizationConfig& config)
      : job(test::job_of(three_layers(), platform, config)), result(quantize(*job, test::statistics_of(*job))) {}
  std::vector<report::PaddingRow> padding() const {
    return report::padding_of(result.draft.model.graph, result.draft.attachment, result.plan);
  }
  std::vector<report::RangeRow> ranges() const {
    return report::ranges_of(result.draft.model.graph, result.plan, result.draft.statistics);
  }
};

}  // namespace

TEST_CASE("padding to simd_size is reported for every layer of a platform that has one") {
  config::QuantizationConfig config = test::plain_config();
  const auto rows = Made("imx500", config).padding();
  REQUIRE(rows.size() == 3);
  REQUIRE((rows[0].name == "a_node" && rows[0].op == "Conv"));
  REQUIRE((rows[0].simd_size == 32 && rows[0].channels == 12 && rows[0].padded_channels == 32));
  REQUIRE(rows[0].overhead == Approx(20.0 / 12));
  REQUIRE((rows[1].padded_channels == 64 && rows[1].overhead == 0));
  REQUIRE((rows[2].channels == 10 && rows[2].padded_channels == 32));

  config.weights_n_bits = 4;
  const auto few_bits = Made("imx500", config).padding();
  REQUIRE((few_bits[0].simd_size == 64 && few_bits[0].padded_channels == 64));
  REQUIRE(few_bits[0].overhead == Approx(52.0 / 12));
  REQUIRE(few_bits[1].overhead == 0);

  REQUIRE(Made("ort-cpu", test::plain_config()).padding().empty());
}

TEST_CASE("every activation's range is reported with the SQNR to expect of it") {
  config::QuantizationConfig config = test::plain_config();
  const Made eight("imx500", config);
  const auto rows = eight.ranges();
  REQUIRE(rows.size() == eight.result.plan.activations.size());
  const calibrate::Statistics statistics = test::statistics_of(*eight.job);
  for (size_t k = 0; k < rows.size(); ++k) {
    const ptq::ActivationPlan& plan = eight.result.plan.activations[k];
    INFO(rows[k].tensor);
    REQUIRE(rows[k].method == quant::QuantizationMethod::kPowerOfTwo);
    REQUIRE((rows[k].n_bits == 8 && rows[k].scale.size() == 1));
    REQUIRE(rows[k].range == std::vector<double>{plan.params.representable().low, plan.params.representable().high});
    REQUIRE((rows[k].seen[0] <= rows[k].seen[1] && rows[k].seen[0] >= plan.seen.low));
    REQUIRE(*rows[k].expected_sqnr_db ==
            report::expected_sqnr_db(statistics.find(rows[k].tensor)->histogram, plan.params));
    REQUIRE(*rows[k].expected_sqnr_db > 25);
  }

  // Clipped to almost nothing a range is expected to lose nearly all, and the same figure is remarked on.
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
  config.z_threshold = 0.05;
  const Made clipped("imx500", config);
  double least = 100;
  for (const report::RangeRow& row : clipped.ranges())
    if (row.expected_sqnr_db) least = std::min(least, *row.expected_sqnr_db);
  REQUIRE(least < report::kLeastRangeSqnrDb);
  REQUIRE_FALSE(report::range_remarks(clipped.result.draft.model.graph, clipped.result.draft.placement,
                                      clipped.result.plan, clipped.result.draft.statistics)
                    .empty());
}
