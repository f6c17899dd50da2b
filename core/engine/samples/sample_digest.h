// SPDX-License-Identifier: Apache-2.0
// Digests by which a recipe knows its samples again: of what the model sees, so they do not depend on file names or
// formats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/tensor/tensor.h"

namespace tersor::samples {

/// For each tensor in order the line "<element type> <shape>\n" (as in "float32 1x3x32x32\n") and its bytes.
ByteBuffer digested_bytes(std::span<const Tensor> sample);
/// SHA-256 over these bytes, which it takes where they lie.
std::string sample_digest(std::span<const Tensor> sample);
/// Of up to two samples of one model; two take little longer than one (Sha256::update).
std::vector<std::string> sample_digests(std::span<const std::vector<Tensor>> samples);

/// SHA-256 over the lines "<digest>\n" of the samples in order.
std::string data_set_digest(std::span<const std::string> sample_digests);

}  // namespace tersor::samples
