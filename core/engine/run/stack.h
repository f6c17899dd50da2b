// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/run/program.h"

namespace tersor::run {

/// What the steps of a loop give for one output, laid after one another in memory.
class Stack {
 public:
  /// Error kInvalidModel when `tensor` is not of the type and shape of those before; kUnsupportedModel for types whose
  /// elements are no whole bytes.
  void add(const Tensor& tensor);
  int64_t bytes() const { return static_cast<int64_t>(bytes_.size()); }
  /// All of them in one tensor with a new axis `axis` for the steps (negative: from the end), last first where
  /// `reversed`. Where there was no step, of the type that `declared` names and with 0 for dimensions it leaves open.
  Tensor finish(int64_t axis, bool reversed, const Port& declared);

 private:
  int64_t count_ = 0;
  DType dtype_ = DType::kUndefined;
  Shape shape_;
  std::vector<std::byte> bytes_;
};

/// `tensor` with axis `from` moved to `to`.
Tensor move_axis(const Tensor& tensor, int from, int to);

}  // namespace tersor::run
