// SPDX-License-Identifier: Apache-2.0
// What kernels of com.microsoft's operators have in common: they do part of the work themselves and leave the rest to
// the kernel of one of ONNX's operators.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "core/ops/refuse.h"

namespace tersor::ops {

/// Error kUnsupportedModel for an attribute that is none of `known`, unless it says that nothing is wanted: 0, -1, 1.0
/// (a factor) or "NONE".
void require_attributes(const Setup& setup, std::initializer_list<std::string_view> known);
/// Error kUnsupportedModel where the node has input `k`, or reads output `k`.
void refuse_input(const Setup& setup, size_t k, std::string_view name);
void refuse_output(const Setup& setup, size_t k, std::string_view name);

/// Floats of a kernel's scratch, taken one after the other.
class Scratch {
 public:
  explicit Scratch(std::span<std::byte> bytes) : rest_(bytes) {}
  float* floats(int64_t count) {
    float* at = reinterpret_cast<float*>(rest_.data());
    rest_ = rest_.subspan(bytes_for(count));
    return at;
  }
  std::span<std::byte> rest() const { return rest_; }
  /// Each part begins at a multiple of 64 bytes.
  static size_t bytes_for(int64_t count) { return (static_cast<size_t>(count) * 4 + 63) / 64 * 64; }

 private:
  std::span<std::byte> rest_;
};

/// ONNX's Attention with these attributes, for inputs Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen, each
/// but the first three present or not.
struct AttentionForm {
  int64_t q_heads = 0, kv_heads = 0;  // where the inputs are packed
  float scale = 0;                    // 0: by the size of a head
  float softcap = 0;
  bool causal = false;
  int64_t left_window = -1;
};
std::unique_ptr<const Kernel> make_attention(const AttentionForm& form);

/// ONNX's LayerNormalization, and RMSNormalization where it does not center.
std::unique_ptr<const Kernel> make_layer_norm(bool centers, int64_t axis, float epsilon);
/// ONNX's RotaryEmbedding.
std::unique_ptr<const Kernel> make_rotary_embedding(bool interleaved, int64_t rotary_dim, int64_t heads);

}  // namespace tersor::ops
