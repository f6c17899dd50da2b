// SPDX-License-Identifier: Apache-2.0
#include "core/ops/refuse.h"

#include <algorithm>

namespace tersor::ops {

void invalid(std::string message, std::string hint) {
  if (hint.empty()) hint = "Export the model again: ONNX does not allow this node as it is.";
  throw Error(ErrorCode::kInvalidModel, std::move(message), {}, std::move(hint));
}

void unsupported(std::string message, std::string hint) {
  if (hint.empty()) hint = "Export the model with another form of this operator.";
  throw Error(ErrorCode::kUnsupportedModel, std::move(message), {}, std::move(hint));
}

void require_inputs(const Setup& setup, size_t least, size_t most) {
  const size_t count = setup.node.inputs.size();
  if (count > most)
    invalid("The node has " + std::to_string(count) + " inputs; this operator takes at most " + std::to_string(most) +
            ".");
  const size_t needed = most == kAnyNumber ? std::max(least, count) : least;
  for (size_t k = 0; k < needed; ++k)
    if (!setup.has_input(k)) invalid("Input " + std::to_string(k) + " is missing.");
}

void require_type(const Input& input, std::initializer_list<DType> types, std::string_view name) {
  if (std::find(types.begin(), types.end(), input.dtype()) != types.end()) return;
  std::string wanted;
  for (const DType type : types) wanted += (wanted.empty() ? "" : ", ") + std::string(name_of(type));
  unsupported("The input " + std::string(name) + " has the type " + std::string(name_of(input.dtype())) +
              "; supported here: " + wanted + ".");
}

void require_rank(const Input& input, int rank, std::string_view name) {
  if (input.shape().rank() == rank) return;
  invalid("The input " + std::string(name) + " has the shape " + input.shape().text() + "; it must have rank " +
          std::to_string(rank) + ".");
}

void require_same_type(const Input& a, const Input& b) {
  if (a.dtype() == b.dtype()) return;
  invalid("The inputs have the types " + std::string(name_of(a.dtype())) + " and " + std::string(name_of(b.dtype())) +
          "; they must be the same.");
}

int axis_of(int64_t axis, const Shape& shape) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank)
    invalid("The axis " + std::to_string(axis) + " is outside the shape " + shape.text() + ".");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::string text_of(std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::vector<int64_t> integers_of(const Input& input, std::string_view name) {
  if (input.shape().rank() > 1)
    invalid("The input " + std::string(name) + " has the shape " + input.shape().text() + "; it must be a list.");
  const auto copied = [&](const auto& values) {
    TERSOR_CHECK(input.data != nullptr || values.empty());
    return std::vector<int64_t>(values.begin(), values.end());
  };
  if (input.dtype() == DType::kInt64) return copied(input.values<int64_t>());
  if (input.dtype() == DType::kInt32) return copied(input.values<int32_t>());
  invalid("The input " + std::string(name) + " has the type " + std::string(name_of(input.dtype())) +
          "; it must be int64 or int32.");
}

}  // namespace tersor::ops
