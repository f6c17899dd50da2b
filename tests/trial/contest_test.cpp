// SPDX-License-Identifier: Apache-2.0
// `prefer` keeps its word: the files of its words are compared, and no other one is smaller, faster or more exact.
#include <map>
#include <optional>
#include <random>

#include "core/base/json.h"
#include "core/report/report_of.h"
#include "core/trial/trial.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/run_trial.h"
#include "tests/support/shared.h"

namespace contest_test {
using namespace tersor;
using config::Preference;
using test::NamedModel;

namespace {

constexpr uint64_t kSamples = 24;
constexpr Preference kWords[] = {Preference::kBalanced, Preference::kSpeed, Preference::kAccuracy, Preference::kSize,
                                 Preference::kIntegers};

/// Some Convs of random kinds with random functions between them, and perhaps an LSTM or a Gemm over what they give.
Model random_network(uint32_t seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](uint32_t count) { return random() % count; };
  const auto channels = static_cast<int64_t>(8 * (1 + one_of(3))), side = static_cast<int64_t>(8 + 4 * one_of(4));
  NamedModel model(seed);
  model.input("x", {1, channels, side, side});
  std::string last = "x";
  const auto then = [&](const std::string& type, std::vector<std::string> inputs,
                        std::map<std::string, Attribute> attributes = {}) {
    const std::string name = last + type[0];
    model.node(type, std::move(inputs), {name}, std::move(attributes));
    last = name;
  };
  const uint32_t layers = 2 + one_of(4);
  for (uint32_t k = 0; k < layers; ++k) {
    const std::string weight = "w" + std::to_string(k), before = last;
    const bool depthwise = one_of(3) == 0, pointwise = !depthwise && one_of(2) == 0;
    const int64_t window = pointwise ? 1 : 3;
    const float reach = depthwise ? 0.5f : 2.0f / static_cast<float>(channels * window);
    model.weight(weight, {channels, depthwise ? 1 : channels, window, window}, -reach, reach);
    if (one_of(2) == 0) model.scale_along(weight, 0, 0.8);
    then("Conv", {last, weight},
         {{"pads", std::vector<int64_t>(4, window / 2)}, {"group", depthwise ? channels : int64_t{1}}});
    switch (one_of(5)) {
      case 0:
        then("Relu", {last});
        break;
      case 1: {
        const std::string gated = last;
        then("Sigmoid", {last});
        then("Mul", {gated, last});
        break;
      }
      case 2:
        then("HardSwish", {last});
        break;
      case 3:
        then("Add", {last, before});
        break;
      default:
        break;
    }
  }
  if (one_of(2) == 0) {
    model.constant("rows", Tensor::of<int64_t>(Shape{3}, std::vector<int64_t>{side, 1, channels * side}));
    model.weight("w", {1, 64, channels * side}, -0.05f, 0.05f).weight("r", {1, 64, 16});
    then("Reshape", {last, "rows"});
    model.node("LSTM", {last, "w", "r"}, {"", "h"}, {{"hidden_size", int64_t{16}}});
    last = "h";
  }
  return model.output(last).build();
}

/// Times of random operators, so that what is fastest is another thing in each.
tpc::PriceList random_prices(uint32_t seed) {
  std::mt19937 random(seed);
  const auto price = [&] { return std::pow(2.0, static_cast<double>(random() % 9) - 4); };
  tpc::PriceList list{"a runtime", "a machine", "2026-11-27", 0, {}};
  for (const char* kind : {"dense", "depthwise", "pointwise"})
    for (const char* type : {"Conv/", "QLinearConv/"}) list.prices[std::string(type) + kind].product = price();
  for (const char* type :
       {"Sigmoid", "Mul", "Add", "Relu", "HardSwish", "QLinearSigmoid", "QLinearMul", "QLinearAdd", "quantizers"})
    list.prices[type].output = price();
  list.prices["LSTM"].product = list.prices["stored"].weight = price();
  return list;
}

struct File {
  int64_t bytes = 0;
  std::optional<double> milliseconds;
  calibrate::Choices choices;
  int64_t largest_bytes = 0;  // as it was forecast
};

/// None where there is nothing to quantize, or nothing gets smaller.
std::optional<File> file_of(const Model& model, tpc::TargetPlatformCapabilities platform, Preference prefer,
                            size_t parts) {
  config::QuantizationConfig config;
  config.prefer = prefer;
  config.effort = 0;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  const std::vector<std::byte> bytes = onnx::write(model);
  const auto opened = std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes)));
  const auto job = prepare(opened, {std::move(platform), config});
  calibrate::Statistics statistics = test::statistics_of(*job, kSamples);
  const auto chosen = test::run_trial(
      job, statistics, [&](size_t k) { return test::sample(*job, k); }, parts);
  const QuantizeResult result = quantize(*chosen, statistics);
  File file{static_cast<int64_t>(result.bytes.size()), std::nullopt, statistics.choices};
  file.largest_bytes = expected_coverage(*job, static_cast<int64_t>(bytes.size())).estimated_largest_bytes;
  if (const auto time = time_forecast_of(*chosen, result)) file.milliseconds = time->quantized_ms;
  return file;
}

