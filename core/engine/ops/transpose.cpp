// SPDX-License-Identifier: Apache-2.0
// Transpose takes its input in the layout that it has and gives the one that costs least: a change between NCHW and
// NHWC is only another name for the same bytes.
#include <algorithm>
#include <numeric>

#include "core/ops/families.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

class Transpose : public Kernel {
 public:
  explicit Transpose(const Setup& setup) : perm_(setup.node.ints_or("perm", {})) {
    require_inputs(setup, 1, 1);
    std::vector<int64_t> sorted = perm_;
    std::sort(sorted.begin(), sorted.end());
    for (size_t k = 0; k < sorted.size(); ++k)
      if (sorted[k] != static_cast<int64_t>(k))
        invalid("The attribute perm is " + text_of(perm_) + "; it must name each axis once.");
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const TensorType& from = *inputs[0].type;
    const int rank = from.shape.rank();
    if (!perm_.empty() && static_cast<int>(perm_.size()) != rank)
      invalid("The attribute perm is " + text_of(perm_) + "; the input has the shape " + from.shape.text() + ".");
    if (bits_of(from.dtype) < 8) unsupported("The type " + std::string(name_of(from.dtype)) + " is not supported.");
    std::vector<int64_t> dims;
    for (int k = 0; k < rank; ++k) dims.push_back(from.shape[source_of(k, rank)]);
    TensorType to{from.dtype, Shape(std::move(dims)), Layout::kPlain};
    if (rank >= 3 && !moves_nothing(from, to)) {
      to.layout = Layout::kChannelsLast;
      if (!moves_nothing(from, to)) to.layout = Layout::kPlain;
    }
    return {to};
  }

  std::optional<size_t> alias(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return moves_nothing(*inputs[0].type, outputs[0]) ? std::optional<size_t>(0) : std::nullopt;
  }

  void run(const Call& call) const override {
    const TensorType& from = *call.inputs[0].type;
    permute(call.inputs[0].data, physical_dims(from), order(from, *call.outputs[0].type),
            static_cast<size_t>(bits_of(from.dtype) / 8), call.outputs[0].data);
  }

 private:
  int source_of(int axis, int rank) const {
    return perm_.empty() ? rank - 1 - axis : static_cast<int>(perm_[static_cast<size_t>(axis)]);
  }

  /// For each axis of the output in memory order, the axis of the input in memory order.
  std::vector<int> order(const TensorType& from, const TensorType& to) const {
    const int rank = from.shape.rank();
    std::vector<int> order;
    for (int k = 0; k < rank; ++k)
      order.push_back(physical_axis(source_of(logical_axis(k, rank, to.layout), rank), rank, from.layout));
    return order;
  }

  /// The bytes stay as they are: leaving axes of length 1 aside, the order ascends.
  bool moves_nothing(const TensorType& from, const TensorType& to) const {
    const std::vector<int64_t> dims = physical_dims(from);
    int last = -1;
    for (const int axis : order(from, to)) {
      if (dims[static_cast<size_t>(axis)] == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }

  std::vector<int64_t> perm_;
};

}  // namespace

std::vector<Op> transpose_ops() {
  return {{.domain = "", .type = "Transpose", .prepare = make_kernel<Transpose>}};
}

}  // namespace tersor::ops
