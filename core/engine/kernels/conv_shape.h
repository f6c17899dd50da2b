// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tersor::kernels {

/// One spatial axis. All are at least 1 but for the leading padding.
struct ConvAxis {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, dilation = 1, before = 0;
};

/// What of a convolution is known with its weights.
struct ConvWeights {
  int64_t in_channels = 0, out_channels = 0, groups = 1;
  int64_t kernel_rows = 1, kernel_columns = 1;
  bool dilated_columns = false;
  bool unit_steps = false;  // all strides and dilations are 1; false where that is not known
};

}  // namespace tersor::kernels
