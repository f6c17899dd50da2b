// SPDX-License-Identifier: Apache-2.0
#include "core/report/verdict.h"

#include <cmath>
#include <limits>

#include "core/report/report.h"
#include "tests/catch.h"

using namespace tersor;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using report::Usability;

namespace {

report::Report compared(double decibels, std::optional<evaluate::Agreement> agreement = std::nullopt) {
  report::Report report;
  report.comparison.emplace();
  report.comparison->samples = report.comparison->distinct = 64;
  report.comparison->output_sqnr_db = decibels;
  report.comparison->agreement = agreement;
  report.samples.held_aside = true;
  return report;
}

evaluate::EvaluationResult top1(int64_t correct, int64_t count) {
  evaluate::EvaluationResult result;
  result.count = count;
  result.correct = correct;
  result.value = static_cast<double>(correct) / static_cast<double>(count);
  result.interval = evaluate::wilson_interval(correct, count);
  result.chance = 0.1;
  return result;
}

report::LayerRow layer(const std::string& name, double share, double outlier) {
  report::LayerRow row;
  row.name = row.output = name;
  row.error_share = share;
  row.range = std::vector<double>{0, outlier};
  row.histogram = report::HistogramView{0, outlier / 100, std::vector<uint64_t>(100, 0)};
  row.histogram->counts[0] = 100000;
  row.histogram->counts[99] = 1;
  return row;
}

/// Where the first output has so many decibels, and keeps `same` of `count`.
Usability word_of(report::Report& report, double decibels, int64_t same, int64_t count) {
  report::OutputComparison& output = report.comparison->outputs[0];
  report.comparison->output_sqnr_db = output.sqnr_db = decibels;
  output.kept = evaluate::Agreement{same, count};
  return verdict_of(report).usability;
}

}  // namespace

TEST_CASE("agreement decides where the output is a list of classes, decibels elsewhere") {
  REQUIRE(verdict_of(compared(30)).usability == Usability::kUsable);
  REQUIRE(verdict_of(compared(15)).usability == Usability::kUsableWithCare);
  REQUIRE(verdict_of(compared(-1)).usability == Usability::kNotUsable);
  REQUIRE(verdict_of(compared(12, evaluate::Agreement{63, 64})).usability == Usability::kUsable);
  REQUIRE(verdict_of(compared(12, evaluate::Agreement{58, 64})).usability == Usability::kUsableWithCare);
  REQUIRE_THAT(verdict_of(compared(30, evaluate::Agreement{63, 64})).reason, Contains("63 of 64 samples get"));
  REQUIRE_THAT(verdict_of(compared(30, evaluate::Agreement{760, 768})).reason,
               Contains("760 of 768 answers on 64 samples are those of"));
  for (const double decibels : {std::nan(""), -std::numeric_limits<double>::infinity()}) {
    const report::Verdict unusable = verdict_of(compared(decibels, evaluate::Agreement{64, 64}));
    REQUIRE(unusable.usability == Usability::kNotUsable);
    REQUIRE_THAT(unusable.reason, Contains("not finite on 64 samples") && !Contains("dB"));
  }
  REQUIRE(verdict_of(compared(26, evaluate::Agreement{20, 64})).usability == Usability::kUsableWithCare);
  REQUIRE(verdict_of(compared(6, evaluate::Agreement{64, 64})).usability == Usability::kUsableWithCare);
  const report::Verdict lost = verdict_of(compared(12, evaluate::Agreement{2, 64}));
  REQUIRE(lost.usability == Usability::kNotUsable);
  REQUIRE_THAT(lost.reason, Contains("2 of 64") && Contains("95 % interval") && Contains("held aside"));
}

