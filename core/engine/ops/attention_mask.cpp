// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "core/ops/attention.h"
#include "core/ops/indices.h"

namespace tersor::ops {

AttentionMask::AttentionMask(std::span<const Input> inputs, const AttentionSizes& sizes) : sizes_(sizes) {
  const auto optional = [&](size_t k) { return k < inputs.size() && inputs[k].present() ? &inputs[k] : nullptr; };
  mask_ = optional(3);
  lengths_ = optional(6);
  masked_keys_ = sizes.keys();
  if (mask_ != nullptr) {
    require_type(*mask_, {DType::kFloat32, DType::kBool}, "attn_mask");
    const Shape& own = mask_->shape();
    const int64_t whole[4] = {sizes.batch, sizes.q_heads, sizes.queries, sizes.keys()};
    bool fits = own.rank() >= 1 && own.rank() <= 4;
    int64_t step = 1;
    for (int k = own.rank() - 1, at = 3; fits && k >= 0; step *= own[k], --k, --at) {
      if (at == 3) {
        step_ = own[k] == 1 ? 0 : 1;
        if (own[k] != 1) masked_keys_ = own[k];
        fits = own[k] == 1 || own[k] <= whole[3];
      } else {
        steps_[at] = own[k] == 1 ? 0 : step;
        fits = own[k] == 1 || own[k] == whole[at];
      }
    }
    if (!fits)
      invalid("The mask has the shape " + own.text() + "; the scores have " +
              Shape{whole[0], whole[1], whole[2], whole[3]}.text() + ".");
  }
  if (lengths_ != nullptr) {
    require_type(*lengths_, {DType::kInt64, DType::kInt32}, "nonpad_kv_seqlen");
    if (lengths_->elements() != sizes.batch || lengths_->shape().rank() != 1)
      invalid("The input nonpad_kv_seqlen has the shape " + lengths_->shape().text() + " for a batch of " +
              std::to_string(sizes.batch) + ".");
  }
}

void AttentionMask::apply(int64_t sample, int64_t head, int64_t query, float* scores) const {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const int64_t keys = sizes_.keys();
  const int64_t length = lengths_ != nullptr ? std::clamp<int64_t>(index_at(*lengths_, sample), 0, keys) : keys;
  const int64_t offset = sizes_.past > 0 || lengths_ == nullptr ? sizes_.past : length - sizes_.queries;
  const int64_t place = offset + query;
  const AttentionWindow& window = sizes_.window;
  int64_t first = 0, end = std::min(length, masked_keys_);  // the keys that are left
  if (window.causal) end = std::min(end, place + 1);
  if (window.right >= 0 && window.right < keys) end = std::min(end, place + window.right + 1);
  if (window.left >= 0 && window.left < keys + sizes_.queries) first = std::max(first, place - window.left);
  first = std::clamp<int64_t>(first, 0, keys);
  end = std::clamp<int64_t>(end, first, keys);
  std::fill(scores, scores + first, kMasked);
  std::fill(scores + end, scores + keys, kMasked);
  if (mask_ == nullptr) return;
  const int64_t at = sample * steps_[0] + head * steps_[1] + query * steps_[2];
  for (int64_t k = first; k < end; ++k) {
    const auto element = static_cast<size_t>(at + k * step_);
    if (mask_->dtype() == DType::kFloat32)
      scores[k] += mask_->values<float>()[element];
    else if (mask_->data[element] == std::byte{0})
      scores[k] = kMasked;
  }
}

}  // namespace tersor::ops
