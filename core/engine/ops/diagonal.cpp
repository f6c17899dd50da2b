// SPDX-License-Identifier: Apache-2.0
// Operators about a matrix's diagonal: Trilu keeps what is above or below it, EyeLike makes it, Det multiplies it once
// the matrix is triangular.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

class Trilu : public Kernel {
 public:
  explicit Trilu(const Setup& setup) : upper_(int_of(setup.node, "upper") != 0) { require_inputs(setup, 1, 2); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "input");
    if (inputs[0].shape().rank() < 2)
      invalid("The input has the shape " + inputs[0].shape().text() + "; it must hold matrices.");
    if (inputs.size() > 1 && inputs[1].present()) {
      require_type(inputs[1], {DType::kInt64}, "k");
      if (inputs[1].elements() != 1)
        invalid("The input k has the shape " + inputs[1].shape().text() + "; it must be a scalar.");
    }
    return {{inputs[0].dtype(), inputs[0].shape(), Layout::kPlain}};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
    const int64_t shift = call.inputs.size() > 1 && call.inputs[1].present() ? index_at(call.inputs[1], 0) : 0;
    const auto bytes = static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8);
    if (shape.elements() == 0) return;
    const std::byte* from = call.inputs[0].data;
    std::byte* to = call.outputs[0].data;
    if (from != to) std::memcpy(to, from, static_cast<size_t>(call.inputs[0].type->bytes()));
    for (int64_t line = 0; line < shape.elements() / columns; ++line, to += static_cast<size_t>(columns) * bytes) {
      const int64_t row = line % rows;
      // The first column of the upper part, which is the end of the lower part but for one.
      const int64_t diagonal = shift > columns ? columns : shift < -rows ? -rows : shift;
      const int64_t cut = std::clamp<int64_t>(row + diagonal + (upper_ ? 0 : 1), 0, columns);
      if (upper_)
        std::memset(to, 0, static_cast<size_t>(cut) * bytes);
      else
        std::memset(to + static_cast<size_t>(cut) * bytes, 0, static_cast<size_t>(columns - cut) * bytes);
    }
  }

 private:
  bool upper_;
};

class EyeLike : public Kernel {
 public:
  explicit EyeLike(const Setup& setup) : shift_(int_of(setup.node, "k")) {
    require_inputs(setup, 1, 1);
    if (const auto* dtype = setup.node.attribute<int64_t>("dtype")) {
      if (*dtype <= 0 || *dtype > 255) invalid("The attribute dtype is " + std::to_string(*dtype) + ".");
      dtype_ = static_cast<DType>(*dtype);
    }
  }

  bool from_types_only() const override { return true; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_rank(inputs[0], 2, "input");
    const DType dtype = dtype_ == DType::kUndefined ? inputs[0].dtype() : dtype_;
    if (dtype != DType::kBool) with_number_type(dtype, [](auto) {});
    return {{dtype, inputs[0].shape(), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.outputs[0].shape();
    if (shape.elements() == 0) return;
    std::memset(call.outputs[0].data, 0, static_cast<size_t>(call.outputs[0].type->bytes()));
    const auto set = [&](auto one) {
      auto* y = reinterpret_cast<decltype(one)*>(call.outputs[0].data);
      for (int64_t row = 0; row < shape[0]; ++row)
        if (shift_ >= -row && shift_ < shape[1] - row) y[row * shape[1] + row + shift_] = decltype(one)(1);
    };
    if (call.outputs[0].type->dtype == DType::kBool)
      set(uint8_t());
    else
      with_number_type(call.outputs[0].type->dtype, set);
  }

 private:
  int64_t shift_;
  DType dtype_ = DType::kUndefined;
};

/// By Gaussian elimination with partial pivoting, in double. A loop of our own, as its sums have one order on every
/// machine.
template <class T>
double determinant(const T* from, int64_t size) {
  std::vector<double> a(from, from + size * size);
  const auto row = [&](int64_t k) { return a.data() + k * size; };
  double product = 1;
  for (int64_t k = 0; k < size; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < size; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(row(k), row(k) + size, row(pivot));
      product = -product;
    }
    product *= row(k)[k];
    if (row(k)[k] == 0) break;
    for (int64_t i = k + 1; i < size; ++i) {
      const double factor = row(i)[k] / row(k)[k];
      for (int64_t j = k + 1; j < size; ++j) row(i)[j] -= factor * row(k)[j];
    }
  }
  return product;
}

class Det : public Kernel {
 public:
  explicit Det(const Setup& setup) { require_inputs(setup, 1, 1); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& shape = inputs[0].shape();
    require_type(inputs[0], {DType::kFloat32, DType::kFloat64}, "input");
    if (shape.rank() < 2 || shape[shape.rank() - 2] != shape[shape.rank() - 1])
      invalid("The input has the shape " + shape.text() + "; it must hold square matrices.");
    return {
        {inputs[0].dtype(), Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - 2)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int64_t size = shape[shape.rank() - 1];
    with_number_type(call.inputs[0].dtype(), [&](auto number) {
      using T = decltype(number);
      const T* from = call.inputs[0].values<T>().data();
      for (T& to : call.outputs[0].values<T>()) {
        to = static_cast<T>(determinant(from, size));
        from += size * size;
      }
    });
  }
};

}  // namespace

std::vector<Op> diagonal_ops() {
  return {
      {.domain = "", .type = "Trilu", .since = 14, .prepare = make_kernel<Trilu>},
      {.domain = "", .type = "EyeLike", .since = 9, .prepare = make_kernel<EyeLike>},
      {.domain = "", .type = "Det", .since = 11, .prepare = make_kernel<Det>},
  };
}

}  // namespace tersor::ops
