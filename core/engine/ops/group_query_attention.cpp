// SPDX-License-Identifier: Apache-2.0
// com.microsoft GroupQueryAttention: ONNX's Attention, causal, sample by sample: each has its own number of keys
// (seqlens_k + 1), of which the last are those of this call, or the first where the call is the whole of it (a prompt,
// padded behind). Q and K may be turned (RotaryEmbedding) by the places of their tokens.
#include <algorithm>
#include <iterator>

#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/microsoft.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

enum At : size_t { kQuery, kKey, kValue, kPastKey, kPastValue, kLengths, kTotal, kCos, kSin, kPositions, kAdded };
constexpr const char* kNames[] = {"query",
                                  "key",
                                  "value",
                                  "past_key",
                                  "past_value",
                                  "seqlens_k",
                                  "total_sequence_length",
                                  "cos_cache",
                                  "sin_cache",
                                  "position_ids",
                                  "attention_bias",
                                  "head_sink",
                                  "k_scale",
                                  "v_scale",
                                  "q_norm_weight",
                                  "k_norm_weight",
                                  "query_seqlens"};

class GroupQueryAttention : public Kernel {
 public:
  explicit GroupQueryAttention(const Setup& setup)
      : q_heads_(setup.node.int_or("num_heads", 0)),
        kv_heads_(setup.node.int_or("kv_num_heads", 0)),
        turns_(setup.node.int_or("do_rotary", 0) != 0),
        causal_(setup.node.int_or("causal", 1) != 0) {
    require_attributes(setup, {"causal", "do_rotary", "kv_num_heads", "local_window_size", "num_heads",
                               "qk_norm_epsilon", "rotary_interleaved", "scale", "softcap"});
    require_inputs(setup, 1, std::size(kNames));
    for (const size_t k : {kLengths, kTotal})
      if (!setup.has_input(k)) invalid("The input " + std::string(kNames[k]) + " is missing.");
    for (size_t k = kAdded + 1; k < std::size(kNames); ++k) refuse_input(setup, k, kNames[k]);
    refuse_output(setup, 3, "output_qk");
    const auto together = [&](size_t a, size_t b) { return setup.has_input(a) == setup.has_input(b); };
    if (!together(kKey, kValue)) invalid("The inputs key and value must come together.");
    if (!together(kPastKey, kPastValue)) invalid("The inputs past_key and past_value must come together.");
    if (turns_ && !(setup.has_input(kCos) && setup.has_input(kSin)))
      invalid("The attribute do_rotary is 1, but the inputs cos_cache and sin_cache are missing.");
    constexpr int64_t kMostHeads = 65536;  // products of sizes stay far from overflowing
    if (q_heads_ < 1 || q_heads_ > kMostHeads || kv_heads_ < 1 || q_heads_ % kv_heads_ != 0)
      invalid("The attributes num_heads and kv_num_heads are " + std::to_string(q_heads_) + " and " +
              std::to_string(kv_heads_) + "; the first must be a multiple of the second.");
    const int64_t window = setup.node.int_or("local_window_size", -1);
    attention_ = make_attention({.scale = setup.node.float_or("scale", 0),
                                 .softcap = setup.node.float_or("softcap", 0),
                                 .causal = causal_,
                                 .left_window = window > 0 ? window - 1 : -1});
    interleaved_ = setup.node.int_or("rotary_interleaved", 0) != 0;
  }

  std::vector<size_t> value_inputs() const override { return {kTotal}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s(*this, inputs);
    const TensorType present{DType::kFloat32, Shape{s.batch, kv_heads_, s.room, s.size}, Layout::kPlain};
    return {{DType::kFloat32, Shape{s.batch, s.fresh, q_heads_ * s.size}, Layout::kPlain}, present, present};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s(*this, inputs);
    const int64_t q = s.fresh * q_heads_ * s.size, keys = s.room * kv_heads_ * s.size;
    const int64_t added = is_present(inputs, kAdded) ? q_heads_ * s.fresh * s.room : 0;
    size_t total = 0;
    for (const int64_t count : {q, q, q, keys, keys, keys, keys, added, 2 * s.fresh})
      total += Scratch::bytes_for(count);
    const Types types(*this, s, s.room);
    return static_cast<int64_t>(total) +
           attention_->scratch_bytes(std::vector<Input>{{&types.q}, {&types.keys}, {&types.keys}}, {});
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s(*this, inputs);
    return 2 * s.batch * q_heads_ * s.fresh * s.room * s.size;
  }

