// SPDX-License-Identifier: Apache-2.0
// Sequence operators that carry a state instead of all the past: LinearAttention with its four update rules, and
// CausalConvWithState before it. One step per place, in order.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

const float* data_or_null(std::span<const Input> inputs, size_t k) {
  return k < inputs.size() && inputs[k].present() ? inputs[k].values<float>().data() : nullptr;
}

void expect_shape(std::span<const Input> inputs, size_t k, const Shape& shape, std::string_view name) {
  if (k >= inputs.size() || !inputs[k].present()) return;
  require_type(inputs[k], {DType::kFloat32}, name);
  if (!(inputs[k].shape() == shape))
    invalid("The input " + std::string(name) + " has the shape " + inputs[k].shape().text() + "; it must be " +
            shape.text() + ".");
}

class LinearAttention : public Kernel {
 public:
  explicit LinearAttention(const Setup& setup)
      : q_heads_(setup.node.int_or("q_num_heads", 0)),
        kv_heads_(setup.node.int_or("kv_num_heads", 0)),
        scale_(float_of(setup.node, "scale")) {
    require_inputs(setup, 3, 6);
    const std::string rule = string_of(setup.node, "update_rule");
    if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
      invalid("The attribute update_rule is \"" + rule + "\"; it must be linear, gated, delta or gated_delta.");
    gated_ = rule == "gated" || rule == "gated_delta";
    delta_ = rule == "delta" || rule == "gated_delta";
    if (q_heads_ < 1 || kv_heads_ < 1 || q_heads_ % kv_heads_ != 0)
      invalid("There are " + std::to_string(q_heads_) + " query heads and " + std::to_string(kv_heads_) +
              " key heads.");
    if (gated_ && !setup.has_input(4)) invalid("The input decay is missing.");
    if (delta_ && !setup.has_input(5)) invalid("The input beta is missing.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    return {{DType::kFloat32, Shape{s.batch, s.places, q_heads_ * s.value_size}, Layout::kPlain},
            {DType::kFloat32, Shape{s.batch, kv_heads_, s.key_size, s.value_size}, Layout::kPlain}};
  }

