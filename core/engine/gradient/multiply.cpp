// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul. A matrix that all rows of the other operand share, whatever their leading axes, gets its gradient as
// one product over all rows.
#include <algorithm>
#include <numeric>

#include "core/gradient/kernel.h"
#include "core/graph/attribute_defaults.h"
#include "core/kernels/gemm.h"
#include "core/ops/refuse.h"

namespace tersor::gradient {

namespace {

void transpose(const float* from, float* to, int64_t rows, int64_t columns) {
  const int64_t dims[2] = {rows, columns};
  const int order[2] = {1, 0};
  ops::permute(from, dims, order, sizeof(float), to);
}

/// SumOuter(a, dy, like): a^T dy over all rows of a [..., k] and dy [..., n]; k x n.
class SumOuter : public LikeInput {
 public:
  explicit SumOuter(ops::Setup&) : LikeInput(2) {}
  int64_t scratch_bytes(std::span<const ops::Input> inputs, std::span<const ops::TensorType>) const override {
    return inputs[0].elements() * static_cast<int64_t>(sizeof(float));
  }
  void run(const ops::Call& call) const override {
    const Shape& to = call.inputs[2].shape();
    const int64_t rows = call.inputs[0].elements() / std::max<int64_t>(to[0], 1);
    auto* columns = reinterpret_cast<float*>(call.scratch.data());
    transpose(call.inputs[0].values<float>().data(), columns, rows, to[0]);
    const kernels::Panels panels = kernels::pack_matrix(call.inputs[1].values<float>().data(), rows, to[1], false);
    kernels::gemm(columns, to[0], panels, {}, call.outputs[0].values<float>().data());
  }
};

/// The last two axes changed with each other.
ValueId transposed(Backward& b, ValueId matrix, int rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  Attributes attributes;
  attributes["perm"] = std::move(order);
  return b.emit("Transpose", {matrix}, std::move(attributes));
}

void mat_mul(Backward& b) {
  const ValueId a = b.node().inputs[0], w = b.node().inputs[1], dy = b.by_output();
  const int a_rank = b.rank(a), w_rank = b.rank(w);
  if (a_rank < 2 || w_rank < 2) ops::unsupported("A MatMul with a vector has no gradient here.");
  if (b.wants(0)) b.give_broadcast(0, b.emit("MatMul", {dy, transposed(b, w, w_rank)}));
  if (!b.wants(1)) return;
  if (w_rank == 2)
    b.give(1, b.own("SumOuter", {a, dy, w}));
  else
    b.give_broadcast(1, b.emit("MatMul", {transposed(b, a, a_rank), dy}));
}

void gemm(Backward& b) {
  const Node& node = b.node();
  const auto flag = [&](const char* name) { return node.int_or(name, 0) != 0; };
  const bool a_turned = flag("transA"), w_turned = flag("transB");
  const float alpha = float_of(node, "alpha"), beta = float_of(node, "beta");
  const ValueId a = node.inputs[0], w = node.inputs[1], dy = b.by_output();
  const auto product = [&](ValueId left, bool left_turned, ValueId right, bool right_turned) {
    Attributes attributes;
    attributes["transA"] = int64_t{left_turned};
    attributes["transB"] = int64_t{right_turned};
    attributes["alpha"] = alpha;
    return b.emit("Gemm", {left, right}, std::move(attributes));
  };
  if (b.wants(0)) b.give(0, a_turned ? product(w, w_turned, dy, true) : product(dy, false, w, !w_turned));
  if (b.wants(1)) b.give(1, w_turned ? product(dy, true, a, a_turned) : product(a, !a_turned, dy, false));
  if (b.wants(2)) b.give_broadcast(2, beta == 1 ? dy : b.emit("Mul", {dy, b.scalar(beta)}));
}

}  // namespace

Family multiply_family() {
  return {{{"", "MatMul", mat_mul}, {"", "Gemm", gemm}}, {kernel_record<SumOuter>("SumOuter")}};
}

}  // namespace tersor::gradient
