// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/graph/graph.h"
#include "core/onnx/source.h"

namespace tersor::onnx {

/// Reads `length` bytes of a file from `offset` on once more. May throw.
using ReadAgain = std::function<Source(uint64_t offset, uint64_t length)>;

/// Tensors of so many bytes are worth being read again.
inline constexpr size_t kWorthDeferring = size_t{1} << 16;

/// Makes the tensors of a model let go of the bytes of `file` that they alias: those of `at_least` bytes are deferred
/// to `again`, which must give the same bytes, and smaller ones are copied. Attributes and subgraphs included.
void defer_tensors(Model& model, std::span<const std::byte> file, const ReadAgain& again,
                   size_t at_least = kWorthDeferring);

}  // namespace tersor::onnx
