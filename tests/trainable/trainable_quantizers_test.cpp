// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/trainable_quantizers.h"

#include <string>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/trainable/quantizers/quantizers.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using quant::QuantizationMethod;
using enum QuantizationMethod;

namespace {

template <class Act>
Error error_of(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was refused");
  return {ErrorCode::kInternal, ""};
}

/// What a class of one's own takes: values to whole numbers, and a factor that it learns but must not.
class RoundingQuantizer : public BaseTrainableQuantizer {
 public:
  static const QuantizerMark kMark;
  explicit RoundingQuantizer(TrainableQuantizerActivationConfig config, bool freeze = false)
      : BaseTrainableQuantizer(kMark, std::move(config), freeze) {}

 protected:
  void initialize(std::span<const float>, const Shape&) override {
    add_variable("factor", VariableGroup::QPARAMS, {1}, true);
  }
  void quantize(std::span<const float> x, std::span<float> y, bool) override {
    std::copy(x.begin(), x.end(), y.begin());
  }
  void differentiate(std::span<const float>, std::span<const float>, std::span<float>) override {}
  std::unique_ptr<InferableQuantizer> to_inferable() const override { return nullptr; }
};
const QuantizerMark RoundingQuantizer::kMark{
    "RoundingQuantizer", QuantizationTarget::kActivation, {kSymmetric, kUniform}, "ROUND"};

}  // namespace

TEST_CASE("the documents' example configs are read, and written as they were") {
  const char* text = R"({"weights_quantization_method": "SYMMETRIC", "weights_n_bits": 8,
    "weights_quantization_params": {"threshold": 2.0}, "enable_weights_quantization": true, "weights_channels_axis": 3,
    "weights_per_channel_threshold": true, "min_threshold": 1.52587890625e-05})";
  TrainableQuantizerWeightsConfig weights;
  from_json(parse_json(text, ""), weights, "");
  TrainableQuantizerWeightsConfig same{.weights_quantization_method = kSymmetric,
                                       .weights_n_bits = 8,
                                       .weights_quantization_params = {.threshold = 2.0},
                                       .enable_weights_quantization = true,
                                       .weights_channels_axis = 3,
                                       .weights_per_channel_threshold = true,
                                       .min_threshold = kMinThreshold,
                                       .weights_quantization_candidates = std::nullopt};
  REQUIRE(weights == same);
  TrainableQuantizerWeightsConfig again;
  from_json(to_json(weights), again, "");
  REQUIRE(again == weights);

  TrainableQuantizerActivationConfig activation{.activation_quantization_method = kUniform,
                                                .activation_n_bits = 8,
                                                .activation_quantization_params = {.threshold = 2.0},
                                                .enable_activation_quantization = true,
                                                .min_threshold = kMinThreshold,
                                                .activation_quantization_candidates = std::nullopt};
  const auto quantizer = TrainableQuantizers().make(activation, "STE");
  REQUIRE(std::get<TrainableQuantizerActivationConfig>(quantizer->quantization_config()) == activation);
}

TEST_CASE("target, method and identifier find exactly one class") {
  TrainableQuantizers classes;
  for (const QuantizationMethod method : {kPowerOfTwo, kSymmetric, kUniform}) {
    const auto named = [&](QuantizationTarget target, const char* identifier) {
      return classes.get_trainable_quantizer_class(target, method, identifier).mark->class_name;
    };
    REQUIRE(named(QuantizationTarget::kWeights, "STE") == "STEWeightQATQuantizer");
    REQUIRE(named(QuantizationTarget::kActivation, "STE") == "STEActivationQATQuantizer");
    REQUIRE(named(QuantizationTarget::kWeights, "LSQ") == "LSQWeightQATQuantizer");
    REQUIRE(named(QuantizationTarget::kActivation, "LSQ") == "LSQActivationQATQuantizer");
    REQUIRE(named(QuantizationTarget::kWeights, "SOFT") == "SoftRoundingWeightGPTQQuantizer");
  }
  const Error none =
      error_of([&] { classes.get_trainable_quantizer_class(QuantizationTarget::kActivation, kSymmetric, "SOFT"); });
  REQUIRE(none.message == "There is no quantizer for Activation, SYMMETRIC and SOFT.");
  REQUIRE(none.hint.find("LSQActivationQATQuantizer (Activation; POWER_OF_TWO, SYMMETRIC, UNIFORM; LSQ)") !=
          std::string::npos);

  classes.add<RoundingQuantizer>();
  REQUIRE(classes.get_trainable_quantizer_class(QuantizationTarget::kActivation, kUniform, "ROUND").mark ==
          &RoundingQuantizer::kMark);
  REQUIRE_THROWS_AS(classes.add<RoundingQuantizer>(), Error);  // there already
  QuantizerMark twin = RoundingQuantizer::kMark;
  twin.class_name = "Twin";
  classes.add(TrainableQuantizerClass{&twin, nullptr});
  const Error several =
      error_of([&] { classes.get_trainable_quantizer_class(QuantizationTarget::kActivation, kUniform, "ROUND"); });
  REQUIRE(several.message.find("There are 2 quantizers") == 0);
}

