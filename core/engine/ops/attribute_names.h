// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace tersor::ops {

/// An operator of ONNX's own domain has this attribute in some operator set. Of other domains it is not known: true.
bool has_attribute(std::string_view domain, std::string_view type, std::string_view name);

/// Error kInvalidModel for an attribute that an operator of ONNX's own domain has in no operator set, as runtimes
/// refuse it: a misspelt one would else be read as if it were not there.
void require_known_attributes(const Node& node);

}  // namespace tersor::ops
