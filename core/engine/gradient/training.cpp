// SPDX-License-Identifier: Apache-2.0
// What quantizers of activations are while a model is trained, with n = x / scale and the codes from low to high, the
// zero point taken away:
//   FakeQuantize(x, scale, fraction): y = x + fraction (scale * (n rounded to even, within low and high) - x)
// Rounding lets the gradient pass, and the range does not. By the scale: n rounded less n within, the end beyond.
// Source: LSQ (Esser et al. 2020); the fraction is MCT's gradual activation quantization.
//
// And what the loss is made of: the distance of two tensors, and the cross-entropy of a label.
#include <algorithm>

#include "core/gradient/kernel.h"
#include "core/kernels/gradients.h"
#include "core/kernels/transcendental.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"

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
  kernels::FakeGrid grid(float scale, float fraction) const { return {scale, low_, high_, fraction}; }

 private:
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
      kernels::fake_quantize(x + first, count, grid(scale, fraction), y + first);
    });
  }
};

/// FakeQuantizeGradient(x, dy, scale, fraction): by x, and by the scale (in double, in one order of the elements).
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
    for_each_run(call.inputs[0], call.inputs[2], [&](size_t first, size_t count, float scale, size_t channel) {
      sums[channel] += kernels::fake_quantize_gradient(x + first, dy + first, count, grid(scale, fraction),
                                                       dx == nullptr ? nullptr : dx + first);
    });
    if (call.outputs.size() < 2 || !call.outputs[1].present()) return;
    const std::span<float> to = call.outputs[1].values<float>();
    for (size_t c = 0; c < to.size(); ++c) to[c] = static_cast<float>(sums[c] * static_cast<double>(fraction));
  }
};

/// By x and by its parameters; the gradient's inputs are x, dy and what else the quantizer has.
void quantizer(Backward& b) {
  const Node& node = b.node();
  const bool by_parameters = b.wants(1);
  std::vector<ValueId> inputs = node.inputs;
  inputs.insert(inputs.begin() + 1, b.by_output());
  const std::vector<ValueId> made = b.emit_many(node.op_type + "Gradient", std::move(inputs), by_parameters ? 2 : 1,
                                                node.attributes, kGradientDomain);
  if (b.wants(0)) b.give(0, made[0]);
  if (by_parameters) b.give(1, made[1]);
}

/// SquaredError(a, b, factors, so_far), of the attribute `index` among the factors: dL by a of
/// L = factor * sum of (a - b)^2, added to what is so_far, and L.
class SquaredError : public ops::Kernel {
 public:
  explicit SquaredError(ops::Setup& setup) : index_(static_cast<size_t>(setup.node.int_or("index", 0))) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = forms[1].layout = inputs[0].type->layout;
    if (inputs.size() > 3) forms[3].layout = inputs[0].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    if (!(inputs[0].shape() == inputs[1].shape()))
      ops::invalid("The shapes " + inputs[0].shape().text() + " and " + inputs[1].shape().text() + " differ.");
    return {*inputs[0].type, {DType::kFloat32, Shape{}, ops::Layout::kPlain}};
  }
  bool overwrites(size_t k, std::span<const ops::Input>, std::span<const ops::TensorType>) const override {
    return k == 3;
  }
  void run(const ops::Call& call) const override {
    const std::span<const float> a = call.inputs[0].values<float>(), b = call.inputs[1].values<float>();
    const float factor = call.inputs[2].values<float>()[index_];
    const float* so_far = call.inputs.size() > 3 ? call.inputs[3].values<float>().data() : nullptr;
    float* by_a = call.outputs[0].present() ? call.outputs[0].values<float>().data() : nullptr;
    const double sum = kernels::squared_error(a.data(), b.data(), a.size(), 2 * factor, so_far, by_a);
    if (call.outputs.size() > 1 && call.outputs[1].present())
      call.outputs[1].values<float>()[0] = static_cast<float>(sum * static_cast<double>(factor));
  }

 private:
  size_t index_;
};

