// SPDX-License-Identifier: Apache-2.0
#include "core/ops/registry.h"

#include "core/ops/families.h"

namespace tersor::ops {

namespace {

/// All families. An operator more is a record in one of them; a family more is one line here.
std::vector<Op> all_ops() {
  std::vector<Op> all;
  for (const auto family : {attention_ops,
                            audio_table_ops,
                            batch_norm_ops,
                            biased_gelu_ops,
                            binary_ops,
                            cast_ops,
                            center_crop_pad_ops,
                            channel_norm_ops,
                            clamp_ops,
                            concat_ops,
                            constant_ops,
                            conv_ops,
                            conv_transpose_ops,
                            cumulative_ops,
                            deform_conv_ops,
                            diagonal_ops,
                            einsum_ops,
                            expand_ops,
                            gather_ops,
                            group_query_attention_ops,
                            gru_ops,
                            layer_norm_ops,
                            linear_attention_ops,
                            lp_pool_ops,
                            lstm_ops,
                            matmul_ops,
                            microsoft_rotary_ops,
                            multi_head_attention_ops,
                            non_max_suppression_ops,
                            one_hot_ops,
                            pad_ops,
                            pool_ops,
                            power_ops,
                            quantize_ops,
                            random_ops,
                            reduce_ops,
                            region_ops,
                            reshape_ops,
                            resize_ops,
                            reverse_sequence_ops,
                            rnn_ops,
                            rotary_embedding_ops,
                            sample_grid_ops,
                            scatter_ops,
                            select_ops,
                            skip_layer_norm_ops,
                            slice_ops,
                            softmax_ops,
                            space_ops,
                            spectrum_ops,
                            top_k_ops,
                            transpose_ops,
                            unary_ops,
                            unpool_ops})
    for (Op& op : family()) all.push_back(std::move(op));
  return all;
}

}  // namespace

const Op* Registry::find(std::string_view domain, std::string_view type, int64_t version) const {
  for (auto it = ops_.rbegin(); it != ops_.rend(); ++it)
    if ((*it)->type == type && (*it)->domain == domain && (*it)->since <= version && version <= (*it)->until)
      return *it;
  return nullptr;
}

Registry Registry::with(std::span<const Op* const> more) const {
  std::vector<const Op*> ops = ops_;
  ops.insert(ops.end(), more.begin(), more.end());
  return Registry(std::move(ops));
}

const Registry& standard() {
  static const std::vector<Op> records = all_ops();
  static const Registry registry = [] {
    std::vector<const Op*> pointers;
    for (const Op& op : records) pointers.push_back(&op);
    return Registry(std::move(pointers));
  }();
  return registry;
}

}  // namespace tersor::ops
