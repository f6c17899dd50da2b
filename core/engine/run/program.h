// SPDX-License-Identifier: Apache-2.0
// A graph made ready to run, and the runner that runs it.
//
//   auto program = run::Program::compile(model, ops::standard());
//   run::Runner runner(program);                       // one per thread
//   std::vector<Tensor> outputs = runner.run(inputs);  // any batch the model's declared shapes allow
//
// Each sample's numbers do not depend on what else is in the batch, on the thread, or on the machine: equal bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/ops/registry.h"
#include "core/run/observer.h"

namespace tersor::run {

/// Part of a graph: `inputs` are given, of any shape, and what they are made of is left out. `uses`: of the whole
/// graph, where the caller has them.
struct GraphPart {
  std::vector<ValueId> inputs, outputs;
  std::shared_ptr<const Uses> uses = nullptr;
};

struct ProgramOptions {
  /// Compiled instead of the whole graph, as a graph of its own: nothing of it is observed or fetched.
  std::optional<GraphPart> part = std::nullopt;
  /// Values that are made as tensors of their own and shown to the observer. (The output of a Conv whose Relu is
  /// applied with it is not made unless it is listed here.) A constant may be listed.
  std::vector<ValueId> observed;
  /// Values that run() returns after the graph outputs.
  std::vector<ValueId> fetched;
  /// A run whose buffers would take more bytes than this is refused (kOutOfMemory) before any is allocated.
  int64_t memory_limit = int64_t{3} << 30;
  /// Steps that all loops of one run may take together, those inside others counted too; more are refused
  /// (kUnsupportedModel), so that a loop without end ends.
  int64_t loop_limit = int64_t{1} << 20;
  /// False: the program is asked for macs() and peak_bytes() and never run, so no weights are packed.
  bool will_run = true;
};

/// Of a program that is asked for value_types() and macs_of_nodes() of the whole graph: nothing is fused, and inputs
/// have types too.
ProgramOptions sizes_of_all(const Graph& graph);

/// A graph input or output as declared. Dimensions that are not fixed may be given anew with each run.
struct Port {
  ValueId value;
  std::string name;
  DType dtype = DType::kUndefined;        // kUndefined: not declared
  std::optional<std::vector<Dim>> shape;  // absent: not declared
};

/// A node that cannot be run here.
struct Unsupported {
  NodeId node;
  std::string place;   // graph.node[12] "conv1" (Conv)
  std::string reason;  // a sentence
  std::string hint;
};

/// Nodes of `model` that have no operator in `registry`, or a form or attribute that it does not support. Nodes inside
/// subgraphs are listed with their place and the id of the outer node. Never throws for what a model may hold; a model
/// with an empty list still may fail at compile() or run() when it is broken.
std::vector<Unsupported> unsupported(const Model& model, const ops::Registry& registry);

class Plan;
struct PreparedGraph;

/// Immutable, may be shared between threads. Holds packed weights; keeps the model's own weights alive only where a
/// kernel reads them as they are. Needs neither the model nor the registry after compile().
class Program {
 public:
  /// Nodes that no output, observed or fetched value depends on are left out. Error kUnsupportedModel names node and
  /// operator; kInvalidModel where the graph breaks ONNX's rules; kOutOfMemory.
  static std::shared_ptr<const Program> compile(const Model& model, const ops::Registry& registry,
                                                const ProgramOptions& options = {});
  ~Program();

  /// In graph order.
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }

  /// Bytes of one runner's buffers for these input shapes, inputs and returned outputs aside. 0 when it cannot be known
  /// before the run because a shape depends on the data or a node runs a subgraph. Errors as Runner::run.
  int64_t peak_bytes(std::span<const Shape> input_shapes) const;
  /// By value index, the type of each value that the program makes, of logical shape; none for those that it does not
  /// make (constants, what a fused operator keeps to itself) and those whose shape depends on the data.
  std::vector<std::optional<ops::TensorType>> value_types(std::span<const Shape> input_shapes) const;
  /// Multiply-accumulate operations of one run (convolutions and matrix products; where a shape depends on the data,
  /// or a node runs a subgraph, only those before it).
  int64_t macs(std::span<const Shape> input_shapes) const;
  /// The same of each node, by its index in the graph, up to the last that has a count of its own. What is fused counts
  /// at one of its nodes.
  std::vector<int64_t> macs_of_nodes(std::span<const Shape> input_shapes) const;

 private:
  friend class Runner;
  Program() = default;

  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::unique_ptr<const PreparedGraph> graph_;
};

/// A tensor as it lies while graphs run: its dimensions are in memory order.
struct LaidTensor {
  Tensor tensor;
  ops::Layout layout = ops::Layout::kPlain;

  /// With the logical shape.
  ops::TensorType type() const;
};

/// Runs a program; owns the buffers of one run and keeps them, and the plan, for the next of the same shapes. For one
/// thread at a time.
class Runner {
 public:
  explicit Runner(std::shared_ptr<const Program> program);
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  const Program& program() const { return *program_; }

  /// Inputs in graph-input order; outputs in graph-output order, then the fetched values, all plain. Error
  /// kInvalidSamples when inputs do not fit what is declared, kInvalidModel or kUnsupportedModel when an operator meets
  /// shapes or types it cannot take, kOutOfMemory.
  std::vector<Tensor> run(std::span<const Tensor> inputs, Observer* observer = nullptr);
  /// The same for those who run the next part of a graph on what this one gives: nothing is turned to plain and back.
  std::vector<LaidTensor> run_laid(std::span<const LaidTensor> inputs);

 private:
  struct State;
  struct Steps;
  class Bodies;
  enum class Results : uint8_t { kPlain, kAsTheyLie };
  std::vector<LaidTensor> run(std::span<const LaidTensor> inputs, Observer* observer, Steps& steps, Results results);

  std::shared_ptr<const Program> program_;
  std::unique_ptr<State> state_;
};

}  // namespace tersor::run
