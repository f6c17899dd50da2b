// SPDX-License-Identifier: Apache-2.0
// gradient_ptq_config: weights, biases and ranges are trained on samples after calibration.
#include <algorithm>

#include "core/quant/even_steps.h"
#include "core/quant/quantizer.h"
#include "core/trainable/trainable_quantizers.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace tuner_test {
using namespace tersor;
using Catch::Matchers::Contains;
using test::NamedModel;

namespace {

constexpr size_t kSamples = 32;

/// Convolutions of all kinds after each other, with an Add and a Gemm at the end.
Model net() {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("a", {8, 4, 3, 3}).weight("ab", {8}).weight("d", {8, 1, 3, 3});
  model.weight("b", {8, 8, 1, 1}).weight("w", {8, 5}).weight("wb", {5});
  const std::vector<int64_t> around{1, 1, 1, 1};
  model.node("Conv", {"x", "a", "ab"}, {"p"}, {{"pads", around}}).node("Relu", {"p"}, {"pr"});
  model.node("Conv", {"pr", "d"}, {"q"}, {{"pads", around}, {"group", int64_t{8}}}).node("Relu", {"q"}, {"qr"});
  model.node("Conv", {"qr", "b"}, {"r"}).node("Add", {"r", "pr"}, {"s"}).node("GlobalAveragePool", {"s"}, {"g"});
  model.node("Flatten", {"g"}, {"f"}).node("Gemm", {"f", "w", "wb"}, {"y"}).output("y");
  return model.build();
}

config::QuantizationConfig training(config::RoundingType type) {
  config::QuantizationConfig config = test::plain_config();
  config.holdout = false;
  config.weights_n_bits = 3;
  config.gradient_ptq_config.emplace();
  config.gradient_ptq_config->rounding_type = type;
  config.gradient_ptq_config->train_ranges = config.gradient_ptq_config->train_scales = false;
  config.gradient_ptq_config->augmentation = 0;
  config.gradient_ptq_config->n_epochs = 30;
  config.gradient_ptq_config->batch_size = 8;
  return config;
}

/// Weights pass; where they are clipped is learned by channel, as a threshold.
class LearnedClip : public trainable::BaseTrainableQuantizer {
 public:
  static inline const trainable::QuantizerMark kMark{
      "LearnedClip", trainable::QuantizationTarget::kWeights, {quant::QuantizationMethod::kSymmetric}, "CLIP"};
  explicit LearnedClip(trainable::TrainableQuantizerWeightsConfig config) : BaseTrainableQuantizer(kMark, config) {}

 protected:
  void initialize(std::span<const float>, const Shape& shape) override {
    const auto& start = settings().params.threshold->values;
    blocks_ = quant::channel_blocks(shape, settings().channels_axis);
    threshold_ = &add_variable("threshold", trainable::VariableGroup::QPARAMS, {start.begin(), start.end()}, true);
    steps_.resize(start.size());
  }
  void quantize(std::span<const float> x, std::span<float> y, bool) override {
    const quant::IntegerGrid grid{settings().n_bits, true, settings().params.narrow_range};
    for (size_t c = 0; c < threshold_->value.size(); ++c) {
      const double t = threshold_->value[c];
      steps_.set(c, quant::quantizer_of(settings().method), {-t, t}, grid);
    }
    quant::fake_quantize(x, blocks_, steps_, y);
  }
  void differentiate(std::span<const float> x, std::span<const float> by_y, std::span<float> by_x) override {
    quant::for_each_element(blocks_, [&](size_t i, size_t c) {
      const bool within = std::fabs(x[i]) < threshold_->value[c];
      if (!within) threshold_->gradient[c] += std::copysign(by_y[i], by_y[i] * x[i]);
      if (!by_x.empty()) by_x[i] = within ? by_y[i] : 0;
    });
  }
  std::unique_ptr<trainable::InferableQuantizer> to_inferable() const override {
    trainable::InferableQuantizerArguments arguments;
    arguments.num_bits = settings().n_bits;
    arguments.threshold = std::vector<double>(threshold_->value.begin(), threshold_->value.end());
    arguments.per_channel = settings().channels_axis.has_value();
    if (settings().channels_axis) arguments.channel_axis = settings().channels_axis;
    arguments.narrow_range = settings().params.narrow_range;
    return std::make_unique<trainable::WeightsSymmetricInferableQuantizer>(arguments);
  }

