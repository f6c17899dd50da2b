// SPDX-License-Identifier: Apache-2.0
#include "core/trial/try_preprocessings.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/evaluate/doubt.h"
#include "core/evaluate/interval.h"
#include "core/evaluate/label_order.h"
#include "core/run/program.h"
#include "core/samples/fixed_batch.h"
#include "core/samples/graph_preset.h"
#include "core/samples/labels.h"
#include "core/samples/model_inputs.h"
#include "core/samples/selection.h"
#include "core/simulate/program.h"

namespace tersor {

namespace {

constexpr int64_t kMostSamples = 32, kFewestTried = 8;
/// Where so many hardly tell two presets apart.
constexpr int64_t kMoreSamples = 128;
/// Multiply-adds that one preset may take.
constexpr int64_t kMostWork = int64_t{10} << 30;

/// At most so many samples, fewer where the model is so large that they would keep a person waiting.
std::vector<int64_t> samples_for(const run::Program& program, const samples::DataSet& data, int64_t most) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : samples::SampleReader(data.shared_from_this()).load(0)) shapes.push_back(tensor.shape());
  const int64_t work = std::max<int64_t>(program.macs(shapes), 1);
  return samples::spread_evenly(data.size(), std::clamp(kMostWork / work, kFewestTried, most));
}

/// How often the answers are right by class number, and how often with 1 added.
struct Right {
  int64_t as_they_are = 0, one_more = 0;
  std::vector<evaluate::LabelledAnswer> answers = {};
};

class PreprocessingTrier {
 public:
  PreprocessingTrier(std::shared_ptr<const run::Program> program, const samples::DataSet& data)
      : data_(data),
        runner_(std::move(program)),
        labels_(samples::own_labels(data)),
        chosen_(samples_for(runner_.program(), data, kMostSamples)) {}

  std::optional<PreprocessingTrial> run() {
    trial_.samples = static_cast<int64_t>(chosen_.size());
    const samples::InputSpec& input = data_.inputs()[0];
    const std::string guess(data_.guess());
    std::vector<std::string> names = samples::preset_names();
    std::erase(names, guess);
    names.insert(names.begin(), guess);
    for (const std::string& name : names)
      if (!add(name, samples::preset(name, input))) return std::nullopt;
    settle();
    if (is_close()) count_on_more();
    TriedPreprocessing best = trial_.tried[trial_.best];
    if (best.preprocessing.channels == samples::Channels::kRgb) {
      best.preprocessing.channels = samples::Channels::kBgr;
      best.preprocessing.label_offset = 0;
      std::reverse(best.preprocessing.mean.begin(), best.preprocessing.mean.end());
      std::reverse(best.preprocessing.stddev.begin(), best.preprocessing.stddev.end());
      add(best.name.substr(0, best.name.find(',')) + ", BGR", best.preprocessing);
      settle();
      if (leads_as_bgr(best.right)) count_on_more();
    }
    return std::move(trial_);
  }

 private:
  /// False where the outputs are no scores of the classes.
  bool add(const std::string& name, samples::Preprocessing preprocessing) {
    const auto right = count(preprocessing);
    if (!right) return false;
    trial_.tried.push_back({name, preprocessing, right->as_they_are});
    answers_.push_back(right->answers);
    const bool has_room = *std::max_element(labels_.begin(), labels_.end()) + 1 < trial_.classes;
    if (has_room && right->one_more > right->as_they_are) {
      preprocessing.label_offset = 1;
      trial_.tried.push_back({name + ", class numbers + 1", preprocessing, right->one_more});
      answers_.emplace_back();
    }
    return true;
  }

  std::optional<Right> count(const samples::Preprocessing& preprocessing) {
    const auto data = data_.with(preprocessing);
    if (data->size() != data_.size()) return std::nullopt;
    samples::SampleReader reader(data);
    Right right;
    for (const int64_t sample : chosen_) {
      const std::vector<Tensor> outputs = samples::first_rows(runner_.run(reader.load(sample)), data_.batch());
      if (outputs.empty() || outputs[0].elements() < static_cast<int64_t>(data_.classes().size())) return std::nullopt;
      if (outputs[0].dtype() != DType::kFloat32) return std::nullopt;
      const std::span<const float> scores = outputs[0].data<float>();
      trial_.classes = static_cast<int64_t>(scores.size());
      const auto answer = static_cast<int64_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
      const int64_t label = labels_[static_cast<size_t>(sample)];
      right.as_they_are += answer == label ? 1 : 0;
      right.one_more += answer == label + 1 ? 1 : 0;
      right.answers.push_back({label, answer});
    }
    return right;
  }

  /// Another preset falls short of the best by no more than the samples that happened to be chosen may make.
  bool is_close() const {
    int64_t most = 0;
    for (const TriedPreprocessing& one : trial_.tried) most = std::max(most, one.right);
    return std::count_if(trial_.tried.begin(), trial_.tried.end(), [&](const TriedPreprocessing& one) {
             return (most - one.right) * (most - one.right) <= trial_.samples;
           }) > 1;
  }

  /// The unusual order of channels is right at least as often as the usual one with `right` samples, which a few
  /// samples make of one that is right far more often.
  bool leads_as_bgr(int64_t right) const {
    return std::any_of(trial_.tried.begin(), trial_.tried.end(), [&](const TriedPreprocessing& one) {
      return one.preprocessing.channels == samples::Channels::kBgr && one.right >= right;
    });
  }