/// CrossEntropy(logits, label, factors), of the attribute `index` among the factors: dL by the logits of
/// L = factor * mean over the rows of (log of the sum of exp(row) - row[label]), and L. Rows lie along axis 0; below
/// rank 2 there is one. A label below 0 is none: both are 0.
class CrossEntropy : public ops::Kernel {
 public:
  explicit CrossEntropy(const ops::Setup& setup) : index_(static_cast<size_t>(setup.node.int_or("index", 0))) {}
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    ops::require_type(inputs[0], {DType::kFloat32}, "logits");
    ops::require_type(inputs[1], {DType::kInt64}, "label");
    if (inputs[0].elements() < 2 * rows_of(inputs[0].shape()))
      ops::invalid("The shape " + inputs[0].shape().text() + " is no score for each of several classes.");
    return {{DType::kFloat32, inputs[0].shape(), ops::Layout::kPlain}, {DType::kFloat32, Shape{}, ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const std::span<const float> logits = call.inputs[0].values<float>();
    const int64_t label = call.inputs[1].values<int64_t>()[0], rows = rows_of(call.inputs[0].shape());
    const float factor = call.inputs[2].values<float>()[index_];
    const auto classes = static_cast<size_t>(call.inputs[0].elements() / std::max<int64_t>(rows, 1));
    if (label >= static_cast<int64_t>(classes))
      throw Error(
          ErrorCode::kInvalidLabels,
          "A label is " + std::to_string(label) + ", and the output has " + std::to_string(classes) + " classes.",
          "labels", "Labels count from 0; check label_offset.");
    const std::span<float> by_logits = call.outputs[0].values<float>();
    double sum = 0;
    if (label < 0) {
      std::fill(by_logits.begin(), by_logits.end(), 0.0f);
    } else {
      const double part = static_cast<double>(factor) / static_cast<double>(rows);
      kernels::softmax(logits.data(), static_cast<size_t>(rows), classes, 1, true, by_logits.data());
      for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
        const std::span<float> one = by_logits.subspan(row * classes, classes);
        const auto right = static_cast<size_t>(label);
        sum -= static_cast<double>(one[right]);
        for (size_t k = 0; k < classes; ++k) {
          const double probability = kernels::exponential(static_cast<double>(one[k]));
          one[k] = static_cast<float>(part * (probability - (k == right ? 1.0 : 0.0)));
        }
      }
      sum *= part;
    }
    if (call.outputs.size() > 1 && call.outputs[1].present())
      call.outputs[1].values<float>()[0] = static_cast<float>(sum);
  }

 private:
  static int64_t rows_of(const Shape& shape) { return shape.rank() < 2 ? 1 : shape[0]; }

  size_t index_;
};

/// StopGradient(x): x, which gradients do not pass.
class StopGradient : public ops::AnyLayoutKernel {
 public:
  explicit StopGradient(const ops::Setup&) {}
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override { return {*inputs[0].type}; }
  std::optional<size_t> alias(std::span<const ops::Input>, std::span<const ops::TensorType>) const override {
    return 0;
  }
  void run(const ops::Call& call) const override {
    const std::span<const float> x = call.inputs[0].values<float>();
    std::copy(x.begin(), x.end(), call.outputs[0].values<float>().begin());
  }
};

}  // namespace

Family training_family() {
  return {{{kGradientDomain, "FakeQuantize", quantizer},
           {kGradientDomain, "Held", quantizer},  // whose kernels who trains has: core/tune/held_activations.h
           {kGradientDomain, "StopGradient", nullptr}},
          {kernel_record<FakeQuantize>("FakeQuantize"), kernel_record<FakeQuantizeGradient>("FakeQuantizeGradient"),
           kernel_record<SquaredError>("SquaredError"), kernel_record<CrossEntropy>("CrossEntropy"),
           kernel_record<StopGradient>("StopGradient")}};
}

}  // namespace tersor::gradient