 private:
  trainable::Variable* threshold_ = nullptr;
  quant::ChannelBlocks blocks_;
  quant::EvenSteps steps_;
};

/// Where an activation is clipped is learned, as a threshold; what lies above teaches it.
class LearnedCeiling : public trainable::BaseTrainableQuantizer {
 public:
  static inline const trainable::QuantizerMark kMark{
      "LearnedCeiling", trainable::QuantizationTarget::kActivation, {quant::QuantizationMethod::kSymmetric}, "CEILING"};
  explicit LearnedCeiling(trainable::TrainableQuantizerActivationConfig config)
      : BaseTrainableQuantizer(kMark, config) {}

 protected:
  void initialize(std::span<const float>, const Shape&) override {
    const auto& start = settings().params.threshold->values;
    threshold_ = &add_variable("threshold", trainable::VariableGroup::QPARAMS, {start.begin(), start.end()}, true);
  }
  void quantize(std::span<const float> x, std::span<float> y, bool) override { to_inferable()->call(x, y); }
  void differentiate(std::span<const float> x, std::span<const float> by_y, std::span<float> by_x) override {
    const float least = *settings().params.is_signed ? -threshold_->value[0] : 0;
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool is_above = x[i] > threshold_->value[0];
      if (is_above) sum += static_cast<double>(by_y[i]);
      if (!by_x.empty()) by_x[i] = is_above || x[i] < least ? 0 : by_y[i];
    }
    threshold_->gradient[0] += static_cast<float>(sum);
  }
  std::unique_ptr<trainable::InferableQuantizer> to_inferable() const override {
    trainable::InferableQuantizerArguments arguments;
    arguments.num_bits = settings().n_bits;
    arguments.threshold = {threshold_->value[0]};
    arguments.is_signed = *settings().params.is_signed;
    return std::make_unique<trainable::ActivationSymmetricInferableQuantizer>(arguments);
  }

 private:
  trainable::Variable* threshold_ = nullptr;
};

struct Trained {
  std::shared_ptr<const Job> job;
  calibrate::Statistics statistics;
  Draft draft;
};

Trained ready(const config::QuantizationConfig& config, const char* overrides = "[]") {
  const auto classes = std::make_shared<trainable::TrainableQuantizers>();
  classes->add<LearnedClip>();
  classes->add<LearnedCeiling>();
  Settings settings{tpc::get_target_platform_capabilities("any"), config,
                    config::parse_overrides(overrides, "overrides")};
  settings.trainable_quantizers = classes;
  const std::vector<std::byte> bytes = onnx::write(net());
  const auto opened = std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes)));
  Trained made{prepare(opened, std::move(settings)), {}, {}};
  made.statistics = test::statistics_of(*made.job, kSamples);
  made.draft = draft(*made.job, made.statistics);
  return made;
}

/// One round, its lanes dealt to that many runners from the last to the first.
void run_round(tune::Tuner& tuner, std::vector<tune::TuneRunner>& runners, const Job& job) {
  const std::vector<tune::Lane> lanes = tuner.lanes();
  for (size_t k = lanes.size(); k-- > 0;)
    runners[k % runners.size()].run(lanes[k], [&](size_t place) { return test::sample(job, place); });
  tune::TuneSums sums;
  for (tune::TuneRunner& runner : runners) sums.add(runner.sums());
  tuner.take(std::move(sums));
}

std::vector<tune::TuneRunner> runners_of(const tune::Tuner& tuner, size_t count) {
  std::vector<tune::TuneRunner> runners;
  for (size_t k = 0; k < count; ++k) runners.emplace_back(tuner);
  return runners;
}

calibrate::TunedModel train(const Trained& made, size_t workers = 1, const std::vector<int64_t>& labels = {}) {
  const auto tuner = tuner_of(*made.job, made.draft, made.statistics, labels);
  REQUIRE(tuner != nullptr);
  auto runners = runners_of(*tuner, workers);
  while (!tuner->done()) run_round(*tuner, runners, *made.job);
  return tuner->result();
}

}  // namespace