  /// A head's state, decays and a row of values.
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return Shape{s.key_size + 1, s.value_size + 1}.elements() * 4;
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const int64_t size = s.key_size * s.value_size;
    float* state = reinterpret_cast<float*>(call.scratch.data());
    const float* past = data_or_null(call.inputs, 3);
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t head = 0; head < kv_heads_; ++head) {
        const int64_t place = (n * kv_heads_ + head) * size;
        if (past != nullptr)
          std::copy_n(past + place, size, state);
        else
          std::fill_n(state, size, 0.0f);
        for (int64_t t = 0; t < s.places; ++t) {
          update(call.inputs, s, n, t, head, state);
          if (call.outputs[0].present()) read(call, s, n, t, head, state);
        }
        if (call.outputs.size() > 1 && call.outputs[1].present())
          std::copy_n(state, size, call.outputs[1].values<float>().data() + place);
      }
  }

 private:
  struct Sizes {
    int64_t batch = 0, places = 0, key_size = 0, value_size = 0;
  };

  void update(std::span<const Input> inputs, const Sizes& s, int64_t n, int64_t t, int64_t head, float* state) const {
    const int64_t row = n * s.places + t;
    const float* key = inputs[1].values<float>().data() + (row * kv_heads_ + head) * s.key_size;
    const float* value = inputs[2].values<float>().data() + (row * kv_heads_ + head) * s.value_size;
    float* change = state + s.key_size * s.value_size;  // what the key's place gets
    float* decays = change + s.value_size;
    if (gated_) {
      const bool per_key = inputs[4].shape()[2] != kv_heads_ || s.key_size == 1;
      const float* gate = data_or_null(inputs, 4) + (row * kv_heads_ + head) * (per_key ? s.key_size : 1);
      kernels::apply(kernels::Function::kExp, gate, static_cast<size_t>(per_key ? s.key_size : 1), decays);
      for (int64_t i = 0; i < s.key_size; ++i)
        for (int64_t j = 0; j < s.value_size; ++j) state[i * s.value_size + j] *= decays[per_key ? i : 0];
    }
    std::copy_n(value, s.value_size, change);
    if (delta_) {
      for (int64_t i = 0; i < s.key_size; ++i)
        for (int64_t j = 0; j < s.value_size; ++j) change[j] -= state[i * s.value_size + j] * key[i];
      const bool shared = inputs[5].shape()[2] != kv_heads_;
      const float beta = data_or_null(inputs, 5)[shared ? row : row * kv_heads_ + head];
      for (int64_t j = 0; j < s.value_size; ++j) change[j] *= beta;
    }
    for (int64_t i = 0; i < s.key_size; ++i)
      for (int64_t j = 0; j < s.value_size; ++j) state[i * s.value_size + j] += key[i] * change[j];
  }

  void read(const Call& call, const Sizes& s, int64_t n, int64_t t, int64_t head, const float* state) const {
    const int64_t group = q_heads_ / kv_heads_, row = n * s.places + t;
    const float scale = scale_ != 0 ? scale_ : static_cast<float>(1 / std::sqrt(static_cast<double>(s.key_size)));
    for (int64_t h = head * group; h < (head + 1) * group; ++h) {
      const float* query = call.inputs[0].values<float>().data() + (row * q_heads_ + h) * s.key_size;
      float* y = call.outputs[0].values<float>().data() + (row * q_heads_ + h) * s.value_size;
      std::fill_n(y, s.value_size, 0.0f);
      for (int64_t i = 0; i < s.key_size; ++i)
        for (int64_t j = 0; j < s.value_size; ++j) y[j] += query[i] * state[i * s.value_size + j];
      for (int64_t j = 0; j < s.value_size; ++j) y[j] *= scale;
    }
  }

  Sizes sizes(std::span<const Input> inputs) const {
    static constexpr const char* kNames[] = {"query", "key", "value"};
    for (size_t k = 0; k < 3; ++k) {
      require_type(inputs[k], {DType::kFloat32}, kNames[k]);
      require_rank(inputs[k], 3, kNames[k]);
    }
    const Shape &q = inputs[0].shape(), &v = inputs[2].shape();
    const Sizes s{q[0], q[1], q[2] / q_heads_, v[2] / kv_heads_};
    if (q[2] % q_heads_ != 0 || v[2] % kv_heads_ != 0 || s.key_size < 1)
      invalid("The inputs have the shapes " + q.text() + " and " + v.text() + ", which do not split into heads.");
    expect_shape(inputs, 1, Shape{s.batch, s.places, kv_heads_ * s.key_size}, "key");
    expect_shape(inputs, 2, Shape{s.batch, s.places, kv_heads_ * s.value_size}, "value");
    expect_shape(inputs, 3, Shape{s.batch, kv_heads_, s.key_size, s.value_size}, "past_state");
    const auto last = [&](size_t k) {
      return k < inputs.size() && inputs[k].present() && inputs[k].shape().rank() == 3 ? inputs[k].shape()[2] : 0;
    };
    expect_shape(inputs, 4, Shape{s.batch, s.places, last(4) == kv_heads_ ? kv_heads_ : kv_heads_ * s.key_size},
                 "decay");
    expect_shape(inputs, 5, Shape{s.batch, s.places, last(5) == 1 ? 1 : kv_heads_}, "beta");
    return s;
  }

  int64_t q_heads_, kv_heads_;
  float scale_;
  bool gated_ = false, delta_ = false;
};

