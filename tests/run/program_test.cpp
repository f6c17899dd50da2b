// SPDX-License-Identifier: Apache-2.0
#include "core/run/program.h"

#include <map>
#include <random>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

namespace program_test {
using namespace tersor;
using tersor::test::ModelBuilder;

namespace {

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

Tensor random_tensor(Shape shape, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(bits() >> 8) / 8388608.0f - 1.0f;
  return Tensor::of<float>(std::move(shape), std::span<const float>(values));
}

std::vector<Tensor> results_of(const Model& model, std::vector<Tensor> inputs, const run::ProgramOptions& options = {},
                               run::Observer* observer = nullptr) {
  return run::Runner(run::Program::compile(model, ops::standard(), options)).run(inputs, observer);
}

std::vector<float> floats(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

Error error_of(const Model& model, std::vector<Tensor> inputs = {}) {
  try {
    results_of(model, std::move(inputs));
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error(ErrorCode::kInternal, "");
}

/// Conv 3 -> 4 channels, Relu, Conv 4 -> 4, Add, GlobalAveragePool: a small residual network.
struct Residual {
  ModelBuilder builder;
  ValueId x, first, relu, second, sum;

  Residual() {
    x = builder.input("x", {-1, 3, 6, 5});
    const ValueId w1 = builder.weight(random_tensor({4, 3, 3, 3}, 1)),
                  w2 = builder.weight(random_tensor({4, 4, 3, 3}, 2));
    const ModelBuilder::Attributes same{{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
    first = builder.node("Conv", {x, w1}, same);
    relu = builder.node("Relu", {first});
    second = builder.node("Conv", {relu, w2}, same);
    sum = builder.node("Add", {second, relu});
    builder.output(builder.node("GlobalAveragePool", {sum}));
  }
};

/// What the observer was shown, as plain tensors.
struct Recorder : run::Observer {
  std::map<ValueId, std::vector<float>> seen;
  std::vector<size_t> steps;

  void observe(const run::ObservedTensor& tensor) override {
    std::vector<float> plain(tensor.data.size());
    ops::convert_layout({DType::kFloat32, tensor.shape, tensor.layout}, tensor.data.data(), ops::Layout::kPlain,
                        plain.data());
    REQUIRE(seen.count(tensor.value) == 0);
    seen[tensor.value] = std::move(plain);
  }
  void step_done(size_t node_index) override { steps.push_back(node_index); }
};

}  // namespace

TEST_CASE("a convolution gives the sums of its windows") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1, 1, 3, 3}), w = builder.floats({1, 1, 2, 2}, {1, 10, 100, 1000});
  builder.output(builder.node("Conv", {x, w, builder.floats({1}, {0.5f})}));
  const auto y = results_of(builder.model, {Tensor::of<float>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})});
  REQUIRE(floats(y[0]) == std::vector<float>{5421.5f, 6532.5f, 8754.5f, 9865.5f});
}

TEST_CASE("a sample's numbers do not depend on the batch") {
  Residual net;
  const Tensor batch = random_tensor({3, 3, 6, 5}, 7);
  const auto program = run::Program::compile(net.builder.model, ops::standard());
  run::Runner runner(program);
  const Tensor all = runner.run(std::vector<Tensor>{batch})[0];
  REQUIRE(all.shape() == Shape{3, 4, 1, 1});
  for (int64_t n = 0; n < 3; ++n) {
    const Tensor one = Tensor::of<float>({1, 3, 6, 5}, batch.data<float>().subspan(static_cast<size_t>(n) * 90, 90));
    const Tensor alone = runner.run(std::vector<Tensor>{one})[0];
    for (size_t c = 0; c < 4; ++c) REQUIRE(alone.data<float>()[c] == all.data<float>()[static_cast<size_t>(n) * 4 + c]);
  }
  REQUIRE(runner.run(std::vector<Tensor>{batch})[0] == all);
}