TEST_CASE("training raises the SQNR on samples that it has not seen, and the file has what it found") {
  for (const auto type : {config::RoundingType::kSoftQuantizer, config::RoundingType::kSte}) {
    config::QuantizationConfig config = training(type);
    config.gradient_ptq_config->train_ranges = type == config::RoundingType::kSte;
    Trained made = ready(config);
    const calibrate::TunedModel tuned = train(made);
    CAPTURE(tuned.tuning.before_db, tuned.tuning.after_db, tuned.tuning.first_loss, tuned.tuning.last_loss);
    CHECK(tuned.tuning.taken);
    CHECK(tuned.tuning.after_db > tuned.tuning.before_db + 0.2);
    REQUIRE(tuned.tuning.frozen.size() == 1);
    CHECK_THAT(tuned.tuning.frozen[0], Contains("24 samples") && Contains("Give 256 or more"));
    CHECK_THROWS_WITH(quantize(*made.job, made.statistics), Contains("gradient_ptq_config trains on the samples"));
    keep_tuned(tuned, made.draft, made.statistics);
    CHECK(tuner_of(*made.job, made.draft, made.statistics) == nullptr);
    const QuantizeResult result = quantize(*made.job, made.statistics);
    for (const calibrate::RoundedWeight& weight : tuned.weights) {
      const auto kernel = std::find_if(result.plan.kernels.begin(), result.plan.kernels.end(), [&](const auto& one) {
        return result.draft.model.graph.name_of(one.op.weight) == weight.name;
      });
      REQUIRE(kernel != result.plan.kernels.end());
      CHECK(kernel->codes == weight.codes);
    }
    CHECK((!config.gradient_ptq_config->train_ranges || !tuned.tuning.activations.empty()));
    CHECK(calibrate::read(calibrate::write(made.statistics)).tuned == made.statistics.tuned);
  }
}

TEST_CASE("the number of workers and the order of the lanes change nothing") {
  config::QuantizationConfig config = training(config::RoundingType::kSoftQuantizer);
  config.gradient_ptq_config->n_epochs = 3;
  for (const int everything : {0, 1}) {
    if (everything != 0) {
      config.gradient_ptq_config->augmentation = 0.5;
      config.gradient_ptq_config->train_scales = true;
      config.gradient_ptq_config->train_ranges = true;
    }
    const Trained made = ready(config);
    const calibrate::TunedModel alone = train(made);
    CHECK(train(made, 3) == alone);
  }
}

TEST_CASE("scales of weights are trained by channel, their integers staying where asked") {
  config::QuantizationConfig config = training(config::RoundingType::kSoftQuantizer);
  config.gradient_ptq_config->train_rounding = false;
  config.gradient_ptq_config->train_scales = true;
  Trained made = ready(config);
  const calibrate::TunedModel tuned = train(made);
  CHECK(tuned.tuning.after_db > tuned.tuning.before_db);
  REQUIRE(!tuned.weights.empty());
  for (const calibrate::RoundedWeight& weight : tuned.weights) {
    const auto kernel =
        std::find_if(made.draft.plan.kernels.begin(), made.draft.plan.kernels.end(),
                     [&](const auto& one) { return made.draft.model.graph.name_of(one.op.weight) == weight.name; });
    REQUIRE(kernel != made.draft.plan.kernels.end());
    CHECK(weight.scales != kernel->weight.scale);
    const Tensor codes = quant::quantize(*made.draft.model.graph.initializer(kernel->op.weight), kernel->weight);
    const std::vector<int64_t> before = codes.to_int64s();
    CHECK(std::equal(before.begin(), before.end(), weight.codes.begin(), weight.codes.end()));
  }
  keep_tuned(tuned, made.draft, made.statistics);
  CHECK_NOTHROW(quantize(*made.job, made.statistics));
}

TEST_CASE("blocks that learn by themselves come to another model than the whole") {
  config::QuantizationConfig config = training(config::RoundingType::kSoftQuantizer);
  const calibrate::TunedModel whole = train(ready(config));
  config.gradient_ptq_config->block_kernels = 1;
  const calibrate::TunedModel blocks = train(ready(config));
  CHECK(blocks.tuning.after_db >= blocks.tuning.before_db);
  CHECK(blocks.weights != whole.weights);
}