TEST_CASE("embeddings are judged by their direction, other values by their spread, and neither by a largest element") {
  report::Report report = compared(12);
  report.comparison->median_sqnr_db = 12;
  report::OutputComparison& output = report.comparison->outputs.emplace_back();
  output = {"embedding", 12};
  output.kind = report::OutputKind::kEmbedding;
  for (const auto& [cosine, usability] :
       {std::pair(0.995, Usability::kUsable), std::pair(0.97, Usability::kUsableWithCare),
        std::pair(0.9, Usability::kNotUsable)}) {
    output.median_cosine = cosine;
    REQUIRE(verdict_of(report).usability == usability);
    REQUIRE_THAT(verdict_of(report).reason, Contains("cosine similarity of \"embedding\" 0.9"));
  }
  // Landmarks around 100 with a spread of 5: 30 dB of their size is none of what they say.
  report = compared(30);
  report.comparison->outputs = {{"landmarks", 30}};
  report.comparison->outputs[0].error_to_spread = 0.6;
  REQUIRE(verdict_of(report).usability == Usability::kNotUsable);
  REQUIRE_THAT(verdict_of(report).reason, Contains("60.0 % of the spread"));
  report.comparison->outputs[0].error_to_spread = 0.05;
  REQUIRE(verdict_of(report).usability == Usability::kUsable);
}

TEST_CASE("logits are classes once there are labels") {
  report::Report report = compared(12);
  REQUIRE_THAT(verdict_of(report).reason, !Contains("answer"));
  report.evaluation.in_float = top1(60, 64);
  report.evaluation.quantized = top1(60, 64);
  report.evaluation.quantized->agreement = evaluate::Agreement{63, 64};
  REQUIRE(verdict_of(report).usability == Usability::kUsable);
  REQUIRE_THAT(verdict_of(report).reason, Contains("63 of 64 samples get the answer"));
}

TEST_CASE("one claim has one number, that of the larger set of samples") {
  report::Report report = compared(12, evaluate::Agreement{63, 64});
  report.evaluation.in_float = top1(270, 272);
  report.evaluation.quantized = top1(270, 272);
  report.evaluation.quantized->agreement = evaluate::Agreement{271, 272};
  REQUIRE_THAT(verdict_of(report).reason, StartsWith("271 of 272 samples get the answer") && !Contains("63 of 64"));
  report.evaluation.quantized->agreement = evaluate::Agreement{15, 16};
  REQUIRE_THAT(verdict_of(report).reason, StartsWith("63 of 64 samples get the answer"));
  report.comparison->agreement = evaluate::Agreement{760, 768};
  REQUIRE_THAT(verdict_of(report).reason, StartsWith("760 of 768 answers on 64 samples are those of"));
}

TEST_CASE("one sample neither makes nor hides a verdict") {
  report::Report report = compared(8.3);
  report.comparison->median_sqnr_db = 27.6;
  report.comparison->outputs = {{"boxes", 8.3}};
  report::OutputComparison& output = report.comparison->outputs[0];
  output.median_sqnr_db = 27.6, output.worst_sqnr_db = -1.5, output.worst_sample = 17, output.error_to_spread = 0.04;
  report.comparison->unusual_samples = {{17, "boxes", -14729, 253}};
  const report::Verdict verdict = verdict_of(report);
  REQUIRE(verdict.usability == Usability::kUsableWithCare);
  REQUIRE_THAT(verdict.reason,
               Contains("8.3 dB on 64 samples, 27.6 dB in the median one, -1.5 dB in the worst (sample 17)"));
  REQUIRE_THAT(verdict.reason, Contains(". The samples were "));
  report::Report single = report;
  single.comparison->samples = single.comparison->distinct = 1;
  single.comparison->outputs[0].worst_sqnr_db.reset();
  REQUIRE_THAT(verdict_of(single).reason, Contains("8.3 dB on 1 sample; error of") && Contains(". The sample was "));
  REQUIRE_THAT(verdict.causes.at(0),
               Contains("Sample 17 reaches -14,729 in \"boxes\", where the others stay within 253"));
}

TEST_CASE("samples held aside while corrections were tried come first where the others promise more than they keep") {
  report::Report report = compared(62.6);
  report.samples.held_aside = false;
  report.trial.emplace();
  report.trial->held = 12;
  report.trial->sqnr_db = 40.2;
  REQUIRE_THAT(verdict_of(report).reason, StartsWith("Output SQNR 40.2 dB on 12 samples held aside") &&
                                              EndsWith("on others: output SQNR 62.6 dB on 64 samples. The samples "
                                                       "were seen by calibration too."));
  report.trial->sqnr_db = 61;
  REQUIRE_THAT(verdict_of(report).reason, StartsWith("Output SQNR 62.6 dB") && Contains("; 61.0 dB on 12 samples"));
}