/// A depthwise convolution along the last axis that looks back only; the state is what comes before its input.
class CausalConv : public Kernel {
 public:
  explicit CausalConv(const Setup& setup) {
    require_inputs(setup, 2, 4);
    const std::string word = string_of(setup.node, "activation");
    if (word != "none" && word != "silu" && word != "swish")
      invalid("The attribute activation is \"" + word + "\"; it must be none, silu or swish.");
    swish_ = word != "none";
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "input");
    require_rank(inputs[0], 3, "input");
    require_rank(inputs[1], 3, "weight");
    const Shape &x = inputs[0].shape(), &w = inputs[1].shape();
    if (w[2] < 1) invalid("The weights have the shape " + w.text() + ".");
    expect_shape(inputs, 1, Shape{x[1], 1, w[2]}, "weight");
    expect_shape(inputs, 2, Shape{x[1]}, "bias");
    expect_shape(inputs, 3, Shape{x[0], x[1], w[2] - 1}, "past_state");
    return {{DType::kFloat32, x, Layout::kPlain}, {DType::kFloat32, Shape{x[0], x[1], w[2] - 1}, Layout::kPlain}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return (inputs[0].shape()[2] + inputs[1].shape()[2]) * 4;
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return inputs[0].elements() * inputs[1].shape()[2];
  }

  void run(const Call& call) const override {
    const Shape& x = call.inputs[0].shape();
    const int64_t length = x[2], taps = call.inputs[1].shape()[2], back = taps - 1;
    const float *bias = data_or_null(call.inputs, 2), *past = data_or_null(call.inputs, 3);
    float* line = reinterpret_cast<float*>(call.scratch.data());  // the state, then the input
    for (int64_t row = 0; row < x[0] * x[1]; ++row) {
      if (past != nullptr)
        std::copy_n(past + row * back, back, line);
      else
        std::fill_n(line, back, 0.0f);
      std::copy_n(call.inputs[0].values<float>().data() + row * length, length, line + back);
      const float* weights = call.inputs[1].values<float>().data() + row % x[1] * taps;
      for (int64_t t = 0; t < length && call.outputs[0].present(); ++t) {
        float sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += line[t + k] * weights[k];
        call.outputs[0].values<float>()[static_cast<size_t>(row * length + t)] =
            bias == nullptr ? sum : sum + bias[row % x[1]];
      }
      if (call.outputs.size() > 1 && call.outputs[1].present())
        std::copy_n(line + length, back, call.outputs[1].values<float>().data() + row * back);
    }
    if (!swish_ || !call.outputs[0].present()) return;
    float* y = call.outputs[0].values<float>().data();
    kernels::apply(kernels::Function::kSwish, y, static_cast<size_t>(call.outputs[0].elements()), y);
  }

 private:
  bool swish_ = false;
};

/// Swish(A) B.
class SwiGlu : public Kernel {
 public:
  explicit SwiGlu(const Setup& setup) : alpha_(float_of(setup.node, "alpha")) { require_inputs(setup, 2, 2); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "A");
    expect_shape(inputs, 1, inputs[0].shape(), "B");
    return {{DType::kFloat32, inputs[0].shape(), Layout::kPlain}};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  void run(const Call& call) const override {
    const auto y = call.outputs[0].values<float>();
    const auto b = call.inputs[1].values<float>();
    kernels::apply(kernels::Function::kSwish, call.inputs[0].values<float>().data(), y.size(), y.data(), alpha_);
    for (size_t k = 0; k < y.size(); ++k) y[k] *= b[k];
  }

 private:
  float alpha_;
};

}  // namespace

std::vector<Op> linear_attention_ops() {
  return {
      {.domain = "", .type = "LinearAttention", .since = 27, .prepare = make_kernel<LinearAttention>},
      {.domain = "", .type = "CausalConvWithState", .since = 27, .prepare = make_kernel<CausalConv>},
      {.domain = "", .type = "SwiGLU", .since = 28, .prepare = make_kernel<SwiGlu>},
  };
}

}  // namespace tersor::ops