  void run(const Call& call) const override {
    const Sizes s(*this, call.inputs);
    for (int64_t n = 0; n < s.batch; ++n) run_sample(call, s, n);
  }

 private:
  struct Sizes {
    Sizes(const GroupQueryAttention& kernel, std::span<const Input> inputs);
    int64_t batch = 0, fresh = 0, size = 0;
    int64_t past = 0;   // rows of past_key
    int64_t total = 0;  // keys of the longest sample
    int64_t room = 0;   // rows of present_key
    bool packed = false;
    bool is_prompt() const { return fresh == total; }
  };

  /// Of one sample with that many keys.
  struct Types {
    Types(const GroupQueryAttention& kernel, const Sizes& s, int64_t length)
        : q{DType::kFloat32, Shape{1, kernel.q_heads_, s.fresh, s.size}, Layout::kPlain},
          fresh{DType::kFloat32, Shape{1, kernel.kv_heads_, s.fresh, s.size}, Layout::kPlain},
          keys{DType::kFloat32, Shape{1, kernel.kv_heads_, length, s.size}, Layout::kPlain} {}
    TensorType q, fresh, keys;
  };

  void run_sample(const Call& call, const Sizes& s, int64_t n) const;
  void turn(const Call& call, const Sizes& s, int64_t n, int64_t before, const TensorType& type, const float* x,
            int64_t* positions, float* y) const;

  /// Rows of one sample of a packed input, by head: x is places x (heads x size), of which `heads` from `first` on.
  static void by_head(const Input& x, const Sizes& s, int64_t n, int64_t first, int64_t heads, float* to) {
    const int64_t row = x.shape()[2];
    copy_strided(x.values<float>().data() + n * s.fresh * row + first * s.size, to,
                 std::vector<CopyAxis>{{heads, s.size, s.fresh * s.size}, {s.fresh, row, s.size}, {s.size, 1, 1}}, 4);
  }

  int64_t q_heads_, kv_heads_;
  bool turns_, causal_, interleaved_ = false;
  std::unique_ptr<const Kernel> attention_;
};

