// SPDX-License-Identifier: Apache-2.0
// How far a tensor of the quantized model lies from that of the float one, at an interest point. Each of the three is 0
// for equal tensors, does not depend on how large their numbers are, and is an Error kInvalidArgument for tensors that
// are empty, of unlike sizes or not finite. Source: the distances of MCT's mixed precision.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/config/mp_distance.h"

namespace tersor::mixed {

/// Mean of (x - y)^2 in parts of (the mean of x^2) + 1e-8, x being the float model's.
double normalized_mse(std::span<const double> x, std::span<const double> y);

/// (1 - cos) / 2, from 0 to 1, with 1e-8 added to the product of the lengths; 0 for two tensors of zeros.
double cosine_distance(std::span<const double> x, std::span<const double> y);

/// Mean over rows of `row` elements, which lie together, of the sum of p ln(p / q); a q of 0 or less counts as 1e-8.
/// Error kInvalidArgument as well for a negative p, or a number of elements that no rows make.
double kl_divergence(std::span<const double> p, std::span<const double> q, size_t row);

/// The distance of two tensors of floats, of one size. 0 where the first is not finite, as it says nothing then, and 1
/// where the second is not. KL is taken over rows of `row` elements, and of what is no probability MSE in its place.
double distance(config::MpDistance kind, std::span<const float> x, std::span<const float> y, size_t row);

/// Of the output of an ONNX operator: Softmax by KL, Sigmoid and dense layers (Gemm, MatMul) by cosine, others by MSE.
config::MpDistance distance_for(std::string_view op_type);

}  // namespace tersor::mixed
