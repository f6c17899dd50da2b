// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(scale Q K' + bias) V for each head, with a cache before K and V, groups of query heads that
// share a key head, causal and sliding windows. A query that may look at nothing gives zeros.
#include "core/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/gemm.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/microsoft.h"

namespace tersor::ops {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// Which of the optional stages of the scores the fourth output shows.
enum class Shown { kProduct, kCapped, kBiased, kProbabilities };

Shown shown_by(int64_t mode) {
  if (mode < 0 || mode > 3)
    invalid("The attribute qk_matmul_output_mode is " + std::to_string(mode) + "; it must be from 0 to 3.");
  return static_cast<Shown>(mode);
}

class Attention : public Kernel {
 public:
  explicit Attention(const Setup& setup)
      : q_heads_(setup.node.int_or("q_num_heads", 0)),
        kv_heads_(setup.node.int_or("kv_num_heads", 0)),
        softcap_(float_of(setup.node, "softcap")),
        shown_(shown_by(int_of(setup.node, "qk_matmul_output_mode"))),
        window_{int_of(setup.node, "is_causal") != 0, int_of(setup.node, "left_window_size"),
                int_of(setup.node, "right_window_size")} {
    require_inputs(setup, 3, 7);
    if (const auto* scale = setup.node.attribute<float>("scale")) scale_ = *scale;
    if (q_heads_ < 0 || kv_heads_ < 0) invalid("A number of heads is negative.");
    if (window_.left < -1 || window_.right < -1) invalid("A window is smaller than -1.");
    if (!(softcap_ >= 0)) invalid("The attribute softcap is " + std::to_string(softcap_) + ".");
    if (setup.has_input(4) != setup.has_input(5)) invalid("The inputs past_key and past_value must come together.");
  }
  explicit Attention(const AttentionForm& form)
      : q_heads_(form.q_heads),
        kv_heads_(form.kv_heads),
        softcap_(form.softcap),
        shown_(Shown::kProduct),
        window_{form.causal, form.left_window} {
    if (form.scale != 0) scale_ = form.scale;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const AttentionSizes s = sizes(inputs);
    AttentionMask(inputs, s);
    const auto made = [](Shape shape) { return TensorType{DType::kFloat32, std::move(shape), Layout::kPlain}; };
    return {made(s.packed ? Shape{s.batch, s.queries, s.q_heads * s.value_size}
                          : Shape{s.batch, s.q_heads, s.queries, s.value_size}),
            made(Shape{s.batch, s.kv_heads, s.keys(), s.head_size}),
            made(Shape{s.batch, s.kv_heads, s.keys(), s.value_size}),
            made(Shape{s.batch, s.q_heads, s.queries, s.keys()})};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const AttentionSizes s = sizes(inputs);
    const Shape parts[] = {Shape{s.keys(), s.head_size + s.value_size}, Shape{s.queries, s.keys()},
                           Shape{s.queries, s.head_size + s.value_size}};
    int64_t total = 0;
    for (const Shape& part : parts) total += part.elements();
    return total * 4;
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const AttentionSizes s = sizes(inputs);
    return s.batch * s.q_heads * s.queries * s.keys() * (s.head_size + s.value_size);
  }

  void run(const Call& call) const override;

 private:
  AttentionSizes sizes(std::span<const Input> inputs) const {
    AttentionSizes s = AttentionSizes::of(inputs, q_heads_, kv_heads_);
    s.window = window_;
    return s;
  }

  void run_head(const Call& call, const AttentionSizes& s, const AttentionMask& mask, int64_t n, int64_t head,
                const kernels::Panels& keys, const kernels::Panels& values, float* scratch) const;
  void show(const Call& call, const AttentionSizes& s, Shown stage, int64_t n, int64_t head, const float* scores) const;