TEST_CASE("of samples of which nobody knows whether calibration has seen them nothing is said") {
  report::Report report = compared(30);
  report.samples.held_aside.reset();
  REQUIRE_THAT(verdict_of(report).reason, !Contains("calibration") && EndsWith("."));
}

TEST_CASE("an output or a part of one that is lost is not hidden by the others") {
  report::Report report = compared(31);
  report.comparison->outputs.resize(1);
  report::OutputComparison& output = report.comparison->outputs[0];
  output.name = "boxes_and_scores";
  const auto with_scores_of = [&](double decibels) {
    output.parts = {{1, "0 to 3", 640, 31}, {1, "4 to 83", 0.9, decibels}};
    return verdict_of(report);
  };
  REQUIRE(with_scores_of(15).usability == Usability::kUsable);
  REQUIRE(with_scores_of(10).usability == Usability::kUsable);
  REQUIRE(with_scores_of(9.9).usability == Usability::kNotUsable);
  output.kept = evaluate::Agreement{64, 64};
  REQUIRE(with_scores_of(9.9).usability == Usability::kUsableWithCare);
  REQUIRE(with_scores_of(3).usability == Usability::kUsableWithCare);
  REQUIRE(with_scores_of(2.9).usability == Usability::kNotUsable);
  REQUIRE(with_scores_of(0).usability == Usability::kNotUsable);
  REQUIRE(with_scores_of(-12).usability == Usability::kNotUsable);
  REQUIRE_THAT(
      with_scores_of(-12).reason,
      Contains("the small values of \"boxes_and_scores\" keep -12.0 dB (those at 4 to 83 of axis 1 reach to 0.900, "
               "the others to 640)"));
  for (const auto& [decibels, usability] :
       {std::pair(25.0, Usability::kUsable), std::pair(12.0, Usability::kUsableWithCare),
        std::pair(8.0, Usability::kNotUsable), std::pair(2.0, Usability::kNotUsable)}) {
    report = compared(decibels);
    report.comparison->outputs = {{"boxes", 90}, {"scores", decibels}, {"numbers", std::nullopt}};
    REQUIRE(verdict_of(report).usability == usability);
    REQUIRE_THAT(verdict_of(report).reason, Contains(" dB in \"scores\" on 64 samples") && !Contains("boxes"));
  }
  REQUIRE_THAT(verdict_of(report).reason, Contains("\"scores\" keeps 2.0 dB"));
}

TEST_CASE("below 10 dB values are usable with care only where single samples made them so") {
  report::Report report = compared(9.9);
  report.comparison->outputs = {{"y", 9.9}};
  report::OutputComparison& output = report.comparison->outputs[0];
  for (const auto& [error, usability] : {std::pair(0.28, Usability::kNotUsable), std::pair(0.11, Usability::kNotUsable),
                                         std::pair(0.09, Usability::kUsableWithCare)}) {
    output.error_to_spread = error;
    CHECK(verdict_of(report).usability == usability);
  }
  output.error_to_spread = 0.28;
  report.comparison->output_sqnr_db = output.sqnr_db = 10;
  CHECK(verdict_of(report).usability == Usability::kUsableWithCare);
}

TEST_CASE("advice names what can be done about an output of unlike values") {
  report::Report report = compared(40);
  report.comparison->outputs = {{"y", 40}};
  report.comparison->layers = {layer("Conv_7", 0.9, 1)};
  report.comparison->layers[0].output = "y";
  report.comparison->outputs[0].parts = {{1, "0 to 3", 640, 40}, {1, "4 to 8", 0.9, 1.3}};
  const report::Verdict lost = verdict_of(report);
  REQUIRE(lost.usability == Usability::kNotUsable);
  REQUIRE_THAT(lost.causes.at(0), Contains("Keep \"Conv_7\" in float"));

  report::RangeRow row;
  row.tensor = "y";
  row.scale = {1};
  row.channel_unevenness = 100;
  report.ranges = {row};
  REQUIRE_THAT(verdict_of(report).causes.back(),
               Contains("Keep \"Conv_7\" in float.") && !Contains("what reads it") && !Contains("switch"));
  report.settings = {{"activation_channel_equalization", "false", "true"}};
  REQUIRE_THAT(verdict_of(report).causes.back(), Contains("or switch activation_channel_equalization on."));
  report.ranges[0].tensor = "between";
  REQUIRE_THAT(verdict_of(report).causes.back(), Contains("Keep what reads it in float"));
}

