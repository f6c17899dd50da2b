// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN beyond ONNX's own cases: against a plain loop in double over all their forms, and broken nodes.
#include <cmath>
#include <functional>
#include <random>

#include "core/base/error.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;

namespace {

struct Case {
  std::string type;
  int64_t gates, steps, samples, inputs, hidden;
  std::string direction;
  int64_t layout = 0;
  std::vector<int32_t> lengths = {};  // none: not given
  bool bias = false, states = false, peepholes = false, weights_given = false, linear = false, input_forget = false;
  float clip = 0;

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};

using Values = std::vector<double>;

/// The node, its inputs and what they hold; the same numbers for the same case.
struct Built {
  test::ModelBuilder builder{14};
  std::vector<Tensor> given;
  Values x, w, r, b, h0, c0, p;

  explicit Built(const Case& c) : bits_(7) {
    const int64_t d = c.directions(), all = c.gates * c.hidden;
    const auto sample_major = [&](int64_t first, int64_t second, int64_t third) {
      return c.layout == 1 ? Shape{second, first, third} : Shape{first, second, third};
    };
    std::vector<ValueId> inputs;
    const auto add = [&](bool there, const Shape& shape, bool constant, Values& values) {
      Tensor tensor = random(shape);
      const auto data = tensor.data<float>();
      if (there) values.assign(data.begin(), data.end());
      if (!there)
        inputs.push_back({});
      else if (constant)
        inputs.push_back(builder.weight(tensor));
      else
        inputs.push_back(input(tensor));
    };
    add(true, sample_major(c.steps, c.samples, c.inputs), false, x);
    add(true, {d, all, c.inputs}, !c.weights_given, w);
    add(true, {d, all, c.hidden}, !c.weights_given, r);
    add(c.bias, {d, 2 * all}, true, b);
    inputs.push_back(c.lengths.empty() ? ValueId{} : input(Tensor::of<int32_t>({c.samples}, c.lengths)));
    add(c.states, sample_major(d, c.samples, c.hidden), false, h0);
    if (c.type == "LSTM") {
      add(c.states, sample_major(d, c.samples, c.hidden), false, c0);
      add(c.peepholes, {d, 3 * c.hidden}, true, p);
    }
    test::ModelBuilder::Attributes attributes{
        {"direction", c.direction}, {"layout", c.layout}, {"hidden_size", c.hidden}};
    if (c.linear && c.type == "GRU") attributes.emplace_back("linear_before_reset", int64_t{1});
    if (c.input_forget && c.type == "LSTM") attributes.emplace_back("input_forget", int64_t{1});
    if (c.clip > 0) attributes.emplace_back("clip", c.clip);
    for (const ValueId id : builder.nodes(c.type, inputs, c.type == "LSTM" ? 3 : 2, attributes)) builder.output(id);
  }

 private:
  Tensor random(const Shape& shape) {
    Tensor tensor = Tensor::make(DType::kFloat32, shape);
    for (float& value : tensor.mutable_data<float>()) value = static_cast<float>(bits_() % 2001) / 1000.0f - 1.0f;
    return tensor;
  }
  ValueId input(const Tensor& tensor) {
    given.push_back(tensor);
    return builder.input("x" + std::to_string(given.size()), tensor.shape().dims(), tensor.dtype());
  }

  std::mt19937 bits_;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// One sample in one direction, straight from ONNX's equations.
struct Plain {
  const Case& c;
  const Built& in;
  int64_t d;

  double cut(double x) const { return c.clip > 0 ? std::min(std::max(x, -double(c.clip)), double(c.clip)) : x; }
  double bias(int64_t part, int64_t k) const {
    return in.b.empty() ? 0 : in.b[static_cast<size_t>((d * 2 + part) * c.gates * c.hidden + k)];
  }
  static double dot(const Values& weights, int64_t row, const Values& v) {
    double sum = 0;
    for (size_t k = 0; k < v.size(); ++k) sum += weights[static_cast<size_t>(row) * v.size() + k] * v[k];
    return sum;
  }
  double of_x(int64_t k, const Values& x) const { return dot(in.w, d * c.gates * c.hidden + k, x) + bias(0, k); }
  double of_h(int64_t k, const Values& h) const { return dot(in.r, d * c.gates * c.hidden + k, h) + bias(1, k); }
  double peephole(int64_t gate, int64_t k, double cell) const {
    return in.p.empty() ? 0 : in.p[static_cast<size_t>((d * 3 + gate) * c.hidden + k)] * cell;
  }