  int64_t q_heads_, kv_heads_;
  float softcap_;
  Shown shown_;
  AttentionWindow window_;
  std::optional<float> scale_;
};

/// Rows of one head, one under the other: `past` ones from the cache, then those of the input, packed or not.
void gather(const Input* past, const Input& fresh, bool packed, int64_t heads, int64_t n, int64_t head, int64_t size,
            float* to) {
  const auto bytes = static_cast<size_t>(size) * sizeof(float);
  if (past != nullptr) {
    const int64_t rows = past->shape()[2];
    std::memcpy(to, past->values<float>().data() + (n * heads + head) * rows * size, static_cast<size_t>(rows) * bytes);
    to += rows * size;
  }
  const int64_t rows = fresh.shape()[packed ? 1 : 2];
  const float* from =
      fresh.values<float>().data() + (packed ? n * rows * heads + head : (n * heads + head) * rows) * size;
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(to + row * size, from + row * (packed ? heads : 1) * size, bytes);
}

void Attention::run(const Call& call) const {
  const AttentionSizes s = sizes(call.inputs);
  const AttentionMask mask(call.inputs, s);
  float* keys = reinterpret_cast<float*>(call.scratch.data());
  float* values = keys + s.keys() * s.head_size;
  float* rest = values + s.keys() * s.value_size;
  const auto optional = [&](size_t k) {
    return k < call.inputs.size() && call.inputs[k].present() ? &call.inputs[k] : nullptr;
  };
  const auto store = [&](size_t k, int64_t place, const float* from, int64_t size) {
    if (k < call.outputs.size() && call.outputs[k].present())
      std::copy_n(from, size, call.outputs[k].values<float>().data() + place * size);
  };
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t kv = 0; kv < s.kv_heads; ++kv) {
      gather(optional(4), call.inputs[1], s.packed, s.kv_heads, n, kv, s.head_size, keys);
      gather(optional(5), call.inputs[2], s.packed, s.kv_heads, n, kv, s.value_size, values);
      store(1, n * s.kv_heads + kv, keys, s.keys() * s.head_size);
      store(2, n * s.kv_heads + kv, values, s.keys() * s.value_size);
      kernels::Panels k_panels, v_panels;
      if (s.keys() * s.head_size != 0) k_panels = kernels::pack_matrix(keys, s.head_size, s.keys(), true);
      if (s.keys() * s.value_size != 0) v_panels = kernels::pack_matrix(values, s.keys(), s.value_size, false);
      const int64_t group = s.q_heads / s.kv_heads;
      for (int64_t head = kv * group; head < (kv + 1) * group; ++head)
        run_head(call, s, mask, n, head, k_panels, v_panels, rest);
    }
}

void Attention::run_head(const Call& call, const AttentionSizes& s, const AttentionMask& mask, int64_t n, int64_t head,
                         const kernels::Panels& keys, const kernels::Panels& values, float* scratch) const {
  const int64_t count = s.queries * s.keys();
  float* queries = scratch;
  float* scores = queries + s.queries * s.head_size;
  float* result = scores + count;
  gather(nullptr, call.inputs[0], s.packed, s.q_heads, n, head, s.head_size, queries);
  std::fill_n(scores, count, 0.0f);
  if (!keys.empty() && s.queries > 0) kernels::gemm(queries, s.queries, keys, {}, scores);
  const float scale = scale_ ? *scale_ : static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_size)));
  for (int64_t k = 0; k < count; ++k) scores[k] *= scale;
  show(call, s, Shown::kProduct, n, head, scores);
  if (softcap_ > 0) {
    for (int64_t k = 0; k < count; ++k) scores[k] /= softcap_;
    kernels::apply(kernels::Function::kTanh, scores, static_cast<size_t>(count), scores);
    for (int64_t k = 0; k < count; ++k) scores[k] *= softcap_;
  }
  show(call, s, Shown::kCapped, n, head, scores);
  for (int64_t i = 0; i < s.queries; ++i) mask.apply(n, head, i, scores + i * s.keys());
  show(call, s, Shown::kBiased, n, head, scores);
  for (int64_t i = 0; i < s.queries; ++i) {
    float* row = scores + i * s.keys();
    if (std::all_of(row, row + s.keys(), [](float x) { return x == kNever; }))
      std::fill_n(row, s.keys(), 0.0f);
    else
      kernels::softmax(row, 1, static_cast<size_t>(s.keys()), 1, false, row);
  }
  show(call, s, Shown::kProbabilities, n, head, scores);
  if (!call.outputs[0].present()) return;
  std::fill_n(result, s.queries * s.value_size, 0.0f);
  if (!values.empty() && s.queries > 0) kernels::gemm(scores, s.queries, values, {}, result);
  float* y = call.outputs[0].values<float>().data();
  for (int64_t i = 0; i < s.queries; ++i) {
    const int64_t row = s.packed ? (n * s.queries + i) * s.q_heads + head : (n * s.q_heads + head) * s.queries + i;
    std::copy_n(result + i * s.value_size, s.value_size, y + row * s.value_size);
  }
}