TEST_CASE("one answer that differs does not turn the word") {
  const auto word = [](double decibels, int64_t same, int64_t count) {
    return verdict_of(compared(decibels, evaluate::Agreement{same, count})).usability;
  };
  for (const int64_t count : {16, 48, 64}) {
    INFO(count);
    CHECK(word(35.2, count - 1, count) == word(35.2, count, count));
    CHECK(word(12, count - 1, count) == Usability::kUsable);
  }
  CHECK(word(35.2, 47, 48) == Usability::kUsable);
  CHECK(word(30.6, 46, 48) == Usability::kUsable);
  CHECK(word(30.6, 43, 48) == Usability::kUsableWithCare);
  CHECK(word(12, 39, 48) == Usability::kNotUsable);
  CHECK(word(12, 3, 4) == Usability::kNotUsable);  // too few to forgive one where the distance does not speak for it
  CHECK(word(25, 3, 4) == Usability::kUsable);
}

TEST_CASE("outputs beside the answers are judged too") {
  report::Report report = compared(30, evaluate::Agreement{64, 64});
  report.comparison->outputs = {{"classes", 30}, {"landmarks", 5}};
  report.comparison->outputs[0].kind = report::OutputKind::kClasses;
  REQUIRE(verdict_of(report).usability == Usability::kNotUsable);
  report.comparison->outputs[1].sqnr_db = 15;
  REQUIRE(verdict_of(report).usability == Usability::kUsableWithCare);
  report.comparison->outputs[1].sqnr_db = 25;
  REQUIRE(verdict_of(report).usability == Usability::kUsable);
}

TEST_CASE("maps and scores are judged by what is kept of them") {
  report::Report report = compared(15);
  report.comparison->outputs = {{"mask", 15}};
  report::OutputComparison& output = report.comparison->outputs[0];
  for (const auto kind : {report::OutputKind::kMap, report::OutputKind::kScores}) {
    output.kind = kind;
    CHECK(word_of(report, 15, 960, 1000) == Usability::kUsable);
    CHECK(word_of(report, 15, 900, 1000) == Usability::kUsableWithCare);
    CHECK(word_of(report, 15, 800, 1000) == Usability::kNotUsable);
    CHECK(word_of(report, 25, 800, 1000) == Usability::kUsableWithCare);
    CHECK(word_of(report, 9, 1000, 1000) == Usability::kUsableWithCare);
    CHECK(word_of(report, 25, 12, 15) == Usability::kUsable);         // too few answers, so its values count
    CHECK(word_of(report, 25, 0, 15) == Usability::kUsableWithCare);  // few, and enough to know that they are lost
    CHECK(word_of(report, 15, 0, 3) == Usability::kNotUsable);
    CHECK(word_of(report, 9, 15, 15) == Usability::kNotUsable);
  }
  output.kind = report::OutputKind::kMap;
  word_of(report, 25, 973, 1000);
  REQUIRE_THAT(verdict_of(report).reason, Contains("; 97.3 % of 1000 places of \"mask\" are kept"));
}

TEST_CASE("detections are judged by what is kept of them, however far apart the boxes are") {
  report::Report report = compared(43);
  report.comparison->outputs = {{"y", 43}};
  report::OutputComparison& output = report.comparison->outputs[0];
  for (const auto kind : {report::OutputKind::kBoxes, report::OutputKind::kDetections}) {
    output.kind = kind;
    CHECK(word_of(report, 43, 94, 96) == Usability::kUsable);
    CHECK_THAT(verdict_of(report).reason, Contains("; 94 of 96 detections of \"y\" are kept (score 0.25, IoU 0.5)"));
    CHECK(word_of(report, 43, 0, 96) == Usability::kNotUsable);
    CHECK(word_of(report, 43, 0, 3) == Usability::kNotUsable);
    CHECK(word_of(report, 43, 2, 3) == Usability::kUsable);  // says nothing, so the values count
    CHECK(word_of(report, 43, 85, 96) == Usability::kUsableWithCare);
  }
  word_of(report, 43, 96, 96);
  output.parts = {{1, "0 to 3", 1, 43, report::OutputKind::kBoxes}, {1, "4 to 5", 0.5, 0, report::OutputKind::kScores}};
  CHECK(verdict_of(report).usability == Usability::kNotUsable);
  CHECK_THAT(verdict_of(report).reason, Contains("; the scores of \"y\" keep 0.0 dB"));
}

