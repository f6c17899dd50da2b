// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

/// One spatial axis of a convolution or pooling. All are at least 1 but for the pads (0 or more), `in` and `out`.
struct WindowAxis {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding

  /// From the first to the last element that a window covers, both included.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

enum class AutoPad { kExplicit, kValid, kSameUpper, kSameLower };

/// The attribute auto_pad. Error kInvalidModel for a word that ONNX does not have.
AutoPad auto_pad_of(const Node& node);

/// Error kInvalidModel where a convolution says twice how it pads, as ONNX and its runtime refuse it.
void require_pads_once(const Node& node);

/// The attributes strides, dilations, pads, auto_pad and ceil_mode of a node that slides a window.
class Window {
 public:
  /// Error kInvalidModel for values that no window has.
  explicit Window(const Setup& setup);

  /// The axes for an input of shape N x C x spatial... and a kernel with one size per spatial axis. Error kInvalidModel
  /// where they do not fit.
  std::vector<WindowAxis> place(const Shape& input, std::span<const int64_t> kernel) const;

  /// Neighbouring taps of the last axis are not neighbouring elements.
  bool dilates_last_axis() const { return !dilations_.empty() && dilations_.back() > 1; }
  /// All strides and dilations are 1.
  bool unit_steps() const;

 private:
  std::vector<int64_t> strides_, dilations_, pads_;
  AutoPad auto_pad_ = AutoPad::kExplicit;
  bool ceil_ = false;
};

/// Each number is from 1 to 2^31. Error kInvalidModel naming the attribute.
void require_positive(const std::vector<int64_t>& numbers, std::string_view name);

}  // namespace tersor::ops
