// SPDX-License-Identifier: Apache-2.0
// What quantizers of activations are while a model is trained, with n = x / scale and the codes from low to high, the
// zero point taken away:
//   FakeQuantize(x, scale, fraction): y = x + fraction (scale * (n rounded to even, within low and high) - x)
// Rounding lets the gradient pass, and the range does not. By the scale: n rounded less n within, the end beyond.
// Source: LSQ (Esser et al. 2020); the fraction is MCT's gradual activation quantization.
#include <algorithm>

#include "core/gradient/kernel.h"
#include "core/ops/refuse.h"
#include "core/tensor/rounding.h"

namespace tersor::gradient {

namespace {

/// One scale for the tensor, or one for each channel (axis 1).
class Quantizing : public ops::Kernel {
 public:
  explicit Quantizing(const ops::Setup& setup)
      : low_(static_cast<float>(setup.node.int_or("low", -128))),
        high_(static_cast<float>(setup.node.int_or("high", 127))) {}

 protected:
  /// Calls visit(first element, count, channel's scale, channel) for each run of elements of one scale.
  template <class Visit>
  static void for_each_run(const ops::Input& x, const ops::Input& scale, Visit visit) {
    const std::span<const float> scales = scale.values<float>();
    const auto n = static_cast<size_t>(x.elements());
    if (scales.size() == 1) return visit(size_t{0}, n, scales[0], size_t{0});
    const Shape& shape = x.shape();
    if (x.type->layout == ops::Layout::kChannelsLast) {
      for (size_t k = 0; k < n; ++k) visit(k, size_t{1}, scales[k % scales.size()], k % scales.size());
      return;
    }
    const auto inner = static_cast<size_t>(shape.elements(2, shape.rank()));
    for (size_t k = 0; k * inner < n; ++k) visit(k * inner, inner, scales[k % scales.size()], k % scales.size());
  }
  /// Within the ends first, which are whole numbers: the same, and there is room for the addition that rounds.
  float rounded(float n) const {
    n = n > low_ ? n : low_;
    n = n < high_ ? n : high_;
    return round_half_even_small(n);
  }
  /// Whether n, rounded, is within the ends.
  bool is_inside(float n) const { return n >= low_ - 0.5f && n <= high_ + 0.5f; }

  float low_, high_;
};

class FakeQuantize : public Quantizing {
 public:
  explicit FakeQuantize(ops::Setup& setup) : Quantizing(setup) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = inputs[0].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    ops::require_type(inputs[0], {DType::kFloat32}, "x");
    if (inputs[1].elements() != 1 && (inputs[0].shape().rank() < 2 || inputs[1].elements() != inputs[0].shape()[1]))
      ops::invalid("There are " + std::to_string(inputs[1].elements()) + " scales for an input of shape " +
                   inputs[0].shape().text() + ".");
    return {*inputs[0].type};
  }
  bool overwrites(size_t k, std::span<const ops::Input>, std::span<const ops::TensorType>) const override {
    return k == 0;
  }
  void run(const ops::Call& call) const override {
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const float fraction = call.inputs[2].values<float>()[0];
    for_each_run(call.inputs[0], call.inputs[1], [&](size_t first, size_t count, float scale, size_t) {
      if (fraction == 1)
        for (size_t k = first; k < first + count; ++k) y[k] = scale * rounded(x[k] / scale);
      else
        for (size_t k = first; k < first + count; ++k) y[k] = x[k] + fraction * (scale * rounded(x[k] / scale) - x[k]);
    });
  }
};

/// FakeQuantizeGradient(x, dy, scale, fraction): by x, and by the scale (in double, in the order of the elements).
class FakeQuantizeGradient : public Quantizing {
 public:
  explicit FakeQuantizeGradient(ops::Setup& setup) : Quantizing(setup) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = forms[1].layout = inputs[0].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {*inputs[0].type, *inputs[2].type};
  }
  bool overwrites(size_t k, std::span<const ops::Input>, std::span<const ops::TensorType>) const override {
    return k == 1;
  }
  void run(const ops::Call& call) const override {
    const float *x = call.inputs[0].values<float>().data(), *dy = call.inputs[1].values<float>().data();
    float* dx = call.outputs[0].present() ? call.outputs[0].values<float>().data() : nullptr;
    const float fraction = call.inputs[3].values<float>()[0];
    std::vector<double> sums(static_cast<size_t>(call.inputs[2].elements()), 0.0);
    const bool by_scale = call.outputs.size() > 1 && call.outputs[1].present();
    for_each_run(call.inputs[0], call.inputs[2], [&](size_t first, size_t count, float scale, size_t channel) {
      if (by_scale)
        for (size_t k = first; k < first + count; ++k) {
          const float n = x[k] / scale, code = rounded(n);
          sums[channel] += static_cast<double>(dy[k] * (is_inside(n) ? code - n : code));
        }
      if (dx == nullptr) return;
      const float beyond = 1 - fraction;
      for (size_t k = first; k < first + count; ++k) dx[k] = dy[k] * (is_inside(x[k] / scale) ? 1.0f : beyond);
    });
    if (!by_scale) return;
    const std::span<float> to = call.outputs[1].values<float>();
    for (size_t c = 0; c < to.size(); ++c) to[c] = static_cast<float>(sums[c] * static_cast<double>(fraction));
  }
};

