// SPDX-License-Identifier: Apache-2.0
// How good a model's outputs are. An Evaluation is fed with the outputs of single samples, in any order and by any
// number of workers; merged in any grouping it gives the same result, because it keeps one record for each sample and
// adds up in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/fields.h"
#include "core/base/names.h"
#include "core/evaluate/doubt.h"
#include "core/evaluate/interval.h"
#include "core/evaluate/label_order.h"
#include "core/tensor/tensor.h"

namespace tersor::evaluate {

enum class Metric {
  kTop1,               // the largest output is the label's
  kTop5,               // the label's output is among the five largest
  kAuc,                // a score for "1 or 0": area under the ROC curve, ties count half
  kReconstructionAuc,  // as kAuc, the score being the mean squared difference of input and output over a group of
                       // samples
  kAnswers,            // no labels: only which output is the largest
};

struct Agreement {
  int64_t same = 0;
  int64_t count = 0;

  static constexpr auto fields() {
    return std::make_tuple(
        field("same", &Agreement::same, "Answers that are the same."),
        field("count", &Agreement::count,
              "Answers compared: one for each sample, or for each row of a sample that is a batch."));
  }
};

struct EvaluationResult {
  Metric metric = Metric::kTop1;
  int64_t count = 0;  // samples; groups for kReconstructionAuc
  std::optional<int64_t> correct;
  std::optional<double> value;
  std::optional<Interval> interval;
  std::optional<double> chance;
  std::optional<double> sureness;
  std::optional<Doubt> doubt;
  std::optional<int64_t> label_shift;
  std::optional<LabelOrder> label_order;
  std::optional<Agreement> agreement;
  std::optional<std::vector<int64_t>> answers;  // in the order of the samples; -1: an output is not a number

  static constexpr auto fields() {
    return std::make_tuple(
        field("metric", &EvaluationResult::metric, "What was measured."),
        field("count", &EvaluationResult::count, "Samples evaluated."),
        field("correct", &EvaluationResult::correct, "Right answers; null for a metric that does not count them."),
        field("value", &EvaluationResult::value, "0 to 1; null without labels."),
        field("interval", &EvaluationResult::interval, "Wilson score interval; null for a metric that has none."),
        field("chance", &EvaluationResult::chance, "What guessing reaches, 0 to 1; null without labels."),
        field("sureness", &EvaluationResult::sureness,
              "How sure the model is of its answers on average, 0 to 1; null where the outputs do not tell."),
        field(
            "doubt", &EvaluationResult::doubt,
            "Why samples, preprocessing or labels probably do not fit the model; null where nothing speaks for that."),
        field("label_shift", &EvaluationResult::label_shift,
              "1 or -1 where that, added to every label, would make significantly more answers right; else null."),
        field("label_order", &EvaluationResult::label_order,
              "The order of the classes that makes significantly more answers right; null where there is none."),
        field("agreement", &EvaluationResult::agreement, "Same answer as the reference; null without one."),
        field("answers", &EvaluationResult::answers,
              "Index of the largest output by sample; null where that says nothing."));
  }
};

/// Both results hold answers for the same samples; absent where one has none.
std::optional<Agreement> agreement(const EvaluationResult& reference, const EvaluationResult& other);

class Evaluation {
 public:
  /// `group` consecutive samples make one recording, for kReconstructionAuc; 1 otherwise.
  explicit Evaluation(Metric metric, int64_t group = 1);

  /// One sample of batch 1: its number in the data set (each comes once), its label (of its group; label_offset
  /// included; absent only for kAnswers), the model's inputs and outputs. Looks at the first output: a score for each
  /// class in any shape, or one whole number, the class itself. Error kInvalidLabels when the output cannot have the
  /// label; kInvalidArgument when the metric does not fit the output.
  void add(int64_t sample, std::optional<int64_t> label, std::span<const Tensor> inputs,
           std::span<const Tensor> outputs);

  /// Takes over what another worker saw. Same metric and group.
  void merge(Evaluation&& other);
  /// As bytes, for a worker that shares no memory, and back. Error kInvalidArgument for other bytes.
  ByteBuffer save() const;
  static Evaluation load(std::span<const std::byte> bytes);

  /// Error kInvalidLabels where an AUC has labels of one kind only, kInvalidArgument where a group is incomplete.
  EvaluationResult result() const;

 private:
  struct Record {
    int64_t sample = 0;
    int64_t label = 0;
    int64_t answer = -1;
    bool right = false;
    double score = 0;
    double sure = -1;  // of its answer; -1: not known

    static constexpr auto fields() {
      return members(&Record::sample, &Record::label, &Record::answer, &Record::right, &Record::score, &Record::sure);
    }
  };
  void add_classes(Record& record, const Tensor& output);
  void add_score(Record& record, const Tensor& output) const;
  void add_reconstruction(Record& record, const Tensor& input, const Tensor& output);
  std::vector<Record> in_order() const;
  EvaluationResult counted(const std::vector<Record>& records) const;
  EvaluationResult area(const std::vector<Record>& records) const;

  Metric metric_;
  int64_t group_;
  int64_t classes_ = 0;   // outputs of one sample; 0: unknown, the output is the class itself
  int64_t elements_ = 0;  // of one reconstruction
  std::vector<Record> records_;
};

}  // namespace tersor::evaluate

template <>
struct tersor::EnumWords<tersor::evaluate::Metric> {
  using E = tersor::evaluate::Metric;
  static constexpr const char* kind = "metric";
  static constexpr std::pair<E, std::string_view> words[] = {{E::kTop1, "top1"},
                                                             {E::kTop5, "top5"},
                                                             {E::kAuc, "auc"},
                                                             {E::kReconstructionAuc, "reconstruction-auc"},
                                                             {E::kAnswers, "answers"}};
};