TEST_CASE("an observed value is made even where its Relu could be applied with it") {
  Residual net;
  const Tensor x = random_tensor({2, 3, 6, 5}, 7);
  Recorder recorder;
  run::ProgramOptions options;
  options.observed = {net.x, net.first, net.relu, net.sum};
  options.fetched = {net.first, net.relu, net.second, net.sum};
  const auto values = results_of(net.builder.model, {x}, options, &recorder);
  REQUIRE(recorder.seen.size() == 4);
  REQUIRE(recorder.seen[net.x] == floats(x));
  REQUIRE(recorder.seen[net.first] == floats(values[1]));
  REQUIRE(recorder.seen[net.relu] == floats(values[2]));
  REQUIRE(recorder.seen[net.sum] == floats(values[4]));
  for (size_t k = 0; k < recorder.seen[net.relu].size(); ++k) {
    REQUIRE(recorder.seen[net.relu][k] == std::max(0.0f, recorder.seen[net.first][k]));
    REQUIRE(floats(values[4])[k] == floats(values[3])[k] + floats(values[2])[k]);
  }
  REQUIRE(std::count(recorder.steps.begin(), recorder.steps.end(), 1) == 1);

  Recorder fused;
  options.observed = {net.relu};
  options.fetched = {};
  REQUIRE(results_of(net.builder.model, {x}, options, &fused)[0] == values[0]);
  REQUIRE(fused.seen[net.relu] == recorder.seen[net.relu]);
  REQUIRE(std::count(fused.steps.begin(), fused.steps.end(), 1) == 0);
}

TEST_CASE("clamps after one another are applied together") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), sum = builder.node("Add", {x, builder.floats({}, {0})});
  const ValueId relu = builder.node("Relu", {sum});
  builder.output(builder.node("Clip", {relu, builder.floats({}, {1}), builder.floats({}, {2})}));
  Recorder recorder;
  const auto y = results_of(builder.model, {Tensor::of<float>({5}, {-3, 0.5f, 1.5f, 2.5f, kUnbounded})}, {}, &recorder);
  REQUIRE(floats(y[0]) == std::vector<float>{1, 1, 1.5f, 2, 2});
  REQUIRE(recorder.steps == std::vector<size_t>{0});
}

TEST_CASE("a product of a gate and its input is made with the gate, in the same bytes") {
  std::vector<float> numbers{kUnbounded, -kUnbounded, std::numeric_limits<float>::quiet_NaN(), 0, -0.0f, 1e-40f};
  while (numbers.size() < 1000) numbers.push_back(static_cast<float>(numbers.size()) / 4 - 125);
  const Tensor x = Tensor::of<float>({1000}, numbers);
  const ModelBuilder::Attributes slope{{"alpha", 0.25f}};
  for (const auto& [type, attributes] : {std::pair("Sigmoid", ModelBuilder::Attributes()), {"HardSigmoid", slope}})
    for (const bool input_first : {true, false}) {
      ModelBuilder builder;
      const ValueId input = builder.node("Neg", {builder.input("x", {-1})});
      const ValueId gate = builder.node(type, {input}, attributes);
      builder.output(input_first ? builder.node("Mul", {input, gate}) : builder.node("Mul", {gate, input}));
      Recorder together, apart;
      run::ProgramOptions options;
      const auto one = results_of(builder.model, {x}, options, &together);
      options.observed = {gate};
      const auto two = results_of(builder.model, {x}, options, &apart);
      REQUIRE(together.steps == std::vector<size_t>{0, 2});
      REQUIRE(apart.steps == std::vector<size_t>{0, 1, 2});
      REQUIRE(one[0] == two[0]);
    }
}

