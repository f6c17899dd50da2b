// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>

#include "core/base/byte_stream.h"

namespace tersor::evaluate {

namespace {

constexpr int64_t kFive = 5;
constexpr const char* kCheckSample = "Check this sample and its preprocessing, or keep more of the model in float.";

bool is_binary_metric(Metric metric) {
  return metric == Metric::kAuc || metric == Metric::kReconstructionAuc;
}

/// Index of the largest value, the first of equals; -1 when one is not a number.
int64_t largest(const std::vector<double>& values) {
  size_t best = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return -1;
    if (values[i] > values[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

/// How many classes stand before this one when sorted by falling value, equals by rising index.
int64_t rank_of(const std::vector<double>& values, int64_t index) {
  const double own = values[static_cast<size_t>(index)];
  int64_t before = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] > own || (values[i] == own && static_cast<int64_t>(i) < index)) ++before;
  return before;
}

struct Scored {
  double score;
  bool positive;
};

/// Area under the ROC curve: the share of pairs (positive, negative) that stand in the right order, ties as half.
/// Counted in whole numbers, so it is exact.
double roc_area(std::vector<Scored> scores, int64_t positives, int64_t negatives) {
  std::sort(scores.begin(), scores.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  int64_t twice_won = 0, negatives_below = 0;
  for (size_t begin = 0; begin < scores.size();) {
    int64_t tied_positives = 0, tied_negatives = 0;
    size_t end = begin;
    for (; end < scores.size() && scores[end].score == scores[begin].score; ++end)
      ++(scores[end].positive ? tied_positives : tied_negatives);
    twice_won += tied_positives * (2 * negatives_below + tied_negatives);
    negatives_below += tied_negatives;
    begin = end;
  }
  return static_cast<double>(twice_won) / (2.0 * static_cast<double>(positives) * static_cast<double>(negatives));
}

}  // namespace

std::optional<Agreement> agreement(const EvaluationResult& reference, const EvaluationResult& other) {
  if (!reference.answers || !other.answers || reference.answers->size() != other.answers->size()) return std::nullopt;
  Agreement result{0, static_cast<int64_t>(other.answers->size())};
  for (size_t i = 0; i < other.answers->size(); ++i)
    result.same += (*reference.answers)[i] == (*other.answers)[i] ? 1 : 0;
  return result;
}

Evaluation::Evaluation(Metric metric, int64_t group) : metric_(metric), group_(group) {
  if (group < 1 || (group > 1 && metric != Metric::kReconstructionAuc))
    throw Error(ErrorCode::kInvalidArgument,
                "A group of " + std::to_string(group) + " samples does not go with the metric " +
                    std::string(enum_word(metric)) + ".",
                {}, "Groups are for the metric reconstruction-auc.");
}

void Evaluation::add(int64_t sample, std::optional<int64_t> label, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs) {
  if (outputs.empty()) throw Error(ErrorCode::kInvalidArgument, "The model has no output to evaluate.");
  if (!label && metric_ != Metric::kAnswers)
    throw Error(ErrorCode::kInvalidLabels, "The metric " + std::string(enum_word(metric_)) + " needs labels.", {},
                "Give labels, or use the metric answers.");
  if (is_binary_metric(metric_) && *label != 0 && *label != 1)
    throw Error(ErrorCode::kInvalidLabels,
                "The label is " + std::to_string(*label) + "; the metric " + std::string(enum_word(metric_)) +
                    " knows 0 (normal) and 1 (abnormal).",
                {}, "Use these two labels, or another metric.");
  Record record;
  record.sample = sample;
  record.label = label.value_or(-1);
  if (metric_ == Metric::kReconstructionAuc) {
    if (inputs.empty()) throw Error(ErrorCode::kInvalidArgument, "The model has no input to compare its output with.");
    add_reconstruction(record, inputs[0], outputs[0]);
  } else if (metric_ == Metric::kAuc) {
    add_score(record, outputs[0]);
  } else {
    add_classes(record, outputs[0]);
  }
  records_.push_back(record);
}

void Evaluation::add_classes(Record& record, const Tensor& output) {
  const int64_t count = output.elements();
  if (is_integer(output.dtype()) && count == 1) {
    record.answer = output.to_int64s()[0];
    if (metric_ == Metric::kTop5)
      throw Error(ErrorCode::kInvalidArgument,
                  "The model answers with one class, so there are no five largest outputs.", {},
                  "Use the metric top1.");
    record.right = record.answer == record.label;
    return;
  }
  if (count < 2)
    throw Error(ErrorCode::kInvalidArgument,
                "The output of shape " + output.shape().text() + " is no score for each of several classes.", {},
                "Use the metric auc for a single score.");
  if (record.label >= count)
    throw Error(ErrorCode::kInvalidLabels,
                "The label is " + std::to_string(record.label) + ", and the model's output has the classes 0 to " +
                    std::to_string(count - 1) + ".",
                {}, "Check the labels and label_offset.");
  if (metric_ == Metric::kTop5 && count <= kFive)
    throw Error(ErrorCode::kInvalidArgument,
                "With " + std::to_string(count) + " classes every answer is among the five largest.", {},
                "Use the metric top1.");
  classes_ = count;
  const std::vector<double> values = output.to_doubles();
  record.answer = largest(values);
  if (metric_ == Metric::kTop1 || are_shares(values)) record.sure = sureness(values).value_or(record.sure);
  if (record.answer < 0 || record.label < 0) return;
  record.right = metric_ == Metric::kTop5 ? rank_of(values, record.label) < kFive : record.answer == record.label;
}

void Evaluation::add_score(Record& record, const Tensor& output) const {
  const int64_t count = output.elements();
  if (count != 1 && count != 2)
    throw Error(ErrorCode::kInvalidArgument,
                "The metric auc takes one score, or scores of \"no\" and \"yes\"; the output has the shape " +
                    output.shape().text() + ".",
                {}, "Use the metric top1 for scores of several classes.");
  const std::vector<double> values = output.to_doubles();
  // Before or after a softmax, the difference ranks the samples alike.
  record.score = count == 1 ? values[0] : values[1] - values[0];
  if (std::isnan(record.score))
    throw Error(ErrorCode::kInvalidSamples, "The model's output is not a number (NaN).", {}, kCheckSample);
}

void Evaluation::add_reconstruction(Record& record, const Tensor& input, const Tensor& output) {
  if (input.elements() != output.elements())
    throw Error(ErrorCode::kInvalidArgument,
                "The metric reconstruction-auc compares output and input; the output has the shape " +
                    output.shape().text() + " and the input " + input.shape().text() + ".",
                {}, "It is for autoencoders; use another metric.");
  elements_ = input.elements();
  const std::vector<double> wanted = input.to_doubles(), found = output.to_doubles();
  for (size_t i = 0; i < wanted.size(); ++i) record.score += (wanted[i] - found[i]) * (wanted[i] - found[i]);
  if (std::isnan(record.score))
    throw Error(ErrorCode::kInvalidSamples, "The model's output is not a number (NaN).", {}, kCheckSample);
}

void Evaluation::merge(Evaluation&& other) {
  TERSOR_CHECK(other.metric_ == metric_ && other.group_ == group_);
  classes_ = std::max(classes_, other.classes_);
  elements_ = std::max(elements_, other.elements_);
  records_.insert(records_.end(), other.records_.begin(), other.records_.end());
  other.records_.clear();
}

std::vector<Evaluation::Record> Evaluation::in_order() const {
  std::vector<Record> records = records_;
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.sample < b.sample; });
  for (size_t i = 1; i < records.size(); ++i) TERSOR_CHECK(records[i].sample != records[i - 1].sample);
  return records;
}

ByteBuffer Evaluation::save() const {
  ByteWriter writer;
  writer.put(metric_);
  writer.put(group_);
  writer.put(classes_);
  writer.put(elements_);
  writer.put(records_);
  return writer.take();
}

Evaluation Evaluation::load(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto metric = reader.get<Metric>();
  Evaluation result(metric, reader.get<int64_t>());
  reader.read(result.classes_);
  reader.read(result.elements_);
  reader.read(result.records_);
  return result;
}

EvaluationResult Evaluation::result() const {
  const std::vector<Record> records = in_order();
  EvaluationResult result = is_binary_metric(metric_) ? area(records) : counted(records);
  result.metric = metric_;
  return result;
}

EvaluationResult Evaluation::counted(const std::vector<Record>& records) const {
  EvaluationResult result;
  result.count = static_cast<int64_t>(records.size());
  result.answers.emplace();
  int64_t correct = 0;
  double sure = 0;
  std::vector<SureAnswer> known;
  for (const Record& record : records) {
    result.answers->push_back(record.answer);
    correct += record.right ? 1 : 0;
    if (record.sure < 0) continue;
    known.push_back({record.sure, record.right});
    sure += record.sure;
  }
  if (!known.empty()) result.sureness = sure / static_cast<double>(known.size());
  if (metric_ == Metric::kAnswers) {
    result.doubt = doubt_of_unlabelled(static_cast<int64_t>(known.size()), result.sureness.value_or(0), classes_);
    return result;
  }
  result.correct = correct;
  if (result.count > 0) result.value = static_cast<double>(correct) / static_cast<double>(result.count);
  result.interval = wilson_interval(correct, result.count);
  std::vector<LabelledAnswer> labelled;
  for (const Record& record : records)
    if (record.label >= 0) labelled.push_back({record.label, record.answer});
  if (metric_ == Metric::kTop1) result.label_order = find_label_order(labelled);
  for (const int64_t shift : {int64_t{1}, int64_t{-1}}) {
    const Interval shifted = wilson_interval(
        std::count_if(records.begin(), records.end(),
                      [&](const Record& one) { return one.answer >= 0 && one.answer == one.label + shift; }),
        result.count);
    const bool falls_short = result.label_order && shifted.upper < result.label_order->interval.lower;
    if (shifted.lower > result.interval->upper && !falls_short) result.label_shift = shift;
  }
  if (classes_ <= 0) return result;
  result.chance = (metric_ == Metric::kTop5 ? 5.0 : 1.0) / static_cast<double>(classes_);
  if (metric_ == Metric::kTop5) known.clear();  // the model says how sure it is of one answer
  result.doubt = doubt_of_labelled(correct, result.count, *result.chance, known);
  return result;
}

EvaluationResult Evaluation::area(const std::vector<Record>& records) const {
  std::vector<Scored> scores;
  const auto group = static_cast<size_t>(group_);
  for (size_t begin = 0; begin < records.size(); begin += group) {
    const int64_t number = records[begin].sample / group_;
    double sum = 0;
    for (size_t i = begin; i < begin + group; ++i) {
      if (i >= records.size() || records[i].sample / group_ != number || records[i].label != records[begin].label)
        throw Error(ErrorCode::kInvalidArgument,
                    "The group " + std::to_string(number) + " of " + std::to_string(group_) + " samples is incomplete.",
                    {}, "Evaluate all samples of each group, with one label.");
      sum += records[i].score;
    }
    const double score =
        metric_ == Metric::kAuc ? sum : sum / (static_cast<double>(elements_) * static_cast<double>(group_));
    scores.push_back({score, records[begin].label == 1});
  }
  EvaluationResult result;
  result.count = static_cast<int64_t>(scores.size());
  const auto positives =
      static_cast<int64_t>(std::count_if(scores.begin(), scores.end(), [](const Scored& one) { return one.positive; }));
  if (positives == 0 || positives == result.count)
    throw Error(ErrorCode::kInvalidLabels,
                "All " + std::to_string(result.count) + " labels are " + (positives == 0 ? "0" : "1") +
                    "; the metric " + std::string(enum_word(metric_)) + " needs both kinds.",
                {}, "Take samples of both kinds, or more of them.");
  result.value = roc_area(std::move(scores), positives, result.count - positives);
  result.chance = 0.5;
  return result;
}

}  // namespace tersor::evaluate
