// SPDX-License-Identifier: Apache-2.0
// Pooling, channels last. MaxPool gives the gradient of a window to the first of its elements that is the largest.
#include "core/ops/pool.h"

#include <algorithm>

#include "core/gradient/kernel.h"

namespace tersor::gradient {

namespace {

/// A pooling's gradient: inputs are x, perhaps more of the forward pass, and dy as the last.
class PoolGradient : public ops::Kernel {
 public:
  explicit PoolGradient(const ops::Setup& setup)
      : window_(setup), kernel_(setup.node.ints_or("kernel_shape", {})), global_(setup.node.int_or("global", 0) != 0) {}

  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    return std::vector<ops::Form>(inputs.size(), {ops::Layout::kChannelsLast, inputs[0].shape().rank()});
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs[0].shape(), ops::Layout::kChannelsLast}};
  }

 protected:
  std::vector<ops::WindowAxis> axes(const Shape& shape) const {
    if (!global_) return window_.place(shape, kernel_);
    std::vector<ops::WindowAxis> axes;
    for (int k = 2; k < shape.rank(); ++k) axes.push_back({.in = shape[k], .out = 1, .kernel = shape[k]});
    return axes;
  }

 private:
  ops::Window window_;
  std::vector<int64_t> kernel_;
  bool global_;
};

/// MaxPoolGradient(x, y, dy).
class MaxPoolGradient : public PoolGradient {
 public:
  explicit MaxPoolGradient(ops::Setup& setup) : PoolGradient(setup) {}
  void run(const ops::Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<ops::WindowAxis> axes = this->axes(shape);
    const auto channels = static_cast<size_t>(shape[1]);
    const int64_t places = ops::input_places(axes);
    const float *x = call.inputs[0].values<float>().data(), *y = call.inputs[1].values<float>().data(),
                *dy = call.inputs[2].values<float>().data();
    const std::span<float> dx = call.outputs[0].values<float>();
    std::fill(dx.begin(), dx.end(), 0.0f);
    std::vector<bool> given(channels);
    ops::Windows windows(axes);
    ops::for_each_output(shape[0], axes, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      std::fill(given.begin(), given.end(), false);
      const size_t to = static_cast<size_t>(at) * channels;
      windows.for_each_place(out, [&](int64_t place) {
        const size_t from = static_cast<size_t>(n * places + place) * channels;
        for (size_t c = 0; c < channels; ++c)
          if (!given[c] && x[from + c] == y[to + c]) {
            given[c] = true;
            dx[from + c] += dy[to + c];
          }
      });
    });
  }
};

/// AveragePoolGradient(x, dy).
class AveragePoolGradient : public PoolGradient {
 public:
  explicit AveragePoolGradient(ops::Setup& setup)
      : PoolGradient(setup), counts_padding_(setup.node.int_or("count_include_pad", 0) != 0) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = PoolGradient::forms(inputs);
    forms[0].layout = inputs[0].type->layout;
    return forms;
  }
  void run(const ops::Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<ops::WindowAxis> axes = this->axes(shape);
    const auto channels = static_cast<size_t>(shape[1]);
    const int64_t places = ops::input_places(axes);
    const float* dy = call.inputs[1].values<float>().data();
    const std::span<float> dx = call.outputs[0].values<float>();
    std::fill(dx.begin(), dx.end(), 0.0f);
    ops::Windows windows(axes);
    ops::for_each_output(shape[0], axes, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      int64_t count = 1;
      for (size_t k = 0; k < axes.size(); ++k) {
        const ops::Span& span = windows.span(k, out[k]);
        count *= counts_padding_ ? span.padded : span.count;
      }
      const float* from = dy + static_cast<size_t>(at) * channels;
      windows.for_each_place(out, [&](int64_t place) {
        float* to = dx.data() + static_cast<size_t>(n * places + place) * channels;
        for (size_t c = 0; c < channels; ++c) to[c] += from[c] / static_cast<float>(count);
      });
    });
  }

 private:
  bool counts_padding_;
};

Attributes window_of(const Node& node) {
  Attributes attributes = node.attributes;
  attributes["global"] = int64_t{node.op_type.rfind("Global", 0) == 0};
  return attributes;
}

void max_pool(Backward& b) {
  const Node& node = b.node();
  if (b.wants(0))
    b.give(0, b.own("MaxPoolGradient", {node.inputs[0], node.outputs[0], b.by_output()}, window_of(node)));
}

void average_pool(Backward& b) {
  if (b.wants(0)) b.give(0, b.own("AveragePoolGradient", {b.node().inputs[0], b.by_output()}, window_of(b.node())));
}

}  // namespace

Family pool_family() {
  return {
      {{"", "MaxPool", max_pool},
       {"", "GlobalMaxPool", max_pool},
       {"", "AveragePool", average_pool},
       {"", "GlobalAveragePool", average_pool}},
      {kernel_record<MaxPoolGradient>("MaxPoolGradient"), kernel_record<AveragePoolGradient>("AveragePoolGradient")}};
}

}  // namespace tersor::gradient