TEST_CASE("a gate that others read, or whose product is of something else, is made") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1}), other = builder.node("Neg", {x});
  const ValueId read_twice = builder.node("Sigmoid", {x}), of_other = builder.node("Sigmoid", {other});
  builder.output(builder.node("Add", {builder.node("Mul", {x, read_twice}), read_twice}));
  builder.output(builder.node("Mul", {x, of_other}));
  const ValueId square = builder.node("HardSigmoid", {x});
  builder.output(builder.node("Mul", {square, square}));
  Recorder recorder;
  results_of(builder.model, {random_tensor({10}, 1)}, {}, &recorder);
  REQUIRE(recorder.steps == std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a Slice of a Slice is taken at once, in the same bytes") {
  using List = std::vector<int64_t>;
  struct Part {
    List starts, ends, axes, steps;
  };
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const std::vector<Part> parts{{{0}, {kEnd}, {2}, {2}},
                                {{1}, {kEnd}, {3}, {2}},
                                {{-1}, {-kEnd}, {-2}, {-3}},
                                {{1, 2}, {2, 9}, {0, 3}, {1, 1}},
                                {{0, 1, 0}, {2, 3, 6}, {}, {}},
                                {{3}, {3}, {2}, {1}},
                                {{-4, 5}, {-1, 0}, {2, 1}, {2, -1}}};
  const Tensor x = random_tensor({2, 5, 8, 9}, 1);
  for (const Part& first : parts)
    for (const Part& second : parts)
      for (const bool lists_are_known : {true, false}) {
        ModelBuilder builder;
        std::vector<Tensor> inputs{x};
        const ValueId input = builder.input("x", {2, 5, 8, 9});
        const auto list = [&](const List& values) {
          if (values.empty()) return ValueId{};
          if (lists_are_known) return builder.ints(values);
          inputs.push_back(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
          return builder.input("list" + std::to_string(inputs.size()), inputs.back().shape().dims(), DType::kInt64);
        };
        const auto slice = [&](ValueId of, const Part& part) {
          return builder.node("Slice", {of, list(part.starts), list(part.ends), list(part.axes), list(part.steps)});
        };
        const ValueId between = slice(input, first);
        builder.output(slice(between, second));
        Recorder together, apart;
        run::ProgramOptions options;
        const auto one = results_of(builder.model, inputs, options, &together);
        options.observed = {between};
        const auto two = results_of(builder.model, inputs, options, &apart);
        REQUIRE(together.steps == std::vector<size_t>{1});
        REQUIRE(apart.steps == std::vector<size_t>{0, 1});
        REQUIRE(one[0] == two[0]);
      }
}

TEST_CASE("of a row of Slices two at a time are taken at once") {
  ModelBuilder builder;
  ValueId value = builder.input("x", {50});
  for (int k = 0; k < 5; ++k) value = builder.node("Slice", {value, builder.ints({1}), builder.ints({100})});
  builder.output(value);
  const Tensor x = random_tensor({50}, 1);
  Recorder recorder;
  const auto y = results_of(builder.model, {x}, {}, &recorder);
  REQUIRE(recorder.steps == std::vector<size_t>{1, 3, 4});
  REQUIRE(floats(y[0]) == std::vector<float>(x.data<float>().begin() + 5, x.data<float>().end()));
}

TEST_CASE("buffers are used again, results lie apart, and the peak is known before the run") {
  ModelBuilder builder;
  ValueId value = builder.input("x", {-1, 1024});
  const ValueId two = builder.floats({1024}, std::vector<float>(1024, 2.0f));
  for (int k = 0; k < 20; ++k)
    value = builder.node("MaxPool", {builder.node("Unsqueeze", {builder.node("Mul", {value, two}), builder.ints({1})})},
                         {{"kernel_shape", std::vector<int64_t>{1}}}),
    value = builder.node("Squeeze", {value, builder.ints({1})});
  builder.output(value);
  const auto program = run::Program::compile(builder.model, ops::standard());
  const Shape one{1, 1024}, four{4, 1024};
  REQUIRE(program->peak_bytes(std::span(&one, 1)) == 3 * 4096);
  REQUIRE(program->peak_bytes(std::span(&four, 1)) == 12 * 4096);
  const auto y =
      run::Runner(program).run(std::vector<Tensor>{Tensor::of<float>({1, 1024}, std::vector<float>(1024, 1.0f))});
  REQUIRE(y[0].data<float>()[17] == 1048576.0f);
}

TEST_CASE("what a run gave stays as it was when the next one is done") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 3});
  const ValueId sum = builder.node("Add", {x, builder.floats({}, {1})});
  builder.output(sum);
  builder.output(builder.node("Reshape", {sum, builder.ints({3, -1})}));  // the same bytes
  builder.output(builder.node("Neg", {sum}));
  builder.output(x);
  run::Runner runner(run::Program::compile(builder.model, ops::standard()));
  const auto given = [&](float first) {
    return runner.run(std::vector<Tensor>{Tensor::of<float>({1, 3}, {first, 2, 3})});
  };
  const auto before = given(1), after = given(5);
  for (const size_t k : {size_t{0}, size_t{1}}) {
    REQUIRE(floats(before[k]) == std::vector<float>{2, 3, 4});
    REQUIRE(floats(after[k]) == std::vector<float>{6, 3, 4});
  }
  REQUIRE(before[1].shape() == Shape{3, 1});
  REQUIRE(floats(before[2]) == std::vector<float>{-2, -3, -4});
  REQUIRE(floats(after[3]) == std::vector<float>{5, 2, 3});
}

