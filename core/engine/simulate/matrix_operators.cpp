// SPDX-License-Identifier: Apache-2.0
// The integer matrix products: QLinearMatMul, QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul and MatMulInteger.
// Exact int32 sums (saturating in pairs on x64 without VNNI), then requantized, scaled to float, or given as they are.
#include <optional>

#include "core/kernels/quantize.h"
#include "core/ops/refuse.h"
#include "core/simulate/dynamic_quantize.h"
#include "core/simulate/integer_matrix.h"
#include "core/simulate/operator_parts.h"
#include "core/simulate/requantize.h"

namespace tersor::simulate {

namespace {

/// Where a matrix operator finds its inputs.
struct Places {
  size_t a = 0, b = 0, a_scale = kNoInput, a_zero = kNoInput, b_scale = kNoInput, b_zero = kNoInput, y_scale = kNoInput,
         y_zero = kNoInput;
  size_t integer_bias = kNoInput, float_bias = kNoInput;
  bool quantizes_a = false;  // A is float and quantized on the way (DynamicQuantizeMatMul)
};

/// The matrices of a product, vectors counted as matrices of one row or column.
struct Sizes {
  Shape a_batch, b_batch, batch;
  int64_t m = 1, k = 1, n = 1;
};

Shape leading(const Shape& shape, int trailing) {
  return Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - std::min(trailing, shape.rank())));
}

Sizes sizes_of(const Shape& a, const Shape& b, bool transposed_b) {
  if (a.rank() < 1 || b.rank() < 1 || (transposed_b && (a.rank() != 2 || b.rank() != 2)))
    ops::invalid("A matrix product of " + a.text() + " and " + b.text() + ".");
  Sizes s;
  s.a_batch = leading(a, 2);
  s.b_batch = leading(b, 2);
  s.batch = broadcast(s.a_batch, s.b_batch);
  s.m = a.rank() == 1 ? 1 : a[a.rank() - 2];
  s.k = a[a.rank() - 1];
  s.n = b.rank() == 1 ? 1 : transposed_b ? b[0] : b[b.rank() - 1];
  if (s.k != (b.rank() == 1 || transposed_b ? b[b.rank() - 1] : b[b.rank() - 2]))
    ops::invalid("The matrices " + a.text() + " and " + b.text() + " do not fit.");
  return s;
}

/// The matrix of `from` that the i-th of the broadcast batch reads.
size_t source(int64_t i, const Shape& batch, const Shape& from) {
  int64_t place = 0, factor = 1;
  for (int axis = batch.rank() - 1, own = from.rank() - 1; axis >= 0; --axis, --own) {
    const int64_t at = i % batch[axis];
    i /= batch[axis];
    if (own < 0) continue;
    if (from[own] != 1) place += at * factor;
    factor *= from[own];
  }
  return static_cast<size_t>(place);
}

/// One matrix A of a batch as codes.
struct LeftCodes {
  std::span<const uint8_t> raw;
  bool is_signed = false;
  int32_t zero_point = 0;
};

