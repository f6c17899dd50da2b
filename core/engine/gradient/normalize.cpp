// SPDX-License-Identifier: Apache-2.0
// Softmax and the normalizations. Sums in double, in the order of the elements.
#include <algorithm>
#include <cmath>

#include "core/gradient/kernel.h"
#include "core/graph/attribute_defaults.h"
#include "core/kernels/elementwise.h"
#include "core/kernels/moments.h"
#include "core/kernels/transcendental.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"

namespace tersor::gradient {

namespace {

/// SoftmaxGradient(y, dy): y (dy - sum of y dy) along the axis; of the logarithm: dy - exp(y) sum of dy.
class SoftmaxGradient : public LikeInput {
 public:
  explicit SoftmaxGradient(ops::Setup& setup)
      : LikeInput(0, Reads::kElements),
        axis_(setup.node.int_or("axis", -1)),
        logarithm_(setup.node.int_or("logarithm", 0) != 0) {}

  void run(const ops::Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int axis = ops::axis_of(axis_, shape);
    const int64_t outer = shape.elements(0, axis), length = shape[axis], inner = shape.elements(axis + 1, shape.rank());
    const float *y = call.inputs[0].values<float>().data(), *dy = call.inputs[1].values<float>().data();
    float* dx = call.outputs[0].values<float>().data();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t first = o * length * inner + i, end = first + length * inner;
        double sum = 0;
        for (int64_t k = first; k < end; k += inner)
          sum += static_cast<double>(dy[k]) * (logarithm_ ? 1.0 : static_cast<double>(y[k]));
        for (int64_t k = first; k < end; k += inner)
          dx[k] = static_cast<float>(slope(static_cast<double>(y[k]), static_cast<double>(dy[k]), sum));
      }
  }

 private:
  double slope(double y, double dy, double sum) const {
    return logarithm_ ? dy - kernels::exponential(y) * sum : y * (dy - sum);
  }

  int64_t axis_;
  bool logarithm_;
};

/// LayerNormGradient(x, scale, dy), with g = dy scale and n = (x - mean) / deviation:
/// (g - mean of g - n mean of g n) / deviation; RMSNormalization without the means of x and of g.
class LayerNormGradient : public LikeInput {
 public:
  explicit LayerNormGradient(ops::Setup& setup)
      : LikeInput(0, Reads::kElements),
        axis_(setup.node.int_or("axis", -1)),
        epsilon_(setup.node.float_or("epsilon", 1e-5f)),
        centers_(setup.node.int_or("centers", 1) != 0) {}

  void run(const ops::Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int axis = ops::axis_of(axis_, shape);
    const int64_t rows = shape.elements(0, axis), n = shape.elements(axis, shape.rank());
    const std::span<const float> scale = call.inputs[1].values<float>();
    if (static_cast<int64_t>(scale.size()) != n && scale.size() != 1)
      ops::unsupported("The scale has the shape " + call.inputs[1].shape().text() + ", which is repeated.");
    const float *x = call.inputs[0].values<float>().data(), *dy = call.inputs[2].values<float>().data();
    float* dx = call.outputs[0].values<float>().data();
    const auto count = static_cast<double>(n);
    for (int64_t row = 0; row < rows; ++row, x += n, dy += n, dx += n) {
      kernels::Moments m;
      if (centers_)
        m = kernels::moments(x, static_cast<size_t>(n));
      else
        m.variance = kernels::sum_squares_shifted(x, static_cast<size_t>(n), 0) / count;
      const double factor = 1 / std::sqrt(m.variance + static_cast<double>(epsilon_));
      const auto g = [&](int64_t k) {
        return static_cast<double>(dy[k]) * static_cast<double>(scale[scale.size() == 1 ? 0 : static_cast<size_t>(k)]);
      };
      const auto normal = [&](int64_t k) { return (static_cast<double>(x[k]) - m.mean) * factor; };
      double sum = 0, product = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double one = g(k);
        sum += one;
        product += one * normal(k);
      }
      if (!centers_) sum = 0;
      for (int64_t k = 0; k < n; ++k)
        dx[k] = static_cast<float>((g(k) - sum / count - normal(k) * (product / count)) * factor);
    }
  }

 private:
  int64_t axis_;
  float epsilon_;
  bool centers_;
};

/// BatchNormGradient(dy, scale, variance): by channel, dy scale / sqrt(variance + epsilon).
class BatchNormGradient : public ops::ChannelsLastKernel {
 public:
  explicit BatchNormGradient(ops::Setup& setup) : epsilon_(setup.node.float_or("epsilon", 1e-5f)) {}
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override { return {*inputs[0].type}; }
  void run(const ops::Call& call) const override {
    const auto channels = static_cast<size_t>(call.inputs[1].elements());
    std::vector<float> factors(channels), terms(channels, 0.0f);
    for (size_t c = 0; c < channels; ++c)
      factors[c] = static_cast<float>(
          static_cast<double>(call.inputs[1].values<float>()[c]) /
          std::sqrt(static_cast<double>(call.inputs[2].values<float>()[c]) + static_cast<double>(epsilon_)));
    const auto rows = static_cast<size_t>(call.inputs[0].elements()) / std::max<size_t>(channels, 1);
    kernels::scale_channels(call.inputs[0].values<float>().data(), rows, channels, factors.data(), terms.data(), {},
                            call.outputs[0].values<float>().data());
  }

 private:
  float epsilon_;
};

void softmax(Backward& b) {
  if (!b.wants(0)) return;
  if (b.opset() < 13) ops::unsupported("Softmax of operator sets before 13 has no gradient here.");
  Attributes attributes;
  attributes["axis"] = b.node().int_or("axis", -1);
  attributes["logarithm"] = int64_t{b.node().op_type == "LogSoftmax"};
  b.give(0, b.own("SoftmaxGradient", {b.node().outputs[0], b.by_output()}, std::move(attributes)));
}

void layer_norm(Backward& b) {
  const Node& node = b.node();
  if (b.wants(1) || b.wants(2)) ops::unsupported("The scale and bias of a " + node.op_type + " have no gradient here.");
  Attributes attributes;
  attributes["axis"] = node.int_or("axis", -1);
  attributes["epsilon"] = float_of(node, "epsilon");
  attributes["centers"] = int64_t{node.op_type == "LayerNormalization"};
  b.give(0, b.own("LayerNormGradient", {node.inputs[0], node.inputs[1], b.by_output()}, std::move(attributes)));
}

void batch_norm(Backward& b) {
  const Node& node = b.node();
  for (size_t k = 1; k < node.inputs.size(); ++k)
    if (b.wants(k)) ops::unsupported("The parameters of a BatchNormalization have no gradient here.");
  if (int_of(node, "training_mode") != 0)
    ops::unsupported("A BatchNormalization by the moments of its input has no gradient here.");
  Attributes attributes;
  attributes["epsilon"] = float_of(node, "epsilon");
  b.give(0, b.own("BatchNormGradient", {b.by_output(), node.inputs[1], node.inputs[4]}, std::move(attributes)));
}

}  // namespace

Family normalize_family() {
  return {{{"", "Softmax", softmax},
           {"", "LogSoftmax", softmax},
           {"", "LayerNormalization", layer_norm},
           {"", "RMSNormalization", layer_norm},
           {"", "BatchNormalization", batch_norm}},
          {kernel_record<SoftmaxGradient>("SoftmaxGradient"), kernel_record<LayerNormGradient>("LayerNormGradient"),
           kernel_record<BatchNormGradient>("BatchNormGradient")}};
}

}  // namespace tersor::gradient
