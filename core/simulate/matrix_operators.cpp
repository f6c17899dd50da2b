// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul, MatMulIntegerToFloat and QGemm: exact int32 sums, then requantized or scaled to float.
#include <numeric>

#include "core/simulate/operator_parts.h"
#include "core/simulate/requantize.h"

namespace tersor::simulate {

namespace {

using ops::Call;
using ops::Input;
using ops::Setup;
using ops::TensorType;

int32_t dot(const int16_t* a, const int16_t* b, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<int32_t>(a[i]) * b[i];
  return sum;
}

void to_numbers(std::span<const uint8_t> raw, bool is_signed, int32_t zero_point, int16_t* numbers) {
  for (size_t i = 0; i < raw.size(); ++i)
    numbers[i] =
        static_cast<int16_t>((is_signed ? static_cast<int8_t>(raw[i]) : static_cast<int32_t>(raw[i])) - zero_point);
}

/// [k, n] to [n, k].
void transpose(const int16_t* from, int64_t k, int64_t n, int16_t* to) {
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) to[j * k + i] = from[i * n + j];
}

/// Where a matrix kernel finds its inputs, and what it gives.
struct Places {
  size_t a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale;
  bool transposed_b = false;
};

class IntegerMatMul : public ops::Kernel {
 public:
  IntegerMatMul(Setup& setup, const Places& places)
      : places_(places),
        a_(grid_at(setup, places.a_scale, places.a_zero)),
        quantizes_(setup.has_input(places.y_scale)) {
    if (quantizes_) y_ = grid_at(setup, places.y_scale);
    const std::vector<float> scales = scales_at(setup, places.b_scale);
    factors_ = quantizes_ ? requantize_multipliers(a_.scale, scales, y_.scale) : dequantize_factors(a_.scale, scales);
    if (setup.has_input(places.bias)) {
      const Tensor bias = constant_at(setup, places.bias, "bias").aligned();
      bias_.assign(bias.data<int32_t>().begin(), bias.data<int32_t>().end());
    }
    if (const Tensor* b = setup.constant(places.b); b != nullptr && b->shape().rank() == 2)
      pack(*b, constant_at(setup, places.b_zero, "weight's zero point"));
    else if (scales.size() == 1 && !places.transposed_b)
      b_ = grid_at(setup, places.b_scale, places.b_zero);
    else
      throw Error(ErrorCode::kUnsupportedModel, "A matrix computed at run time needs one scale for all columns.");
    for (size_t k = 0; k < setup.node.inputs.size(); ++k)
      if (k != places.a && (k != places.b || !packed_.empty())) setup.absorb(k);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[places_.a], a_);
    const Shape& a = inputs[places_.a].shape();
    const Shape& b = inputs[places_.b].shape();
    if (a.rank() < 1 || b.rank() < 1 || (places_.transposed_b && a.rank() != 2))
      throw Error(ErrorCode::kInvalidModel, "A matrix product of " + a.text() + " and " + b.text() + ".");
    if (a.rank() < 2 || b.rank() < 2)
      throw Error(ErrorCode::kUnsupportedModel,
                  "An integer matrix product of vectors (" + a.text() + " and " + b.text() + ").");
    const int64_t k = a[a.rank() - 1], inner = places_.transposed_b ? b[1] : b[b.rank() - 2],
                  n = places_.transposed_b ? b[0] : b[b.rank() - 1];
    if (k != inner)
      throw Error(ErrorCode::kInvalidModel, "The matrices " + a.text() + " and " + b.text() + " do not fit.");
    if (!bias_.empty() && static_cast<int64_t>(bias_.size()) != n && bias_.size() != 1)
      throw Error(ErrorCode::kInvalidModel,
                  "A bias of " + std::to_string(bias_.size()) + " for " + std::to_string(n) + " columns.");
    std::vector<int64_t> dims = broadcast(batch_of(a), batch_of(b)).dims();
    dims.insert(dims.end(), {a[a.rank() - 2], n});
    return {{quantizes_ ? dtype_of_grid(y_) : DType::kFloat32, Shape(dims), ops::Layout::kPlain}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    const Sizes s = sizes(inputs[places_.a].shape(), outputs[0].shape);
    return s.m * s.n * static_cast<int64_t>(sizeof(int32_t)) +
           (s.m * s.k + (packed_.empty() ? 2 * s.k * s.n : 0)) * static_cast<int64_t>(sizeof(int16_t));
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * sizes(inputs[places_.a].shape(), outputs[0].shape).k;
  }