TEST_CASE("a base class checks its mark and its config, each with a sentence") {
  TrainableQuantizers classes;
  TrainableQuantizerWeightsConfig weights;
  TrainableQuantizerActivationConfig activation;
  // The kind of the config is the mark's target.
  const auto& of_weights = classes.get_trainable_quantizer_class(QuantizationTarget::kWeights, kUniform, "STE");
  const Error kind = error_of([&] { of_weights.make(activation, false); });
  REQUIRE(kind.message ==
          "STEWeightQATQuantizer is marked for the target Weights, and was given a config of Activation.");
  // Its method is one of the mark's.
  activation.activation_quantization_method = kPowerOfTwo;
  const Error method = error_of([&] { RoundingQuantizer{activation}; });
  REQUIRE(method.message == "RoundingQuantizer does not quantize by POWER_OF_TWO.");
  REQUIRE(method.place == "activation_quantization_method");
  REQUIRE(method.hint == "Its methods are: SYMMETRIC, UNIFORM.");
  // A mark is whole.
  for (const QuantizerMark& mark : {QuantizerMark{"", QuantizationTarget::kWeights, {kUniform}, "X"},
                                    QuantizerMark{"A", QuantizationTarget::kWeights, {}, "X"},
                                    QuantizerMark{"A", QuantizationTarget::kWeights, {kUniform}, ""}})
    REQUIRE_THROWS_AS(check(mark), Error);
}

TEST_CASE("fields out of their limits are refused at their name") {
  const auto place = [](const char* field, const char* value) {
    const std::string text = "{\"" + std::string(field) + "\": " + value + "}";
    return error_of([&] {
             TrainableQuantizerWeightsConfig config;
             from_json(parse_json(text, ""), config, "");
             validate(config);
           })
        .place;
  };
  REQUIRE(place("weights_n_bits", "1") == "weights_n_bits");
  REQUIRE(place("weights_n_bits", "17") == "weights_n_bits");
  REQUIRE(place("min_threshold", "0") == "min_threshold");
  REQUIRE(place("weights_quantization_params", R"({"threshold": 0})") == "weights_quantization_params.threshold");
  REQUIRE(place("weights_quantization_params", R"({"threshold": []})") == "weights_quantization_params.threshold");
  REQUIRE(place("weights_quantization_params", R"({"range_min": 0, "range_max": 1})") ==
          "weights_quantization_params.range_min");
  REQUIRE(place("weights_quantization_params", R"({"range_max": 1})") == "weights_quantization_params");
  REQUIRE(place("weights_quantization_params", R"({"lut_values": [1]})") == "weights_quantization_params.lut_values");
  REQUIRE(place("weights_quantization_params", R"({"treshold": 1})") == "weights_quantization_params");
  REQUIRE(place("weights_quantization_candidates", "[]") == "weights_quantization_candidates");
  REQUIRE(place("weights_quantization_candidates", R"([{"n_bits": 4}, {"n_bits": 40}])") ==
          "weights_quantization_candidates[1].n_bits");
  TrainableQuantizerActivationConfig activation;
  activation.activation_quantization_params.range_min = 1;
  activation.activation_quantization_params.range_max = -1;
  REQUIRE(error_of([&] { validate(activation); }).place == "activation_quantization_params.range_min");
  activation.activation_quantization_params = {.threshold = std::vector<double>{1, 2}};
  REQUIRE(error_of([&] { validate(activation); }).place == "activation_quantization_params.threshold");
}

TEST_CASE("a candidate takes the place of bits and params") {
  TrainableQuantizerWeightsConfig config;
  using Candidate = TrainableQuantizerCandidateConfig;
  config.weights_quantization_candidates =
      std::vector<Candidate>{Candidate{4, {.threshold = 1.5}}, Candidate{2, {.threshold = 3.0}}};
  const auto second = with_candidate(config, 1);
  REQUIRE(second.weights_n_bits == 2);
  REQUIRE(second.weights_quantization_params.threshold == PerChannel(3.0));
  REQUIRE_THROWS_AS(with_candidate(config, 2), Error);
  REQUIRE_THROWS_AS(with_candidate(TrainableQuantizerActivationConfig{}, 0), Error);
}

TEST_CASE("quantizers survive the way through JSON") {
  const TrainableQuantizers classes;
  for (const QuantizerMark* mark : classes.marks())
    for (const QuantizationMethod method : mark->quantization_method) {
      TrainableQuantizerConfig config;
      if (mark->quantization_target == QuantizationTarget::kWeights) {
        TrainableQuantizerWeightsConfig own;
        own.weights_quantization_method = method;
        own.weights_n_bits = 5;
        config = own;
      } else {
        TrainableQuantizerActivationConfig own;
        own.activation_quantization_method = method;
        own.min_threshold = 0.5;
        config = own;
      }
      const auto quantizer = classes.make(config, mark->identifier, true);
      const Json json = to_json(*quantizer);
      const auto again = classes.from_config(parse_json(to_text(json), ""), "quantizer");
      REQUIRE(to_json(*again) == json);
      REQUIRE(again->mark().class_name == mark->class_name);
      REQUIRE(again->quantization_config() == quantizer->quantization_config());
    }
}