TEST_CASE("a program that will not run knows the sizes of the one that will") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 32, 12, 12});
  const auto filled = [&](const Shape& shape) {
    return builder.floats(shape, std::vector<float>(static_cast<size_t>(shape.elements()), 0.25f));
  };
  const std::vector<int64_t> pads(4, 1);
  ValueId value = builder.node("Conv", {x, filled({48, 32, 3, 3})}, {{"pads", pads}});
  value = builder.node("Conv", {value, filled({48, 1, 3, 3})}, {{"pads", pads}, {"group", int64_t{48}}});
  value = builder.node("Conv", {value, filled({16, 24, 1, 1})}, {{"group", int64_t{2}}});
  value = builder.node("MatMul", {builder.node("Flatten", {value}), filled({16 * 144, 40})});
  value = builder.node("Gemm", {value, filled({10, 40})}, {{"transB", int64_t{1}}});
  builder.output(value);
  run::ProgramOptions options;
  options.will_run = false;
  const auto sizes = run::Program::compile(builder.model, ops::standard(), options);
  const auto program = run::Program::compile(builder.model, ops::standard());
  const Shape shape{2, 32, 12, 12};
  REQUIRE(program->macs(std::span(&shape, 1)) == 2 * (144 * 9 * (32 * 48 + 48) + 144 * 24 * 16 + 16 * 144 * 40 + 400));
  REQUIRE(sizes->macs(std::span(&shape, 1)) == program->macs(std::span(&shape, 1)));
  REQUIRE(program->peak_bytes(std::span(&shape, 1)) > 0);
  REQUIRE(sizes->peak_bytes(std::span(&shape, 1)) == program->peak_bytes(std::span(&shape, 1)));
}

TEST_CASE("an element-wise chain is computed in place") {
  ModelBuilder builder;
  ValueId value = builder.input("x", {-1, 256});
  for (int k = 0; k < 5; ++k)
    value = builder.node("Add", {value, builder.floats({256}, std::vector<float>(256, 1.0f))});
  builder.output(value);
  const auto program = run::Program::compile(builder.model, ops::standard());
  const Shape shape{1, 256};
  REQUIRE(program->peak_bytes(std::span(&shape, 1)) == 1024);
}

TEST_CASE("a buffer that is still needed is not overwritten") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {4}), one = builder.floats({}, {1});
  const ValueId a = builder.node("Add", {x, one});
  const ValueId view = builder.node("Reshape", {a, builder.ints({2, 2})});
  const ValueId b = builder.node("Add", {a, one});
  const ValueId c = builder.node("Mul", {view, builder.node("Reshape", {b, builder.ints({2, 2})})});
  builder.output(c);
  builder.output(a);
  const Tensor input = Tensor::of<float>({4}, {1, 2, 3, 4});
  const auto y = results_of(builder.model, {input});
  REQUIRE(floats(y[0]) == std::vector<float>{6, 12, 20, 30});
  REQUIRE(floats(y[1]) == std::vector<float>{2, 3, 4, 5});
  REQUIRE(floats(input) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a change between NCHW and NHWC around convolutions costs no step") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 6, 5, 3});
  const ValueId nchw = builder.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  const ValueId conv = builder.node("Conv", {nchw, builder.weight(random_tensor({4, 3, 3, 3}, 1))});
  builder.output(builder.node("Transpose", {conv}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}));
  Recorder recorder;
  const auto y = results_of(builder.model, {random_tensor({2, 6, 5, 3}, 3)}, {}, &recorder);
  REQUIRE(y[0].shape() == Shape{2, 4, 3, 4});
  REQUIRE(recorder.steps == std::vector<size_t>{1});
}