  void step(const Values& x, Values& h, Values& cell) const {
    const int64_t size = c.hidden;
    Values next(h.size()), reset(h.size());
    Values reset_h(h.size());
    for (int64_t k = 0; k < size && c.type == "GRU"; ++k) {
      const auto at = static_cast<size_t>(k);
      reset[at] = sigmoid(cut(of_x(size + k, x) + of_h(size + k, h)));
      reset_h[at] = reset[at] * h[at];
    }
    for (int64_t k = 0; k < size; ++k) {
      const auto at = static_cast<size_t>(k);
      const auto sum = [&](int64_t gate) { return of_x(gate * size + k, x) + of_h(gate * size + k, h); };
      if (c.type == "RNN") {
        next[at] = std::tanh(cut(sum(0)));
      } else if (c.type == "GRU") {
        const double z = sigmoid(cut(sum(0))),
                     of_state = c.linear ? reset[at] * of_h(2 * size + k, h) : of_h(2 * size + k, reset_h);
        next[at] = (1 - z) * std::tanh(cut(of_x(2 * size + k, x) + of_state)) + z * h[at];
      } else {
        const double i = sigmoid(cut(sum(0) + peephole(0, k, cell[at])));
        const double f = c.input_forget ? 1 - i : sigmoid(cut(sum(2) + peephole(2, k, cell[at])));
        cell[at] = f * cell[at] + i * std::tanh(cut(sum(3)));
        next[at] = sigmoid(cut(sum(1) + peephole(1, k, cell[at]))) * std::tanh(cell[at]);
      }
    }
    h = next;
  }
};

void check_close(float got, double want) {
  REQUIRE(std::fabs(got - want) < 2e-6);
}

void check_case(const Case& c) {
  const Built built(c);
  run::Runner runner(run::Program::compile(built.builder.model, ops::standard()));
  const std::vector<Tensor> outputs = runner.run(built.given);
  const int64_t directions = c.directions(), size = c.hidden;
  const auto row = [&](int64_t t, int64_t n) { return c.layout == 1 ? n * c.steps + t : t * c.samples + n; };
  const auto state_row = [&](int64_t d, int64_t n) { return c.layout == 1 ? n * directions + d : d * c.samples + n; };
  const auto slice = [](const Values& of, int64_t index, int64_t length) {
    return of.empty() ? Values(static_cast<size_t>(length), 0.0)
                      : Values(of.begin() + index * length, of.begin() + (index + 1) * length);
  };
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t n = 0; n < c.samples; ++n) {
      Values h = slice(built.h0, state_row(d, n), size), cell = slice(built.c0, state_row(d, n), size);
      const int64_t length = c.lengths.empty() ? c.steps : c.lengths[static_cast<size_t>(n)];
      const auto y = [&](int64_t t) {
        return outputs[0].data<float>().data() +
               (c.layout == 1 ? (n * c.steps + t) * directions + d : (t * directions + d) * c.samples + n) * size;
      };
      for (int64_t k = 0; k < length; ++k) {
        const int64_t t = c.direction == "reverse" || d == 1 ? length - 1 - k : k;
        Plain{c, built, d}.step(slice(built.x, row(t, n), c.inputs), h, cell);
        for (int64_t j = 0; j < size; ++j) check_close(y(t)[j], h[static_cast<size_t>(j)]);
      }
      for (int64_t t = length; t < c.steps; ++t)
        for (int64_t j = 0; j < size; ++j) REQUIRE(y(t)[j] == 0);
      for (int64_t j = 0; j < size; ++j) {
        const auto at = static_cast<size_t>(state_row(d, n) * size + j);
        check_close(outputs[1].data<float>()[at], h[static_cast<size_t>(j)]);
        if (c.type == "LSTM") check_close(outputs[2].data<float>()[at], cell[static_cast<size_t>(j)]);
      }
    }
}

/// Empty when it ran.
std::string refusal_of(const Model& model, const std::vector<Tensor>& given) {
  try {
    run::Runner(run::Program::compile(model, ops::standard())).run(given);
  } catch (const Error& error) {
    REQUIRE(error.code != ErrorCode::kInternal);
    REQUIRE(error.place.substr(0, 11) == "graph.node[");
    return error.message;
  }
  return "";
}

Case lstm() {
  return {"LSTM", 4, 5, 3, 4, 6, "forward"};
}

}  // namespace

