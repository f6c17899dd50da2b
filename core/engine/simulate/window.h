// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/window.h"

namespace tersor::simulate {

/// The sliding-window attributes that convolution and pooling share, checked, for `axes` spatial axes.
struct Window {
  /// Error kInvalidModel for wrong counts, zero strides or negative pads.
  Window(const Node& node, int axes);

  std::vector<int64_t> kernel;  // empty where the attribute is absent
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // all begins, then all ends
  ops::AutoPad auto_pad;
  bool ceil_mode = false;

  /// The pads for an input of these spatial sizes, auto_pad worked out.
  std::vector<int64_t> pads_for(std::span<const int64_t> sizes, std::span<const int64_t> kernel_shape) const;
  /// Output size along one axis.
  int64_t out_size(int64_t size, int64_t kernel_size, size_t axis, std::span<const int64_t> actual_pads) const;
};

}  // namespace tersor::simulate