class IntegerMatMul : public ops::Kernel {
 public:
  IntegerMatMul(Setup& setup, const Places& places, Profile profile)
      : places_(places),
        profile_(profile),
        pairs_(pairs_of(setup.node, profile)),
        alpha_(setup.node.op_type == "QGemm" ? setup.node.float_or("alpha", 1.0f) : 1.0f),
        transposed_a_(setup.node.op_type == "QGemm" && setup.node.int_or("transA", 0) != 0),
        transposed_b_(setup.node.op_type == "QGemm" && setup.node.int_or("transB", 0) != 0) {
    for (size_t k : {places.a_scale, places.b_scale, places.y_scale})
      if (const Tensor* scale = setup.constant(k)) check_scales(*scale);
    const Tensor* b = setup.constant(places.b);
    const bool zero_known = !setup.has_input(places.b_zero) || setup.constant(places.b_zero) != nullptr;
    if (b == nullptr || !zero_known || b->shape().rank() < 1 || !is_code(b->dtype())) return;
    const Tensor* zero = setup.constant(places.b_zero);
    const std::vector<int32_t> zero_points = zero != nullptr ? numbers_of(*zero) : std::vector<int32_t>{};
    const Tensor codes = b->aligned();
    pack({reinterpret_cast<const uint8_t*>(codes.bytes().data()), codes.bytes().size()}, *b, zero_points);
    setup.absorb(places.b);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Input &a = inputs[places_.a], &b = inputs[places_.b];
    if (places_.quantizes_a)
      ops::require_type(a, {DType::kFloat32}, "A");
    else
      ops::require_type(a, {DType::kUint8, DType::kInt8}, "A");
    ops::require_type(b, {DType::kUint8, DType::kInt8}, "B");
    const Sizes s = sizes_of(left_shape(a), b.shape(), transposed_b_);
    check_parameters(inputs, s);
    std::vector<int64_t> dims = s.batch.dims();
    if (a.shape().rank() > 1) dims.push_back(s.m);
    if (b.shape().rank() > 1) dims.push_back(s.n);
    std::vector<TensorType> types = {{output_type(inputs), Shape(dims), ops::Layout::kPlain}};
    if (pairs_ != Pairs::kExact) types.push_back(saturation_type());
    return types;
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes_of(left_shape(inputs[places_.a]), inputs[places_.b].shape(), transposed_b_);
    const int64_t codes = places_.quantizes_a || transposed_a_ ? inputs[places_.a].elements() : 0;
    return s.m * s.n * static_cast<int64_t>(sizeof(int32_t)) + (s.m * s.k + 1) * static_cast<int64_t>(sizeof(int16_t)) +
           codes;
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    const Shape a = left_shape(inputs[places_.a]);
    return outputs[0].shape.elements() * a[a.rank() - 1];
  }

  void run(const Call& call) const override {
    const Input &a = call.inputs[places_.a], &b = call.inputs[places_.b];
    const Sizes s = sizes_of(left_shape(a), b.shape(), transposed_b_);
    const auto a_one = static_cast<size_t>(s.m * s.k), out_one = static_cast<size_t>(s.m * s.n);
    auto* sums = reinterpret_cast<int32_t*>(call.scratch.data());
    auto* rows = reinterpret_cast<int16_t*>(sums + out_one);
    rows[a_one] = 0;
    Left left = left_of(call, reinterpret_cast<uint8_t*>(rows + a_one + 1));
    std::vector<IntegerMatrix> unpacked;
    if (matrices_.empty()) unpacked = matrices_of(b, codes_of(call.inputs, places_.b_zero), s);
    const std::vector<IntegerMatrix>& matrices = matrices_.empty() ? unpacked : matrices_;
    const Finish finish = finish_of(call.inputs, left.scale);
    int64_t saturated = 0;
    for (int64_t i = 0; i < s.batch.elements(); ++i) {
      const auto raw = left.codes.raw.subspan(source(i, s.batch, s.a_batch) * a_one, a_one);
      kernels::widen_codes(raw.data(), a_one, {1, left.codes.zero_point, left.codes.is_signed}, rows);
      saturated += matrices[source(i, s.batch, s.b_batch)].multiply(rows, s.m, left.codes.is_signed,
                                                                    left.codes.zero_point, sums);
      give({sums, out_one}, finish, call, static_cast<size_t>(i) * out_one, static_cast<size_t>(s.n));
    }
    give_saturation(call, saturated);
  }

 private:
  struct Left {
    LeftCodes codes;
    float scale = 1;
  };
  /// What becomes of the sums.
  struct Finish {
    std::vector<float> factors;  // empty: they are given as they are
    std::optional<Grid> y;       // absent: float
  };

  DType output_type(std::span<const Input> inputs) const {
    if (places_.b_scale == kNoInput) return DType::kInt32;
    if (!has(inputs, places_.y_scale)) return DType::kFloat32;
    return has(inputs, places_.y_zero) ? inputs[places_.y_zero].dtype() : inputs[places_.a].dtype();
  }

