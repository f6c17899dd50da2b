// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace tersor::onnx {

/// Reads an encoded ValueInfoProto. A negative size of a dimension counts as unknown.
Value read_value(std::string_view message);

/// Reads an encoded OperatorSetIdProto.
OpsetImport read_opset(std::string_view message);

/// "ai.onnx" is another name of the default domain "".
std::string canonical_domain(std::string_view domain);

}  // namespace tersor::onnx
