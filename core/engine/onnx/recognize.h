// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace tersor::onnx {

struct OtherFormat {
  std::string what;  // "a TFLite model (it has TFL3 at byte 4)"
  std::string hint;  // what to do instead
};

/// What the bytes seem to be when they are no ONNX model; none where they may be one.
std::optional<OtherFormat> recognize(std::span<const std::byte> bytes);

}  // namespace tersor::onnx