TEST_CASE("shapes that follow from shapes are computed while planning") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 2, 3});
  const ValueId batch = builder.node("Gather", {builder.node("Shape", {x}), builder.ints({0})});
  const ValueId target = builder.node("Concat", {batch, builder.ints({-1})}, {{"axis", int64_t{0}}});
  const ValueId relu = builder.node("Relu", {x});
  builder.output(builder.node("Reshape", {relu, target}));
  Recorder recorder;
  const auto y = results_of(builder.model, {random_tensor({4, 2, 3}, 1)}, {}, &recorder);
  REQUIRE(y[0].shape() == Shape{4, 6});
  REQUIRE(recorder.steps == std::vector<size_t>{3});
}

TEST_CASE("a shape that depends on the data is planned when the data is there") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 4}), shape = builder.input("shape", {-1}, DType::kInt64);
  const ValueId doubled = builder.node("Add", {x, x});
  const ValueId target = builder.node("Mul", {shape, builder.ints({1})});
  const ValueId reshaped = builder.node("Reshape", {doubled, target});
  builder.output(builder.node("Add", {reshaped, builder.floats({}, {1})}));
  builder.output(doubled);
  const auto program = run::Program::compile(builder.model, ops::standard());
  const std::vector<Shape> shapes{Shape{2, 4}, Shape{2}};
  REQUIRE(program->peak_bytes(shapes) == 0);
  run::Runner runner(program);
  const Tensor input = Tensor::of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto y = runner.run(std::vector<Tensor>{input, Tensor::of<int64_t>({2}, {4, 2})});
  REQUIRE(y[0].shape() == Shape{4, 2});
  REQUIRE(floats(y[0]) == std::vector<float>{1, 3, 5, 7, 9, 11, 13, 15});
  REQUIRE(runner.run(std::vector<Tensor>{input, Tensor::of<int64_t>({2}, {8, -1})})[0].shape() == Shape{8, 1});
}

TEST_CASE("constants are folded, returned and shown") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {2});
  const ValueId sum = builder.node("Add", {builder.floats({2}, {1, 2}), builder.floats({2}, {10, 20})});
  const ValueId y = builder.node("Mul", {x, sum});
  builder.output(y);
  builder.output(sum);
  run::ProgramOptions options;
  options.observed = {sum};
  Recorder recorder;
  const auto values = results_of(builder.model, {Tensor::of<float>({2}, {1, -1})}, options, &recorder);
  REQUIRE(floats(values[0]) == std::vector<float>{11, -22});
  REQUIRE(floats(values[1]) == std::vector<float>{11, 22});
  REQUIRE(recorder.seen[sum] == floats(values[1]));
  REQUIRE(recorder.steps == std::vector<size_t>{1});
}

TEST_CASE("outputs that are inputs, weights or views of them come out as they are") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 2}), w = builder.floats({3}, {1, 2, 3});
  const ValueId view = builder.node("Reshape", {x, builder.ints({-1})});
  for (const ValueId id : {x, w, view, x}) builder.output(id);
  const Tensor input = Tensor::of<float>({2, 2}, {5, 6, 7, 8});
  const auto values = results_of(builder.model, {input});
  REQUIRE(values[0] == input);
  REQUIRE(floats(values[1]) == std::vector<float>{1, 2, 3});
  REQUIRE(values[2].shape() == Shape{4});
  REQUIRE(floats(values[2]) == floats(input));
  REQUIRE(values[3] == input);
}

