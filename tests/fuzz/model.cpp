// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/convert_opset.h"
#include "core/onnx/read.h"
#include "core/passes/pipeline.h"
#include "core/run/program.h"
#include "tests/fuzz/targets.h"

namespace tersor::fuzz {

namespace {

constexpr int64_t kMostElements = 4096, kMostMacs = int64_t{1} << 24;

/// Small numbers of both signs.
Tensor ramp(DType dtype, const Shape& shape) {
  Tensor made = Tensor::make(dtype, shape);
  int64_t k = 0;
  if (dtype == DType::kFloat32) {
    for (float& x : made.mutable_data<float>()) x = static_cast<float>(k++ % 17 - 5) / 4;
  } else if (dtype == DType::kInt64) {
    for (int64_t& x : made.mutable_data<int64_t>()) x = k++ % 3;
  } else if (dtype != DType::kFloat64 && dtype != DType::kFloat16) {
    for (std::byte& x : made.mutable_bytes()) x = static_cast<std::byte>(k++ % 2);
  }
  return made;
}

/// Inputs of the declared shapes, free dimensions 2. False where they would be large or are no numbers.
bool make_inputs(const run::Program& program, std::vector<Tensor>& inputs) {
  for (const run::Port& port : program.inputs()) {
    std::vector<int64_t> dims;
    int64_t elements = 1;
    for (const Dim& dim : port.shape.value_or(std::vector<Dim>{})) {
      dims.push_back(dim.fixed() ? dim.value : 2);
      if (dims.back() > kMostElements) return false;
      elements *= dims.back();
      if (elements > kMostElements) return false;
    }
    const DType dtype = port.dtype == DType::kUndefined ? DType::kFloat32 : port.dtype;
    if (bits_of(dtype) == 0) return false;
    inputs.push_back(ramp(dtype, Shape(dims)));
  }
  return true;
}

void run(const Model& model) {
  run::ProgramOptions options;
  options.memory_limit = int64_t{1} << 20;
  options.loop_limit = 100;
  const auto program = run::Program::compile(model, ops::standard(), options);
  std::vector<Tensor> inputs;
  if (!make_inputs(*program, inputs)) return;
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  if (program->macs(shapes) > kMostMacs) return;
  run::Runner(program).run(inputs);
}

}  // namespace

void model(Bytes bytes) {
  only_proper_errors([&] {
    Model model = onnx::read(onnx::Source::of({bytes.begin(), bytes.end()}));
    run::unsupported(model, ops::standard());
    only_proper_errors([&] { run(model); });
    onnx::convert_to_opset(model);
    passes::prepare(model, {true, true});
    run(model);
  });
}

}  // namespace tersor::fuzz
