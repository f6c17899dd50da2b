// SPDX-License-Identifier: Apache-2.0
#include "core/cost/expected_time.h"

#include "core/cost/value_types.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using test::NamedModel;

namespace {

tpc::PriceList priced(const char* name, double tpc::Price::*member, double nanoseconds) {
  tpc::PriceList list;
  list.prices[name].*member = nanoseconds;
  return list;
}

}  // namespace

TEST_CASE("a convolution's time counts its products, positions and channels beyond a multiple of 16") {
  NamedModel model;
  model.input("x", {1, 3, 10, 10}).weight("w", {20, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"}).output("y");
  const Model built = model.build();
  const double places = 8 * 8, products = places * 20 * 27;
  const auto milliseconds = [&](double tpc::Price::*member) {
    return *cost::expected_milliseconds(built, priced("Conv/dense", member, 1e6));
  };
  REQUIRE(milliseconds(&tpc::Price::node) == Approx(1));
  REQUIRE(milliseconds(&tpc::Price::input) == Approx(300));
  REQUIRE(milliseconds(&tpc::Price::output) == Approx(places * 20));
  REQUIRE(milliseconds(&tpc::Price::product) == Approx(products));
  REQUIRE(milliseconds(&tpc::Price::place) == Approx(places));
  REQUIRE(milliseconds(&tpc::Price::tail) == Approx(products * 4 / 20));
  REQUIRE(milliseconds(&tpc::Price::weight) == Approx(20 * 27));
  REQUIRE(milliseconds(&tpc::Price::column) == Approx(places * 27));
}

TEST_CASE("weights that do not stay in the cache cost more, by the bytes that they have in the file") {
  const auto milliseconds = [](bool in_integers, double cache_bytes) {
    NamedModel model;
    model.input("x", {1, 100});
    if (in_integers) {
      model.constant("q", Tensor::of<int8_t>(Shape{100, 10}, std::vector<int8_t>(1000, 1)));
      model.constant("s", Tensor::scalar(1.0f)).node("DequantizeLinear", {"q", "s"}, {"w"});
      model.node("QuantizeLinear", {"x", "s"}, {"xq"}).node("DequantizeLinear", {"xq", "s"}, {"xd"});
    } else {
      model.weight("w", {100, 10});
    }
    model.node("MatMul", {in_integers ? "xd" : "x", "w"}, {"y"}).output("y");
    tpc::PriceList list = priced(in_integers ? "MatMulIntegerToFloat" : "MatMul", &tpc::Price::weight, 1e6);
    list.prices[in_integers ? "MatMulIntegerToFloat" : "MatMul"].cold = 2e6;
    list.cache_bytes = cache_bytes;
    return *cost::expected_milliseconds(model.build(), list);
  };
  REQUIRE(milliseconds(false, 4000) == Approx(1000));
  REQUIRE(milliseconds(false, 3999) == Approx(2000));
  REQUIRE(milliseconds(true, 1000) == Approx(1000));
  REQUIRE(milliseconds(true, 999) == Approx(2000));
}

TEST_CASE("a Relu after a float Conv and the product of a Swish cost nothing, a Relu of its own does") {
  NamedModel model;
  model.input("x", {1, 2, 4, 4}).weight("w", {2, 2, 1, 1}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.node("Sigmoid", {"r"}, {"s"}).node("Mul", {"r", "s"}, {"m"}).node("Relu", {"m"}, {"y"}).output("y");
  const Model built = model.build();
  REQUIRE(*cost::expected_milliseconds(built, priced("Relu", &tpc::Price::node, 1e6)) == Approx(1));
  REQUIRE(*cost::expected_milliseconds(built, priced("Sigmoid", &tpc::Price::node, 1e6)) == Approx(1));
  REQUIRE_FALSE(cost::expected_milliseconds(built, priced("Mul", &tpc::Price::node, 1e6)).has_value());
}

TEST_CASE("open sizes are taken as pictures or short sequences, and a model whose shapes are data has no time") {
  NamedModel model;
  model.input("x", {1, 3, 10, 10}).node("Relu", {"x"}, {"y"}).output("y");
  Model built = model.build();
  Value& input = built.graph.value(built.graph.inputs[0]);
  (*input.shape)[0] = Dim{};
  (*input.shape)[2] = Dim{};
  const cost::ValueTypes types = cost::value_types(built);
  REQUIRE(types[static_cast<size_t>(built.graph.outputs[0].index)]->shape == Shape{1, 3, 224, 10});
}

TEST_CASE("a convolution whose weight is restored in each run has its products all the same") {
  for (const char* type : {"Conv", "ConvTranspose"}) {
    const auto nanoseconds = [&](bool restored) {
      NamedModel model;
      model.input("x", {1, 8, 10, 10});
      if (restored) {
        model.constant("q", Tensor::of<int8_t>(Shape{8, 8, 3, 3}, std::vector<int8_t>(576, 1)));
        model.constant("s", Tensor::scalar(1.0f)).node("DequantizeLinear", {"q", "s"}, {"w"});
      } else {
        model.weight("w", {8, 8, 3, 3});
      }
      model.node(type, {"x", "w"}, {"y"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).output("y");
      return 1e6 * *cost::expected_milliseconds(model.build(), priced("Conv/dense", &tpc::Price::product, 1));
    };
    INFO(type);
    REQUIRE(nanoseconds(false) == Approx(100 * 8 * 8 * 9));
    REQUIRE(nanoseconds(true) == Approx(nanoseconds(false)));
  }
}

TEST_CASE("a convolution along one axis or with dilations has its own price, or that of its kind as a guess") {
  NamedModel model;
  model.input("x", {1, 8, 50}).weight("w", {8, 8, 3}).weight("v", {8, 1, 3});
  model.node("Conv", {"x", "w"}, {"c"}).node("Conv", {"c", "v"}, {"y"}, {{"group", int64_t{8}}}).output("y");
  const Model line = model.build();
  tpc::PriceList list = priced("Conv/dense", &tpc::Price::node, 1e6);
  list.prices["Conv/depthwise"].node = 2e6;
  REQUIRE(*cost::expected_milliseconds(line, list) == Approx(3));
  REQUIRE(cost::unpriced_operators(line, list) == std::vector<std::string>{"Conv along one axis"});
  list.prices["Conv/dense/line"].node = 10e6;
  list.prices["Conv/depthwise/line"].node = 20e6;
  REQUIRE(*cost::expected_milliseconds(line, list) == Approx(30));
  REQUIRE(cost::unpriced_operators(line, list).empty());

  NamedModel wide;
  wide.input("x", {1, 8, 12, 12}).weight("w", {8, 8, 3, 3});
  wide.node("Conv", {"x", "w"}, {"y"}, {{"dilations", std::vector<int64_t>{2, 2}}}).output("y");
  REQUIRE(cost::unpriced_operators(wide.build(), list) == std::vector<std::string>{"Conv with dilations"});
  list.prices["Conv/dense/dilated"].node = 5e6;
  REQUIRE(*cost::expected_milliseconds(wide.build(), list) == Approx(5));
}

TEST_CASE("an operator without a price is named when it has more than a tenth of the values") {
  tpc::PriceList list = priced("Relu", &tpc::Price::node, 1e6);
  list.prices["GlobalAveragePool"].node = 1;
  const std::map<std::string, Attribute> turned{{"equation", std::string("abcd->abdc")}},
      summed{{"equation", std::string("abcd->ab")}};
  NamedModel model;
  model.input("x", {1, 2, 20, 20}).node("Relu", {"x"}, {"r"}).node("Einsum", {"r"}, {"y"}, turned).output("y");
  REQUIRE(cost::unpriced_operators(model.build(), list) == std::vector<std::string>{"Einsum"});
  NamedModel small;
  small.input("x", {1, 2, 200, 200}).node("Relu", {"x"}, {"r"}).node("GlobalAveragePool", {"r"}, {"p"});
  small.node("Einsum", {"p"}, {"y"}, summed).output("y");
  REQUIRE(cost::unpriced_operators(small.build(), list).empty());
}
