// SPDX-License-Identifier: Apache-2.0
// Computes the Gram matrix of a kernel's quantized input, summed over samples and positions, in integers. It tells
// which inputs of the kernel vary together; sweep/round_weights.h rounds the weight by it.
//
//   ptq::GramCounter counter(kernel);        // one per thread; has its own sums
//   counter.add(place, codes, rows);         // for each sample of the thread
//   sums.add(counter.take());                // for all threads, in any order
//
// Sums of integers are exact, so neither the number of threads nor the order of the samples changes a bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/calibrate/statistics.h"
#include "core/choose/window_coverage.h"
#include "core/decide/plan.h"
#include "core/kernels/products.h"
#include "core/run/program.h"

namespace tersor::ptq {

/// A diagonal block of a Gram matrix: the columns first to first + size - 1 of a group's weights.
struct GramBlock {
  int64_t group = 0, first = 0, size = 0;

  size_t words() const { return static_cast<size_t>(size + size * (size + 1) / 2); }
};

/// A kernel whose input's Gram matrices are computed. A column is an input channel of a group under a tap: i * taps +
/// tap. Matrices wider than 512 columns are split into blocks along the diagonal; products across blocks are not
/// computed.
struct GramKernel {
  Node node;
  int32_t zero_point = 0;  // of the input
  /// For a float input: the scale of each channel by which it is counted in 8 bits. Otherwise empty.
  std::vector<float> steps = {};
  passes::KernelOp op;
  std::vector<int64_t> window;  // the weight's spatial sizes
  std::vector<GramBlock> blocks;

  /// For an input that `input` quantizes to 8 bits. `kernel` is the node of the graph, `plan` its plan, `weight` its
  /// weight.
  GramKernel(Node kernel, const KernelPlan& plan, const Tensor& weight, const quant::QuantizationParams& input);
  /// For a float input with the statistics `input`.
  GramKernel(Node kernel, const KernelPlan& plan, const Tensor& weight, const calibrate::TensorStatistics& input);
  int64_t columns() const { return op.inputs_per_group() * op.taps; }
  /// The scale of a column's integers: that of its channel, or 1 for a quantized input.
  double step_of(const GramBlock& block, int64_t column) const {
    return steps.empty() ? 1
                         : static_cast<double>(steps[static_cast<size_t>(block.group * op.inputs_per_group() +
                                                                         (block.first + column) / op.taps)]);
  }
  /// The greatest number of rows used from each of `samples` samples. All samples together give enough rows for the
  /// matrix. For a wide layer there are few enough that the products take no longer than the layer.
  int64_t rows_per_sample(size_t samples) const;
};

/// The sums of a block over the input's integers minus their zero point.
struct GramView {
  /// The number of rows summed.
  double rows = 0;
  std::span<const int64_t> sums;      // of each column
  std::span<const int64_t> products;  // of columns i and j <= i, at i * (i + 1) / 2 + j
};

/// Sums of the even samples and of the odd samples, so that a result from one half can be tried on the other. The words
/// of a half are the number of rows, then the sums and products of each block; there are none before the first sample.
struct GramSums {
  std::array<std::vector<int64_t>, 2> words;

  static constexpr auto fields() { return members(&GramSums::words); }

  void add(GramSums more);
  /// The sums of a block in a half that has seen a sample.
  GramView view(int half, const GramKernel& kernel, size_t block) const;
  bool has_both() const { return !words[0].empty() && !words[1].empty(); }
};

/// Computes the sums of a thread's samples. The kernel must outlive it.
class GramCounter {
 public:
  explicit GramCounter(const GramKernel& kernel) : kernel_(&kernel) {}

  /// Adds rows of a sample. `tensor` is the kernel's input in 8 bits, or its float input, (batch, channels, spatial...)
  /// or (..., channels), in any layout. `place` is the sample's position among all samples. At most `most` rows are
  /// used, evenly spaced and starting elsewhere in each sample. `zero_point` is that of the tensor, if it is not the
  /// kernel's own input.
  void add(size_t place, const run::LaidTensor& tensor, int64_t most, std::optional<int32_t> zero_point = {});
  /// Returns the sums so far and starts anew.
  GramSums take();

 private:
  /// Rows that are not multiplied yet: the codes of all channels under each tap.
  struct Waiting {
    std::vector<uint8_t> codes;
    int64_t rows = 0;
  };
  void turn_to_columns(const Waiting& waiting);
  void multiply(int half);

  const GramKernel* kernel_;
  GramSums sums_;
  kernels::Differences differences_{};
  Waiting waiting_[2];
  std::vector<int16_t> columns_;
};

}  // namespace tersor::ptq
