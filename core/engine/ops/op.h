// SPDX-License-Identifier: Apache-2.0
// What an operator is to the engine. An Op is a record: the names and versions it answers to, and a function that turns
// one node of a graph into a Kernel. A Kernel is what is left of the node once everything known beforehand is used up:
// attributes parsed and checked, constant weights packed. It is immutable, holds no reference to the graph, and may run
// in several threads at once.
//
// In the life of a node the calls are, in this order:
//   Op::prepare     once per program: refuses attributes and constants that are wrong or not supported
//   Kernel::forms   once per set of input shapes: the layouts it wants its inputs in
//   Kernel::infer   the same: checks types and shapes, gives those of the outputs
//   Kernel::run     for each run: no checks of shapes, no allocation
// All throw Error without a place; the caller puts the node's place first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/ops/layout.h"
#include "core/tensor/tensor.h"

namespace tersor::ops {

/// An input as a kernel sees it. Absent optional inputs have no type. In infer() the data is there only when the values
/// are already known (constants, and what follows from shapes alone) or asked for by value_inputs(); in run() always,
/// but for inputs that prepare() absorbed.
struct Input {
  const TensorType* type = nullptr;
  const std::byte* data = nullptr;

  bool present() const { return type != nullptr; }
  const Shape& shape() const { return type->shape; }
  DType dtype() const { return type->dtype; }
  int64_t elements() const { return type->shape.elements(); }
  /// The elements in memory order. T must be the dtype's type.
  template <class T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(data), static_cast<size_t>(elements())};
  }
};

/// True when the node has an input at that position, and it is there.
inline bool is_present(std::span<const Input> inputs, size_t k) {
  return k < inputs.size() && inputs[k].present();
}

struct Output {
  const TensorType* type = nullptr;  // none: an optional output that nobody reads
  std::byte* data = nullptr;

  bool present() const { return type != nullptr; }
  const Shape& shape() const { return type->shape; }
  int64_t elements() const { return type->shape.elements(); }
  template <class T>
  std::span<T> values() const {
    return {reinterpret_cast<T*>(data), static_cast<size_t>(elements())};
  }
};

/// The bounds of a Relu or Clip that the engine lets the producer of its input apply: y = min(max(x, low), high).
struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool operator==(const Clamp&) const = default;
};

/// What Op::prepare is given: the node, the version of its operator set, and the inputs whose values are constant.
class Setup {
 public:
  Setup(const Node& of, int64_t version, std::vector<const Tensor*> constants,
        std::optional<Clamp> fused_clamp = std::nullopt)
      : node(of), opset(version), clamp(fused_clamp), constants_(std::move(constants)), absorbed_(constants_.size()) {}

  const Node& node;
  int64_t opset;               // version of the node's own domain
  std::optional<Clamp> clamp;  // to be applied to output 0; only for an Op that takes_clamp
  std::string_view label;      // what the node is called (Graph::label_of), as long as prepare() takes
  bool will_run = true;        // else the kernel is asked for types and sizes only, and need not pack its weights

  /// The node names an input at this position.
  bool has_input(size_t k) const { return k < node.inputs.size() && node.inputs[k].valid(); }
  bool has_output(size_t k) const { return k < node.outputs.size() && node.outputs[k].valid(); }
  /// The value of input `k` when it is a constant, else null.
  const Tensor* constant(size_t k) const { return k < constants_.size() ? constants_[k] : nullptr; }
  /// Says that the kernel has taken from constant input `k` all it needs: its bytes are not kept for the run. Its type
  /// still comes with infer().
  void absorb(size_t k) { absorbed_[k] = true; }
  bool absorbed(size_t k) const { return k < absorbed_.size() && absorbed_[k]; }

 private:
  std::vector<const Tensor*> constants_;
  std::vector<bool> absorbed_;
};

/// How a kernel wants an input: its layout, and a rank (with leading dimensions of 1 put first where it has fewer).
struct Form {
  Layout layout = Layout::kPlain;
  int rank = 0;
};

/// One run of a kernel. `scratch` has the size that scratch_bytes() said and is aligned to 64 bytes, like every output.
struct Call {
  std::span<const Input> inputs;
  std::span<const Output> outputs;
  std::span<std::byte> scratch;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Inputs whose values, not only types, decide the outputs' shapes (the target of Reshape, the ends of Slice). Where
  /// they are not known before the run, the engine runs up to here and plans the rest then.
  virtual std::vector<size_t> value_inputs() const { return {}; }
  /// True when the outputs follow from the inputs' types alone (Shape, Size): no input data is needed to run it.
  virtual bool from_types_only() const { return false; }

  /// One form per input, given their present types. Default: all plain, of their own rank.
  virtual std::vector<Form> forms(std::span<const Input> inputs) const;
  /// The outputs' types, given inputs in the forms asked for; one per output of the node. Error kInvalidModel for
  /// types or shapes that the operator's definition forbids, kUnsupportedModel for those not done here.
  virtual std::vector<TensorType> infer(std::span<const Input> inputs) const = 0;

  /// The input whose bytes output 0 is, unchanged (Reshape, Identity): the engine then makes it a view and does not run
  /// the kernel. Asked after infer().
  virtual std::optional<size_t> alias(std::span<const Input> inputs, std::span<const TensorType> outputs) const;
  /// True when output 0 may be written over input `k` (of the same size in bytes) while running.
  virtual bool overwrites(size_t k, std::span<const Input> inputs, std::span<const TensorType> outputs) const;
  virtual int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const;
  /// Multiply-accumulate operations of one run; 0 for operators that are not counted in them.
  virtual int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const;

  virtual void run(const Call& call) const = 0;
};

/// An operator. Records are constants of the program: a node's operator is found by domain, type and version.
struct Op {
  std::string_view domain;
  std::string_view type;
  int64_t since = 1;  // first and last version of the domain's operator set that this record answers to
  int64_t until = std::numeric_limits<int64_t>::max();
  /// Error kInvalidModel or kUnsupportedModel. May be called more than once for a node.
  std::function<std::unique_ptr<const Kernel>(Setup&)> prepare;
  /// Applies Setup::clamp to its output 0.
  bool takes_clamp = false;
  /// For Relu, Clip and their like: the clamp this node is, when its bounds are constant. Absent for other operators.
  std::optional<Clamp> (*as_clamp)(const Setup&) = nullptr;
  /// Its output is the product of two inputs, so that a gate may do its work.
  bool takes_gate = false;
  /// For Sigmoid and HardSigmoid: a kernel of the same node that gives x times what the node makes of x, of float32
  /// the same bytes as a Mul after it. Absent for other operators.
  std::unique_ptr<const Kernel> (*prepare_as_gate)(Setup&) = nullptr;
  /// For Slice: a kernel that does the work of `front` first, whose node is of this operator and makes input 0. It has
  /// the `inputs` of the front, then its own but input 0. Absent for other operators.
  std::unique_ptr<const Kernel> (*prepare_after)(Setup&, std::unique_ptr<const Kernel> front, size_t inputs) = nullptr;
};

/// The usual Op::prepare: the kernel K of what it is given.
template <class K>
std::unique_ptr<const Kernel> make_kernel(Setup& setup) {
  return std::make_unique<K>(setup);
}

}  // namespace tersor::ops