TEST_CASE("a part of 0 dB is not usable beside answers, and neither are answers of 0 dB") {
  report::Report report = compared(30, evaluate::Agreement{64, 64});
  report.comparison->outputs = {{"classes", 30}, {"y", 40}};
  report.comparison->outputs[0].kind = report::OutputKind::kClasses;
  CHECK(verdict_of(report).usability == Usability::kUsable);
  report.comparison->outputs[1].parts = {{1, "0 to 3", 640, 40}, {1, "4 to 8", 0.9, 0}};
  CHECK(verdict_of(report).usability == Usability::kNotUsable);
  CHECK(verdict_of(compared(0, evaluate::Agreement{64, 64})).usability == Usability::kNotUsable);
}

TEST_CASE("an embedding is judged by its nearest neighbours too") {
  report::Report report = compared(12);
  report.comparison->outputs = {{"y", 12}};
  report::OutputComparison& output = report.comparison->outputs[0];
  output.kind = report::OutputKind::kEmbedding;
  const auto word = [&](double cosine, int64_t same) {
    output.median_cosine = cosine;
    output.kept = evaluate::Agreement{same, 64};
    return verdict_of(report).usability;
  };
  CHECK(word(0.995, 64) == Usability::kUsable);
  CHECK_THAT(verdict_of(report).reason, Contains("64 of 64 nearest neighbours of \"y\" are kept"));
  CHECK(word(0.995, 50) == Usability::kUsableWithCare);
  CHECK(word(0.995, 20) == Usability::kNotUsable);
  CHECK(word(0.96, 64) == Usability::kUsableWithCare);
  CHECK(word(0.9, 64) == Usability::kNotUsable);
}

TEST_CASE("what unseen samples are expected to have is said of samples that calibration has not seen") {
  report::Report report = compared(40);
  report.comparison->outputs = {{"a", 90}, {"b", 40}};
  report.comparison->outputs[0].sample_range = {85, 95};
  report.comparison->outputs[1].sample_range = {33.2, 45.6};
  REQUIRE(verdict_of(report).unseen_range == evaluate::DecibelRange{33.2, 45.6});
  REQUIRE_THAT(verdict_of(report).reason, Contains("; 33.2 to 45.6 dB are to be expected of unseen samples"));
  report.trial.emplace();
  report.trial->sqnr_db = report.trial->median_sqnr_db = 30;
  report.trial->low_db = 25, report.trial->high_db = 34;
  REQUIRE(verdict_of(report).unseen_range == evaluate::DecibelRange{33.2, 45.6});
  report.samples.held_aside = false;
  REQUIRE(verdict_of(report).unseen_range == evaluate::DecibelRange{25, 34});
  // By so much as seen samples promise more than held ones keep, outputs are judged lower.
  report.comparison->outputs[1].error_to_spread = 0.06;  // 24.4 dB
  report.comparison->median_sqnr_db = 40;
  REQUIRE(verdict_of(report).usability == Usability::kUsableWithCare);
  report.trial->median_sqnr_db = 36;
  REQUIRE(verdict_of(report).usability == Usability::kUsable);
}

