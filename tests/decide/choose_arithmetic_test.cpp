// SPDX-License-Identifier: Apache-2.0
#include "core/decide/choose_arithmetic.h"

#include "core/report/report_of.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;
using config::Preference;
using test::NamedModel;

namespace {

/// A Conv, a Swish and a Conv over a picture of that many places a side.
Model swish(int64_t side) {
  NamedModel model;
  model.input("x", {1, 16, side, side}).weight("w1", {16, 16, 3, 3}).weight("w2", {16, 16, 3, 3});
  model.node("Conv", {"x", "w1"}, {"c"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).node("Sigmoid", {"c"}, {"s"});
  model.node("Mul", {"c", "s"}, {"m"}).node("Conv", {"m", "w2"}, {"y"}).output("y");
  return model.build();
}

/// A list in which every operator costs so much for each element or product, in float and in integers.
tpc::PriceList prices(double conv, double integer_conv, double gate, double integer_gate, double quantizers) {
  tpc::PriceList list{"a runtime", "a machine", "2026-11-27", 0, {}};
  list.prices["Conv/dense"].product = conv;
  list.prices["QLinearConv/dense"].product = integer_conv;
  list.prices["Sigmoid"].output = list.prices["Mul"].output = gate;
  list.prices["QLinearSigmoid"].output = list.prices["QLinearMul"].output = integer_gate;
  list.prices["quantizers"].output = quantizers;
  list.prices["stored"].weight = 1;
  return list;
}

/// `form`: of weights that float arithmetic reads.
std::shared_ptr<const Job> job_with(const Model& model, const tpc::PriceList& list, Preference prefer,
                                    tpc::FloatWeights form = tpc::FloatWeights::kFold,
                                    std::vector<tpc::PriceList> others = {}) {
  const std::vector<std::byte> bytes = onnx::write(model);
  config::QuantizationConfig config = test::plain_config();
  config.prefer = prefer;
  tpc::TargetPlatformCapabilities platform = tpc::get_target_platform_capabilities("ort-cpu");
  platform.prices = list;
  platform.other_prices = std::move(others);
  platform.export_rules.float_weights = form;
  return prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), {platform, config});
}

size_t in_float(const Job& job, const char* type) {
  size_t count = 0;
  for (const ptq::FloatChoice& choice : job.arithmetic.in_float)
    count += job.model.graph.find(choice.node)->is(type) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a Swish runs in integers where that saves time, and in float where it does not or accuracy counts") {
  const Model model = swish(32);
  const auto dear_in_float = prices(1, 0.2, 50, 1, 1), dear_in_integers = prices(1, 0.2, 1, 50, 1);
  REQUIRE(in_float(*job_with(model, dear_in_float, Preference::kBalanced), "Mul") == 0);
  REQUIRE(in_float(*job_with(model, dear_in_integers, Preference::kBalanced), "Mul") == 1);
  REQUIRE(in_float(*job_with(model, dear_in_float, Preference::kAccuracy), "Mul") == 1);
  REQUIRE(in_float(*job_with(model, dear_in_integers, Preference::kIntegers), "Sigmoid") == 1);
  REQUIRE(in_float(*job_with(model, dear_in_integers, Preference::kIntegers), "Conv") == 0);
}

TEST_CASE("an integer Sigmoid and Mul become the runtime's QLinearSigmoid and QLinearMul") {
  const auto job = job_with(swish(32), prices(1, 0.2, 50, 1, 1), Preference::kBalanced);
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  const simulate::FusedModel fused = simulate::fuse(result.model, simulate::Profile::kX64);
  for (const char* type : {"QLinearSigmoid", "QLinearMul"}) {
    const auto& nodes = fused.model.graph.nodes();
    REQUIRE(std::count_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.op_type == type; }) == 1);
  }
  REQUIRE(test::sqnr(*job, result.model) > 25);
}

