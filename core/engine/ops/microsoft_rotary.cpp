// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of com.microsoft: ONNX's with its inputs in another order (input, position_ids, cos_cache,
// sin_cache), and perhaps one position to count from.
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/microsoft.h"

namespace tersor::ops {

namespace {

class MicrosoftRotaryEmbedding : public Kernel {
 public:
  explicit MicrosoftRotaryEmbedding(const Setup& setup)
      : interleaved_(setup.node.int_or("interleaved", 0) != 0),
        turned_(setup.node.int_or("rotary_embedding_dim", 0)),
        heads_(setup.node.int_or("num_heads", 0)) {
    require_inputs(setup, 4, 4);
    require_attributes(setup, {"interleaved", "num_heads", "rotary_embedding_dim"});
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& x = inputs[0].shape();
    require_type(inputs[1], {DType::kInt64, DType::kInt32}, "position_ids");
    if (x.rank() != 3 && x.rank() != 4) invalid("The input has the shape " + x.text() + "; it must have rank 3 or 4.");
    require_rank(inputs[2], 2, "cos_cache");
    const TensorType positions = positions_type(x);
    const Input ids = counts(inputs[1]) ? Input{&positions} : inputs[1];
    return turner(inputs)->infer(std::vector{inputs[0], inputs[2], inputs[3], ids});
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return positions_type(inputs[0].shape()).shape.elements() * 8;
  }

  void run(const Call& call) const override {
    const TensorType positions = positions_type(call.inputs[0].shape());
    Input ids = call.inputs[1];
    if (counts(ids)) {
      auto* places = reinterpret_cast<int64_t*>(call.scratch.data());
      const int64_t first = index_at(ids, 0), length = positions.shape[1];
      for (int64_t k = 0; k < positions.shape.elements(); ++k) places[k] = first + k % length;
      ids = {&positions, call.scratch.data()};
    }
    turner(call.inputs)->run({std::vector{call.inputs[0], call.inputs[2], call.inputs[3], ids}, call.outputs, {}});
  }

 private:
  /// One number, from which the positions count.
  static bool counts(const Input& ids) { return ids.shape().rank() == 1 && ids.shape()[0] == 1; }

  static TensorType positions_type(const Shape& x) {
    return {DType::kInt64, Shape{x[0], x[x.rank() - 2]}, Layout::kPlain};
  }

  /// Where the number of heads is not said, the tables tell it.
  std::unique_ptr<const Kernel> turner(std::span<const Input> inputs) const {
    const Shape& x = inputs[0].shape();
    const int64_t size = 2 * inputs[2].shape()[1];
    const bool tells = x.rank() == 3 && heads_ == 0 && turned_ == 0 && size > 0;
    return make_rotary_embedding(interleaved_, turned_ == 0 ? size : turned_, tells ? x[2] / size : heads_);
  }

  bool interleaved_;
  int64_t turned_, heads_;
};

}  // namespace

std::vector<Op> microsoft_rotary_ops() {
  return {{.domain = "com.microsoft", .type = "RotaryEmbedding", .prepare = make_kernel<MicrosoftRotaryEmbedding>}};
}

}  // namespace tersor::ops
