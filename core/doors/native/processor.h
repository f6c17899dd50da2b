// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace tersor {

/// Whether ONNX Runtime adds products of uint8 and int8 exactly on this processor: it has VNNI for 512 bits
/// (AVX512_VNNI) or fewer (AVX-VNNI). None where it is not x64, whose kernels add exactly.
std::optional<bool> adds_exactly();

}  // namespace tersor