namespace {

/// A dense and a depthwise Conv with an Exp between them, which the runtime has in float alone.
Model two_kinds() {
  NamedModel model;
  model.input("x", {1, 16, 32, 32}).weight("w1", {16, 16, 3, 3}).weight("w2", {16, 1, 3, 3});
  const std::vector<int64_t> pads{1, 1, 1, 1};
  model.node("Conv", {"x", "w1"}, {"c"}, {{"pads", pads}}).node("Exp", {"c"}, {"e"});
  return model.node("Conv", {"e", "w2"}, {"y"}, {{"pads", pads}, {"group", int64_t{16}}}).output("y").build();
}

tpc::PriceList prices_of_two_kinds(double integer_conv) {
  tpc::PriceList list = prices(1, integer_conv, 1, 1, 1);
  list.prices["Conv/depthwise"].product = list.prices["QLinearConv/depthwise"].product = 1;
  list.prices["Exp"].output = 1;
  return list;
}

}  // namespace

TEST_CASE(
    "a kernel stays in float where quantizers cost more than it saves, but the file never loses its last integers") {
  const auto form = tpc::FloatWeights::kDequantize;
  const Model model = two_kinds();
  const auto speed = job_with(model, prices_of_two_kinds(0.2), Preference::kSpeed, form);
  REQUIRE(in_float(*speed, "Conv") == 1);
  REQUIRE(in_float(*job_with(model, prices_of_two_kinds(0.2), Preference::kIntegers, form), "Conv") == 0);

  const auto hopeless = job_with(model, prices_of_two_kinds(10), Preference::kSpeed, form);
  REQUIRE(in_float(*hopeless, "Conv") == 0);
  const QuantizeResult result = quantize(*hopeless, test::statistics_of(*hopeless));
  const auto forecast = time_forecast_of(*hopeless, result);
  REQUIRE(forecast.has_value());
  REQUIRE(forecast->times_as_fast < 1);
  REQUIRE(forecast->sentence.find("not expected to run faster") != std::string::npos);
}

TEST_CASE(
    "a kernel that is quicker in float has its weight in integers all the same, where the runtime restores it once") {
  const Model model = two_kinds();
  const auto job = job_with(model, prices_of_two_kinds(10), Preference::kBalanced);
  REQUIRE(in_float(*job, "Conv") == 2);
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  REQUIRE(test::count(result.model, "QuantizeLinear") == 0);
  REQUIRE(test::count(result.model, "DequantizeLinear") == 0);
  // Of the depthwise Conv's 144 numbers the operators that restore them would take more than 8 bits save.
  REQUIRE(test::count(result.model, "Cast") == 1);
  const Tensor* const codes = result.model.graph.initializer(*result.model.graph.find("w1_quantized"));
  REQUIRE(codes != nullptr);
  REQUIRE(codes->dtype() == DType::kInt8);
  REQUIRE(test::sqnr(*job, result.model) > 35);
  const auto forecast = time_forecast_of(*job, result);
  REQUIRE(forecast.has_value());
  REQUIRE(forecast->times_as_fast == Approx(1).epsilon(0.01));

  // What is quicker in float is more exact there too.
  const auto exact = job_with(model, prices_of_two_kinds(10), Preference::kAccuracy);
  REQUIRE(in_float(*exact, "Conv") == in_float(*job, "Conv"));
  REQUIRE(in_float(*job_with(model, prices_of_two_kinds(10), Preference::kIntegers), "Conv") == 0);
}