TEST_CASE("labels take part in the loss where they are asked for") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  config.weights_n_bits = 2;
  config.gradient_ptq_config->label_weight = 0.5;
  Trained made = ready(config);
  CHECK_THROWS_WITH(tuner_of(*made.job, made.draft, made.statistics), Contains("there are 0"));
  // The float model's own answers.
  std::vector<int64_t> labels;
  run::Runner exact(run::Program::compile(made.job->opened->model, ops::standard()));
  for (size_t k = 0; k < kSamples; ++k) {
    const Tensor y = exact.run(test::sample(*made.job, k))[0];
    const auto scores = y.data<float>();
    labels.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }
  const calibrate::TunedModel tuned = train(made, 1, labels);
  REQUIRE(tuned.tuning.before_cross_entropy.has_value());
  CAPTURE(*tuned.tuning.before_cross_entropy, *tuned.tuning.after_cross_entropy);
  CHECK(tuned.tuning.taken);
  CHECK(*tuned.tuning.after_cross_entropy < *tuned.tuning.before_cross_entropy);
  CHECK(tuned.tuning.after_right.has_value());
  CHECK(train(made, 3, labels) == tuned);
  std::vector<int64_t> others = labels;
  others[5] = (others[5] + 1) % 5;
  CHECK(train(made, 1, others).tuning.plan != tuned.tuning.plan);
  others[5] = 5;
  CHECK_THROWS_WITH(train(made, 1, others), Contains("the output has 5 classes"));
  keep_tuned(tuned, made.draft, made.statistics);
  CHECK(tuner_of(*made.job, made.draft, made.statistics) == nullptr);
  CHECK(tuner_of(*made.job, made.draft, made.statistics, labels) == nullptr);
  CHECK(calibrate::read(calibrate::write(made.statistics)).tuned == made.statistics.tuned);
  CHECK_NOTHROW(quantize(*made.job, made.statistics));
}

TEST_CASE("right answers on the samples held aside are counted where labels are known, and change nothing") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  config.gradient_ptq_config->n_epochs = 2;
  const Trained made = ready(config);
  const calibrate::TunedModel unwatched = train(made);
  CHECK(!unwatched.tuning.after_right.has_value());
  const std::vector<int64_t> labels(kSamples, 3);
  const auto tuner = tuner_of(*made.job, made.draft, made.statistics, labels);
  auto runners = runners_of(*tuner, 2);
  while (!tuner->done()) run_round(*tuner, runners, *made.job);
  const tune::TuneProgress now = tuner->progress();
  REQUIRE((now.before_right && now.last_right && now.before_same && now.last_same));
  CHECK((*now.last_right >= 0 && *now.last_right <= now.held));
  CHECK(*now.before_same > now.held / 2);  // of an untrained model, which is near the float one
  CHECK(now.last_db != now.before_db);
  const calibrate::TunedModel watched = tuner->result();
  CHECK(watched.tuning.before_right == now.before_right);
  CHECK(watched.tuning.plan == unwatched.tuning.plan);
  CHECK(watched.weights == unwatched.weights);
  CHECK(watched.biases == unwatched.biases);
}

TEST_CASE("training that goes on from a checkpoint comes to the same, wherever it was written") {
  config::QuantizationConfig config = training(config::RoundingType::kSoftQuantizer);
  config.gradient_ptq_config->train_scales = true;
  config.gradient_ptq_config->n_epochs = 8;  // 24 steps, of which every third is judged
  const Trained made = ready(config);
  const calibrate::TunedModel whole = train(made);
  const auto goes_on = [&](const ByteBuffer& state, size_t workers) {
    const auto tuner = tuner_of(*made.job, made.draft, made.statistics);
    tuner->restore(std::span(state.data(), state.size()));
    auto runners = runners_of(*tuner, workers);
    while (!tuner->done()) run_round(*tuner, runners, *made.job);
    return tuner->result();
  };
  // After each round, those between a step and its judgement too; in one of them training is stopped.
  const auto first = tuner_of(*made.job, made.draft, made.statistics);
  CHECK(first->bytes_per_runner() > 0);
  auto runners = runners_of(*first, 1);
  CHECK(goes_on(first->checkpoint(), 2) == whole);
  ByteBuffer state;
  while (!first->done()) {
    run_round(*first, runners, *made.job);
    state = first->checkpoint();
    CHECK(goes_on(state, 1 + static_cast<size_t>(first->progress().step % 2)) == whole);
  }
  for (const int64_t step : {4, 5, 7}) {
    const auto stopped = tuner_of(*made.job, made.draft, made.statistics);
    auto others = runners_of(*stopped, 1);
    while (stopped->progress().step < step) run_round(*stopped, others, *made.job);
    stopped->stop();
    while (!stopped->done()) run_round(*stopped, others, *made.job);
    const ByteBuffer early = stopped->checkpoint();
    CHECK(goes_on(early, 1) == whole);
    // By the recipe of what was stopped it stops there again.
    config::QuantizationConfig shorter = config;
    shorter.gradient_ptq_config->most_steps = stopped->progress().step;
    const Trained recipe = ready(shorter);
    const auto again = tuner_of(*recipe.job, recipe.draft, recipe.statistics);
    again->restore(std::span(early.data(), early.size()));
    auto last = runners_of(*again, 1);
    while (!again->done()) run_round(*again, last, *recipe.job);
    CHECK(again->result() == stopped->result());
  }
  CHECK(tune::epochs_of_checkpoint(std::span(state.data(), state.size())) == 8);
}

