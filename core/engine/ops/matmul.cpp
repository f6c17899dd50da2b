// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul. Each element of the product is summed over k from first to last. MatMul takes the wider whole
// numbers and float64 too, which models multiply few of.
#include <algorithm>
#include <type_traits>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/gemm.h"
#include "core/ops/broadcast.h"
#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/number_types.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

void transpose(const float* from, float* to, int64_t rows, int64_t columns) {
  const int64_t dims[2] = {rows, columns};
  const int order[2] = {1, 0};
  permute(from, dims, order, sizeof(float), to);
}

/// Y = alpha * A' B' + beta * C, where ' is an optional transposition and C broadcasts to M x N.
class Gemm : public Kernel {
 public:
  explicit Gemm(Setup& setup)
      : alpha_(float_of(setup.node, "alpha")),
        beta_(float_of(setup.node, "beta")),
        trans_a_(int_of(setup.node, "transA") != 0),
        trans_b_(int_of(setup.node, "transB") != 0),
        clamp_(setup.clamp) {
    require_inputs(setup, 2, 3);
    const Tensor* b = setup.constant(1);
    if (b == nullptr) return;
    if (b->dtype() != DType::kFloat32 || b->shape().rank() != 2 || b->elements() == 0) return;
    if (setup.will_run) packed_ = pack_b(b->shape(), b->aligned().data<float>().data());
    setup.absorb(1);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    return {{DType::kFloat32, Shape{s.m, s.n}, Layout::kPlain}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return trans_a_ ? s.m * s.k * 4 : 0;
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return s.m * s.n * s.k;
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const float* a = call.inputs[0].values<float>().data();
    if (trans_a_) {
      auto* transposed = reinterpret_cast<float*>(call.scratch.data());
      transpose(a, transposed, s.k, s.m);
      a = transposed;
    }
    const kernels::Panels b =
        packed_.empty() ? pack_b(call.inputs[1].shape(), call.inputs[1].values<float>().data()) : packed_;
    float* y = call.outputs[0].values<float>().data();
    if (takes_epilogue(call, s)) return kernels::gemm(a, s.m, b, epilogue(call), y);
    kernels::gemm(a, s.m, b, {}, y);
    finish(call, s);
  }

 private:
  struct Sizes {
    int64_t m, n, k;
  };

  Sizes sizes(std::span<const Input> inputs) const {
    require_type(inputs[0], {DType::kFloat32}, "A");
    require_type(inputs[1], {DType::kFloat32}, "B");
    require_rank(inputs[0], 2, "A");
    require_rank(inputs[1], 2, "B");
    const Shape &a = inputs[0].shape(), &b = inputs[1].shape();
    const Sizes s{a[trans_a_ ? 1 : 0], b[trans_b_ ? 0 : 1], a[trans_a_ ? 0 : 1]};
    if (s.k != b[trans_b_ ? 1 : 0])
      invalid("The matrices have the shapes " + a.text() + " and " + b.text() + ", which do not multiply.");
    if (inputs.size() > 2 && inputs[2].present()) {
      require_type(inputs[2], {DType::kFloat32}, "C");
      const Shape whole{s.m, s.n};
      if (inputs[2].shape().rank() > 2 || !(broadcast(whole, inputs[2].shape()) == whole))
        invalid("The input C has the shape " + inputs[2].shape().text() + "; the product is " + whole.text() + ".");
    }
    return s;
  }

  kernels::Panels pack_b(const Shape& shape, const float* b) const {
    return kernels::pack_matrix(b, shape[trans_b_ ? 1 : 0], shape[trans_b_ ? 0 : 1], trans_b_);
  }

  /// alpha and beta are 1 and C is a row or absent: the usual layer.
  bool takes_epilogue(const Call& call, const Sizes& s) const {
    const bool has_c = call.inputs.size() > 2 && call.inputs[2].present();
    const bool row = !has_c || (call.inputs[2].elements() == s.n &&
                                (s.m == 1 || call.inputs[2].shape().rank() < 2 || call.inputs[2].shape()[0] == 1));
    return alpha_ == 1 && (!has_c || beta_ == 1) && row;
  }

  kernels::Epilogue epilogue(const Call& call) const {
    kernels::Epilogue made;
    if (call.inputs.size() > 2 && call.inputs[2].present()) made.bias = call.inputs[2].values<float>().data();
    if (clamp_) made.low = clamp_->low, made.high = clamp_->high;
    return made;
  }

  void finish(const Call& call, const Sizes& s) const {
    float* y = call.outputs[0].values<float>().data();
    const bool has_c = call.inputs.size() > 2 && call.inputs[2].present();
    const float* c = has_c ? call.inputs[2].values<float>().data() : nullptr;
    const Shape one{1, 1};
    const Shape& shape = has_c ? call.inputs[2].shape() : one;
    const int64_t row_step = shape.rank() == 2 && shape[0] != 1 ? shape[1] : 0;
    const int64_t column_step = shape.rank() >= 1 && shape[shape.rank() - 1] != 1 ? 1 : 0;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        float& value = y[i * s.n + j];
        value = alpha_ * value;
        if (has_c) value = value + beta_ * c[i * row_step + j * column_step];
      }
    if (clamp_) apply_clamp(*clamp_, DType::kFloat32, call.outputs[0].data, static_cast<size_t>(s.m * s.n));
  }