  void check_parameters(std::span<const Input> inputs, const Sizes& s) const {
    check_parameter(inputs, places_.a_scale, {DType::kFloat32}, 1, "scale of A");
    check_parameter(inputs, places_.a_zero, {inputs[places_.a].dtype()}, 1, "zero point of A");
    check_parameter(inputs, places_.b_scale, {DType::kFloat32}, s.n, "scale of B");
    check_parameter(inputs, places_.b_zero, {inputs[places_.b].dtype()}, s.n, "zero point of B");
    check_parameter(inputs, places_.y_scale, {DType::kFloat32}, 1, "scale of the output");
    check_parameter(inputs, places_.y_zero, {DType::kUint8, DType::kInt8}, 1, "zero point of the output");
    check_parameter(inputs, places_.integer_bias, {DType::kInt32}, s.n, "bias");
    check_parameter(inputs, places_.float_bias, {DType::kFloat32}, s.n, "bias");
  }

  void pack(std::span<const uint8_t> raw, const Tensor& b, const std::vector<int32_t>& zero_points) {
    const Shape& shape = b.shape();
    Sizes s;
    s.k = shape.rank() == 1 || transposed_b_ ? shape[shape.rank() - 1] : shape[shape.rank() - 2];
    s.n = shape.rank() == 1 ? 1 : transposed_b_ ? shape[0] : shape[shape.rank() - 1];
    s.b_batch = leading(shape, 2);
    if (zero_points.size() > 1 && static_cast<int64_t>(zero_points.size()) != s.n)
      ops::invalid("The zero point of B has " + std::to_string(zero_points.size()) + " elements; 1 or " +
                   std::to_string(s.n) + " are needed.");
    matrices_ = matrices_of(raw, b.dtype() == DType::kInt8, zero_points, s);
  }
  std::vector<IntegerMatrix> matrices_of(const Input& b, const std::vector<int32_t>& zero_points,
                                         const Sizes& s) const {
    return matrices_of(raw_bytes(b), b.dtype() == DType::kInt8, zero_points, s);
  }
  std::vector<IntegerMatrix> matrices_of(std::span<const uint8_t> raw, bool is_signed,
                                         const std::vector<int32_t>& zero_points, const Sizes& s) const {
    std::vector<IntegerMatrix> matrices;
    const auto one = static_cast<size_t>(s.k * s.n);
    for (int64_t i = 0; i < s.b_batch.elements(); ++i)
      matrices.emplace_back(IntegerMatrix::Codes{raw.subspan(static_cast<size_t>(i) * one, one), is_signed, zero_points,
                                                 s.k, s.n, transposed_b_},
                            pairs_);
    return matrices;
  }

  /// Of the matrix that is multiplied: turned where the attribute transA says so.
  Shape left_shape(const Input& a) const {
    if (!transposed_a_) return a.shape();
    ops::require_rank(a, 2, "A");
    return Shape{a.shape()[1], a.shape()[0]};
  }

  Left left_of(const Call& call, uint8_t* codes) const {
    const Input& a = call.inputs[places_.a];
    if (places_.quantizes_a) {
      const auto values = a.values<float>();
      const Grid grid = dynamic_grid(values);
      for (size_t i = 0; i < values.size(); ++i) codes[i] = quantize(values[i], grid);
      return {{{codes, values.size()}, false, grid.zero_point}, grid.scale};
    }
    Left left{{raw_bytes(a), a.dtype() == DType::kInt8, first_code(call.inputs, places_.a_zero)}, 1};
    if (transposed_a_) {
      const auto rows = static_cast<size_t>(a.shape()[0]), columns = static_cast<size_t>(a.shape()[1]);
      for (size_t i = 0; i < left.codes.raw.size(); ++i) codes[i % columns * rows + i / columns] = left.codes.raw[i];
      left.codes.raw = {codes, left.codes.raw.size()};
    }
    if (has(call.inputs, places_.a_scale)) left.scale = alpha_ * scales_of(call.inputs, places_.a_scale)[0];
    return left;
  }