TEST_CASE("a checkpoint that is cut short, damaged or of another training is refused, saying what differs") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  config.gradient_ptq_config->n_epochs = 2;
  const Trained made = ready(config);
  const auto tuner = tuner_of(*made.job, made.draft, made.statistics);
  ByteBuffer state = tuner->checkpoint();
  const std::span<std::byte> bytes(state.data(), state.size());
  for (const size_t size : {size_t{0}, size_t{4}, size_t{12}, size_t{50}, bytes.size() / 2, bytes.size() - 1})
    CHECK_THROWS_WITH(tuner->restore(bytes.first(size)), Contains("no whole checkpoint"));
  CHECK_THROWS_WITH(tuner->restore(std::as_bytes(std::span("a file of another kind, long enough"))),
                    Contains("no whole checkpoint"));
  bytes[bytes.size() / 2] ^= std::byte{1};
  CHECK_THROWS_WITH(tuner->restore(bytes), Contains("no whole checkpoint"));
  bytes[bytes.size() / 2] ^= std::byte{1};
  const std::byte version = bytes[8];
  bytes[8] = std::byte{2};
  CHECK_THROWS_WITH(tuner->restore(bytes), Contains("another version"));
  bytes[8] = version;
  config.gradient_ptq_config->n_epochs = 3;
  config.gradient_ptq_config->learning_rate = 0.5;
  const Trained longer = ready(config);
  CHECK_THROWS_WITH(tuner_of(*longer.job, longer.draft, longer.statistics)->restore(bytes),
                    Contains("another training") && Contains("n_epochs 2 there and 3 here") &&
                        Contains("learning_rate null there and 0.5 here"));
  config = training(config::RoundingType::kSte);
  config.gradient_ptq_config->n_epochs = 2;
  config.weights_n_bits = 4;
  const Trained wider = ready(config);
  CHECK_THROWS_WITH(tuner_of(*wider.job, wider.draft, wider.statistics)->restore(bytes),
                    Contains("a setting of quantization differ"));
}

TEST_CASE("training that is stopped keeps the best so far, and its recipe makes the same again") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  Trained made = ready(config);
  const auto tuner = tuner_of(*made.job, made.draft, made.statistics);
  auto runners = runners_of(*tuner, 1);
  while (tuner->progress().step < 40) run_round(*tuner, runners, *made.job);
  tuner->stop();
  while (!tuner->done()) run_round(*tuner, runners, *made.job);
  const calibrate::TunedModel stopped = tuner->result();
  CHECK(stopped.tuning.steps < stopped.tuning.steps_planned);
  config.gradient_ptq_config->most_steps = stopped.tuning.steps;
  const calibrate::TunedModel again = train(ready(config));
  CHECK(again.weights == stopped.weights);
  CHECK(again.biases == stopped.biases);
}

TEST_CASE("a loss that grows without end stops training and leaves what was best") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  config.gradient_ptq_config->learning_rate_bias = 1000;
  config.gradient_ptq_config->hessian_weights = false;
  Trained made = ready(config);
  const calibrate::TunedModel tuned = train(made);
  CHECK(tuned.tuning.after_db >= tuned.tuning.before_db);
  CHECK(tuned.tuning.steps < 30 * 3);
  CHECK(tuned.tuning.steps_planned == tuned.tuning.steps);
  CHECK_THAT(tuned.tuning.frozen.back(), Contains("Try a smaller learning rate"));
  keep_tuned(tuned, made.draft, made.statistics);
  CHECK_NOTHROW(quantize(*made.job, made.statistics));
}

