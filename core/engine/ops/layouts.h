// SPDX-License-Identifier: Apache-2.0
// Kernels by the layout that they want their first input in.
#pragma once

#include "core/ops/op.h"

namespace tersor::ops {

/// Its first input stays in the layout that it has.
class AnyLayoutKernel : public Kernel {
 public:
  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    forms[0].layout = inputs[0].type->layout;
    return forms;
  }
};

/// A window goes over the spatial axes of its first input, whose channels come last.
class ChannelsLastKernel : public Kernel {
 public:
  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    if (inputs[0].shape().rank() >= 3) forms[0].layout = Layout::kChannelsLast;
    return forms;
  }
};

}  // namespace tersor::ops