GroupQueryAttention::Sizes::Sizes(const GroupQueryAttention& kernel, std::span<const Input> inputs) {
  const int64_t q_heads = kernel.q_heads_, kv_heads = kernel.kv_heads_;
  packed = !is_present(inputs, kKey);
  const Shape& q = inputs[kQuery].shape();
  for (const size_t k : {kQuery, kKey, kValue, kPastKey, kPastValue, kCos, kSin, kAdded})
    if (is_present(inputs, k)) require_type(inputs[k], {DType::kFloat32}, kNames[k]);
  for (const size_t k : {kLengths, kTotal}) require_type(inputs[k], {DType::kInt32}, kNames[k]);
  require_rank(inputs[kQuery], 3, "query");
  batch = q[0];
  fresh = q[1];
  const int64_t heads = packed ? q_heads + 2 * kv_heads : q_heads;
  size = q[2] / heads;
  bool fits = size > 0 && q[2] % heads == 0;
  for (const size_t k : {kKey, kValue})
    fits = fits && (packed || inputs[k].shape() == Shape{batch, fresh, kv_heads * size});
  if (!fits)
    invalid("The inputs query" +
            (packed ? " has the shape " + q.text()
                    : ", key and value have the shapes " + q.text() + ", " + inputs[kKey].shape().text() + " and " +
                          inputs[kValue].shape().text()) +
            ", which does not fit " + std::to_string(q_heads) + " query heads and " + std::to_string(kv_heads) +
            " key heads.");
  if (is_present(inputs, kPastKey)) {
    past = inputs[kPastKey].shape().rank() == 4 ? inputs[kPastKey].shape()[2] : 0;
    for (const size_t k : {kPastKey, kPastValue})
      if (!(inputs[k].shape() == Shape{batch, kv_heads, past, size}))
        invalid("The input " + std::string(kNames[k]) + " has the shape " + inputs[k].shape().text() + "; it must be " +
                std::to_string(batch) + " samples x " + std::to_string(kv_heads) + " key heads x places x " +
                std::to_string(size) + ".");
  }
  if (inputs[kLengths].elements() != batch)
    invalid("The input seqlens_k has the shape " + inputs[kLengths].shape().text() + " for a batch of " +
            std::to_string(batch) + ".");
  total = integer_of(inputs[kTotal], "total_sequence_length");
  if (total < fresh || total > past + fresh)
    invalid("The input total_sequence_length is " + std::to_string(total) + "; the query has " + std::to_string(fresh) +
                " places, and past_key " + std::to_string(past) + ".",
            "It is the number of places of the longest sample, those of past_key among them.");
  room = std::max(total, past);
  if (is_present(inputs, kPositions)) {
    require_type(inputs[kPositions], {DType::kInt64}, kNames[kPositions]);
    if (!(inputs[kPositions].shape() == Shape{batch, fresh}))
      invalid("The input position_ids has the shape " + inputs[kPositions].shape().text() + "; it must be " +
              Shape{batch, fresh}.text() + ".");
  }
  if (kernel.turns_) require_rank(inputs[kCos], 2, kNames[kCos]);
  if (!is_present(inputs, kAdded)) return;
  const Shape& added = inputs[kAdded].shape();
  if (added.rank() != 4 || (added[0] != 1 && added[0] != batch) || (added[1] != 1 && added[1] != q_heads) ||
      added[2] != fresh || added[3] < total)
    invalid("The input attention_bias has the shape " + added.text() + "; the scores have " +
            Shape{batch, q_heads, fresh, total}.text() + ".");
}

/// Q or K of one sample, the tokens of which come after `before` others.
void GroupQueryAttention::turn(const Call& call, const Sizes& s, int64_t n, int64_t before, const TensorType& type,
                               const float* x, int64_t* positions, float* y) const {
  const TensorType places{DType::kInt64, Shape{1, s.fresh}, Layout::kPlain};
  const bool given = is_present(call.inputs, kPositions);
  for (int64_t k = 0; k < s.fresh; ++k)
    positions[k] = given ? index_at(call.inputs[kPositions], n * s.fresh + k) : before + k;
  const std::vector<Input> inputs = {{&type, reinterpret_cast<const std::byte*>(x)},
                                     call.inputs[kCos],
                                     call.inputs[kSin],
                                     {&places, reinterpret_cast<const std::byte*>(positions)}};
  const auto turner = make_rotary_embedding(interleaved_, 2 * call.inputs[kCos].shape()[1], 0);
  turner->infer(inputs);
  turner->run({inputs, std::vector<Output>{{&type, reinterpret_cast<std::byte*>(y)}}, {}});
}

