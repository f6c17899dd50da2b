// SPDX-License-Identifier: Apache-2.0
// What the kernels of gradients share.
#pragma once

#include <memory>
#include <string_view>

#include "core/gradient/rule.h"
#include "core/ops/op.h"

namespace tersor::gradient {

/// A float32 kernel whose output has the shape of input `like`, all of it plain.
class LikeInput : public ops::Kernel {
 public:
  /// What the kernel reads of the input: the shape alone, so that it need not be plain, or its elements too.
  enum class Reads : uint8_t { kShape, kElements };
  explicit LikeInput(size_t like, Reads reads = Reads::kShape) : like_(like), reads_(reads) {}

  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    if (reads_ == Reads::kShape) forms[like_].layout = inputs[like_].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs[like_].shape(), ops::Layout::kPlain}};
  }

 private:
  size_t like_;
  Reads reads_;
};

/// The record of kernel class K, which is made from a Setup.
template <class K>
ops::Op kernel_record(std::string_view type) {
  return {
      .domain = kGradientDomain, .type = type, .prepare = [](ops::Setup& setup) { return std::make_unique<K>(setup); }};
}

}  // namespace tersor::gradient
