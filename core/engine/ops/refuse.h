// SPDX-License-Identifier: Apache-2.0
// How an operator says that it cannot take a node. The engine puts the node's place first.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/ops/op.h"

namespace tersor::ops {

/// Error kInvalidModel: the operator's definition forbids it. An empty hint becomes a general one, here and below.
[[noreturn]] void invalid(std::string message, std::string hint = {});
/// Error kUnsupportedModel: allowed, but not done here.
[[noreturn]] void unsupported(std::string message, std::string hint = {});

constexpr size_t kAnyNumber = static_cast<size_t>(-1);

/// The node has from `least` to `most` inputs, and the first `least` are there (all of them where any number is
/// allowed). Error kInvalidModel.
void require_inputs(const Setup& setup, size_t least, size_t most);
/// The input's element type is one of `types`. Error kUnsupportedModel naming input and type.
void require_type(const Input& input, std::initializer_list<DType> types, std::string_view name);
/// Error kInvalidModel unless the input has that rank.
void require_rank(const Input& input, int rank, std::string_view name);
/// The two inputs have one element type. Error kInvalidModel.
void require_same_type(const Input& a, const Input& b);
/// normalize_axis() with an error that names the shape.
int axis_of(int64_t axis, const Shape& shape);
/// "[1, 2, 3]".
std::string text_of(std::span<const int64_t> numbers);

/// The whole numbers of a small integer input (axes, sizes, pads): from its constant, or from a value that infer() or
/// run() is given.
std::vector<int64_t> integers_of(const Input& input, std::string_view name);

}  // namespace tersor::ops
