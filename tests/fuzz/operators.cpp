// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/run/program.h"
#include "tests/fuzz/operator_case.h"
#include "tests/fuzz/targets.h"

namespace tersor::fuzz {

namespace {

constexpr int64_t kMemory = int64_t{1} << 20, kMostMacs = int64_t{1} << 24;

struct Built {
  Model model;
  std::vector<Tensor> given;
  std::vector<Shape> shapes;
};

Built build(const OperatorCase& one) {
  Built built;
  Model& model = built.model;
  model.opset_imports.push_back({"", one.opset});
  if (!one.domain.empty()) model.opset_imports.push_back({one.domain, 1});
  Node node;
  node.op_type = one.type;
  node.domain = one.domain;
  node.attributes = one.attributes;
  for (const GivenInput& input : one.inputs) {
    if (input.tensor.empty()) {
      node.inputs.push_back(ValueId{});
    } else if (input.constant) {
      node.inputs.push_back(model.graph.add_initializer("w", input.tensor));
    } else {
      const ValueId id = model.graph.add_unique_value("x", input.tensor.dtype());
      model.graph.inputs.push_back(id);
      node.inputs.push_back(id);
      built.given.push_back(input.tensor);
      built.shapes.push_back(input.tensor.shape());
    }
  }
  for (size_t k = 0; k < one.outputs; ++k) {
    node.outputs.push_back(model.graph.add_unique_value("y"));
    model.graph.outputs.push_back(node.outputs.back());
  }
  model.graph.append(std::move(node));
  return built;
}

/// What a run reads must have been written in the same run: with the buffers of the run before, it gives the same.
void run_twice(const run::Program& program, std::shared_ptr<const run::Program> shared, const Built& built) {
  if (program.macs(built.shapes) > kMostMacs) return;
  run::Runner runner(std::move(shared));
  const std::vector<Tensor> first = runner.run(built.given);
  if (runner.run(built.given) != first) throw Finding("a second run gives other bytes");
}

}  // namespace

void operators(Bytes bytes) {
  const OperatorCase one = decode(bytes);
  const Built built = build(one);
  run::ProgramOptions options;
  options.memory_limit = kMemory;
  options.loop_limit = 100;
  try {
    const auto program = run::Program::compile(built.model, registry_of(one.registry), options);
    run_twice(*program, program, built);
  } catch (const Error& error) {
    if (error.code == ErrorCode::kInternal || error.code == ErrorCode::kInvalidSamples || error.message.empty() ||
        (error.place.substr(0, 11) != "graph.node[" && error.place != "graph.output"))
      throw Finding(one.type + ": " + error.what());
  }
}

}  // namespace tersor::fuzz