TEST_CASE("a model without nodes or without inputs runs") {
  ModelBuilder constant;
  constant.output(constant.node("Neg", {constant.floats({2}, {1, -1})}));
  REQUIRE(floats(results_of(constant.model, {})[0]) == std::vector<float>{-1, 1});
}

TEST_CASE("an empty batch gives empty outputs") {
  Residual net;
  REQUIRE(results_of(net.builder.model, {Tensor::make(DType::kFloat32, {0, 3, 6, 5})})[0].shape() == Shape{0, 4, 1, 1});
}

TEST_CASE("nodes that nothing depends on are not run, nor do they have to be supported") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1});
  builder.node("NoSuchOperator", {x});
  builder.output(builder.node("Relu", {x}));
  REQUIRE(floats(results_of(builder.model, {Tensor::of<float>({1}, {-1})})[0])[0] == 0);
  const auto list = run::unsupported(builder.model, ops::standard());
  REQUIRE(list.size() == 1);
  REQUIRE(list[0].place == "graph.node[0] \"NoSuchOperator\" (NoSuchOperator)");
}

TEST_CASE("an operator that is not known is refused by name") {
  ModelBuilder builder;
  builder.output(builder.node("NoSuchOperator", {builder.input("x", {1})}));
  const Error error = error_of(builder.model);
  REQUIRE(error.code == ErrorCode::kUnsupportedModel);
  REQUIRE(error.place == "graph.node[0] \"NoSuchOperator\" (NoSuchOperator)");
  REQUIRE(error.message.find("NoSuchOperator of ONNX, operator set 17") != std::string::npos);
}

TEST_CASE("operators that are not known are named all at once, the first in graph order as the place") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1});
  const ValueId a = builder.node("Unknown", {x}), b = builder.node("Other", {builder.node("Unknown", {a})});
  builder.node("NotNeeded", {b});
  builder.output(b);
  builder.model.graph.nodes()[2].domain = "com.microsoft";
  builder.model.opset_imports.push_back({"com.microsoft", 1});
  const Error error = error_of(builder.model);
  REQUIRE(error.place == "graph.node[0] \"Unknown\" (Unknown)");
  REQUIRE(error.message ==
          "3 nodes cannot be run here: Unknown of ONNX (graph.node[0] and 1 more), Other of \"com.microsoft\" "
          "(graph.node[2]).");
  REQUIRE(error.hint.find("ONNX Runtime's optimizer") != std::string::npos);
}

TEST_CASE("a first node that is not known is cut off after it") {
  ModelBuilder builder;
  builder.output(builder.node("Relu", {builder.node("Unknown", {builder.input("x", {1})})}));
  REQUIRE(error_of(builder.model).hint.find("Cut the model after this node") != std::string::npos);
}

TEST_CASE("inputs that do not fit are refused with both shapes and the likely fix") {
  Residual net;
  const auto message = [&](Tensor x) {
    const Error error = error_of(net.builder.model, {std::move(x)});
    REQUIRE(error.code == ErrorCode::kInvalidSamples);
    return error.message + " " + error.hint;
  };
  REQUIRE(message(random_tensor({1, 6, 5, 3}, 1))
              .find("Nx3x6x5; the sample is 1x6x5x3. The samples have their channels last") != std::string::npos);
  REQUIRE(message(random_tensor({3, 6, 5}, 1)).find("add a first axis of 1") != std::string::npos);
  REQUIRE(message(Tensor::make(DType::kInt64, {1, 3, 6, 5})).find("float32; the sample is int64") != std::string::npos);
  REQUIRE(error_of(net.builder.model).message.find("1 inputs; 0 were given") != std::string::npos);
}

