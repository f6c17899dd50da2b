// SPDX-License-Identifier: Apache-2.0
// Convolution in two dimensions, channels last, without copying windows: pointers to the input's pixels go to
// multiply_rows().
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/kernels/conv_shape.h"
#include "core/kernels/multiply_rows.h"
#include "core/kernels/winograd.h"

namespace tersor::kernels {

class Conv {
 public:
  Conv() = default;
  /// `weights` are in ONNX order: out_channels x in_channels / groups x rows x columns.
  Conv(const ConvWeights& shape, const float* weights);

  /// Bytes of scratch for run().
  static int64_t scratch_bytes(const ConvWeights& shape, const ConvAxis& rows, const ConvAxis& columns);
  /// x: [batch, rows.in, columns.in, in_channels], y: [batch, rows.out, columns.out, out_channels]. Each output element
  /// is the sum over kernel rows, columns, then channels, taps outside the input counting as 0, then the epilogue;
  /// where Winograd::suits(), it is what Winograd computes.
  void run(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns, const Epilogue& epilogue,
           std::span<std::byte> scratch, float* y) const;

 private:
  void run_group(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns, int64_t group,
                 const Epilogue& epilogue, std::span<std::byte> scratch, float* y) const;

  ConvWeights shape_;
  std::vector<Panels> groups_;
  Winograd winograd_;
};

/// Depthwise convolution with one output per input channel, channels last.
class Depthwise {
 public:
  Depthwise() = default;
  /// `weights` are in ONNX order: channels x 1 x rows x columns.
  Depthwise(int64_t channels, int64_t kernel_rows, int64_t kernel_columns, const float* weights);

  void run(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns, const Epilogue& epilogue,
           float* y) const;
  bool empty() const { return weights_.empty(); }

 private:
  int64_t channels_ = 0;
  std::vector<float> weights_;  // [tap][channel]
};

}  // namespace tersor::kernels