void GroupQueryAttention::run_sample(const Call& call, const Sizes& s, int64_t n) const {
  const int64_t length = index_at(call.inputs[kLengths], n) + 1;
  if (length < 1 || length > s.total || (!s.is_prompt() && length < s.fresh))
    invalid("The input seqlens_k says " + std::to_string(length) + " - 1 for sample " + std::to_string(n) +
                "; the call has " + std::to_string(s.fresh) + " places, and total_sequence_length is " +
                std::to_string(s.total) + ".",
            "It is the number of the sample's places, those of past_key among them, less 1.");
  const int64_t before = s.is_prompt() ? 0 : length - s.fresh;
  const Types types(*this, s, length);
  Scratch scratch(call.scratch);
  const int64_t q_count = s.fresh * q_heads_ * s.size, room_count = s.room * kv_heads_ * s.size;
  float *packed_q = scratch.floats(q_count), *q = scratch.floats(q_count), *y = scratch.floats(q_count);
  float* fresh[2] = {scratch.floats(room_count), scratch.floats(room_count)};
  float* keys[2] = {scratch.floats(room_count), scratch.floats(room_count)};
  const int64_t added_count = is_present(call.inputs, kAdded) ? q_heads_ * s.fresh * s.room : 0;
  float* added = scratch.floats(added_count);
  auto* positions = reinterpret_cast<int64_t*>(scratch.floats(2 * s.fresh));

  by_head(call.inputs[kQuery], s, n, 0, q_heads_, turns_ ? packed_q : q);
  if (turns_) turn(call, s, n, before, types.q, packed_q, positions, q);
  for (size_t k = 0; k < 2; ++k) {
    const Input& from = call.inputs[s.packed ? kQuery : kKey + k];
    const bool turned = turns_ && k == 0;
    by_head(from, s, n, s.packed ? q_heads_ + static_cast<int64_t>(k) * kv_heads_ : 0, kv_heads_,
            turned ? keys[k] : fresh[k]);
    if (turned) turn(call, s, n, before, types.fresh, keys[k], positions, fresh[k]);
    const bool shown = call.outputs.size() > k + 1 && call.outputs[k + 1].present();
    for (int64_t head = 0; head < kv_heads_; ++head) {
      const auto rows = [&](const float* from_rows, int64_t count, float* to) {
        return std::copy_n(from_rows, count * s.size, to);
      };
      const float* new_rows = fresh[k] + head * s.fresh * s.size;
      const float* past =
          before == 0 ? nullptr
                      : call.inputs[kPastKey + k].values<float>().data() + (n * kv_heads_ + head) * s.past * s.size;
      float* to = keys[k] + head * length * s.size;
      rows(new_rows, length - before, rows(past, before, to));
      if (!shown) continue;
      float* present = call.outputs[k + 1].values<float>().data() + (n * kv_heads_ + head) * s.room * s.size;
      float* end = rows(new_rows, s.fresh, rows(past, before, present));
      std::fill(end, present + s.room * s.size, 0.0f);
    }
  }
  if (!call.outputs[0].present()) return;

  const TensorType one{DType::kInt64, Shape{1}, Layout::kPlain};
  TensorType mask{DType::kFloat32, Shape{1, 1, s.fresh, length}, Layout::kPlain};
  std::vector<Input> inputs(7);
  inputs[0] = {&types.q, reinterpret_cast<const std::byte*>(q)};
  for (size_t k = 0; k < 2; ++k) inputs[1 + k] = {&types.keys, reinterpret_cast<const std::byte*>(keys[k])};
  if (!s.is_prompt()) inputs[6] = {&one, reinterpret_cast<const std::byte*>(&length)};
  if (is_present(call.inputs, kAdded)) {
    const Input& from = call.inputs[kAdded];
    const Shape& x = from.shape();
    mask.shape = Shape{1, x[1], s.fresh, length};
    copy_strided(from.values<float>().data() + (x[0] == 1 ? 0 : n * x[1] * x[2] * x[3]), added,
                 std::vector<CopyAxis>{{x[1] * s.fresh, x[3], length}, {length, 1, 1}}, 4);
    inputs[3] = {&mask, reinterpret_cast<const std::byte*>(added)};
  }
  attention_->run({inputs, std::vector<Output>{{&types.q, reinterpret_cast<std::byte*>(y)}}, scratch.rest()});
  float* to = call.outputs[0].values<float>().data() + n * q_count;
  copy_strided(
      y, to,
      std::vector<CopyAxis>{{q_heads_, s.fresh * s.size, s.size}, {s.fresh, s.size, q_heads_ * s.size}, {s.size, 1, 1}},
      4);
}

}  // namespace

std::vector<Op> group_query_attention_ops() {
  return {{.domain = "com.microsoft", .type = "GroupQueryAttention", .prepare = make_kernel<GroupQueryAttention>}};
}

}  // namespace tersor::ops