TEST_CASE("training that has little memory computes activations again, and comes to the same") {
  config::QuantizationConfig config = training(config::RoundingType::kSoftQuantizer);
  config.gradient_ptq_config->train_scales = config.gradient_ptq_config->train_ranges = true;
  config.gradient_ptq_config->n_epochs = 4;
  const Trained made = ready(config);
  const auto train_in = [&](int64_t memory) {
    tune::Problem problem{
        made.draft.model, made.draft.plan, *config.gradient_ptq_config, "key", "", {Shape{1, 4, 8, 8}}, kSamples, {}};
    problem.memory = memory;
    tune::Tuner tuner(problem);
    auto runners = runners_of(tuner, 1);
    while (!tuner.done()) run_round(tuner, runners, *made.job);
    return std::pair(tuner.bytes_per_runner(), tuner.result());
  };
  const auto [bytes, tuned] = train_in(int64_t{1} << 30);
  const auto [fewer, again] = train_in(1);
  CHECK(fewer < bytes);
  CHECK(again == tuned);
}

TEST_CASE("weights in blocks stay as they are, and a model of nothing else says so") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  config.enable_activation_quantization = false;
  config.weights_block_size = 16;
  Trained made{test::job_of(net(), "any", config), {}, {}};
  made.statistics = test::statistics_of(*made.job, kSamples);
  made.draft = draft(*made.job, made.statistics);
  const calibrate::TunedModel tuned = train(made);
  const auto& frozen = tuned.tuning.frozen;
  const auto says = [](const std::string& one) { return one.find("those of blocks") != std::string::npos; };
  CHECK(std::any_of(frozen.begin(), frozen.end(), says));
  keep_tuned(tuned, made.draft, made.statistics);
  CHECK_NOTHROW(quantize(*made.job, made.statistics));
}

TEST_CASE("an operator without gradient is named as the model has it, and what lies before it stays") {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("a", {8, 4, 3, 3}).weight("b", {8, 8, 1, 1});
  model.constant("axis", Tensor::of<int64_t>(Shape{}, std::vector<int64_t>{2}));
  model.node("Conv", {"x", "a"}, {"p"}).node("Relu", {"p"}, {"pr"});
  model.node("CumSum", {"pr", "axis"}, {"s"}).node("Conv", {"s", "b"}, {"y"}).output("y");
  Trained made{test::job_of(model.build(), "any", training(config::RoundingType::kSte)), {}, {}};
  made.statistics = test::statistics_of(*made.job, kSamples);
  made.draft = draft(*made.job, made.statistics);
  const calibrate::TunedModel tuned = train(made);
  CHECK_THAT(tuned.tuning.frozen.at(0), Contains("\"s_node\" (CumSum)"));
}

TEST_CASE("with too few samples training says how many it needs") {
  Trained made{test::job_of(net(), "any", training(config::RoundingType::kSte)), {}, {}};
  made.statistics = test::statistics_of(*made.job, 10);
  made.draft = draft(*made.job, made.statistics);
  CHECK_THROWS_WITH(tuner_of(*made.job, made.draft, made.statistics), Contains("at least 16 samples"));
}

TEST_CASE("trainable quantizers of one's own train the weights of chosen layers, and the file has what they become") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  const auto chosen = [](const std::string& name) {
    return R"([{"type": "Conv", "trainable_quantizer": ")" + name + R"("}])";
  };
  for (const std::string name : {"LearnedClip"}) {
    CAPTURE(name);
    Trained made = ready(config, chosen(name).c_str());
    const calibrate::TunedModel tuned = train(made);
    CAPTURE(tuned.tuning.before_db, tuned.tuning.after_db);
    CHECK(tuned.tuning.after_db > tuned.tuning.before_db + 0.2);
    CHECK(train(made, 3) == tuned);
    const Trained usual = ready(config);
    CHECK(tuned.tuning.before_db == train(usual).tuning.before_db);
    keep_tuned(tuned, made.draft, made.statistics);
    const QuantizeResult result = quantize(*made.job, made.statistics);
    size_t moved = 0;
    for (const ptq::KernelPlan& kernel : result.plan.kernels) {
      const std::string weight = result.draft.model.graph.name_of(kernel.op.weight);
      const auto& all = tuned.weights;
      const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == weight; });
      REQUIRE(found != all.end());
      CHECK(kernel.codes == found->codes);
      CHECK(kernel.weight.scale == found->scales);
      const auto before = std::find_if(usual.draft.plan.kernels.begin(), usual.draft.plan.kernels.end(),
                                       [&](const auto& one) { return one.node == kernel.node; });
      moved += kernel.weight.scale != before->weight.scale ? 1 : 0;
    }
    CHECK((moved > 0) == (name == "LearnedClip"));
    CHECK(config::write_recipe(result.recipe).find("\"trainable_quantizer\": \"" + name) != std::string::npos);
    // In the middle of it, with the variables and how they move.
    const Trained again = ready(config, chosen(name).c_str());
    const auto begun = tuner_of(*again.job, again.draft, again.statistics),
               rest = tuner_of(*again.job, again.draft, again.statistics);
    auto runners = runners_of(*begun, 1), others = runners_of(*rest, 2);
    while (begun->progress().step < 20) run_round(*begun, runners, *again.job);
    const ByteBuffer state = begun->checkpoint();
    rest->restore(std::span(state.data(), state.size()));
    while (!rest->done()) run_round(*rest, others, *again.job);
    CHECK(rest->result() == tuned);
    const auto other = ready(config);
    CHECK_THROWS_WITH(
        tuner_of(*other.job, other.draft, other.statistics)->restore(std::span(state.data(), state.size())),
        Contains("another training"));
  }
  CHECK_THROWS_WITH(ready(config, chosen("LearnedClap").c_str()), Contains("\"LearnedClip\""));
  config.gradient_ptq_config.reset();
  CHECK_THROWS_WITH(ready(config, chosen("LearnedClip").c_str()), Contains("nothing is trained"));
}

