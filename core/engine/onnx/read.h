// SPDX-License-Identifier: Apache-2.0
// ONNX files into models, of every operator set. The reverse is
// core/onnx/write.h.
#pragma once

#include "core/graph/graph.h"
#include "core/onnx/source.h"

namespace tersor::onnx {

/// Reads and validates a model. Its tensors alias the bytes of `source` and of the external files wherever the file
/// holds them as they are in memory, and keep their owners alive.
///
/// What is noteworthy but harmless goes into Model::warnings: versions newer than known, operators that ONNX does not
/// have, weights listed as inputs, nodes out of order.
///
/// Error kInvalidModel: no ONNX file (says what it seems to be), cut short, damaged, or breaking the rules of
/// validate(). kUnsupportedModel: over 2 GB, or an element type that is not known. kIo: an external file is missing.
/// Whatever the bytes, nothing worse happens.
Model read(const Source& source, const ExternalData& external = {});

}  // namespace tersor::onnx