TEST_CASE("where a model leaves sizes open, a node that does not take them says which were chosen") {
  const auto joined = [](int64_t side) {
    ModelBuilder builder;
    const ValueId x = builder.input("x", {-1, 1, side});
    builder.output(builder.node("Add", {x, builder.floats({2}, {1, 2})}));
    return error_of(builder.model, {random_tensor({1, 1, 3}, 1)});
  };
  const Error open = joined(-1), fixed = joined(3);
  REQUIRE(open.place == fixed.place);
  REQUIRE(open.message == fixed.message + " The input \"x\" is 1x1x3 here.");
  REQUIRE(open.hint.find("another size") != std::string::npos);
  REQUIRE(fixed.hint.find("another size") == std::string::npos);
}

TEST_CASE("a broken graph is refused with the place") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1}), nothing = builder.model.graph.add_value("nothing");
  builder.output(builder.node("Add", {x, nothing}));
  const Error error = error_of(builder.model);
  REQUIRE(error.code == ErrorCode::kInvalidModel);
  REQUIRE(error.place == "graph.node[0] \"Add\" (Add)");
  REQUIRE(error.message.find("\"nothing\"") != std::string::npos);
}

TEST_CASE("a run that would take too much memory is refused before it starts") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1});
  const ValueId big = builder.node("Expand", {x, builder.ints({int64_t{1} << 40, 1})});
  builder.output(builder.node("ReduceMax", {big}));
  const Error error = error_of(builder.model, {random_tensor({4}, 1)});
  REQUIRE(error.code == ErrorCode::kOutOfMemory);
  REQUIRE(error.place == "graph.node[0] \"Expand\" (Expand)");
}

TEST_CASE("multiply-accumulate operations are counted for the shapes of a run") {
  Residual net;
  const auto program = run::Program::compile(net.builder.model, ops::standard());
  const Shape one{1, 3, 6, 5}, two{2, 3, 6, 5};
  REQUIRE(program->macs(std::span(&one, 1)) == 30 * 4 * 9 * (3 + 4));
  REQUIRE(program->macs(std::span(&two, 1)) == 2 * 30 * 4 * 9 * (3 + 4));
}

TEST_CASE("parts of a graph, run one after another on what lies there, give the bytes of the whole") {
  const Residual net;
  const Model& model = net.builder.model;
  const Tensor x = random_tensor({2, 3, 6, 5}, 9);
  const auto part = [&](std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
    run::ProgramOptions options;
    options.part = run::GraphPart{std::move(inputs), std::move(outputs)};
    return run::Runner(run::Program::compile(model, ops::standard(), options));
  };
  run::Runner front = part({net.x}, {net.relu}), behind = part({net.relu}, {net.sum, net.relu});
  const std::vector<run::LaidTensor> given = {{x}}, middle = front.run_laid(given);
  REQUIRE(middle[0].layout == ops::Layout::kChannelsLast);
  REQUIRE(middle[0].tensor.shape() == Shape{2, 6, 5, 4});
  REQUIRE(middle[0].type() == ops::TensorType{DType::kFloat32, Shape{2, 4, 6, 5}, ops::Layout::kChannelsLast});
  const std::vector<run::LaidTensor> ends = behind.run_laid(middle);
  run::ProgramOptions watched;
  watched.fetched = {net.sum, net.relu};
  const std::vector<Tensor> whole = results_of(model, {x}, watched);
  for (size_t k = 0; k < 2; ++k) {
    const run::LaidTensor& laid = ends[k];
    Tensor plain = Tensor::make(DType::kFloat32, laid.type().shape);
    ops::convert_layout(laid.type(), laid.tensor.bytes().data(), ops::Layout::kPlain, plain.mutable_bytes().data());
    REQUIRE(plain == whole[k + 1]);
  }
}

TEST_CASE("a part may be given one output of a node and make another of the same node anew") {
  ModelBuilder builder(13);
  const ValueId x = builder.input("x", {1, 4});
  const std::vector<ValueId> halves = builder.nodes("Split", {x}, 2, {{"axis", int64_t{1}}});
  const ValueId difference = builder.node("Sub", halves);
  builder.output(builder.node("Neg", {difference}));
  run::ProgramOptions options;
  options.part = run::GraphPart{{x, halves[0]}, {difference, halves[0]}};
  run::Runner runner(run::Program::compile(builder.model, ops::standard(), options));
  const Tensor all = Tensor::of<float>(Shape{1, 4}, {1, 2, 3, 5}), a = Tensor::of<float>(Shape{1, 2}, {10, 20});
  const auto results = runner.run(std::vector<Tensor>{all, a});
  REQUIRE(results[0] == Tensor::of<float>(Shape{1, 2}, {7, 15}));
  REQUIRE(results[1] == a);
}

