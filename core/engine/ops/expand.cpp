// SPDX-License-Identifier: Apache-2.0
// Operators that repeat elements: Expand (numpy's broadcast), Tile; and Where, which chooses between two tensors.
#include <algorithm>
#include <cstring>

#include "core/ops/broadcast.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

void require_whole_bytes(const Input& input) {
  if (bits_of(input.dtype()) < 8) unsupported("The type " + std::string(name_of(input.dtype())) + " is not supported.");
}

class Expand : public Kernel {
 public:
  explicit Expand(const Setup& setup) { require_inputs(setup, 2, 2); }
  std::vector<size_t> value_inputs() const override { return {1}; }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0]);
    return {{inputs[0].dtype(), broadcast(inputs[0].shape(), Shape(integers_of(inputs[1], "shape"))), Layout::kPlain}};
  }
  std::optional<size_t> alias(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return inputs[0].elements() == outputs[0].shape.elements() ? std::optional<size_t>(0) : std::nullopt;
  }
  void run(const Call& call) const override {
    const std::vector<int64_t>& from = call.inputs[0].shape().dims();
    const std::vector<int64_t>& to = call.outputs[0].shape().dims();
    const std::vector<int64_t> source = row_major_strides(from), target = row_major_strides(to);
    std::vector<CopyAxis> axes;
    const size_t lead = to.size() - from.size();
    for (size_t k = 0; k < to.size(); ++k)
      axes.push_back({to[k], k < lead || from[k - lead] == 1 ? 0 : source[k - lead], target[k]});
    copy_strided(call.inputs[0].data, call.outputs[0].data, axes,
                 static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8));
  }
};

class Tile : public Kernel {
 public:
  explicit Tile(const Setup& setup) { require_inputs(setup, 2, 2); }
  std::vector<size_t> value_inputs() const override { return {1}; }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0]);
    const Shape& from = inputs[0].shape();
    const std::vector<int64_t> repeats = integers_of(inputs[1], "repeats");
    std::vector<int64_t> dims;
    for (size_t k = 0; k < repeats.size() && static_cast<int>(k) < from.rank(); ++k) {
      const int64_t dim = from[static_cast<int>(k)];
      if (repeats[k] < 0 || repeats[k] > (int64_t{1} << 48) / std::max<int64_t>(dim, 1)) break;
      dims.push_back(dim * repeats[k]);
    }
    if (dims.size() != repeats.size() || static_cast<int>(dims.size()) != from.rank())
      invalid("The repeats " + text_of(repeats) + " do not fit the shape " + from.text() + ".");
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }
  void run(const Call& call) const override {
    if (call.outputs[0].elements() == 0) return;
    const std::vector<int64_t>& from = call.inputs[0].shape().dims();
    const std::vector<int64_t>& to = call.outputs[0].shape().dims();
    const std::vector<int64_t> source = row_major_strides(from), target = row_major_strides(to);
    std::vector<CopyAxis> axes;
    for (size_t k = 0; k < to.size(); ++k) {
      axes.push_back({to[k] / from[k], 0, target[k] * from[k]});
      axes.push_back({from[k], source[k], target[k]});
    }
    copy_strided(call.inputs[0].data, call.outputs[0].data, axes,
                 static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8));
  }
};

template <class T>
void choose(const bool* condition, bool c, const T* x, bool a, const T* y, bool b, T* out, size_t n) {
  for (size_t k = 0; k < n; ++k) out[k] = condition[c ? k : 0] ? x[a ? k : 0] : y[b ? k : 0];
}

class Where : public Kernel {
 public:
  explicit Where(const Setup& setup) { require_inputs(setup, 3, 3); }
  std::vector<Form> forms(std::span<const Input> inputs) const override { return elementwise_forms(inputs); }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kBool}, "condition");
    require_same_type(inputs[1], inputs[2]);
    require_whole_bytes(inputs[1]);
    return {broadcast_type(inputs, inputs[1].dtype())};
  }
  void run(const Call& call) const override {
    switch (bits_of(call.inputs[1].dtype())) {
      case 8:
        return run_as<uint8_t>(call);
      case 16:
        return run_as<uint16_t>(call);
      case 32:
        return run_as<uint32_t>(call);
      default:
        return run_as<uint64_t>(call);
    }
  }

 private:
  template <class T>
  static void run_as(const Call& call) {
    const BroadcastLoop loops(call.inputs, *call.outputs[0].type);
    const auto* condition = reinterpret_cast<const bool*>(call.inputs[0].data);
    const auto* x = reinterpret_cast<const T*>(call.inputs[1].data);
    const auto* y = reinterpret_cast<const T*>(call.inputs[2].data);
    auto* out = reinterpret_cast<T*>(call.outputs[0].data);
    loops.for_each_run([&](const int64_t* offsets, int64_t output) {
      choose(condition + offsets[0], loops.moves(0), x + offsets[1], loops.moves(1), y + offsets[2], loops.moves(2),
             out + output, static_cast<size_t>(loops.inner()));
    });
  }
};

}  // namespace

std::vector<Op> expand_ops() {
  return {
      {.domain = "", .type = "Expand", .since = 8, .prepare = make_kernel<Expand>},
      {.domain = "", .type = "Tile", .since = 6, .prepare = make_kernel<Tile>},
      {.domain = "", .type = "Where", .since = 9, .prepare = make_kernel<Where>},
  };
}

}  // namespace tersor::ops