void fake_quantize(Backward& b) {
  const Node& node = b.node();
  const bool by_scale = b.wants(1);
  const std::vector<ValueId> made =
      b.emit_many("FakeQuantizeGradient", {node.inputs[0], b.by_output(), node.inputs[1], node.inputs[2]},
                  by_scale ? 2 : 1, node.attributes, kGradientDomain);
  if (b.wants(0)) b.give(0, made[0]);
  if (by_scale) b.give(1, made[1]);
}

/// SquaredError(a, b, factors), of the attribute `index` among the factors: dL by a of L = factor * sum of (a - b)^2,
/// and L.
class SquaredError : public ops::Kernel {
 public:
  explicit SquaredError(ops::Setup& setup) : index_(static_cast<size_t>(setup.node.int_or("index", 0))) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = forms[1].layout = inputs[0].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    if (!(inputs[0].shape() == inputs[1].shape()))
      ops::invalid("The shapes " + inputs[0].shape().text() + " and " + inputs[1].shape().text() + " differ.");
    return {*inputs[0].type, {DType::kFloat32, Shape{}, ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const std::span<const float> a = call.inputs[0].values<float>(), b = call.inputs[1].values<float>();
    const float factor = call.inputs[2].values<float>()[index_], twice = 2 * factor;
    float* by_a = call.outputs[0].present() ? call.outputs[0].values<float>().data() : nullptr;
    // Eight sums, which are added at the end: the same on every target.
    constexpr size_t kSums = 8;
    double sums[kSums] = {};
    const size_t whole = a.size() / kSums * kSums;
    for (size_t k = 0; k < whole; k += kSums)
      for (size_t s = 0; s < kSums; ++s) {
        const auto difference = static_cast<double>(a[k + s] - b[k + s]);
        sums[s] += difference * difference;
      }
    for (size_t k = whole; k < a.size(); ++k) {
      const auto difference = static_cast<double>(a[k] - b[k]);
      sums[0] += difference * difference;
    }
    double sum = 0;
    for (const double one : sums) sum += one;
    for (size_t k = 0; by_a != nullptr && k < a.size(); ++k) by_a[k] = twice * (a[k] - b[k]);
    if (call.outputs.size() > 1 && call.outputs[1].present())
      call.outputs[1].values<float>()[0] = static_cast<float>(sum * static_cast<double>(factor));
  }

 private:
  size_t index_;
};

}  // namespace

Family training_family() {
  return {{{kGradientDomain, "FakeQuantize", fake_quantize}},
          {kernel_record<FakeQuantize>("FakeQuantize"), kernel_record<FakeQuantizeGradient>("FakeQuantizeGradient"),
           kernel_record<SquaredError>("SquaredError")}};
}

}  // namespace tersor::gradient
