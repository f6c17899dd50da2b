// SPDX-License-Identifier: Apache-2.0
// Which inputs of a kernel rise and fall together: for each kernel the Gram matrix of its quantized input, summed over
// samples and positions, in whole numbers. ptq/round_weights.h rounds weights by them.
//
//   ptq::GramPass pass(model, plan, samples);
//   ptq::GramCounter counter(pass);          // one per thread; holds sums of its own
//   counter.add(place, inputs);              // for each of its samples
//   sums.add(counter.sums());                // of all threads, in any order
//
// Sums of integers are exact, so neither the number of threads nor the order of the samples changes a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ptq/plan.h"
#include "core/ptq/window_coverage.h"
#include "core/run/program.h"

namespace tersor::ptq {

/// Columns first ... first+size-1 of a group's weights, whose matrix is gathered.
struct GramBlock {
  int64_t group = 0, first = 0, size = 0;
};

/// A kernel whose input's matrices are gathered. A column is one input channel of a group under one tap: i * taps +
/// tap.
struct GramKernel {
  size_t index = 0;  // in the plan's kernels
  Node node;         // as in the quantized graph
  ValueId input;     // there
  float input_scale = 1;
  passes::KernelOp op;
  std::vector<int64_t> window;  // the weight's spatial sizes
  std::vector<GramBlock> blocks;
  size_t begin = 0, words = 0;  // its part of one half of GramSums

  int64_t columns() const { return op.inputs_per_group() * op.taps; }
};

/// One block's sums, of the input's integers less their zero point.
struct GramView {
  double rows = 0;
  std::span<const int64_t> sums;      // of each column
  std::span<const int64_t> products;  // of columns i and j <= i, at i * (i + 1) / 2 + j
};

/// Even samples and odd ones apart, so that what one half says can be tried on the other.
struct GramSums {
  std::vector<int64_t> words[2];

  void add(const GramSums& more);
};

class GramPass {
 public:
  /// `plan` with its corrected biases. Kernels whose input is not quantized to 8 bits or whose weight is read
  /// transposed are left out. Matrices wider than a bound that depends on the model alone are gathered as blocks on
  /// the diagonal.
  GramPass(const Model& float_model, const QuantizationPlan& plan, uint64_t samples);

  const std::vector<GramKernel>& kernels() const { return kernels_; }
  const std::shared_ptr<const run::Program>& program() const { return program_; }
  /// Rows of one sample that are looked at, at most.
  int64_t rows_per_sample() const { return rows_per_sample_; }
  GramSums empty() const;
  GramView view(const GramSums& sums, int half, const GramKernel& kernel, size_t block) const;

 private:
  std::vector<GramKernel> kernels_;
  std::shared_ptr<const run::Program> program_;
  int64_t rows_per_sample_ = 1;
  size_t words_ = 0;
};

class GramCounter {
 public:
  explicit GramCounter(const GramPass& pass);
  ~GramCounter();
  GramCounter(GramCounter&&) noexcept;

  /// `place` of the sample among those calibrated on. Errors of Runner::run.
  void add(size_t place, std::span<const Tensor> inputs);
  const GramSums& sums() const;

 private:
  class Observer;
  run::Runner runner_;
  std::unique_ptr<Observer> observer_;
};

}  // namespace tersor::ptq
