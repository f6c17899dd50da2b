// SPDX-License-Identifier: Apache-2.0
#include "core/ops/integer_list.h"

#include <algorithm>

#include "core/ops/refuse.h"

namespace tersor::ops {

IntegerList::IntegerList(const Setup& setup, size_t input, std::string name) : name_(std::move(name)) {
  if (const auto* list = setup.node.attribute<std::vector<int64_t>>(name_))
    fixed_ = *list;
  else if (setup.has_input(input))
    input_ = input;
}

void IntegerList::append_to(std::vector<size_t>& value_inputs) const {
  if (input_) value_inputs.push_back(*input_);
}

std::vector<int64_t> IntegerList::values(std::span<const Input> inputs) const {
  if (fixed_) return *fixed_;
  return input_ ? integers_of(inputs[*input_], name_) : std::vector<int64_t>{};
}

std::vector<int> axes_of(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> result;
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      invalid("The axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank) + ".");
    result.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    invalid("The axes " + text_of(axes) + " name an axis twice.");
  return result;
}

}  // namespace tersor::ops
