// SPDX-License-Identifier: Apache-2.0
#include "core/report/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "core/base/sort_stably.h"
#include "core/evaluate/output_difference.h"
#include "core/onnx/usage_notes.h"
#include "core/report/report.h"
#include "core/report/saturation_remark.h"

namespace tersor::report {

namespace {

/// Samples that weights were rounded on promise so many dB more than others at most, or the others are named first.
constexpr double kSeenGain = 3;
constexpr double kGoodAgreement = 0.95, kFairAgreement = 0.85;
constexpr double kGoodDecibels = 20, kFairDecibels = 10;
constexpr double kLostDecibels = 3;                       // half of it is noise
constexpr double kGoodCosine = 0.99, kFairCosine = 0.95;  // noise of a seventh and of a third of the length
constexpr double kLargeDrop = 0.05, kSmallDrop = 0.01;
constexpr double kTwoSided = 1.96;        // standard errors, at 95 %
constexpr double kNoticeableShare = 0.1;  // of the error, for a layer to be named
constexpr size_t kNamedLayers = 3;
constexpr double kOutlierRatio = 8;  // of the range to the value that all but kOutlierShare stay below
constexpr double kOutlierShare = 0.001;
constexpr int64_t kEnoughAnswers = 16;
constexpr double kHardlySmaller = 1.1;  // times
constexpr double kUneven = 16;          // 4 of 8 bits gone for the middle channel
constexpr size_t kNamedTensors = 2;
constexpr int64_t kHeldFrom = 16;      // samples, of which some are held aside while corrections are tried
constexpr int64_t kFewestToSay = 4;    // samples that tell how others may differ
constexpr double kManyCopies = 0.25;   // share of samples
constexpr double kSeenAllowance = 20;  // dB for one sample, less by the root of their number for more (docs/report.md)

std::string number(double value, int digits = 1) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string samples_text(int64_t count) {
  return std::to_string(count) + (count == 1 ? " sample" : " samples");
}

std::string percent(double share) {
  return number(100 * share) + " %";
}

/// What is counted of an output of each kind.
struct Measure {
  OutputKind kind;
  std::string_view counted, how;
};
constexpr Measure kMeasures[] = {{OutputKind::kClasses, "answers", ""},
                                 {OutputKind::kMap, "places", ""},
                                 {OutputKind::kScores, "scores", ""},
                                 {OutputKind::kBoxes, "detections", " (score 0.25, IoU 0.5)"},
                                 {OutputKind::kDetections, "detections", " (score 0.25, IoU 0.5)"},
                                 {OutputKind::kEmbedding, "nearest neighbours", " (among these samples)"}};

}  // namespace

std::string kept_text(const OutputComparison& output) {
  const evaluate::Agreement& kept = *output.kept;
  constexpr int64_t kMany = 1000;
  std::string text = kept.count < kMany ? std::to_string(kept.same)
                                        : percent(static_cast<double>(kept.same) / static_cast<double>(kept.count));
  text += " of " + std::to_string(kept.count) + " ";
  for (const Measure& one : kMeasures)
    if (one.kind == output.kind)
      text += std::string(one.counted) + " of \"" + output.name + "\" are kept" + std::string(one.how);
  return text;
}

namespace {

Usability worse(Usability a, Usability b) {
  return std::max(a, b);
}

/// The difference of two accuracies on the same samples, as if they were independent, which asks for more than a paired
/// test does.
bool significantly_below(const evaluate::EvaluationResult& quantized, const evaluate::EvaluationResult& exact) {
  return quantized.interval && exact.interval && quantized.value && exact.value &&
         quantized.interval->upper < *exact.value;
}

/// One answer that differs is forgiven, where there are others to go by: it would turn the word of one set of samples
/// and not of another.
Usability by_agreement(const evaluate::Agreement& agreement, bool forgives) {
  const int64_t same = std::min(agreement.same + (forgives ? 1 : 0), agreement.count);
  const double share = static_cast<double>(same) / static_cast<double>(agreement.count);
  return share >= kGoodAgreement   ? Usability::kUsable
         : share >= kFairAgreement ? Usability::kUsableWithCare
                                   : Usability::kNotUsable;
}

Usability by_decibels(double decibels) {
  return decibels >= kGoodDecibels   ? Usability::kUsable
         : decibels >= kFairDecibels ? Usability::kUsableWithCare
                                     : Usability::kNotUsable;
}

Usability by_cosine(double cosine) {
  return cosine >= kGoodCosine   ? Usability::kUsable
         : cosine >= kFairCosine ? Usability::kUsableWithCare
                                 : Usability::kNotUsable;
}

/// -14,729; 253; 0.0312.
std::string size_text(double value) {
  std::string text = number(value, std::fabs(value) >= 100 ? 0 : 3);
  const size_t sign = value < 0 ? 1 : 0;
  const size_t whole = std::min(text.find('.'), text.size());
  for (size_t at = whole; at > sign + 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

/// What an output's values lost, in dB: its error against their spread in the median sample, or what else is known.
std::optional<double> loss_of(const OutputComparison& output) {
  if (!output.sqnr_db) return std::nullopt;
  if (!output.error_to_spread || *output.error_to_spread <= 0)
    return output.median_sqnr_db ? output.median_sqnr_db : output.sqnr_db;
  return -evaluate::decibels(*output.error_to_spread * *output.error_to_spread, 1);
}

/// Three digits that say something: 907, 1.00, 0.000213.
std::string significant(double value) {
  if (std::fabs(value) >= 100) return number(value, 0);
  char text[48];
  std::snprintf(text, sizeof text, "%#.3g", value);
  return text;
}

/// Even a few answers say that not enough are kept.
bool are_lost(const evaluate::Agreement& kept) {
  return kept.count > 0 && evaluate::wilson_interval(kept.same, kept.count).upper < kFairAgreement;
}

/// What is kept of it speaks for it, and not its values alone.
bool speaks(const std::optional<evaluate::Agreement>& kept) {
  return kept && (kept->count >= kEnoughAnswers || are_lost(*kept));
}

/// Outputs, and parts of them, that lost much beside others, from that at `first`: below 10 dB they are as little worth
/// as an output that stands alone, unless what is kept of the output speaks for it.
void judge_parts(const Comparison& comparison, size_t first, Verdict& verdict) {
  const auto judge = [&](const OutputComparison& output, const std::optional<double>& decibels,
                         const std::string& keeps, const std::string& where) {
    if (!decibels || *decibels >= kFairDecibels) return false;
    const bool is_lost = *decibels < kLostDecibels || !speaks(output.kept);
    verdict.usability = worse(verdict.usability, is_lost ? Usability::kNotUsable : Usability::kUsableWithCare);
    verdict.reason += "; " + keeps + " " + number(*decibels) + " dB" + where;
    return true;
  };
  for (size_t i = first; i < comparison.outputs.size(); ++i) {
    const OutputComparison& output = comparison.outputs[i];
    if (comparison.outputs.size() > 1 &&
        (output.kind == OutputKind::kValues || (output.kind == OutputKind::kBoxes && !output.kept)))
      judge(output, loss_of(output), "\"" + output.name + "\" keeps", {});
    for (size_t k = 1; k < output.parts.size(); ++k) {
      const OutputPart& large = output.parts[0];
      const OutputPart& small = output.parts[k];
      const bool lost = judge(output, small.sqnr_db,
                              std::string(small.kind == OutputKind::kScores ? "the scores of" : "the small values of") +
                                  " \"" + output.name + "\" keep",
                              " (those at " + small.indices + " of axis " + std::to_string(small.axis) + " reach to " +
                                  significant(small.largest) + ", the others to " + significant(large.largest) + ")");
      const auto maker = std::find_if(comparison.layers.begin(), comparison.layers.end(),
                                      [&](const LayerRow& layer) { return layer.output == output.name; });
      if (lost && maker != comparison.layers.end())
        verdict.causes.push_back("One scale serves values of \"" + output.name + "\" that are very unlike. Keep \"" +
                                 maker->name + "\" in float, or give them out as two outputs.");
    }
  }
}

/// The output whose SQNR is that of the comparison; null where none is.
const OutputComparison* lowest_output(const Comparison& comparison) {
  for (const OutputComparison& output : comparison.outputs)
    if (output.sqnr_db && output.sqnr_db == comparison.output_sqnr_db) return &output;
  return nullptr;
}

/// "Output SQNR 21.5 dB on 48 samples, 22.3 dB in the median one, 9.1 dB in the worst (sample 12)"; of several outputs
/// that where it is lowest, by name.
std::string decibels_text(const Comparison& comparison, const char* begin, const std::string& samples) {
  const OutputComparison* lowest = lowest_output(comparison);
  std::string text = begin + number(*comparison.output_sqnr_db) + " dB";
  if (lowest != nullptr && comparison.outputs.size() > 1) text += " in \"" + lowest->name + "\"";
  text += samples;
  const auto& median = lowest != nullptr ? lowest->median_sqnr_db : comparison.median_sqnr_db;
  if (median && comparison.samples > 1) text += ", " + number(*median) + " dB in the median one";
  if (lowest == nullptr || !lowest->worst_sqnr_db || comparison.samples < 2) return text;
  return text + ", " + number(*lowest->worst_sqnr_db) + " dB in the worst (sample " +
         std::to_string(*lowest->worst_sample) + ")";
}

/// By how many dB samples that calibration has seen promise more than others keep: a model that has not seen those held
/// aside while corrections were tried says how much.
double optimism_of(const Report& report, const Comparison& comparison) {
  if (!report.trial || report.samples.held_aside.value_or(false)) return 0;
  double most = 0;
  if (comparison.output_sqnr_db) most = std::max(most, *comparison.output_sqnr_db - report.trial->sqnr_db);
  if (!comparison.median_sqnr_db) return most;
  return std::min(most, std::max(0.0, *comparison.median_sqnr_db - report.trial->median_sqnr_db));
}

/// Of samples that calibration has not seen; what was measured of those it has belongs to it where it is lower.
std::optional<evaluate::DecibelRange> unseen_range(const Report& report, const Comparison& comparison) {
  const OutputComparison* lowest = lowest_output(comparison);
  if (lowest == nullptr || !std::isfinite(*lowest->sqnr_db)) return std::nullopt;
  if (report.samples.held_aside.value_or(false)) return lowest->sample_range;
  if (!report.trial && comparison.samples < kHeldFrom && lowest->sample_range) {
    const double allowance = kSeenAllowance / std::sqrt(static_cast<double>(comparison.samples));
    return evaluate::DecibelRange{lowest->sample_range->lower - allowance, lowest->sample_range->upper};
  }
  if (!report.trial || !report.trial->low_db || !report.trial->high_db) return std::nullopt;
  return evaluate::DecibelRange{std::min(*report.trial->low_db, *lowest->sqnr_db), *report.trial->high_db};
}

/// Same answers as the float model's; of a first output that only labels make classes, those counted with the labels,
/// and of one answer a sample those of the larger set.
std::optional<evaluate::Agreement> answers_of(const Report& report) {
  const auto& compared = report.comparison->agreement;
  const auto& evaluated = report.evaluation.quantized;
  const auto counted = evaluated && evaluated->correct ? evaluated->agreement : std::nullopt;
  if (!compared) return counted;
  const bool is_one_each = compared->count == report.comparison->samples;
  return is_one_each && counted && counted->count > compared->count ? counted : compared;
}

/// By what is kept of it, or its distance where that is little; better than "with care" below 10 dB it is not. The
/// distance of detections is that of boxes and says nothing of scores, that of an embedding is judged by its cosine.
Usability by_kept(const OutputComparison& output, const std::optional<double>& loss) {
  Usability usability = by_agreement(*output.kept, true);
  const OutputKind kind = output.kind;
  if (kind == OutputKind::kBoxes || kind == OutputKind::kDetections || kind == OutputKind::kEmbedding) return usability;
  if (loss && *loss >= kGoodDecibels) usability = std::min(usability, Usability::kUsableWithCare);
  if (loss && *loss < kFairDecibels) usability = worse(usability, Usability::kUsableWithCare);
  return usability;
}

/// Each output in its own measure, from that at `first`; whether one was judged by its values.
bool judge_outputs(const Comparison& comparison, size_t first, double optimism, Verdict& verdict) {
  bool has_values = false;
  const OutputComparison* widest = nullptr;
  for (size_t k = first; k < comparison.outputs.size(); ++k) {
    const OutputComparison& output = comparison.outputs[k];
    if (output.kind == OutputKind::kEmbedding && output.median_cosine) {
      verdict.usability = worse(verdict.usability, by_cosine(*output.median_cosine));
      verdict.reason += "; cosine similarity of \"" + output.name + "\" " + number(*output.median_cosine, 4) +
                        " in the median sample";
      has_values = true;
    }
    auto loss = loss_of(output);
    if (loss) *loss -= optimism;
    if (speaks(output.kept)) {
      // Which of the samples is nearest may turn on a hair, unless for most it is another one.
      const bool turns = output.kind == OutputKind::kEmbedding && 2 * output.kept->same >= output.kept->count;
      const Usability usability = by_kept(output, loss);
      verdict.usability = worse(verdict.usability, turns ? std::min(usability, Usability::kUsableWithCare) : usability);
      verdict.reason += "; " + kept_text(output);
      has_values = true;
      continue;
    }
    // The distance of numbers says little, and an embedding has its cosine.
    if (output.kind == OutputKind::kClasses || output.kind == OutputKind::kEmbedding) continue;
    if (loss) verdict.usability = worse(verdict.usability, by_decibels(*loss)), has_values = true;
    if (output.error_to_spread && (widest == nullptr || *output.error_to_spread > *widest->error_to_spread))
      widest = &output;
  }
  if (widest != nullptr)
    verdict.reason +=
        "; error of \"" + widest->name + "\" " + percent(*widest->error_to_spread) + " of the spread of its values";
  return has_values;
}

void judge_answers(const evaluate::Agreement& agreement, const Comparison& comparison, Verdict& verdict) {
  // Answers turn on a hair where the largest two are alike.
  const auto& decibels = comparison.median_sqnr_db ? comparison.median_sqnr_db : comparison.output_sqnr_db;
  verdict.usability =
      by_agreement(agreement, agreement.count >= kEnoughAnswers || (decibels && *decibels >= kGoodDecibels));
  if (decibels && *decibels >= kGoodDecibels)
    verdict.usability = std::min(verdict.usability, Usability::kUsableWithCare);
  if (decibels && *decibels < kFairDecibels)
    verdict.usability =
        worse(verdict.usability, *decibels < kLostDecibels ? Usability::kNotUsable : Usability::kUsableWithCare);
  const evaluate::Interval interval = evaluate::wilson_interval(agreement.same, agreement.count);
  const std::string answers = std::to_string(agreement.same) + " of " + std::to_string(agreement.count);
  verdict.reason =
      (!comparison.agreement || comparison.agreement->count == comparison.samples
           ? answers + " samples get the answer of the float model"
           : answers + " answers on " + samples_text(comparison.samples) + " are those of the float model") +
      " (95 % interval " + percent(interval.lower) + " to " + percent(interval.upper) + ")";
  if (comparison.output_sqnr_db) verdict.reason += decibels_text(comparison, "; output SQNR ", "");
  judge_outputs(comparison, 1, 0, verdict);  // those beside the answers
  judge_parts(comparison, 1, verdict);
}

/// Of an output below 10 dB over all samples together. Values that lost much in the median sample too are lost: no
/// single sample made it so.
Usability by_lowest(const Comparison& comparison, double optimism) {
  const OutputComparison* lowest = lowest_output(comparison);
  if (lowest == nullptr || lowest->kind != OutputKind::kValues || speaks(lowest->kept))
    return Usability::kUsableWithCare;
  return by_decibels(*loss_of(*lowest) - optimism) == Usability::kUsable ? Usability::kUsableWithCare
                                                                         : Usability::kNotUsable;
}

void judge_values(const Report& report, const Comparison& comparison, Verdict& verdict) {
  verdict.reason = decibels_text(comparison, "Output SQNR ", " on " + samples_text(comparison.samples));
  const double optimism = optimism_of(report, comparison);
  const double pooled = *comparison.output_sqnr_db - optimism;
  const bool has_values = judge_outputs(comparison, 0, optimism, verdict);
  if (!has_values && std::all_of(comparison.outputs.begin(), comparison.outputs.end(),
                                 [](const OutputComparison& output) { return output.kind == OutputKind::kClasses; }))
    verdict.usability = by_decibels(pooled);
  if (pooled < kFairDecibels) verdict.usability = worse(verdict.usability, by_lowest(comparison, optimism));
  judge_parts(comparison, 0, verdict);
}

void judge_comparison(const Report& report, const Comparison& comparison, Verdict& verdict) {
  const std::optional<double>& decibels = comparison.output_sqnr_db;
  if (decibels && !std::isfinite(*decibels)) {
    verdict.usability = Usability::kNotUsable;
    verdict.reason =
        "The float or the quantized model gives numbers that are not finite on " + samples_text(comparison.samples);
  } else if (const auto agreement = answers_of(report); agreement && agreement->count > 0) {
    judge_answers(*agreement, comparison, verdict);
  } else if (decibels) {
    judge_values(report, comparison, verdict);
  } else if (std::any_of(comparison.outputs.begin(), comparison.outputs.end(),
                         [](const OutputComparison& output) { return !output.compared(); })) {
    verdict.usability = Usability::kUsableWithCare;
    verdict.reason = "Outputs had another shape than the float model's on each of " + samples_text(comparison.samples) +
                     ", so they were not compared";
  } else {
    verdict.reason = "The outputs are those of the float model on " + samples_text(comparison.samples);
  }
  // A trial judges all outputs by their distance, which says little of answers.
  if (decibels && std::isfinite(*decibels) && optimism_of(report, comparison) > 0 && !comparison.agreement) {
    const double expected = report.trial->sqnr_db;
    const std::string held = number(expected) + " dB on " + std::to_string(report.trial->held) +
                             (report.trial->tried.empty() ? " samples held aside, in a model of the others"
                                                          : " samples held aside while corrections were tried");
    if (expected + kSeenGain < *decibels && verdict.reason.rfind("Output", 0) == 0)
      verdict.reason = "Output SQNR " + held + "; on others: o" + verdict.reason.substr(1);
    else
      verdict.reason += "; " + held;
  }
  if (!comparison.agreement) verdict.unseen_range = unseen_range(report, comparison);
  if (const auto& range = verdict.unseen_range)
    verdict.reason +=
        "; " + number(range->lower) + " to " + number(range->upper) + " dB are to be expected of unseen samples";
  else if (comparison.distinct < kFewestToSay)
    verdict.reason += "; too few samples to say what unseen ones will have";
  if (const auto& held_aside = report.samples.held_aside)
    verdict.reason += std::string(comparison.samples == 1 ? ". The sample was " : ". The samples were ") +
                      (*held_aside ? "held aside from calibration" : "seen by calibration too");
  verdict.reason += ".";
  const int64_t copies = comparison.samples - comparison.distinct;
  const bool has_many = static_cast<double>(copies) > kManyCopies * static_cast<double>(comparison.samples);
  if (has_many || comparison.distinct < kFewestToSay)
    verdict.usability = worse(verdict.usability, Usability::kUsableWithCare);
  if (has_many)
    verdict.causes.push_back(std::to_string(copies) + " of the " + samples_text(comparison.samples) +
                             " are copies of others, which may have calibrated too: figures and intervals say less of "
                             "other samples than they seem to. Leave the copies out.");
  for (const UnusualSample& one : comparison.unusual_samples)
    verdict.causes.push_back("Sample " + std::to_string(one.sample) + " reaches " + size_text(one.reaches) + " in \"" +
                             one.output + "\", where the others stay within " + size_text(one.others) +
                             ": look at it, and leave it out where it is no example of what the model will see.");
}

void judge_evaluations(const Evaluations& evaluation, Verdict& verdict) {
  if (!evaluation.in_float || !evaluation.quantized) return;
  const auto &exact = *evaluation.in_float, &quantized = *evaluation.quantized;
  if (!exact.value || !quantized.value) return;
  const bool percents = exact.correct.has_value();
  verdict.reason += " On your labels " + (percents ? percent(*quantized.value) : number(*quantized.value, 3)) +
                    " against " + (percents ? percent(*exact.value) : number(*exact.value, 3)) + " in float (" +
                    std::to_string(quantized.count) + " samples).";
  if (significantly_below(quantized, exact))
    verdict.usability =
        worse(verdict.usability,
              *exact.value - *quantized.value > kLargeDrop ? Usability::kNotUsable : Usability::kUsableWithCare);
}

/// The caller's own figure, in place of distance and answers; outputs that are no numbers are not usable by any.
void judge_metric(const Report& report, Verdict& verdict) {
  const auto& decibels = report.comparison ? report.comparison->output_sqnr_db : std::nullopt;
  const bool is_finite = !decibels || std::isfinite(*decibels);
  const OwnEvaluation& own = *report.metric;
  const double lost = own.in_float - own.quantized, part = lost / std::max(std::fabs(own.in_float), 1e-300);
  const bool is_sure = lost > kTwoSided * own.standard_error;
  verdict.usability = !is_finite                     ? Usability::kNotUsable
                      : part > kLargeDrop            ? is_sure ? Usability::kNotUsable : Usability::kUsableWithCare
                      : is_sure && part > kSmallDrop ? Usability::kUsableWithCare
                                                     : Usability::kUsable;
  verdict.reason = "Your metric \"" + own.metric + "\" is " + significant(own.quantized) + " against " +
                   significant(own.in_float) + " in float on " + samples_text(own.count) +
                   ", with a standard error of " + significant(own.standard_error) +
                   (verdict.reason.empty() ? "." : ". " + verdict.reason);
}

/// The value that all but kOutlierShare of a tensor's values stay below in magnitude.
double usual_size(const HistogramView& view) {
  std::vector<std::pair<double, uint64_t>> sizes;
  uint64_t total = 0;
  for (size_t i = 0; i < view.counts.size(); ++i) {
    const double low = view.lower + static_cast<double>(i) * view.bin_width;
    sizes.push_back({std::max(std::fabs(low), std::fabs(low + view.bin_width)), view.counts[i]});
    total += view.counts[i];
  }
  std::sort(sizes.begin(), sizes.end());
  uint64_t seen = 0;
  for (const auto& [size, count] : sizes) {
    seen += count;
    if (static_cast<double>(seen) >= (1 - kOutlierShare) * static_cast<double>(total)) return size;
  }
  return 0;
}

void name_layers(const Comparison& comparison, Verdict& verdict) {
  std::vector<const LayerRow*> rows;
  for (const LayerRow& row : comparison.layers) rows.push_back(&row);
  sort_stably(rows, [](const LayerRow* a, const LayerRow* b) { return a->error_share > b->error_share; });
  for (const LayerRow* row : rows) {
    if (verdict.worst_layers.size() == kNamedLayers || row->error_share < kNoticeableShare) break;
    verdict.worst_layers.push_back(row->name);
    if (!row->histogram || !row->range || row->histogram->counts.empty()) continue;
    const HistogramView& seen = *row->histogram;
    const double highest = seen.lower + static_cast<double>(seen.counts.size()) * seen.bin_width,
                 farthest = std::max(std::fabs(seen.lower), std::fabs(highest)), usual = usual_size(seen),
                 reach = std::min(farthest, std::max(std::fabs((*row->range)[0]), std::fabs((*row->range)[1])));
    if (usual > 0 && reach > kOutlierRatio * usual)
      verdict.causes.push_back("Outliers set the range of \"" + row->output + "\": it reaches to " + number(reach, 3) +
                               ", and 99.9 % of its values stay below " + number(usual, 3) +
                               ". Look at the samples that make them, or keep \"" + row->name + "\" in float.");
  }
}

/// A switch that is on by default is off.
bool is_off(const Report& report, std::string_view field) {
  return std::any_of(report.settings.begin(), report.settings.end(),
                     [&](const ChangedSetting& one) { return one.field == field && one.value == "false"; });
}

/// Tensors whose channels are too unlike for one scale, the most unlike first.
void name_uneven_tensors(const Report& report, Verdict& verdict) {
  std::vector<const RangeRow*> rows;
  for (const RangeRow& row : report.ranges)
    if (row.channel_unevenness.value_or(0) >= kUneven && row.scale.size() == 1) rows.push_back(&row);
  sort_stably(rows,
              [](const RangeRow* a, const RangeRow* b) { return *a->channel_unevenness > *b->channel_unevenness; });
  for (size_t k = 0; k < std::min(rows.size(), kNamedTensors); ++k) {
    const auto& layers = report.comparison->layers;
    const auto maker = std::find_if(layers.begin(), layers.end(),
                                    [&](const LayerRow& layer) { return layer.output == rows[k]->tensor; });
    const bool joins = maker != layers.end() && maker->op == "Concat";
    const auto& outputs = report.comparison->outputs;
    const bool is_output = std::any_of(outputs.begin(), outputs.end(),
                                       [&](const OutputComparison& output) { return output.name == rows[k]->tensor; });
    verdict.causes.push_back(
        "One range serves channels of \"" + rows[k]->tensor +
        "\" that are very unlike: " + (joins ? "what the Concat joins differs, and " : "") + "the farthest reaches " +
        number(*rows[k]->channel_unevenness, 0) + " times as far as the middle one, which is left with few codes. " +
        (is_output ? "Keep \"" + (maker != layers.end() ? maker->name : rows[k]->tensor) + "\" in float"
                   : std::string("Keep what reads it in float")) +
        (is_off(report, "activation_channel_equalization") ? ", or switch activation_channel_equalization on." : "."));
  }
}

/// Why nothing that was measured says anything of the file yet, as a sentence.
std::string doubt_text(const evaluate::EvaluationResult& exact) {
  const std::string check =
      ": check the samples, the preprocessing" + std::string(exact.value ? " and the labels" : "");
  const std::string sure = percent(exact.sureness.value_or(0)) + " sure of its answers on average";
  switch (*exact.doubt) {
    case evaluate::Doubt::kGuessing:
      return "The float model itself is no better than guessing on these labels (" + percent(*exact.value) + ")" +
             check + " first.";
    case evaluate::Doubt::kWeak:
      return "The float model itself is right in " + percent(*exact.value) +
             " of these labels, which is less than any trained model has" + check + " first.";
    case evaluate::Doubt::kOverconfident:
      return "The float model is " + sure + " and right in " + percent(*exact.value) +
             ", which a trained model is not on samples and labels that fit it" + check + " first.";
    case evaluate::Doubt::kUnsure:
      return "The float model is " + sure + ", hardly more than guessing would be" + check + " first.";
  }
  return {};
}

void look_at_float(const evaluate::EvaluationResult& exact, bool has_classes, Verdict& verdict) {
  if (has_classes && exact.answers && static_cast<int64_t>(exact.answers->size()) >= kEnoughAnswers &&
      std::set<int64_t>(exact.answers->begin(), exact.answers->end()).size() == 1)
    verdict.causes.push_back(
        "The float model gives every sample the same answer: the preprocessing (range, channel order, layout) is "
        "probably not the one the model was trained with.");
  if (exact.label_shift)
    verdict.causes.push_back("The labels are off by one: with " + std::string(*exact.label_shift > 0 ? "+1" : "-1") +
                             " added to each, the float model is right far more often. Set label_offset.");
  else if (exact.label_order)
    verdict.causes.push_back(
        "The labels look like a reordering of the model's outputs: " + percent(*exact.value) + " -> " +
        percent(static_cast<double>(exact.label_order->correct) / static_cast<double>(exact.count)) +
        " of the answers are right with the classes in another order. Check a few samples, and "
        "put that right first (label_order in the report).");
  else if (exact.doubt)
    verdict.causes.push_back(doubt_text(exact));
}

/// Nothing is gained in time, as far as anybody can say: by the forecast, or since nothing runs in integers.
bool is_no_faster(const Report& report) {
  if (report.time) return !is_faster(*report.time);
  const auto& rows = report.coverage.rows;
  return !rows.empty() && std::none_of(rows.begin(), rows.end(),
                                       [](const CoverageRow& row) { return row.support == Support::kInteger; });
}

/// Why the file is hardly smaller, and what to do.
std::string way_out(const Report& report) {
  if (report.trial && !report.trial->in_float.empty()) {
    const auto& constants = report.trial->in_float;
    const auto& tried = report.trial->tried;
    const auto row = std::find_if(tried.begin(), tried.end(),
                                  [&](const auto& one) { return one.change == "float " + constants[0]; });
    return std::to_string(constants.size()) + (constants.size() == 1 ? " constant stays" : " constants stay") +
           " in float, such as \"" + constants[0] + "\", since 8 bits of them cost too much on samples held aside" +
           (row == tried.end() ? ""
                               : " (" + number(row->before_db) + " dB in place of " + number(row->after_db) + ")") +
           ". Where the file may be as bad as that, prefer = integers stores them in 8 bits; else keep the float "
           "model.";
  }
  if (report.coverage.core_nodes > report.coverage.integer_core_nodes && !report.coverage.stays_float.empty())
    return "Of " + std::to_string(report.coverage.core_nodes) + " core operators " +
           std::to_string(report.coverage.core_nodes - report.coverage.integer_core_nodes) +
           " stay in float, each with its reason in the list of what does. Where that is a setting of yours, take it "
           "back; else a platform that stores weights alone in integers (weight-only-int8) may give a smaller file.";
  return "Names, nodes and scales take as much of the file as its weights, so that there is little to save: keep the "
         "float model.";
}

/// A file that is as good as the float one in nothing but accuracy.
void judge_gain(const Report& report, Verdict& verdict) {
  const auto before = static_cast<double>(report.model.size_bytes),
             after = static_cast<double>(report.output.size_bytes);
  if (before <= 0 || after <= 0 || before >= kHardlySmaller * after || !is_no_faster(report)) return;
  verdict.usability = worse(verdict.usability, Usability::kNotWorthIt);
  verdict.reason = "The file has " + number(after / 1e3) + " of " + number(before / 1e3) + " kB and " +
                   (!report.time            ? "nothing that runs in integers. "
                    : report.time->measured ? "does not run faster than the float model. "
                                            : "is not expected to run faster than the float model. ") +
                   verdict.reason;
  verdict.causes.insert(verdict.causes.begin(), way_out(report));
}

}  // namespace

Verdict verdict_of(const Report& report) {
  Verdict verdict;
  if (report.comparison) {
    judge_comparison(report, *report.comparison, verdict);
    name_layers(*report.comparison, verdict);
    if (verdict.usability != Usability::kUsable) name_uneven_tensors(report, verdict);
    if (const auto remark = saturation_remark(*report.comparison))
      verdict.cautions.push_back(remark->message + " " + remark->hint);
  } else if (!report.evaluation.quantized && !report.metric) {
    verdict.usability = Usability::kUsableWithCare;
    verdict.reason = "Nothing was measured yet: compare or evaluate on samples.";
  }
  for (const Diagnostic& one : report.diagnostics)
    if (one.code == kGuessedPreprocessing || one.code == onnx::kTrainingMode)
      verdict.cautions.push_back(one.message + " " + one.hint);
  judge_evaluations(report.evaluation, verdict);
  if (report.evaluation.in_float) {
    const size_t others = verdict.causes.size();
    const bool has_classes = report.evaluation.in_float->value || (report.comparison && report.comparison->agreement);
    look_at_float(*report.evaluation.in_float, has_classes, verdict);
    if (verdict.causes.size() > others) verdict.usability = worse(verdict.usability, Usability::kUsableWithCare);
  }
  if (report.metric) judge_metric(report, verdict);
  judge_gain(report, verdict);
  return verdict;
}

}  // namespace tersor::report
