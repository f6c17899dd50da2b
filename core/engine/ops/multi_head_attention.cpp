// SPDX-License-Identifier: Apache-2.0
// com.microsoft MultiHeadAttention: ONNX's Attention with a bias for Q, K and V, and a mask of the keys of each sample,
// which adds mask_filter_value where it is 0. Where it leaves a query no key, it therefore changes nothing. What is
// left of com.microsoft Attention is refused.
#include <algorithm>
#include <optional>

#include "core/ops/attention.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/microsoft.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

constexpr size_t kBias = 3, kPadding = 4, kAdded = 5, kPastKey = 6, kPastValue = 7;

class MultiHeadAttention : public Kernel {
 public:
  explicit MultiHeadAttention(const Setup& setup)
      : heads_(setup.node.int_or("num_heads", 0)), filter_(setup.node.float_or("mask_filter_value", -10000.0f)) {
    require_attributes(setup, {"mask_filter_value", "num_heads", "scale", "unidirectional"});
    require_inputs(setup, 1, 10);
    if (!setup.has_input(1) || !setup.has_input(2))
      unsupported(
          "MultiHeadAttention lacks the inputs key and value: queries, keys and values in one tensor are not "
          "supported here, nor in ONNX Runtime on a processor.",
          "Split them before the node into three inputs.");
    refuse_input(setup, 8, "past_sequence_length");
    refuse_input(setup, 9, "cache_indirection");
    refuse_output(setup, 3, "qk");
    if (heads_ < 1) invalid("The attribute num_heads is " + std::to_string(heads_) + "; it must be positive.");
    attention_ = make_attention({.q_heads = heads_,
                                 .kv_heads = heads_,
                                 .scale = setup.node.float_or("scale", 0),
                                 .causal = setup.node.int_or("unidirectional", 0) != 0});
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    return attention_->infer(Parts(*this, inputs).inputs);
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    const Parts parts(*this, inputs);
    size_t total = 0;
    for (size_t k = 0; k < 4; ++k)
      if (parts.made[k]) total += Scratch::bytes_for(parts.made[k]->shape.elements());
    return static_cast<int64_t>(total) + attention_->scratch_bytes(parts.inputs, outputs);
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return attention_->macs(Parts(*this, inputs).inputs, outputs);
  }

  void run(const Call& call) const override {
    Parts parts(*this, call.inputs);
    Scratch scratch(call.scratch);
    for (size_t k = 0; k < 4; ++k) {
      if (!parts.made[k]) continue;
      float* to = scratch.floats(parts.made[k]->shape.elements());
      parts.inputs[k].data = reinterpret_cast<const std::byte*>(to);
      if (k == 3)
        write_mask(call.inputs, parts.made[k]->shape, to);
      else
        write_rows(call.inputs, k, parts.made[k]->shape, to);
    }
    attention_->run({parts.inputs, call.outputs, scratch.rest()});
  }

 private:
  /// The inputs of the Attention. Those that are made here have a type in `made`.
  struct Parts {
    Parts(const MultiHeadAttention& kernel, std::span<const Input> inputs);
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    std::vector<Input> inputs;
    std::optional<TensorType> made[4];  // Q, K, V, mask
  };

  /// Numbers of a place in all heads.
  static int64_t width(const Shape& x) { return x.rank() == 3 ? x[2] : x[1] * x[3]; }

  /// Q, K or V as batch x places x heads x size, with the bias; one that comes by heads has it already.
  void write_rows(std::span<const Input> inputs, size_t k, const Shape& shape, float* to) const {
    const Input& from = inputs[k];
    if (from.shape().rank() == 4) {
      const Shape& x = from.shape();  // batch x heads x places x size
      const int64_t whole = x[1] * x[2] * x[3];
      copy_strided(from.data, to,
                   std::vector<CopyAxis>{
                       {x[0], whole, whole}, {x[1], x[2] * x[3], x[3]}, {x[2], x[3], x[1] * x[3]}, {x[3], 1, 1}},
                   4);
    } else {
      std::copy_n(from.values<float>().data(), from.elements(), to);
    }
    if (!is_present(inputs, kBias) || from.shape().rank() == 4) return;
    const float* bias = inputs[kBias].values<float>().data();
    for (const Input& before : inputs.first(k)) bias += width(before.shape());
    const int64_t size = shape[2], n = shape.elements();
    for (int64_t row = 0; row < n; row += size)
      for (int64_t i = 0; i < size; ++i) to[row + i] += bias[i];
  }

