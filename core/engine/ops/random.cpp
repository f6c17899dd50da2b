// SPDX-License-Identifier: Apache-2.0
// Operators that draw numbers: RandomNormal, RandomUniform, their forms that take a shape from an input, Bernoulli,
// Multinomial, and Dropout in training mode. Runtimes draw other numbers each time; here a node draws the same ones in
// every run, so that a float model and its quantized one are compared on the same noise.
#include "core/ops/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/fourier.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

Noise::Noise(std::string_view label) : seed_(0xcbf29ce484222325ULL) {
  for (const char c : label) seed_ = (seed_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
}

uint64_t Noise::bits(uint64_t place) const {
  uint64_t z = seed_ + (place + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

double Noise::normal(uint64_t place) const {
  constexpr int64_t kTurn = int64_t{1} << 24;
  const double radius = std::sqrt(-2 * kernels::natural_logarithm(fraction(2 * place)));
  return radius * kernels::direction(static_cast<int64_t>(bits(2 * place + 1) >> 40), kTurn).real();
}

namespace {

/// The type that the attribute names, else `otherwise`.
DType type_of(const Setup& setup, DType otherwise) {
  const int64_t number = setup.node.int_or("dtype", static_cast<int64_t>(otherwise));
  const DType dtype = number > 0 && number < 256 ? static_cast<DType>(number) : DType::kUndefined;
  with_value_type(dtype, [](auto) {});
  return dtype;
}

/// RandomNormal, RandomUniform and those of a shape like an input's.
class Draw : public Kernel {
 public:
  explicit Draw(const Setup& setup)
      : noise_(setup.label),
        is_normal_(setup.node.op_type.starts_with("RandomNormal")),
        is_like_(setup.node.op_type.ends_with("Like")) {
    require_inputs(setup, is_like_ ? 1 : 0, is_like_ ? 1 : 0);
    base_ = float_of(setup.node, is_normal_ ? "mean" : "low");
    factor_ = is_normal_ ? float_of(setup.node, "scale") : float_of(setup.node, "high") - base_;
    if (!is_like_ || setup.node.attributes.contains("dtype")) dtype_ = type_of(setup, DType::kFloat32);
    if (is_like_) return;
    const auto dims = setup.node.ints_or("shape", {});
    if (!setup.node.attributes.contains("shape")) invalid("The attribute shape is missing.");
    if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; }))
      invalid("The attribute shape is " + text_of(dims) + ".");
    shape_ = Shape(dims);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const DType dtype = dtype_ == DType::kUndefined ? inputs[0].dtype() : dtype_;
    if (dtype != DType::kFloat32 && dtype != DType::kFloat64)
      unsupported("The type " + std::string(name_of(dtype)) + " is not supported for this operator.");
    return {{dtype, is_like_ ? inputs[0].shape() : shape_, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const auto n = static_cast<size_t>(call.outputs[0].elements());
    with_number_type(call.outputs[0].type->dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto y = call.outputs[0].values<T>();
      for (size_t k = 0; k < n; ++k)
        y[k] = static_cast<T>(base_ + factor_ * (is_normal_ ? noise_.normal(k) : noise_.fraction(k)));
    });
  }

 private:
  Noise noise_;
  bool is_normal_, is_like_;
  double base_ = 0, factor_ = 1;
  DType dtype_ = DType::kUndefined;  // that of the input
  Shape shape_;
};

/// 1 with the probability that the input holds, else 0.
class Bernoulli : public Kernel {
 public:
  explicit Bernoulli(const Setup& setup) : noise_(setup.label) {
    require_inputs(setup, 1, 1);
    if (setup.node.attributes.contains("dtype")) dtype_ = type_of(setup, DType::kFloat32);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32, DType::kFloat64}, "of probabilities");
    return {{dtype_ == DType::kUndefined ? inputs[0].dtype() : dtype_, inputs[0].shape(), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    std::vector<bool> ones;
    with_number_type(call.inputs[0].dtype(), [&](auto zero) {
      for (const auto p : call.inputs[0].values<decltype(zero)>())
        ones.push_back(noise_.fraction(ones.size()) <= static_cast<double>(p));
    });
    with_value_type(call.outputs[0].type->dtype, [&](auto zero) {
      const auto y = call.outputs[0].values<decltype(zero)>();
      for (size_t k = 0; k < y.size(); ++k) y[k] = static_cast<decltype(zero)>(ones[k] ? 1 : 0);
    });
  }

 private:
  Noise noise_;
  DType dtype_ = DType::kUndefined;  // that of the input
};

/// Classes by the logarithms of their odds, one row of the input for each row of the output.
class Multinomial : public Kernel {
 public:
  explicit Multinomial(const Setup& setup)
      : noise_(setup.label), draws_(int_of(setup.node, "sample_size")), dtype_(type_of(setup, DType::kInt32)) {
    require_inputs(setup, 1, 1);
    if (draws_ < 0 || draws_ > kMost) invalid("The attribute sample_size is " + std::to_string(draws_) + ".");
    if (dtype_ != DType::kInt32 && dtype_ != DType::kInt64) invalid("The attribute dtype must be int32 or int64.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "input");
    require_rank(inputs[0], 2, "input");
    if (inputs[0].shape()[1] < 1) invalid("The input has no class.");
    return {{dtype_, Shape{inputs[0].shape()[0], draws_}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const auto classes = static_cast<size_t>(call.inputs[0].shape()[1]), draws = static_cast<size_t>(draws_);
    const auto logarithms = call.inputs[0].values<float>();
    std::vector<double> sums(classes);
    for (size_t row = 0; row < static_cast<size_t>(call.inputs[0].shape()[0]); ++row) {
      const float* x = logarithms.data() + row * classes;
      const auto most = static_cast<double>(*std::max_element(x, x + classes));
      double sum = 0;
      for (size_t c = 0; c < classes; ++c) sums[c] = sum += kernels::exponential(static_cast<double>(x[c]) - most);
      for (size_t k = row * draws; k < (row + 1) * draws; ++k) {
        const double wanted = noise_.fraction(k) * sum;
        const auto found = std::find_if(sums.begin(), sums.end() - 1, [&](double up_to) { return wanted <= up_to; });
        put(call.outputs[0], k, found - sums.begin());
      }
    }
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 31;

  static void put(const Output& output, size_t place, int64_t picked) {
    if (output.type->dtype == DType::kInt32)
      output.values<int32_t>()[place] = static_cast<int32_t>(picked);
    else
      output.values<int64_t>()[place] = picked;
  }

  Noise noise_;
  int64_t draws_;
  DType dtype_;
};

class TrainingDropout : public Kernel {
 public:
  explicit TrainingDropout(const Setup& setup) : noise_(setup.label) { require_inputs(setup, 1, 3); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "data");
    if (is_present(inputs, 1)) require_type(inputs[1], {DType::kFloat32, DType::kFloat64}, "ratio");
    if (is_present(inputs, 2)) require_type(inputs[2], {DType::kBool}, "training_mode");
    for (size_t k = 1; k < inputs.size(); ++k)
      if (inputs[k].present() && inputs[k].elements() != 1)
        invalid("Input " + std::to_string(k) + " has the shape " + inputs[k].shape().text() + "; it must be a scalar.");
    return {*inputs[0].type, {DType::kBool, inputs[0].shape(), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const bool trains = is_present(call.inputs, 2) && call.inputs[2].values<uint8_t>()[0] != 0;
    double ratio = trains ? 0.5 : 0;
    if (trains && is_present(call.inputs, 1))
      with_number_type(call.inputs[1].dtype(),
                       [&](auto zero) { ratio = static_cast<double>(call.inputs[1].values<decltype(zero)>()[0]); });
    const float factor = ratio < 1 ? static_cast<float>(1 / (1 - ratio)) : 0;
    const auto x = call.inputs[0].values<float>();
    const bool has_mask = call.outputs.size() > 1 && call.outputs[1].present();
    for (size_t k = 0; k < x.size(); ++k) {
      const bool stays = ratio <= 0 || noise_.fraction(k) > ratio;
      if (call.outputs[0].present()) call.outputs[0].values<float>()[k] = stays ? x[k] * factor : 0;
      if (has_mask) call.outputs[1].values<uint8_t>()[k] = stays ? 1 : 0;
    }
  }

 private:
  Noise noise_;
};

}  // namespace

std::unique_ptr<const Kernel> training_dropout(const Setup& setup) {
  return std::make_unique<TrainingDropout>(setup);
}

std::vector<Op> random_ops() {
  return {
      {.domain = "", .type = "Bernoulli", .since = 15, .prepare = make_kernel<Bernoulli>},
      {.domain = "", .type = "Multinomial", .since = 7, .prepare = make_kernel<Multinomial>},
      {.domain = "", .type = "RandomNormal", .prepare = make_kernel<Draw>},
      {.domain = "", .type = "RandomNormalLike", .prepare = make_kernel<Draw>},
      {.domain = "", .type = "RandomUniform", .prepare = make_kernel<Draw>},
      {.domain = "", .type = "RandomUniformLike", .prepare = make_kernel<Draw>},
  };
}

}  // namespace tersor::ops
