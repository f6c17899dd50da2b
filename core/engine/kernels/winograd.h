// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015):
// a tile of 2 x 2 outputs takes 16 products per channel instead of 36. Which layers take it follows from the layer
// alone, and every sum has one order, so the bits are the same on every target; they differ from the plain sum's by
// about 1e-6 of the output's range.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/kernels/conv_shape.h"
#include "core/kernels/multiply_rows.h"

namespace tersor::kernels {

class Winograd {
 public:
  /// Kernel 3 x 3 with strides and dilations of 1, one group, at least 32 channels on both sides.
  static bool suits(const ConvWeights& shape);

  Winograd() = default;
  /// `weights` are in ONNX order: out_channels x in_channels x 3 x 3.
  Winograd(int64_t in_channels, int64_t out_channels, const float* weights);

  static int64_t scratch_bytes(int64_t in_channels, int64_t out_channels);
  /// As Conv::run.
  void run(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns, const Epilogue& epilogue,
           std::span<std::byte> scratch, float* y) const;
  bool empty() const { return places_.empty(); }

 private:
  int64_t in_channels_ = 0, out_channels_ = 0;
  std::vector<Panels> places_;  // 16: one matrix of in x out channels per place of a transformed tile
};

}  // namespace tersor::kernels