TEST_CASE("the documents' two bases are read as this one, and the identifier says which class") {
  const TrainableQuantizers classes;
  const auto read = [&](const char* name, const char* rest) {
    const std::string text = R"({"class_name": ")" + std::string(name) + "\"" + rest +
                             R"(, "config": {"quantization_config": {"weights_quantization_method": "UNIFORM"}}})";
    return classes.from_config(parse_json(text, ""), "quantizer")->mark().class_name;
  };
  REQUIRE(read("BaseKerasTrainableQuantizer", "") == "STEWeightQATQuantizer");
  REQUIRE(read("BasePytorchTrainableQuantizer", R"(, "identifier": "LSQ")") == "LSQWeightQATQuantizer");
  REQUIRE(read("BaseTrainableQuantizer", R"(, "identifier": "SOFT")") == "SoftRoundingWeightGPTQQuantizer");
  const Error unknown = error_of([&] { read("STEQuantizer", ""); });
  REQUIRE(unknown.place == "quantizer.class_name");
  REQUIRE(unknown.hint.find("STEWeightQATQuantizer") != std::string::npos);
  const Error flags = error_of([&] {
    classes.from_config(parse_json(R"({"class_name": "STEWeightQATQuantizer", "config": {"quantization_config": {},
      "is_weights": true, "is_activations": true}})",
                                   ""),
                        "");
  });
  REQUIRE(flags.place == "config.is_activations");
}

TEST_CASE("quantization parameters that are frozen are not trained") {
  const TrainableQuantizers classes;
  const std::vector<float> x{1, 2};
  const std::vector<int64_t> shape{1, 2};
  for (const bool frozen : {false, true}) {
    const auto quantizer = classes.make(TrainableQuantizerActivationConfig{}, "LSQ", frozen);
    quantizer->initialize_quantization(x, shape, "x");
    REQUIRE(quantizer->get_trainable_variables(VariableGroup::QPARAMS).size() == (frozen ? 0 : 2));
    std::vector<float> by_input(2);
    quantizer->gradient(x, x, by_input);
    REQUIRE(by_input == x);
  }
  RoundingQuantizer careless({}, true);  // it makes a variable that is trained all the same
  careless.initialize_quantization(x, shape, "x");
  REQUIRE(careless.get_trainable_variables(VariableGroup::WEIGHTS).empty());
  const Error error = error_of([&] { careless.get_trainable_variables(VariableGroup::QPARAMS); });
  REQUIRE(error.place == "freeze_quant_params");
}

TEST_CASE("a quantizer that is not enabled passes values and gradients on") {
  const TrainableQuantizers classes;
  TrainableQuantizerWeightsConfig config;
  config.enable_weights_quantization = false;
  for (const char* identifier : {"STE", "LSQ", "SOFT"}) {
    const auto quantizer = classes.make(config, identifier);
    const std::vector<float> x{0.1f, 0.2f};
    quantizer->initialize_quantization(x, std::vector<int64_t>{1, 2}, "x");
    std::vector<float> y(2), by_input(2);
    quantizer->call(x, y, true);
    REQUIRE(y == x);
    quantizer->gradient(x, x, by_input);
    REQUIRE(by_input == x);
    REQUIRE(quantizer->regularize(2, 1) == 0);
    REQUIRE(quantizer->variables().empty());
    REQUIRE(quantizer->convert2inferable() == nullptr);
  }
}

TEST_CASE("calls that do not fit are refused") {
  const TrainableQuantizers classes;
  const auto quantizer = classes.make(TrainableQuantizerWeightsConfig{}, "LSQ");
  const std::vector<float> x{1, 2, 3, 4};
  std::vector<float> y(4);
  REQUIRE_THROWS_AS(quantizer->call(x, y, true), Error);  // not initialized
  REQUIRE_THROWS_AS(quantizer->convert2inferable(), Error);
  REQUIRE_THROWS_AS(quantizer->initialize_quantization(x, std::vector<int64_t>{3}, "x"), Error);
  quantizer->initialize_quantization(x, std::vector<int64_t>{2, 2}, "x");
  quantizer->call(x, y, true);
  REQUIRE_THROWS_AS(quantizer->call(std::span(x).first(2), std::span(y).first(2), true), Error);
  REQUIRE_THROWS_AS(quantizer->call(x, std::span(y).first(2), true), Error);
  REQUIRE_THROWS_AS(quantizer->gradient(x, std::span(y).first(2), {}), Error);
  REQUIRE_THROWS_AS(quantizer->gradient(x, y, std::span(y).first(2)), Error);
  TrainableQuantizerWeightsConfig far;
  far.weights_channels_axis = 3;
  REQUIRE_THROWS_AS(classes.make(far, "LSQ")->initialize_quantization(x, std::vector<int64_t>{2, 2}, "x"), Error);
}
