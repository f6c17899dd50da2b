// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json_fwd.h"

namespace tersor::tpc {

/// True for a capabilities file of Sony's model compression toolkit, schema 1 or 2: it has default_qco at the top.
bool is_mct_capabilities(const Json& json);

/// Such a file in the form of our own files: numbers of enums become words, sets in fusing patterns become their names.
/// Members that are not as the schema has them are left for the reader to complain of. Error kInvalidPlatform for
/// another schema version.
Json from_mct_capabilities(const Json& json, const std::string& place);

}  // namespace tersor::tpc