  void count_on_more() {
    std::vector<int64_t> more = samples_for(runner_.program(), data_, kMoreSamples);
    if (more.size() <= chosen_.size()) return;
    chosen_ = std::move(more);
    for (size_t k = 0; k < trial_.tried.size(); ++k) {
      TriedPreprocessing& one = trial_.tried[k];
      const auto right = count(one.preprocessing);
      if (right) one.right = one.preprocessing.label_offset == 1 ? right->one_more : right->as_they_are;
      if (right && !answers_[k].empty()) answers_[k] = right->answers;
    }
    trial_.samples = static_cast<int64_t>(chosen_.size());
    settle();
  }

  void settle() {
    const int64_t margin = std::max<int64_t>(2, trial_.samples / 16);
    size_t best = 0;
    for (size_t k = 1; k < trial_.tried.size(); ++k) {
      // The unusual order of channels has to stand out from the usual one as well.
      const bool is_bgr = trial_.tried[k].preprocessing.channels == samples::Channels::kBgr;
      if (trial_.tried[k].right >= trial_.tried[best].right + (is_bgr ? margin : 1)) best = k;
    }
    trial_.best = best;
    if (trial_.tried[best].right < trial_.tried[0].right + margin || trial_.is_chance()) trial_.best = 0;
    settle_in_any_order();
  }

  /// Folders in another order than the outputs hide which preset is right.
  void settle_in_any_order() {
    const double chance = 1 / static_cast<double>(std::max<int64_t>(trial_.classes, 1));
    const double most = evaluate::wilson_interval(trial_.tried[trial_.best].right, trial_.samples).upper;
    if (most > evaluate::least_of_trained(chance)) return;
    for (size_t k = 0; k < trial_.tried.size(); ++k) {
      const auto order = evaluate::find_label_order(answers_[k]);
      if (!order) continue;
      trial_.tried[k].reordered = order->held_correct;
      const TriedPreprocessing& kept = trial_.tried[trial_.best];
      const double bar =
          static_cast<double>(std::max(kept.right, kept.reordered)) / static_cast<double>(trial_.samples);
      if (k > 0 && order->interval.lower > std::max(0.5, bar)) trial_.best = k;
    }
  }

  const samples::DataSet& data_;
  run::Runner runner_;
  const std::vector<int64_t> labels_;
  std::vector<int64_t> chosen_;
  PreprocessingTrial trial_;
  std::vector<std::vector<evaluate::LabelledAnswer>> answers_;  // of each that was tried with the classes as they are
};

std::vector<const TriedPreprocessing*> best_first(const PreprocessingTrial& trial) {
  std::vector<const TriedPreprocessing*> order;
  for (const TriedPreprocessing& one : trial.tried) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->right > b->right; });
  return order;
}

}  // namespace

std::string PreprocessingTrial::text() const {
  std::string text;
  const std::vector<const TriedPreprocessing*> order = best_first(*this);
  for (const TriedPreprocessing* one : order) {
    text += (text.empty() ? "" : "; ") + one->name + ": " + std::to_string(one->right);
    if (one == order[0]) text += " of " + std::to_string(samples) + " right";
    if (one->reordered > 0) text += ", with the classes in another order " + std::to_string(one->reordered);
  }
  return text;
}

Json to_json(const PreprocessingTrial& trial) {
  Json tried = Json::array();
  for (const TriedPreprocessing* one : best_first(trial)) {
    tried.push_back({{"name", one->name}, {"right", one->right}});
    if (one->reordered > 0) tried.back()["reordered"] = one->reordered;
  }
  return {{"best", trial.tried[trial.best].name},
          {"samples", trial.samples},
          {"is_chance", trial.is_chance()},
          {"tried", std::move(tried)}};
}

bool PreprocessingTrial::is_chance() const {
  const double expected = static_cast<double>(samples) / static_cast<double>(std::max<int64_t>(classes, 1));
  return static_cast<double>(tried[best].right) < 2 * expected + 1;
}

samples::DataSetOptions data_set_options(const Model& model) {
  samples::DataSetOptions options;
  options.guess = samples::preset_of_graph(model.graph);
  options.classes = samples::class_count(model.graph);
  options.class_names = samples::class_names(model);
  const std::vector<samples::InputSpec> inputs = samples::model_inputs(model.graph);
  if (std::none_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.is_state(); })) return options;
  try {
    options.make_run = [program = simulate::compile(model, simulate::Profile::kX64)]() -> samples::RunModel {
      return
          [runner = std::make_shared<run::Runner>(program)](const std::vector<Tensor>& in) { return runner->run(in); };
    };
  } catch (const Error&) {
    return options;  // a model that cannot be run is told where it is run
  }
  return options;
}

std::optional<PreprocessingTrial> try_preprocessings(const Model& model, const samples::DataSet& data) {
  const bool has_classes = data.classes().size() > 1;
  if (!data.is_guess() || !has_classes || data.inputs().size() != 1) return std::nullopt;
  try {
    return PreprocessingTrier(simulate::compile(model, simulate::Profile::kX64), data).run();
  } catch (const Error&) {
    return std::nullopt;  // a sample or a run that fails is told where all samples are read
  }
}

}  // namespace tersor