  float alpha_, beta_;
  bool trans_a_, trans_b_;
  std::optional<Clamp> clamp_;
  kernels::Panels packed_;  // empty when B is no constant
};

/// Numpy's matmul: the last two axes multiply, the others broadcast; a vector is a row on the left, a column on the
/// right, and its axis leaves the result.
class MatMul : public Kernel {
 public:
  explicit MatMul(Setup& setup) : clamp_(setup.clamp) {
    require_inputs(setup, 2, 2);
    const Tensor* b = setup.constant(1);
    if (b == nullptr || b->dtype() != DType::kFloat32 || b->shape().rank() != 2 || b->elements() == 0) return;
    if (setup.will_run)
      packed_ = kernels::pack_matrix(b->aligned().data<float>().data(), b->shape()[0], b->shape()[1], false);
    setup.absorb(1);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0],
                 {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64}, "A");
    require_same_type(inputs[0], inputs[1]);
    const Sizes s = sizes(inputs);
    std::vector<int64_t> dims = s.batch.dims();
    if (inputs[0].shape().rank() > 1) dims.push_back(s.m);
    if (inputs[1].shape().rank() > 1) dims.push_back(s.n);
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * sizes(inputs).k;
  }

  void run(const Call& call) const override {
    const DType dtype = call.inputs[0].dtype();
    if (dtype != DType::kFloat32) {
      with_number_type(dtype, [&](auto zero) { multiply<decltype(zero)>(call); });
      if (clamp_) apply_clamp(*clamp_, dtype, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()));
      return;
    }
    const Sizes s = sizes(call.inputs);
    const float* a = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    kernels::Epilogue epilogue;
    if (clamp_) epilogue.low = clamp_->low, epilogue.high = clamp_->high;
    const int64_t count = s.batch.elements();
    if (!packed_.empty()) return kernels::gemm(a, count * s.m, packed_, epilogue, y);
    const float* b = call.inputs[1].values<float>().data();
    kernels::Panels panels;
    for (int64_t k = 0, last = -1; k < count; ++k) {
      const int64_t of_b = matrix_of(k, s.batch, s.b_batch);
      if (of_b != last) panels = kernels::pack_matrix(b + of_b * s.k * s.n, s.k, s.n, false);
      last = of_b;
      kernels::gemm(a + matrix_of(k, s.batch, s.a_batch) * s.m * s.k, s.m, panels, epilogue, y + k * s.m * s.n);
    }
  }

 private:
  struct Sizes {
    int64_t m, n, k;
    Shape batch, a_batch, b_batch;
  };

  static Sizes sizes(std::span<const Input> inputs) {
    const Shape &a = inputs[0].shape(), &b = inputs[1].shape();
    const auto refuse = [&] {
      invalid("The inputs have the shapes " + a.text() + " and " + b.text() + ", which do not multiply.");
    };
    if (a.rank() == 0 || b.rank() == 0) refuse();
    const auto leading = [](const Shape& shape) {
      return Shape(std::vector<int64_t>(shape.begin(), shape.begin() + std::max(0, shape.rank() - 2)));
    };
    Sizes s{.m = a.rank() > 1 ? a[a.rank() - 2] : 1,
            .n = b.rank() > 1 ? b[b.rank() - 1] : 1,
            .k = a[a.rank() - 1],
            .batch = {},
            .a_batch = leading(a),
            .b_batch = leading(b)};
    if (s.k != (b.rank() > 1 ? b[b.rank() - 2] : b[0])) refuse();
    s.batch = broadcast(s.a_batch, s.b_batch);
    return s;
  }

  /// Whole numbers wrap around.
  template <class T>
  static void multiply(const Call& call) {
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
    const Sizes s = sizes(call.inputs);
    T* y = call.outputs[0].values<T>().data();
    for (int64_t k = 0; k < s.batch.elements(); ++k) {
      const T* a = call.inputs[0].values<T>().data() + matrix_of(k, s.batch, s.a_batch) * s.m * s.k;
      const T* b = call.inputs[1].values<T>().data() + matrix_of(k, s.batch, s.b_batch) * s.k * s.n;
      for (int64_t row = 0; row < s.m; ++row, a += s.k)
        for (int64_t column = 0; column < s.n; ++column) {
          Sum sum = 0;
          for (int64_t i = 0; i < s.k; ++i) sum += static_cast<Sum>(a[i]) * static_cast<Sum>(b[i * s.n + column]);
          *y++ = static_cast<T>(sum);
        }
    }
  }

  /// Which matrix of an operand with the leading shape `own` the k-th one of `batch` reads.
  static int64_t matrix_of(int64_t k, const Shape& batch, const Shape& own) {
    int64_t index = 0, step = 1;
    for (int axis = batch.rank() - 1, o = own.rank() - 1; axis >= 0; --axis, --o) {
      const int64_t place = k % batch[axis];
      k /= batch[axis];
      if (o < 0) continue;
      if (own[o] != 1) index += place * step;
      step *= own[o];
    }
    return index;
  }

  std::optional<Clamp> clamp_;
  kernels::Panels packed_;  // of a constant matrix B
};

template <class K>
Op product(std::string_view type) {
  return {.domain = "", .type = type, .since = 1, .prepare = make_kernel<K>, .takes_clamp = true};
}

}  // namespace

std::vector<Op> matmul_ops() {
  return {product<Gemm>("Gemm"), product<MatMul>("MatMul")};
}

}  // namespace tersor::ops