TEST_CASE("fewer samples than some can be held aside of give a range that is wider, and below 4 none") {
  report::Report report = compared(40);
  report.samples.held_aside = false;
  report.comparison->outputs = {{"y", 40}};
  report.comparison->outputs[0].sample_range = {33, 45};
  const auto lower = [&](int64_t samples) {
    report.comparison->samples = report.comparison->distinct = samples;
    const auto range = verdict_of(report).unseen_range;
    if (range) CHECK(range->upper == 45);
    return range ? range->lower : 0;
  };
  CHECK(lower(4) == 23);
  CHECK(lower(15) == Approx(33 - 20 / std::sqrt(15)));
  CHECK(lower(16) == 0);  // nothing was held aside of them, though it could have been
  CHECK_THAT(verdict_of(report).reason, !Contains("too few samples"));
  report.samples.held_aside = true;
  CHECK(lower(4) == 33);
  report.comparison->outputs[0].sample_range.reset();
  CHECK(lower(3) == 0);
  CHECK_THAT(verdict_of(report).reason, Contains("; too few samples to say what unseen ones will have. The samples"));
}

TEST_CASE("an accuracy significantly below the float model's is not hidden by agreement") {
  report::Report report = compared(30, evaluate::Agreement{64, 64});
  report.evaluation.in_float = top1(900, 1000);
  report.evaluation.quantized = top1(895, 1000);
  REQUIRE(verdict_of(report).usability == Usability::kUsable);
  report.evaluation.quantized = top1(870, 1000);
  REQUIRE(verdict_of(report).usability == Usability::kUsableWithCare);
  report.evaluation.quantized = top1(20, 1000);
  REQUIRE(verdict_of(report).usability == Usability::kNotUsable);
}

TEST_CASE("the layers that lose most are named, and outliers as the cause") {
  report::Report report = compared(5);
  report.comparison->layers = {layer("quiet", 0.02, 1), layer("loud", 0.9, 100)};
  const report::Verdict verdict = verdict_of(report);
  REQUIRE(verdict.worst_layers == std::vector<std::string>{"loud"});
  REQUIRE(verdict.causes.size() == 1);
  REQUIRE_THAT(verdict.causes[0], Contains("Outliers") && Contains("loud"));
}

TEST_CASE("a float model that guesses, answers always the same, or has labels off by one is said to be the cause") {
  report::Report report = compared(30, evaluate::Agreement{64, 64});
  report.evaluation.in_float = top1(11, 100);
  report.evaluation.quantized = top1(11, 100);
  report.evaluation.in_float->doubt = evaluate::Doubt::kGuessing;
  REQUIRE_THAT(verdict_of(report).causes.at(0), Contains("guessing"));
  REQUIRE(verdict_of(report).usability == Usability::kUsableWithCare);
  report.evaluation.in_float->label_shift = 1;
  REQUIRE_THAT(verdict_of(report).causes.at(0), Contains("off by one") && Contains("label_offset"));
  report.evaluation.in_float = top1(95, 100);
  report.evaluation.in_float->answers = std::vector<int64_t>(100, 3);
  REQUIRE_THAT(verdict_of(report).causes.at(0), Contains("same answer"));
  report.evaluation.in_float->value.reset();
  REQUIRE_THAT(verdict_of(report).causes.at(0), Contains("same answer"));
  report.comparison->agreement.reset();  // outputs that are no classes have no answers
  REQUIRE(verdict_of(report).causes.empty());
  report.evaluation.in_float = report.evaluation.quantized = top1(50, 100);
  report.evaluation.in_float->sureness = 0.91;
  report.evaluation.in_float->doubt = evaluate::Doubt::kOverconfident;
  REQUIRE_THAT(verdict_of(report).causes.at(0), Contains("91.0 % sure") && Contains("right in 50.0 %"));
  REQUIRE(verdict_of(report).usability == Usability::kUsableWithCare);
}

TEST_CASE("fewer samples than 4 recommend no file") {
  report::Report report = compared(45);
  report.comparison->samples = report.comparison->distinct = 3;
  CHECK(verdict_of(report).usability == Usability::kUsableWithCare);
  CHECK_THAT(verdict_of(report).reason, Contains("too few samples to say what unseen ones will have"));
  report.comparison->samples = report.comparison->distinct = 4;
  CHECK(verdict_of(report).usability == Usability::kUsable);
}

TEST_CASE("copies among the samples recommend no file where they are many, and 3 that are copied count as 3") {
  report::Report report = compared(45);
  report.comparison->distinct = 48;
  CHECK(verdict_of(report).usability == Usability::kUsable);
  report.comparison->distinct = 47;
  CHECK(verdict_of(report).usability == Usability::kUsableWithCare);
  CHECK_THAT(verdict_of(report).causes.at(0), Contains("17 of the 64 samples are copies of others"));
  report.comparison->distinct = 3;
  CHECK_THAT(verdict_of(report).reason, Contains("too few samples to say what unseen ones will have"));
}

