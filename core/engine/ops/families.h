// SPDX-License-Identifier: Apache-2.0
// The operator families, one source file each: every function gives the records of one file. registry.cpp joins them.
#pragma once

#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

std::vector<Op> attention_ops();
std::vector<Op> audio_table_ops();  // HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix
std::vector<Op> batch_norm_ops();
std::vector<Op> biased_gelu_ops();  // Gelu, BiasGelu, FastGelu, QuickGelu of com.microsoft
std::vector<Op> binary_ops();       // arithmetic, comparison and logic of two inputs; Max, Min, Sum, Mean of many
std::vector<Op> cast_ops();         // Cast, CastLike
std::vector<Op> center_crop_pad_ops();
std::vector<Op> channel_norm_ops();  // Instance-, Group-, MeanVariance- and LpNormalization, LRN
std::vector<Op> clamp_ops();         // Relu, Clip
std::vector<Op> concat_ops();
std::vector<Op> constant_ops();  // Constant, ConstantOfShape, Shape, Size, Range
std::vector<Op> conv_ops();
std::vector<Op> conv_transpose_ops();
std::vector<Op> cumulative_ops();  // CumSum, CumProd
std::vector<Op> deform_conv_ops();
std::vector<Op> diagonal_ops();  // Trilu, EyeLike
std::vector<Op> einsum_ops();
std::vector<Op> expand_ops();  // Expand, Tile, Where
std::vector<Op> gather_ops();  // Gather, GatherElements, GatherND
std::vector<Op> group_query_attention_ops();
std::vector<Op> gru_ops();
std::vector<Op> layer_norm_ops();        // LayerNormalization, RMSNormalization
std::vector<Op> linear_attention_ops();  // LinearAttention, CausalConvWithState, SwiGLU
std::vector<Op> lp_pool_ops();           // LpPool, GlobalLpPool
std::vector<Op> lstm_ops();
std::vector<Op> matmul_ops();  // Gemm, MatMul
std::vector<Op> microsoft_rotary_ops();
std::vector<Op> multi_head_attention_ops();
std::vector<Op> non_max_suppression_ops();
std::vector<Op> one_hot_ops();
std::vector<Op> pad_ops();
std::vector<Op> pool_ops();      // MaxPool, AveragePool and the global ones
std::vector<Op> power_ops();     // Pow
std::vector<Op> quantize_ops();  // QuantizeLinear, DequantizeLinear
std::vector<Op> random_ops();    // numbers drawn anew: RandomNormal, RandomUniform, Bernoulli, Multinomial
std::vector<Op> reduce_ops();    // the Reduce family, ArgMax, ArgMin
std::vector<Op> region_ops();    // RoiAlign, MaxRoiPool
std::vector<Op> reshape_ops();   // Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout
std::vector<Op> resize_ops();    // Resize, Upsample
std::vector<Op> reverse_sequence_ops();
std::vector<Op> rnn_ops();
std::vector<Op> rotary_embedding_ops();
std::vector<Op> sample_grid_ops();      // AffineGrid, GridSample
std::vector<Op> scatter_ops();          // Scatter, ScatterElements, ScatterND, TensorScatter
std::vector<Op> select_ops();           // NonZero, Compress, Unique
std::vector<Op> skip_layer_norm_ops();  // those of com.microsoft with a sum before
std::vector<Op> slice_ops();            // Slice, Split
std::vector<Op> softmax_ops();          // Softmax, LogSoftmax, Hardmax
std::vector<Op> space_ops();            // DepthToSpace, SpaceToDepth
std::vector<Op> spectrum_ops();         // DFT, STFT
std::vector<Op> top_k_ops();
std::vector<Op> transpose_ops();
std::vector<Op> unary_ops();   // one input, element by element
std::vector<Op> unpool_ops();  // MaxUnpool, Col2Im

}  // namespace tersor::ops