/// Files of all samples share a constant more or fewer than those of the others do; times are told to three digits.
constexpr int64_t kFewBytes = 256;
/// Bytes that corrections add, with their names.
constexpr double kCorrections = 1024;
constexpr double kDigits = 1.006;

/// Of how many networks of the others' words did each word gain something.
struct Gains {
  int speed = 0, accuracy = 0, size = 0;
};

void keeps_its_words(const Model& model, const tpc::TargetPlatformCapabilities& platform, Gains& gains) {
  std::map<Preference, File> files;
  for (const Preference word : kWords) files[word] = *file_of(model, platform, word, 1);
  const auto usable = [](const calibrate::Contestant& one, const calibrate::Contestant& first) {
    return one.sqnr_db && *one.sqnr_db >= std::min(20.0, *first.sqnr_db) + 1;
  };
  for (const auto& [word, file] : files) {
    if (static_cast<double>(file.bytes) > 16 * kCorrections)
      REQUIRE(static_cast<double>(file.bytes) < 1.1 * static_cast<double>(file.largest_bytes) + kCorrections);
    const auto& table = file.choices.contestants;
    INFO(to_text(to_json(file.choices)));
    if (word == Preference::kIntegers) REQUIRE(table.empty());
    if (table.empty()) continue;
    REQUIRE(table[0].prefer == "BALANCED");
    REQUIRE(table[0].sqnr_db.has_value());
    REQUIRE(std::count_if(table.begin(), table.end(), [](const auto& one) { return one.taken; }) == 1);
    const auto taken = *std::find_if(table.begin(), table.end(), [](const auto& one) { return one.taken; });
    REQUIRE(std::abs(taken.size_bytes - file.bytes) < kFewBytes);
    if (file.milliseconds) REQUIRE(*taken.quantized_ms == Approx(*file.milliseconds).epsilon(0.006));
    for (const calibrate::Contestant& one : table) {
      if (word == Preference::kAccuracy) REQUIRE(*taken.sqnr_db >= *one.sqnr_db);
      if (word == Preference::kSize && usable(one, table[0])) REQUIRE(taken.size_bytes <= one.size_bytes);
      if (word == Preference::kSpeed && usable(one, table[0])) REQUIRE(*taken.quantized_ms <= *one.quantized_ms);
    }
    if (word == Preference::kBalanced) {
      REQUIRE(*taken.sqnr_db >= *table[0].sqnr_db);
      REQUIRE(static_cast<double>(taken.size_bytes) <= 1.01 * static_cast<double>(table[0].size_bytes) + 4096);
      if (taken.quantized_ms) REQUIRE(*taken.quantized_ms <= 1.01 * *table[0].quantized_ms);
    }
    gains.speed += word == Preference::kSpeed && *taken.quantized_ms < *table[0].quantized_ms;
    gains.size += word == Preference::kSize && taken.size_bytes < table[0].size_bytes;
    gains.accuracy += word == Preference::kAccuracy && *taken.sqnr_db > *table[0].sqnr_db;
  }
  // Beside the default, whose file was one of those compared.
  const File& by_default = files[Preference::kBalanced];
  REQUIRE(files[Preference::kSize].bytes <= by_default.bytes + kFewBytes);
  if (by_default.milliseconds) REQUIRE(*files[Preference::kSpeed].milliseconds <= kDigits * *by_default.milliseconds);
}

}  // namespace

TEST_CASE("of random networks under random prices no file is smaller, faster or more exact than the one of that word") {
  tpc::TargetPlatformCapabilities platform = tpc::get_target_platform_capabilities("ort-cpu");
  Gains gains;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    INFO(seed);
    platform.prices = random_prices(seed);
    platform.other_prices.clear();
    keeps_its_words(random_network(seed), platform, gains);
  }
  // No word is another name of the default.
  REQUIRE(gains.speed >= 2);
  REQUIRE(gains.accuracy >= 2);
  REQUIRE(gains.size >= 1);
}

