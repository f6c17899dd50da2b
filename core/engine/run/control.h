// SPDX-License-Identifier: Apache-2.0
// Operators that run graphs of their own: If, Loop, Scan. Each subgraph is a program whose inputs are those the
// operator gives it and, after them, the outer values it reads by name; outer values that are constant become its
// constants. A plan ends before such a node, the runner runs it, and what follows is planned with what it made.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/registry.h"
#include "core/run/program.h"

namespace tersor::run {

/// A subgraph made ready to run.
struct Body {
  std::shared_ptr<const Program> program;
  std::string place;             // graph.node[3] "if" (If).then_branch
  std::vector<size_t> captured;  // which of the node's inputs follow those that the operator gives
  std::vector<Port> declared;    // its outputs as the file describes them
};

/// Runs the bodies of one node, for the time of one run, and counts the steps of loops.
class BodyRunner {
 public:
  virtual ~BodyRunner() = default;
  /// The outputs of body `index`. Errors of the body's run, and kUnsupportedModel after too many steps.
  virtual std::vector<Tensor> run(size_t index, std::vector<Tensor> inputs) = 0;
  /// To be called before each step of a loop. Error kUnsupportedModel after ProgramOptions::loop_limit steps.
  virtual void count_step() = 0;
};

/// A node that runs subgraphs, ready to run. Immutable, like a kernel.
class Control {
 public:
  virtual ~Control() = default;
  const std::vector<Body>& bodies() const { return bodies_; }
  /// `inputs` are the node's, absent ones empty, then the captured values. Returns one output per output of the node at
  /// least. Error without a place, or with one inside a body.
  virtual std::vector<Tensor> run(std::span<const Tensor> inputs, BodyRunner& bodies) const = 0;

 protected:
  explicit Control(std::vector<Body> bodies) : bodies_(std::move(bodies)) {}

 private:
  std::vector<Body> bodies_;
};

/// What is known of a node with subgraphs before the run, and what its bodies are compiled with.
class ControlSetup {
 public:
  /// `constants`: the inputs' values where they are constant. `known`: those of outer values that subgraphs read.
  ControlSetup(const Node& of, std::string at, const Model& in, const ops::Registry& operators,
               const ProgramOptions& with, std::vector<const Tensor*> constants,
               std::map<std::string, const Tensor*> known)
      : node(of),
        place(std::move(at)),
        model(in),
        registry(operators),
        options(with),
        constants_(std::move(constants)),
        known_(std::move(known)) {}

  const Node& node;
  const std::string place;
  const Model& model;
  const ops::Registry& registry;
  const ProgramOptions& options;

  const Tensor* constant(size_t k) const { return k < constants_.size() ? constants_[k] : nullptr; }
  bool has_input(size_t k) const { return k < node.inputs.size() && node.inputs[k].valid(); }

  /// An input of a subgraph that always has one value, and the output that gives it back.
  struct Fixed {
    size_t input = 0, output = 0;
    const Tensor* value = nullptr;
  };
  /// The subgraph in attribute `name`. Error kInvalidModel when it is missing or does not have `inputs` inputs and at
  /// least `outputs` outputs.
  const Graph& subgraph(const std::string& name, size_t inputs, size_t outputs) const;
  /// The same as a program, without what is fixed. Errors of Program::compile too, with the place inside the subgraph.
  Body body(const std::string& name, size_t inputs, size_t outputs, const std::vector<Fixed>& fixed);
  Body body(const std::string& name, size_t inputs, size_t outputs) { return body(name, inputs, outputs, {}); }
  /// Names of the outer values that the bodies read and that are no constants, in the order of Body::captured.
  const std::vector<std::string>& captured() const { return captured_; }

 private:
  std::vector<const Tensor*> constants_;
  std::map<std::string, const Tensor*> known_;
  std::vector<std::string> captured_;
};

struct ControlOp {
  std::string_view type;
  int64_t since;
  std::unique_ptr<const Control> (*prepare)(ControlSetup& setup);
};

/// The record of a node that runs subgraphs; null for all others.
const ControlOp* control_op(const Node& node);
/// The same, refusing operator sets older than the record. Error kUnsupportedModel.
const ControlOp& checked_control_op(const Node& node, const Model& model);

/// Its subgraphs by attribute name.
std::vector<std::pair<std::string, std::shared_ptr<const Graph>>> subgraphs_of(const Node& node);
/// Outer values that its subgraphs read by name. Sorted, each once.
std::vector<std::string> captures_of(const Node& node);
/// The subgraph as a model of its own: outer values are constants where `known` has them, else inputs after its own,
/// in the order of captures().
Model body_model(const Model& outer, const Graph& subgraph, const std::map<std::string, const Tensor*>& known);
/// `error`, found in a model of its own, at its place inside the subgraph at `place`.
Error inside(const std::string& place, const Error& error);

/// The single element of a condition. Error kInvalidModel unless it is one bool.
bool truth_of(const Tensor& tensor, std::string_view what);

std::unique_ptr<const Control> prepare_loop(ControlSetup& setup);
std::unique_ptr<const Control> prepare_scan(ControlSetup& setup);

}  // namespace tersor::run
