// SPDX-License-Identifier: Apache-2.0
// A scale per row of what a product reads, computed in each run with the standard's operators:
//
//   x W = r ((x / r) W), r = max |x| of the row (or max x, where no x is below 0)
//
// x / r has a fixed range, so that its quantizer clips nothing, and a quiet row (a token) no longer shares the step of
// the loudest. ONNX Runtime computes the product as MatMulIntegerToFloat, as it would without.
#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/quant/histogram.h"

namespace tersor::ptq {

/// How the codes of a row are spread.
enum class RowScale {
  kNone,
  kTwoSided,  // from -r to r
  kOneSided,  // from 0 to r: of values that an offset has moved above 0
};

/// What E[r^2] is at most, as a part of the square of the farthest reach: `of` counts values in rows of `length`, r is
/// how far a row reaches from `centre` upwards, or in both directions. By the union bound P(r > t) <= length P(x > t),
/// which values that stand by themselves come near to; a channel that is loud in every row gives 1.
double mean_square_of_reach(const quant::Histogram& of, double centre, RowScale scale, size_t length);

/// Appends nodes that make `rows` = x / r along the last axis, and returns r. A row of zeros stays zeros: r is at least
/// 2^-20 of `most`, the farthest reach of all rows.
ValueId divide_rows(Model& model, ValueId x, ValueId rows, RowScale scale, double most, std::vector<NodeId>& inserted);

/// Lets the node at `index` give its output 0 divided by r under a new name, and appends the Mul that makes the output.
void multiply_rows(Graph& graph, size_t index, ValueId r, std::vector<NodeId>& inserted);

}  // namespace tersor::ptq
