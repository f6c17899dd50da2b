// SPDX-License-Identifier: Apache-2.0
// The sizes of an Attention node and what its queries may look at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

/// How far from its own place a query looks; -1: as far as there are keys.
struct AttentionWindow {
  bool causal = false;  // never ahead
  int64_t left = -1, right = -1;
};

struct AttentionSizes {
  bool packed = false;  // batch x places x (heads x size), else batch x heads x places x size
  int64_t batch = 0, q_heads = 1, kv_heads = 1;
  int64_t queries = 0, fresh_keys = 0, past = 0;
  int64_t head_size = 1, value_size = 1;
  AttentionWindow window;

  int64_t keys() const { return past + fresh_keys; }

  /// From the inputs Q, K, V, (mask), past_key, past_value; the numbers of heads count where the inputs are packed.
  /// Error kInvalidModel where they do not fit together.
  static AttentionSizes of(std::span<const Input> inputs, int64_t q_heads, int64_t kv_heads);
};

/// The inputs attn_mask (3) and nonpad_kv_seqlen (6) and the window together.
class AttentionMask {
 public:
  /// Error kInvalidModel where the inputs do not fit the sizes.
  AttentionMask(std::span<const Input> inputs, const AttentionSizes& sizes);

  /// Adds the mask to the scores of one query over all keys: -infinity where it must not look.
  void apply(int64_t sample, int64_t head, int64_t query, float* scores) const;

 private:
  const AttentionSizes& sizes_;
  const Input* mask_ = nullptr;
  const Input* lengths_ = nullptr;
  int64_t steps_[3] = {0, 0, 0};  // of the mask, by sample, head and query, in elements
  int64_t step_ = 0;              // by key
  int64_t masked_keys_ = 0;       // those after it are masked out
};

}  // namespace tersor::ops