  Finish finish_of(std::span<const Input> inputs, float a_scale) const {
    Finish finish;
    if (places_.b_scale == kNoInput) return finish;
    const auto scales = scales_of(inputs, places_.b_scale);
    if (!has(inputs, places_.y_scale)) {
      finish.factors = dequantize_factors(a_scale, scales);
      return finish;
    }
    finish.y = Grid{scales_of(inputs, places_.y_scale)[0], first_code(inputs, places_.y_zero),
                    output_type(inputs) == DType::kInt8};
    finish.factors = requantize_multipliers(a_scale, scales, finish.y->scale);
    return finish;
  }

  void give(std::span<int32_t> sums, const Finish& finish, const Call& call, size_t at, size_t columns) const {
    if (has(call.inputs, places_.integer_bias)) {
      const auto bias = call.inputs[places_.integer_bias].values<int32_t>();
      for (size_t k = 0; k < sums.size(); ++k)
        sums[k] = static_cast<int32_t>(static_cast<uint32_t>(sums[k]) +
                                       static_cast<uint32_t>(bias[bias.size() == 1 ? 0 : k % columns]));
    }
    const ops::Output& output = call.outputs[0];
    if (finish.factors.empty()) {
      std::copy(sums.begin(), sums.end(), output.values<int32_t>().begin() + static_cast<std::ptrdiff_t>(at));
    } else if (finish.y) {
      requantize(sums, finish.factors, columns, raw_bytes(output).subspan(at, sums.size()), *finish.y);
    } else {
      const auto y = output.values<float>().subspan(at, sums.size());
      if (has(call.inputs, places_.float_bias))
        dequantize_and_add(sums, finish.factors, columns, call.inputs[places_.float_bias].values<float>(), y);
      else
        dequantize_sums(sums, finish.factors, columns, y);
    }
  }

  /// y = f(sum) * factor + bias: in one rounding on ARM64, in two elsewhere.
  void dequantize_and_add(std::span<const int32_t> sums, std::span<const float> factors, size_t columns,
                          std::span<const float> bias, std::span<float> y) const {
    for (size_t k = 0; k < sums.size(); ++k) {
      const float sum = static_cast<float>(sums[k]), factor = factors[factors.size() == 1 ? 0 : k % columns],
                  added = bias[bias.size() == 1 ? 0 : k % columns];
      y[k] = profile_ == Profile::kArm64 ? fma_once(sum, factor, added) : sum * factor + added;
    }
  }

  Places places_;
  Profile profile_;
  Pairs pairs_;
  float alpha_;
  bool transposed_a_, transposed_b_;
  std::vector<IntegerMatrix> matrices_;  // empty when B is computed at run time
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_qlinear_matmul(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 8, 8);
  Places places;
  places.a_scale = 1, places.a_zero = 2, places.b = 3, places.b_scale = 4, places.b_zero = 5;
  places.y_scale = 6, places.y_zero = 7;
  return std::make_unique<IntegerMatMul>(setup, places, profile);
}

std::unique_ptr<const ops::Kernel> prepare_matmul_integer_to_float(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 4, 7);
  Places places;
  places.b = 1, places.a_scale = 2, places.b_scale = 3, places.a_zero = 4, places.b_zero = 5, places.float_bias = 6;
  return std::make_unique<IntegerMatMul>(setup, places, profile);
}

std::unique_ptr<const ops::Kernel> prepare_dynamic_quantize_matmul(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 3, 5);
  Places places;
  places.quantizes_a = true;
  places.b = 1, places.b_scale = 2, places.b_zero = 3, places.float_bias = 4;
  return std::make_unique<IntegerMatMul>(setup, places, profile);
}

std::unique_ptr<const ops::Kernel> prepare_matmul_integer(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 2, 4);
  Places places;
  places.b = 1, places.a_zero = 2, places.b_zero = 3;
  return std::make_unique<IntegerMatMul>(setup, places, profile);
}

std::unique_ptr<const ops::Kernel> prepare_qgemm(Setup& setup, Profile profile) {
  ops::require_inputs(setup, 6, 9);
  Places places;
  places.a_scale = 1, places.a_zero = 2, places.b = 3, places.b_scale = 4, places.b_zero = 5;
  places.integer_bias = 6, places.y_scale = 7, places.y_zero = 8;
  return std::make_unique<IntegerMatMul>(setup, places, profile);
}

}  // namespace tersor::simulate