TEST_CASE("recurrent layers follow ONNX's equations") {
  const std::vector<std::pair<std::string, int64_t>> types{{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  for (const auto& [type, gates] : types)
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (int variant = 0; variant < 64; ++variant) {
        Case c{type, gates, 5, 3, 4, 6, direction};
        c.layout = variant & 1;
        c.bias = (variant & 2) != 0;
        c.states = (variant & 4) != 0;
        c.peepholes = c.linear = c.weights_given = (variant & 8) != 0;
        if ((variant & 16) != 0) c.lengths = {5, 0, 2};
        c.input_forget = (variant & 32) != 0;
        c.clip = (variant & 32) != 0 ? 0.4f : 0;
        INFO(type << " " << direction << " " << variant);
        check_case(c);
      }
}

TEST_CASE("a recurrent layer's functions are those that its attributes name") {
  const std::vector<std::pair<std::string, std::function<double(double)>>> functions{
      {"Affine", [](double x) { return 0.5 * x + 0.25; }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.5 * x : x; }},
      {"ThresholdedRelu", [](double x) { return x > 0.5 ? x : 0; }},
      {"ScaledTanh", [](double x) { return 0.5 * std::tanh(0.25 * x); }},
      {"HardSigmoid", [](double x) { return std::min(std::max(0.5 * x + 0.25, 0.0), 1.0); }},
      {"Elu", [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"SOFTPLUS", [](double x) { return std::log1p(std::exp(x)); }},
      {"sigmoid", sigmoid},
      {"Tanh", [](double x) { return std::tanh(x); }},
  };
  const std::vector<float> x{-3, -0.75f, -0.1f, 0.2f, 0.6f, 2.5f};
  for (const auto& [name, function] : functions) {
    INFO(name);
    test::ModelBuilder builder(14);
    const ValueId in = builder.input("x", {1, 6, 1});
    const auto outputs = builder.nodes("RNN", {in, builder.floats({1, 1, 1}, {1}), builder.floats({1, 1, 1}, {0})}, 1,
                                       {{"activations", std::vector<std::string>{name}},
                                        {"activation_alpha", std::vector<float>{0.5f}},
                                        {"activation_beta", std::vector<float>{0.25f}}});
    builder.output(outputs[0]);
    run::Runner runner(run::Program::compile(builder.model, ops::standard()));
    const Tensor y = runner.run(std::vector<Tensor>{Tensor::of<float>({1, 6, 1}, x)})[0];
    for (size_t k = 0; k < x.size(); ++k) check_close(y.data<float>()[k], function(x[k]));
  }
}

TEST_CASE("a recurrent layer gives the last state alone when nothing else is read") {
  Built built(lstm());
  Model model = built.builder.model;
  const Tensor all = run::Runner(run::Program::compile(model, ops::standard())).run(built.given)[2];
  model.graph.nodes()[0].outputs[0] = ValueId{};
  model.graph.outputs = {model.graph.outputs[2]};
  REQUIRE(run::Runner(run::Program::compile(model, ops::standard())).run(built.given)[0] == all);
}

TEST_CASE("a recurrent layer that cannot be right is refused") {
  REQUIRE(refusal_of(Built(lstm()).builder.model, Built(lstm()).given).empty());
  const auto with = [](const char* key, Attribute value) {
    Built built(lstm());
    built.builder.model.graph.nodes()[0].attributes[key] = std::move(value);
    return refusal_of(built.builder.model, built.given);
  };
  CHECK(with("hidden_size", int64_t{1} << 60).find("hidden_size is 1152921504606846976") != std::string::npos);
  CHECK(with("hidden_size", int64_t{-6}).find("hidden_size is -6") != std::string::npos);
  CHECK(with("direction", std::string("sideways")).find("sideways") != std::string::npos);
  CHECK(with("direction", std::string("bidirectional")).find("R has the shape 1x24x6") != std::string::npos);
  CHECK(with("layout", int64_t{2}).find("layout is 2") != std::string::npos);
  CHECK(with("activations", std::vector<std::string>{"Tanh"}).find("names 1 functions") != std::string::npos);
  CHECK(with("activations", std::vector<std::string>(3, "Cosine")).find("\"Cosine\"") != std::string::npos);

  for (const int32_t length : {-1, 6, std::numeric_limits<int32_t>::min()}) {
    Case c = lstm();
    c.lengths = {5, length, 1};
    const Built built(c);
    CHECK(refusal_of(built.builder.model, built.given).find("the length " + std::to_string(length)) !=
          std::string::npos);
  }
  for (size_t k = 0; k < 3; ++k) {
    Built built(lstm());
    built.builder.model.graph.nodes()[0].inputs[k] = ValueId{};
    CHECK(refusal_of(built.builder.model, built.given) == "Input " + std::to_string(k) + " is missing.");
  }
}

TEST_CASE("a recurrent layer of any wrong shape is refused") {
  Case c = lstm();
  c.bias = c.states = c.peepholes = true;
  c.weights_given = true;
  const std::vector<Shape> others{{}, {0}, {1}, {1, 24, 5}, {24, 6}, {1, 3, 6, 1}, {1, 1, 1}, {0, 0, 0}, {1, 0, 0}};
  for (const Shape& other : others)
    for (size_t k = 0; k < 8; ++k) {
      Built built(c);
      Graph& graph = built.builder.model.graph;
      if (k == 4) continue;
      const Tensor tensor = Tensor::make(DType::kFloat32, other);
      for (const bool constant : {false, true}) {
        INFO("input " << k << " of shape " << other.text());
        const ValueId id = constant ? graph.add_initializer("other", tensor)
                                    : built.builder.input("other_given", other.dims(), DType::kFloat32);
        graph.nodes()[0].inputs[k] = id;
        if (!constant) built.given.push_back(tensor);
        CHECK(!refusal_of(built.builder.model, built.given).empty());
      }
    }
}
