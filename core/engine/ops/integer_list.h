// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

/// A list of whole numbers (axes, pads, the target of Reshape) that older operator sets give as an attribute and newer
/// ones as an input of the same name. An attribute is taken where it is given, else the input.
class IntegerList {
 public:
  /// `input` is where the input would be.
  IntegerList(const Setup& setup, size_t input, std::string name);

  bool given() const { return fixed_.has_value() || input_.has_value(); }
  /// For Kernel::value_inputs(): appends the input when the list comes from one.
  void append_to(std::vector<size_t>& value_inputs) const;
  /// Empty when it is not given.
  std::vector<int64_t> values(std::span<const Input> inputs) const;

 private:
  std::string name_;
  std::optional<std::vector<int64_t>> fixed_;
  std::optional<size_t> input_;
};

/// The axes counted from the front, ascending, each once. Error kInvalidModel when one is outside the rank or repeated.
std::vector<int> axes_of(const std::vector<int64_t>& axes, int rank);

}  // namespace tersor::ops