  void run(const Call& call) const override {
    const Input &a = call.inputs[places_.a], &b = call.inputs[places_.b];
    const Shape& out = call.outputs[0].shape();
    const Sizes s = sizes(a.shape(), out);
    auto* sums = reinterpret_cast<int32_t*>(call.scratch.data());
    auto* rows = reinterpret_cast<int16_t*>(call.scratch.data() + static_cast<size_t>(s.m * s.n) * sizeof(int32_t));
    int16_t* columns = rows + s.m * s.k;
    const Shape batch = batch_of(out);
    const auto a_one = static_cast<size_t>(s.m * s.k), b_one = static_cast<size_t>(s.k * s.n),
               out_one = static_cast<size_t>(s.m * s.n);
    for (int64_t i = 0; i < batch.elements(); ++i) {
      to_numbers(raw_bytes(a).subspan(static_cast<size_t>(source(i, batch, batch_of(a.shape()))) * a_one, a_one),
                 a_.is_signed, a_.zero_point, rows);
      const int16_t* right = packed_.data();
      if (packed_.empty()) {
        to_numbers(raw_bytes(b).subspan(static_cast<size_t>(source(i, batch, batch_of(b.shape()))) * b_one, b_one),
                   b_.is_signed, b_.zero_point, columns);
        transpose(columns, s.k, s.n, columns + s.k * s.n);
        right = columns + s.k * s.n;
      }
      multiply(rows, right, s, sums);
      finish({sums, out_one}, call.outputs[0], static_cast<size_t>(i) * out_one, static_cast<size_t>(s.n));
    }
  }

 private:
  struct Sizes {
    int64_t m, k, n;
  };

  static Shape batch_of(const Shape& shape) {
    return Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - 2));
  }
  static Sizes sizes(const Shape& a, const Shape& out) {
    return {out[out.rank() - 2], a[a.rank() - 1], out[out.rank() - 1]};
  }

  /// The matrix of `from` that the i-th of the broadcast batch reads.
  static int64_t source(int64_t i, const Shape& batch, const Shape& from) {
    int64_t place = 0, factor = 1;
    for (int axis = batch.rank() - 1, own = from.rank() - 1; axis >= 0; --axis, --own) {
      const int64_t at = i % batch[axis];
      i /= batch[axis];
      if (own < 0) continue;
      if (from[own] != 1) place += at * factor;
      factor *= from[own];
    }
    return place;
  }

  void pack(const Tensor& b, const Tensor& zero_point) {
    const std::vector<int16_t> numbers = weight_numbers(b, zero_point);
    if (places_.transposed_b) {
      packed_ = numbers;
    } else {
      packed_.resize(numbers.size());
      transpose(numbers.data(), b.shape()[0], b.shape()[1], packed_.data());
    }
  }

  void multiply(const int16_t* rows, const int16_t* right, const Sizes& s, int32_t* sums) const {
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        const int32_t bias = bias_.empty() ? 0 : bias_[bias_.size() == 1 ? 0 : static_cast<size_t>(j)];
        sums[i * s.n + j] = static_cast<int32_t>(static_cast<uint32_t>(dot(rows + i * s.k, right + j * s.k, s.k)) +
                                                 static_cast<uint32_t>(bias));
      }
  }

  void finish(std::span<const int32_t> sums, const ops::Output& output, size_t at, size_t columns) const {
    if (quantizes_)
      requantize(sums, factors_, columns, raw_bytes(output).subspan(at, sums.size()), y_);
    else
      dequantize_sums(sums, factors_, columns, output.values<float>().subspan(at, sums.size()));
  }

  Places places_;
  Grid a_, b_, y_;
  bool quantizes_;
  std::vector<float> factors_;
  std::vector<int32_t> bias_;
  std::vector<int16_t> packed_;  // [n, k]; empty when B is computed at run time
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_qlinear_matmul(Setup& setup, Profile) {
  return std::make_unique<IntegerMatMul>(setup, Places{0, 1, 2, 3, 4, 5, 99, 6});
}

std::unique_ptr<const ops::Kernel> prepare_matmul_integer_to_float(Setup& setup, Profile) {
  return std::make_unique<IntegerMatMul>(setup, Places{0, 2, 4, 1, 3, 5, 99, 99});
}

std::unique_ptr<const ops::Kernel> prepare_qgemm(Setup& setup, Profile) {
  return std::make_unique<IntegerMatMul>(setup, Places{0, 1, 2, 3, 4, 5, 6, 7, setup.node.int_or("transB", 0) != 0});
}

}  // namespace tersor::simulate
