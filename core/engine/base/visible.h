// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tersor {

/// Control characters but line breaks and tabs as "\x1b": names come from files, and a terminal obeys what it is sent.
std::string visible(std::string text);

}  // namespace tersor