TEST_CASE("like nodes of an unrolled network have one kernel, so that their weights are packed once") {
  constexpr int kSteps = 20;
  int prepared = 0;
  ops::Op counting = *ops::standard().find("", "Gemm", 13);
  counting.prepare = [&, inner = counting.prepare](ops::Setup& setup) {
    ++prepared;
    return inner(setup);
  };
  const std::vector<const ops::Op*> more = {&counting};
  const auto unrolled = [&](bool shares) {
    ModelBuilder builder;
    ValueId h = builder.input("x", {1, 6});
    const Tensor w = random_tensor({6, 6}, 1), b = random_tensor({6}, 2);
    const auto copy_of = [](const Tensor& tensor) { return Tensor::of<float>(tensor.shape(), tensor.data<float>()); };
    const auto product = [&](const ModelBuilder::Attributes& attributes) {
      // As passes leave it, each with an initializer of its own: then the bytes are shared.
      const ValueId weight = builder.weight(shares ? w : copy_of(w)), bias = builder.weight(shares ? b : copy_of(b));
      return builder.node("Gemm", {h, weight, bias}, attributes);
    };
    for (int k = 0; k < kSteps; ++k) h = builder.node("Tanh", {product({})});
    // Nothing of these is alike: a clamp, an attribute.
    h = builder.node("Relu", {product({})});
    h = product({{"alpha", 0.5f}});
    h = product({{"transB", int64_t{1}}});
    h = builder.node("Relu", {product({})});
    builder.output(h);
    return builder.model;
  };
  const auto run_with = [&](const Model& model) {
    prepared = 0;
    run::Runner runner(run::Program::compile(model, ops::standard().with(more)));
    return runner.run(std::vector<Tensor>{random_tensor({1, 6}, 3)})[0];
  };
  const Tensor each = run_with(unrolled(false));
  REQUIRE(prepared == kSteps + 4);
  const Tensor shared = run_with(unrolled(true));
  REQUIRE(prepared == 4);  // as the steps, with a Relu, with alpha, turned
  REQUIRE(shared == each);

  // As a quantized model restores it: one list of integers, a DequantizeLinear for each step, and a bias of each step.
  const auto restored = [&](bool shares) {
    ModelBuilder builder;
    ValueId h = builder.input("x", {1, 3});
    const std::vector<int8_t> values = {5, -3, 8, -7, 2, 1, 4, -6, 9};
    const auto codes_of = [&] { return builder.weight(Tensor::of<int8_t>(Shape{3, 3}, values)); };
    const ValueId codes = codes_of(), scale = builder.weight(Tensor::scalar(0.1f)),
                  other = builder.weight(Tensor::scalar(0.125f));
    for (int k = 0; k < kSteps; ++k) {
      const ValueId w =
          builder.node("DequantizeLinear", {shares ? codes : codes_of(), k == kSteps / 2 ? other : scale});
      h = builder.node("Tanh",
                       {builder.node("Gemm", {h, w, builder.weight(random_tensor({3}, static_cast<uint32_t>(k)))})});
    }
    builder.output(h);
    return builder.model;
  };
  const auto steps_with = [&](const Model& model) {
    prepared = 0;
    run::Runner runner(run::Program::compile(model, ops::standard().with(more)));
    return runner.run(std::vector<Tensor>{random_tensor({1, 3}, 3)})[0];
  };
  const Tensor restored_each = steps_with(restored(false));
  REQUIRE(prepared == kSteps);
  REQUIRE(steps_with(restored(true)) == restored_each);
  REQUIRE(prepared == 2);  // one scale differs
}

}  // namespace program_test