TEST_CASE("with prices of several processors the division is taken that loses least where it loses most") {
  // Of 147,456 products in the Conv; the Exp after it has to be in float. 1 ns each in float.
  const Model model = two_kinds();
  const auto in_integers = [&](std::vector<double> integer_convs) {
    std::vector<tpc::PriceList> lists;
    for (const double price : integer_convs) lists.push_back(prices_of_two_kinds(price));
    const tpc::PriceList first = lists[0];
    lists.erase(lists.begin());
    const auto job = job_with(model, first, Preference::kBalanced, tpc::FloatWeights::kFold, std::move(lists));
    return in_float(*job, "Conv") == 1;  // the dense one; the depthwise one costs the same either way
  };
  REQUIRE(in_integers({0.2}));
  REQUIRE(!in_integers({1.4}));
  // It gains 0.8 on one processor and loses 0.4 on the other, in whatever order they stand; then 0.2 and 0.8.
  REQUIRE(in_integers({0.2, 1.4}));
  REQUIRE(in_integers({1.4, 0.2}));
  REQUIRE(!in_integers({0.8, 1.8}));
  REQUIRE(!in_integers({1.8, 0.8}));
  REQUIRE(!in_integers({0.8, 0.8, 1.8}));  // however many gain

  const auto job = job_with(model, prices_of_two_kinds(0.2), Preference::kBalanced, tpc::FloatWeights::kFold,
                            {prices_of_two_kinds(0.5)});
  const auto forecast = time_forecast_of(*job, quantize(*job, test::statistics_of(*job)));
  REQUIRE(forecast->elsewhere.size() == 1);
  REQUIRE(forecast->times_as_fast > forecast->elsewhere[0].times_as_fast);
  REQUIRE(forecast->elsewhere[0].times_as_fast > 1.05);
}

TEST_CASE("a float kernel between quantized ones is kept from the runtime's own quantizers, and its weight is stored") {
  NamedModel model;
  model.input("x", {1, 16, 16, 16})
      .weight("w1", {16, 16, 3, 3})
      .weight("w2", {16, 16, 1, 1})
      .weight("w3", {16, 16, 3, 3});
  const std::vector<int64_t> pads{1, 1, 1, 1};
  model.node("Conv", {"x", "w1"}, {"a"}, {{"pads", pads}}).node("Conv", {"a", "w2"}, {"b"});
  model.node("Conv", {"b", "w3"}, {"c"}, {{"pads", pads}}).node("Conv", {"a", "w3"}, {"d"}, {{"pads", pads}});
  model.node("Add", {"c", "d"}, {"y"}).output("y");
  tpc::PriceList list = prices(1, 0.1, 1, 1, 0.5);
  list.prices["Conv/pointwise"].product = 1;
  list.prices["QLinearConv/pointwise"].product = 100;
  const auto job = job_with(model.build(), list, Preference::kBalanced);
  REQUIRE(in_float(*job, "Conv") == 1);
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  REQUIRE(test::sqnr(*job, result.model) > 25);
  const simulate::FusedModel fused = simulate::fuse(result.model, simulate::Profile::kX64);
  REQUIRE(test::count(fused.model, "Conv") >= 1);
}

TEST_CASE("weights of a recurrent layer stay in float where restoring them takes longer than the layer") {
  NamedModel model;
  model.input("x", {4, 1, 32}).weight("w", {1, 128, 32}).weight("r", {1, 128, 32}).weight("k", {32, 32});
  model.node("LSTM", {"x", "w", "r"}, {"", "h"}, {{"hidden_size", int64_t{32}}});
  model.constant("shape", Tensor::of<int64_t>(Shape{2}, std::vector<int64_t>{1, 32}));
  model.node("Reshape", {"h", "shape"}, {"f"}).node("MatMul", {"f", "k"}, {"y"}).output("y");
  tpc::PriceList list = prices(1, 1, 1, 1, 1);
  list.prices["LSTM"].product = 0.01;
  REQUIRE(job_with(model.build(), list, Preference::kBalanced, tpc::FloatWeights::kDequantize)
              ->arithmetic.constants_float.size() == 1);
  REQUIRE(job_with(model.build(), list, Preference::kIntegers, tpc::FloatWeights::kDequantize)
              ->arithmetic.constants_float.empty());
  REQUIRE(job_with(model.build(), list, Preference::kBalanced)->arithmetic.constants_float.empty());
  list.prices["stored"].weight = 1e-6;
  REQUIRE(job_with(model.build(), list, Preference::kBalanced, tpc::FloatWeights::kDequantize)
              ->arithmetic.constants_float.empty());
}

TEST_CASE("a platform without prices leaves what may be either in float, and nothing else") {
  const auto job = test::job_of(swish(32), "ort-cpu-s8s8", test::plain_config());
  REQUIRE(in_float(*job, "Conv") == 0);
}