TEST_CASE("a file that is hardly smaller and no faster is not worth it, with the reason and the way out") {
  report::Report report = compared(45);
  const auto word = [&](int64_t before, int64_t after) {
    report.model.size_bytes = before, report.output.size_bytes = after;
    return verdict_of(report).usability;
  };
  report.time.emplace();
  report.time->float_ms = 6.9, report.time->times_as_fast = 1;
  CHECK(word(1100, 1001) == Usability::kNotWorthIt);
  CHECK(word(1100, 1000) == Usability::kUsable);
  CHECK(word(1000, 1050) == Usability::kNotWorthIt);
  report.time->times_as_fast = 1.06;
  CHECK(word(1000, 1050) == Usability::kUsable);
  report.time->times_as_fast = 0.7, report.time->float_ms = 0.09;
  CHECK(word(1000, 1050) == Usability::kNotWorthIt);
  report.time.reset();
  report.coverage.rows = {{"Conv", "", 3, report::Support::kFloat, "", {}}};
  CHECK(word(1000, 990) == Usability::kNotWorthIt);
  report.comparison->output_sqnr_db = 5;
  CHECK(word(1000, 990) == Usability::kNotUsable);
  report.comparison->output_sqnr_db = 45;
  report.trial.emplace();
  report.trial->in_float = {"lstm.w"};
  report.trial->tried = {{"float lstm.w", 9.3, 41.2, 31, 31, true}};
  const report::Verdict verdict = verdict_of(report);
  CHECK_THAT(verdict.reason, StartsWith("The file has 1.0 of 1.0 kB and nothing that runs in integers. Output SQNR"));
  CHECK_THAT(verdict.causes.at(0), Contains("\"lstm.w\"") && Contains("9.3 dB in place of 41.2"));
  report.coverage.rows[0].support = report::Support::kInteger;  // what it gains in time nobody knows
  CHECK(word(1000, 990) == Usability::kUsable);
}

TEST_CASE("a shift of the labels is found from answers, and none where they are right") {
  for (const int64_t shift : {int64_t{0}, int64_t{1}, int64_t{-1}}) {
    evaluate::Evaluation evaluation(evaluate::Metric::kTop1);
    for (int64_t k = 0; k < 60; ++k) {
      const int64_t answer = 1 + k % 8;
      std::vector<float> scores(10, 0.0f);
      scores[static_cast<size_t>(answer)] = 1;
      const std::vector<Tensor> outputs = {Tensor::of<float>(Shape{1, 10}, scores)};
      evaluation.add(k, answer - shift, {}, outputs);
    }
    const auto found = evaluation.result().label_shift;
    REQUIRE(found == (shift == 0 ? std::nullopt : std::optional(shift)));
  }
}

TEST_CASE("a metric of the caller's own comes in place of distance and answers") {
  report::Report report = compared(2, evaluate::Agreement{10, 64});
  REQUIRE(verdict_of(report).usability == Usability::kNotUsable);
  const auto word = [&](double quantized, double error) {
    report.metric = {"iou", 64, 0.8, quantized, error};
    return verdict_of(report).usability;
  };
  CHECK(word(0.81, 0.001) == Usability::kUsable);
  CHECK(word(0.795, 0) == Usability::kUsable);
  CHECK(word(0.77, 0.02) == Usability::kUsable);  // which may be chance
  CHECK(word(0.77, 0.01) == Usability::kUsableWithCare);
  CHECK(word(0.7, 0.06) == Usability::kUsableWithCare);
  CHECK(word(0.7, 0.01) == Usability::kNotUsable);
  REQUIRE_THAT(verdict_of(report).reason,
               StartsWith("Your metric \"iou\" is 0.700 against 0.800 in float on 64 samples"));
  report.comparison->output_sqnr_db = std::numeric_limits<double>::quiet_NaN();
  CHECK(word(0.81, 0.001) == Usability::kNotUsable);
}