  /// What is added to the scores: the padding's part and attention_bias.
  void write_mask(std::span<const Input> inputs, const Shape& shape, float* to) const {
    const Input& padding = inputs[kPadding];
    const bool adds = is_present(inputs, kAdded);
    const auto step = [&](int axis, int64_t index, int64_t inner) {
      return inputs[kAdded].shape()[axis] == 1 ? 0 : index * inner;
    };
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t head = 0; head < shape[1]; ++head)
        for (int64_t query = 0; query < shape[2]; ++query) {
          const float* added = nullptr;
          if (adds) {
            const Shape& own = inputs[kAdded].shape();
            added = inputs[kAdded].values<float>().data() + step(0, n, own[1] * own[2] * own[3]) +
                    step(1, head, own[2] * own[3]) + query * own[3];
          }
          for (int64_t key = 0; key < shape[3]; ++key)
            *to++ = (is_left(padding, n, query, key, shape[3]) ? 0.0f : filter_) + (adds ? added[key] : 0.0f);
        }
  }

  /// By the padding mask: the number of keys by sample, or a flag for each, by query or not.
  static bool is_left(const Input& padding, int64_t n, int64_t query, int64_t key, int64_t keys) {
    const int rank = padding.shape().rank();
    if (rank == 1) return key < index_at(padding, n);
    return index_at(padding, (rank == 2 ? n : n * padding.shape()[1] + query) * keys + key) > 0;
  }

  int64_t heads_;
  float filter_;
  std::unique_ptr<const Kernel> attention_;
};

MultiHeadAttention::Parts::Parts(const MultiHeadAttention& kernel, std::span<const Input> given) {
  static constexpr const char* kNames[] = {"query", "key", "value"};
  const auto at = [&](size_t k) { return is_present(given, k) ? given[k] : Input{}; };
  inputs = {given[0], given[1], given[2], at(kAdded), at(kPastKey), at(kPastValue)};
  for (size_t k = 0; k < 3; ++k) {
    require_type(given[k], {DType::kFloat32}, kNames[k]);
    const Shape& x = given[k].shape();
    const bool by_head = k > 0 && x.rank() == 4 && x[1] == kernel.heads_;
    if (x.rank() != 3 && !by_head)
      unsupported("The input " + std::string(kNames[k]) + " of MultiHeadAttention has the shape " + x.text() +
                      "; supported here are batch x places x size" + (k == 0 ? "." : " and one of rank 4 by heads."),
                  "Split packed inputs before the node.");
    if (!by_head && !is_present(given, kBias)) continue;
    made[k] = {DType::kFloat32, by_head ? Shape{x[0], x[2], x[1] * x[3]} : x, Layout::kPlain};
  }
  if (is_present(given, kBias)) {
    require_type(given[kBias], {DType::kFloat32}, "bias");
    int64_t size = 0;
    for (const Input& input : given.first(3)) size += width(input.shape());
    if (!(given[kBias].shape() == Shape{size}))
      invalid("The input bias has the shape " + given[kBias].shape().text() + "; query, key and value together have " +
              std::to_string(size) + " numbers.");
  }
  for (size_t k = 0; k < 3; ++k)
    if (made[k]) inputs[k] = {&*made[k]};
  if (!is_present(given, kPadding)) return;
  const AttentionSizes sizes = AttentionSizes::of(inputs, kernel.heads_, kernel.heads_);
  const Shape& padding = given[kPadding].shape();
  require_type(given[kPadding], {DType::kInt32}, "key_padding_mask");
  const bool fits = padding == Shape{sizes.batch} || padding == Shape{3 * sizes.batch + 2} ||
                    padding == Shape{sizes.batch, sizes.keys()} ||
                    padding == Shape{sizes.batch, sizes.queries, sizes.keys()};
  if (!fits)
    unsupported("The input key_padding_mask of MultiHeadAttention has the shape " + padding.text() + " for " +
                    std::to_string(sizes.batch) + " samples, " + std::to_string(sizes.queries) + " queries and " +
                    std::to_string(sizes.keys()) + " keys; it must have a number of keys by sample, or a flag by key.",
                "Export the model with a mask of shape batch x keys.");
  int64_t samples = sizes.batch, heads = 1, queries = padding.rank() == 3 ? sizes.queries : 1;
  if (inputs[3].present()) {
    require_type(inputs[3], {DType::kFloat32}, "attention_bias");
    const Shape& added = inputs[3].shape();
    const bool adds = added.rank() == 4 && (added[0] == 1 || added[0] == samples) &&
                      (added[1] == 1 || added[1] == sizes.q_heads) && added[2] == sizes.queries &&
                      added[3] == sizes.keys();
    if (!adds)
      invalid("The input attention_bias has the shape " + added.text() + "; the scores have " +
              Shape{samples, sizes.q_heads, sizes.queries, sizes.keys()}.text() + ".");
    heads = added[1];
    queries = sizes.queries;
  }
  made[3] = {DType::kFloat32, Shape{samples, heads, queries, sizes.keys()}, Layout::kPlain};
  inputs[3] = {&*made[3]};
}

/// Says why a node was not taken apart when the model was opened (rewrite_microsoft_operators.cpp).
std::unique_ptr<const Kernel> refuse_attention(Setup& setup) {
  require_attributes(setup, {"mask_filter_value", "num_heads", "qkv_hidden_sizes", "scale", "unidirectional"});
  refuse_input(setup, 6, "past_sequence_length");
  unsupported("The input weights of Attention has a shape that is not known before a run.",
              "Export the model with weights that are constants.");
}

}  // namespace

std::vector<Op> multi_head_attention_ops() {
  return {{.domain = "com.microsoft", .type = "MultiHeadAttention", .prepare = make_kernel<MultiHeadAttention>},
          {.domain = "com.microsoft", .type = "Attention", .prepare = refuse_attention}};
}

}  // namespace tersor::ops