void Attention::show(const Call& call, const AttentionSizes& s, Shown stage, int64_t n, int64_t head,
                     const float* scores) const {
  if (stage != shown_ || call.outputs.size() < 4 || !call.outputs[3].present()) return;
  const int64_t count = s.queries * s.keys();
  std::copy_n(scores, count, call.outputs[3].values<float>().data() + (n * s.q_heads + head) * count);
}

}  // namespace

AttentionSizes AttentionSizes::of(std::span<const Input> inputs, int64_t q_heads, int64_t kv_heads) {
  static constexpr const char* kNames[] = {"Q", "K", "V"};
  const int rank = inputs[0].shape().rank();
  if (rank != 3 && rank != 4)
    invalid("The input Q has the shape " + inputs[0].shape().text() + "; it must have rank 3 or 4.");
  for (size_t k = 0; k < 3; ++k) {
    require_type(inputs[k], {DType::kFloat32}, kNames[k]);
    require_rank(inputs[k], rank, kNames[k]);
  }
  const Shape &q = inputs[0].shape(), &k = inputs[1].shape(), &v = inputs[2].shape();
  AttentionSizes s;
  s.packed = rank == 3;
  s.batch = q[0];
  s.q_heads = s.packed ? q_heads : q[1];
  s.kv_heads = s.packed ? kv_heads : k[1];
  const bool heads_fit = s.kv_heads > 0 && s.q_heads > 0 && s.q_heads % s.kv_heads == 0 &&
                         (!s.packed || (q[2] % s.q_heads == 0 && k[2] % s.kv_heads == 0 && v[2] % s.kv_heads == 0));
  if (!heads_fit)
    invalid("There are " + std::to_string(s.q_heads) + " query heads and " + std::to_string(s.kv_heads) +
            " key heads for inputs of shapes " + q.text() + ", " + k.text() + " and " + v.text() + ".");
  const int places = rank - 2;
  s.queries = q[places];
  s.fresh_keys = k[places];
  s.head_size = s.packed ? q[2] / s.q_heads : q[3];
  s.value_size = s.packed ? v[2] / s.kv_heads : v[3];
  const bool fits = k[0] == s.batch && v[0] == s.batch && v[places] == s.fresh_keys && s.head_size > 0 &&
                    (s.packed ? k[2] / s.kv_heads == s.head_size : k[3] == s.head_size && v[1] == s.kv_heads);
  if (!fits)
    invalid("The inputs have the shapes " + q.text() + ", " + k.text() + " and " + v.text() +
            ", which do not fit together.");
  const auto given = [&](size_t i) { return i < inputs.size() && inputs[i].present(); };
  if (given(4) != given(5)) invalid("The inputs past_key and past_value must come together.");
  if (given(4)) {
    require_type(inputs[4], {DType::kFloat32}, "past_key");
    require_type(inputs[5], {DType::kFloat32}, "past_value");
    require_rank(inputs[4], 4, "past_key");
    s.past = inputs[4].shape()[2];
    if (!(inputs[4].shape() == Shape{s.batch, s.kv_heads, s.past, s.head_size}) ||
        !(inputs[5].shape() == Shape{s.batch, s.kv_heads, s.past, s.value_size}))
      invalid("The caches have the shapes " + inputs[4].shape().text() + " and " + inputs[5].shape().text() +
              ", which do not fit the other inputs.");
  }
  return s;
}

std::unique_ptr<const Kernel> make_attention(const AttentionForm& form) {
  return std::make_unique<Attention>(form);
}

std::vector<Op> attention_ops() {
  return {{.domain = "", .type = "Attention", .since = 23, .prepare = make_kernel<Attention>}};
}

}  // namespace tersor::ops
