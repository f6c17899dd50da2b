// SPDX-License-Identifier: Apache-2.0
// Which inputs of a kernel rise and fall together: the Gram matrix of its quantized input, summed over samples and
// positions, in whole numbers. ptq/round_weights.h rounds the weight by it.
//
//   ptq::GramCounter counter(kernel);        // one per thread; holds sums of its own
//   counter.add(place, codes, rows);         // for each of its samples
//   sums.add(counter.take());                // of all threads, in any order
//
// Sums of integers are exact, so neither the number of threads nor the order of the samples changes a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/kernels/products.h"
#include "core/decide/plan.h"
#include "core/choose/window_coverage.h"
#include "core/run/program.h"

namespace tersor::ptq {

/// Columns first ... first+size-1 of a group's weights, whose matrix is gathered.
struct GramBlock {
  int64_t group = 0, first = 0, size = 0;

  size_t words() const { return static_cast<size_t>(size + size * (size + 1) / 2); }
};

/// A kernel whose input's matrices are gathered. A column is one input channel of a group under one tap: i * taps +
/// tap. Matrices wider than 512 columns are gathered as blocks on the diagonal.
struct GramKernel {
  Node node;
  int32_t zero_point = 0;  // of the input
  /// Of a float input: by channel the step in which it is counted, with 8 bits. Empty else.
  std::vector<float> steps = {};
  passes::KernelOp op;
  std::vector<int64_t> window;  // the weight's spatial sizes
  std::vector<GramBlock> blocks;

  /// `kernel` as in the graph and in the plan, `weight` its weight, `input` what quantizes its input to 8 bits.
  GramKernel(Node kernel, const KernelPlan& plan, const Tensor& weight, const quant::QuantizationParams& input);
  /// `input`: what was seen of the kernel's float input.
  GramKernel(Node kernel, const KernelPlan& plan, const Tensor& weight, const calibrate::TensorStatistics& input);
  int64_t columns() const { return op.inputs_per_group() * op.taps; }
  /// What a column of a group counts in: the channel's step, or 1.
  double step_of(const GramBlock& block, int64_t column) const {
    return steps.empty() ? 1
                         : static_cast<double>(steps[static_cast<size_t>(block.group * op.inputs_per_group() +
                                                                         (block.first + column) / op.taps)]);
  }
  /// Rows that are looked at in one of `samples` samples, at most: enough together for the matrix, and few enough that
  /// a wide layer's picture does not take longer to multiply than to compute.
  int64_t rows_per_sample(size_t samples) const;
};

/// One block's sums, of the input's integers less their zero point.
struct GramView {
  double rows = 0;
  std::span<const int64_t> sums;      // of each column
  std::span<const int64_t> products;  // of columns i and j <= i, at i * (i + 1) / 2 + j
};

/// Even samples and odd ones apart, so that what one half says can be tried on the other. Words of a half: the number
/// of rows, then block by block its sums and products; none before anything was added.
struct GramSums {
  std::vector<int64_t> words[2];

  void add(GramSums more);
  /// Of one half, which has seen something.
  GramView view(int half, const GramKernel& kernel, size_t block) const;
  bool has_both() const { return !words[0].empty() && !words[1].empty(); }
};

/// Counts for one thread. The kernel must outlive it.
class GramCounter {
 public:
  explicit GramCounter(const GramKernel& kernel) : kernel_(&kernel) {}

  /// `tensor`: the kernel's input in 8 bits, or its float input, (batch, channels, spatial...) or (..., channels), in
  /// any layout. `place` of the sample among all: every so many of its rows are looked at, not the same ones in each
  /// sample, `most` at most. `zero_point` of the tensor, where it is not the kernel's own input.
  void add(size_t place, const run::LaidTensor& tensor, int64_t most, std::optional<int32_t> zero_point = {});
  /// What was seen so far; counting starts anew.
  GramSums take();

 private:
  /// Rows not yet multiplied: of each the taps' codes of all channels.
  struct Waiting {
    std::vector<uint8_t> codes;
    int64_t rows = 0;
  };
  std::vector<uint8_t> codes_of(const run::LaidTensor& tensor, bool channels_last) const;
  void turn_to_columns(const Waiting& waiting);
  void multiply(int half);

  const GramKernel* kernel_;
  GramSums sums_;
  kernels::Differences differences_{};
  Waiting waiting_[2];
  std::vector<int16_t> columns_;
};

}  // namespace tersor::ptq
