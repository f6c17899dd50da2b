// SPDX-License-Identifier: Apache-2.0
// What is fetched of the student's graph in a training step.
#include "core/tune/student.h"

#include <cmath>

#include "core/quant/even_steps.h"
#include "core/run/program.h"
#include "core/tune/recompute.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::NamedModel;

namespace {

/// Kernels of every kind, whose outputs are sums of products and a bias.
Model net() {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("a", {8, 4, 3, 3}).weight("ab", {8}).weight("d", {8, 1, 3, 3});
  model.weight("t", {8, 6, 2, 2}).weight("tb", {6}).weight("w", {6, 5}).weight("wb", {5}).weight("m", {5, 3});
  const std::vector<int64_t> around{1, 1, 1, 1};
  model.node("Conv", {"x", "a", "ab"}, {"p"}, {{"pads", around}}).node("Relu", {"p"}, {"pr"});
  model.node("Conv", {"pr", "d"}, {"q"}, {{"pads", around}, {"group", int64_t{8}}});
  model.node("ConvTranspose", {"q", "t", "tb"}, {"r"}, {{"strides", std::vector<int64_t>{2, 2}}});
  model.node("GlobalAveragePool", {"r"}, {"g"}).node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "w", "wb"}, {"s"}).node("MatMul", {"s", "m"}, {"y"}).output("y");
  return model.build();
}

/// Twelve convolutions in a row, every third added to what is before it.
Model deep_net() {
  NamedModel model;
  model.input("x", {1, 8, 12, 12});
  const std::vector<int64_t> around{1, 1, 1, 1};
  std::string before = "x";
  for (int k = 0; k < 12; ++k) {
    const std::string n = std::to_string(k);
    model.weight("w" + n, {8, 8, 3, 3}).weight("b" + n, {8});
    model.node("Conv", {before, "w" + n, "b" + n}, {"c" + n}, {{"pads", around}}).node("Relu", {"c" + n}, {"r" + n});
    if (k % 3 == 2) model.node("Add", {"r" + n, before}, {"a" + n});
    before = (k % 3 == 2 ? "a" : "r") + n;
  }
  model.node("GlobalAveragePool", {before}, {"y"}).output("y");
  return model.build();
}

struct Made {
  std::shared_ptr<const Job> job;
  Draft draft;
  tune::HeldActivations held;
  tune::Student student;
  std::vector<Tensor> inputs;  // sample 3, trained inputs where they start, and factors

  static std::shared_ptr<const Job> job_for(const Model& model) {
    config::QuantizationConfig config = test::plain_config();
    config.holdout = false;
    config.weights_n_bits = 4;
    return test::job_of(model, "any", config);
  }

  Made(const Model& model, const Shape& shape)
      : job(job_for(model)),
        draft(tersor::draft(*job, test::statistics_of(*job, 16))),
        held(draft.model.graph, draft.plan, {}, nullptr),
        student(tune::make_student(draft.model, draft.plan, {.train_ranges = true}, held, {shape})) {
    inputs = test::sample(*job, 3);
    for (const tune::TrainedInput& one : student.trained) inputs.push_back(one.start);
    inputs.push_back(Tensor::of<float>(Shape{1}, {1.0f}));
    std::vector<float> factors;
    for (size_t k = 0; k < student.points.size(); ++k) factors.push_back(0.5f + 0.25f * static_cast<float>(k));
    inputs.push_back(Tensor::of<float>(Shape{static_cast<int64_t>(factors.size())}, factors));
  }
};

}  // namespace

TEST_CASE("the gradient by a channel's factor is that by its weights times these, without their product") {
  const Made made(net(), Shape{1, 4, 8, 8});
  run::ProgramOptions options;
  std::vector<const tune::TrainedInput*> weights;
  for (const tune::TrainedInput& one : made.student.trained) {
    if (one.kind != tune::TrainedInput::Kind::kWeight) continue;
    weights.push_back(&one);
    REQUIRE(one.by_factor.valid());
    options.fetched.push_back(one.gradient);
    options.fetched.push_back(one.by_factor);
  }
  REQUIRE(weights.size() == 5);
  const std::vector<Tensor> found =
      run::Runner(run::Program::compile(made.student.model, gradient::operators(), options)).run(made.inputs);
  for (size_t k = 0; k < weights.size(); ++k) {
    const tune::TrainedInput& one = *weights[k];
    CAPTURE(one.name);
    const auto gradient = found[2 * k].data<float>(), by_factor = found[2 * k + 1].data<float>();
    const ptq::KernelPlan& kernel = made.draft.plan.kernels[one.index];
    REQUIRE(static_cast<int64_t>(by_factor.size()) == kernel.op.outputs);
    const auto blocks = quant::channel_blocks(one.start.shape(), kernel.op.output_axis);
    std::vector<double> sums(by_factor.size(), 0), sizes(by_factor.size(), 0);
    quant::for_each_element(blocks, [&](size_t i, size_t c) {
      const double term = static_cast<double>(gradient[i]) * static_cast<double>(one.start.data<float>()[i]);
      sums[c] += term;
      sizes[c] += std::fabs(term);
    });
    for (size_t c = 0; c < sums.size(); ++c) {
      CHECK(sizes[c] > 0);
      CHECK(std::fabs(static_cast<double>(by_factor[c]) - sums[c]) < 1e-4 * sizes[c]);
    }
  }
}

TEST_CASE("activations that are computed again by block give the same bits in less memory") {
  const Made made(deep_net(), Shape{1, 8, 12, 12});
  run::ProgramOptions options;
  for (const tune::Point& point : made.student.points) options.fetched.push_back(point.loss);
  for (const tune::TrainedInput& one : made.student.trained)
    if (one.gradient.valid()) options.fetched.push_back(one.gradient);
  std::vector<Shape> shapes;
  for (const Tensor& input : made.inputs) shapes.push_back(input.shape());
  const auto whole = run::Program::compile(made.student.model, gradient::operators(), options);
  const std::vector<Tensor> expected = run::Runner(whole).run(made.inputs);
  for (const size_t blocks : {1, 2, 3, 5, 40}) {
    CAPTURE(blocks);
    Model model = made.student.model;
    model.graph = tune::recomputed_by_block(model.graph, made.student.places, blocks);
    const auto program = run::Program::compile(model, gradient::operators(), options);
    const std::vector<Tensor> found = run::Runner(program).run(made.inputs);
    REQUIRE(found.size() == expected.size());
    for (size_t k = 0; k < found.size(); ++k) CHECK(found[k] == expected[k]);
    if (blocks == 3 || blocks == 5) {
      CHECK(program->peak_bytes(shapes) < 0.75 * static_cast<double>(whole->peak_bytes(shapes)));
    }
  }
}