TEST_CASE("trainable quantizers of one's own train the activations of chosen layers, alone or beside their weights") {
  config::QuantizationConfig config = training(config::RoundingType::kSte);
  config.gradient_ptq_config->train_rounding = config.gradient_ptq_config->train_bias = false;
  config.gradient_ptq_config->learning_rate_ranges = 0.004;
  config.weights_n_bits = 8;
  config.activation_n_bits = 3;
  config.activation_quantization_method = quant::QuantizationMethod::kSymmetric;
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kNoClipping;
  const std::string weights = R"({"type": "Conv", "trainable_quantizer": "LearnedClip"})";
  for (const std::string name : {"LearnedCeiling", "LSQActivationQATQuantizer"}) {
    const std::string of_output = R"({"type": "Conv", "trainable_quantizer": ")" + name + R"("})";
    for (const std::string& overrides : {"[" + of_output + "]", "[" + of_output + ", " + weights + "]"}) {
      CAPTURE(overrides);
      Trained made = ready(config, overrides.c_str());
      const calibrate::TunedModel tuned = train(made);
      CAPTURE(tuned.tuning.before_db, tuned.tuning.after_db);
      CHECK(tuned.tuning.after_db > tuned.tuning.before_db);
      CHECK(train(made, 3) == tuned);
      // of the three Convs, two of which end in a Relu
      REQUIRE(tuned.tuning.activations.size() == 3);
      CHECK(tuned.weights.size() == (overrides.find("LearnedClip") == std::string::npos ? 0 : 3));
      keep_tuned(tuned, made.draft, made.statistics);
      const QuantizeResult result = quantize(*made.job, made.statistics);
      const Graph& graph = result.draft.model.graph;
      const Draft before = ready(config).draft;
      size_t moved = 0;
      for (const calibrate::TunedActivation& one : tuned.tuning.activations) {
        const ptq::ActivationPlan* const found = result.plan.find(*graph.find(one.name));
        REQUIRE(found != nullptr);
        CHECK(found->params.scale[0] == one.scale);
        moved += one.scale != before.plan.find(*graph.find(one.name))->params.scale[0] ? 1 : 0;
      }
      CHECK(moved > 0);
      const Trained again = ready(config, overrides.c_str());
      const auto begun = tuner_of(*again.job, again.draft, again.statistics),
                 rest = tuner_of(*again.job, again.draft, again.statistics);
      auto runners = runners_of(*begun, 1), others = runners_of(*rest, 2);
      while (begun->progress().step < 20) run_round(*begun, runners, *again.job);
      const ByteBuffer state = begun->checkpoint();
      rest->restore(std::span(state.data(), state.size()));
      while (!rest->done()) run_round(*rest, others, *again.job);
      CHECK(rest->result() == tuned);
    }
  }
  const Trained none = ready(config, R"([{"type": "Conv", "trainable_quantizer": "LearnedCeiling"},
                                         {"type": "Conv", "config": {"enable_activation_quantization": false}}])");
  CHECK_THROWS_WITH(train(none), Contains("is not quantized") && Contains("LearnedCeiling"));
}

}  // namespace tuner_test