TEST_CASE("the default splits scales where that gains and costs no time, and not where it does") {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 1, 1}).weight("b1", {8}).weight("w2", {8, 8, 3, 3});
  model.constant("root", Tensor::scalar<float>(1.41421356f)).constant("one", Tensor::scalar<float>(1));
  model.node("Conv", {"x", "w1", "b1"}, {"c"}).node("Div", {"c", "root"}, {"d"}).node("Erf", {"d"}, {"e"});
  model.node("Add", {"e", "one"}, {"f"}).node("Mul", {"c", "f"}, {"g"}).node("Conv", {"g", "w2"}, {"y"}).output("y");
  model.scale_along("w1", 0, 1.7).scale_along("w2", 1, 0.6);
  tpc::TargetPlatformCapabilities platform = tpc::get_target_platform_capabilities("ort-cpu");
  platform.prices = random_prices(1);
  platform.other_prices.clear();
  for (const char* type : {"Conv/dense", "Conv/pointwise"}) platform.prices->prices[type].product = 10;
  for (const char* type : {"QLinearConv/dense", "QLinearConv/pointwise"}) platform.prices->prices[type].product = 1;
  const auto decided = [&](double product_by_channel) {
    platform.prices->prices["Mul"].output = platform.prices->prices["Add"].output = product_by_channel;
    return file_of(model.build(), platform, Preference::kBalanced, 1)->choices;
  };
  const calibrate::Choices free = decided(0), dear = decided(20);
  INFO(to_text(to_json(free)));
  REQUIRE(free.contestants.size() == 2);
  REQUIRE(free.contestants[1].taken);
  REQUIRE(*free.contestants[1].sqnr_db > *free.contestants[0].sqnr_db + 1);
  REQUIRE(free.changes == std::vector<std::string>{"prefer=ACCURACY"});
  INFO(to_text(to_json(dear)));
  REQUIRE(dear.contestants[0].taken);
  REQUIRE(!dear.contestants[1].sqnr_db);  // nobody ran it
}

TEST_CASE("for accuracy a recurrent layer keeps its weights in float where that gains, however good the file is") {
  NamedModel model;
  model.input("x", {5, 1, 24}).weight("w", {1, 64, 24}).weight("r", {1, 64, 16}).weight("v", {24, 8});
  model.node("LSTM", {"x", "w", "r"}, {"", "h"}, {{"hidden_size", int64_t{16}}}).node("MatMul", {"x", "v"}, {"y"});
  model.output("h").output("y");
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu");
  const File exact = *file_of(model.build(), platform, Preference::kAccuracy, 1);
  const calibrate::Choices balanced = file_of(model.build(), platform, Preference::kBalanced, 1)->choices,
                           accurate = exact.choices;
  // what the forecast said of it, before any sample
  REQUIRE(static_cast<double>(exact.bytes) == Approx(static_cast<double>(exact.largest_bytes)).epsilon(0.06));
  REQUIRE(balanced.sqnr_db > 40);
  REQUIRE(balanced.in_float.empty());
  REQUIRE(accurate.in_float == std::vector<std::string>{"w", "r"});
  REQUIRE(accurate.sqnr_db > balanced.sqnr_db + 1);
}

TEST_CASE("a word whose file begins no better than the default's may not lead, and no changes are tried") {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"}).output("y");
  const auto job = test::job_of(model.build(), "ort-cpu", test::plain_config());
  const calibrate::Statistics seen = test::statistics_of(*job, 16);
  const auto errors_of = [](double noise, size_t samples) {
    std::vector<HeldError> errors;
    for (size_t k = 0; k < samples; ++k)
      errors.push_back({k, {1, 1}, {noise, noise * (1 + 0.1 * static_cast<double>(k % 3))}});
    return errors;
  };
  Contest contest(job, {}, std::make_shared<quant::RangeMemo>());
  REQUIRE((contest.next() && contest.enters("one", seen)));
  REQUIRE(!contest.is_compared());
  REQUIRE(contest.may_lead(errors_of(1, 4)));  // there is no other yet
  contest.begin(errors_of(0.01, 16));
  contest.take(contest.begins_with(), errors_of(0.001, 16), seen);  // after its changes
  REQUIRE((contest.next() && contest.enters("two", seen)));
  REQUIRE(contest.is_compared());
  REQUIRE(contest.may_lead({}));
  REQUIRE(contest.may_lead(errors_of(0.005, 4)));  // 3 dB better than the first without changes
  REQUIRE(!contest.may_lead(errors_of(0.01, 4)));
  REQUIRE(!contest.may_lead(errors_of(0.02, 16)));
  contest.take(contest.begins_with(), errors_of(0.02, 16), seen);
  REQUIRE(!contest.next());
  const calibrate::Choices chosen = contest.best().choices;
  REQUIRE(chosen.contestants.size() == 2);
  REQUIRE(chosen.contestants[0].taken);
  REQUIRE(chosen.contestants[0].sqnr_db.has_value());
  REQUIRE(*chosen.contestants[1].sqnr_db < *chosen.contestants[0].sqnr_db);
}

TEST_CASE("what is compared is the same whatever the number of workers") {
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu");
  const auto one = file_of(random_network(3), platform, Preference::kAccuracy, 1),
             three = file_of(random_network(3), platform, Preference::kAccuracy, 3);
  REQUIRE(one->choices == three->choices);
}

TEST_CASE("the words keep to models of the zoo") {
  Gains gains;
  for (const char* name : {"mlperf-ic-resnet8", "mlperf-kws-dscnn"}) {
    const auto path = test::shared_file(std::string("zoo/") + name + "/model.onnx");
    if (!path) return;
    INFO(name);
    const OpenedModel opened = open_model(onnx::Source::of(test::read_file(*path)));
    keeps_its_words(opened.model, tpc::get_target_platform_capabilities("ort-cpu"), gains);
  }
}

}  // namespace contest_test
