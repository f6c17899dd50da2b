// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tersor::onnx {

/// Calls `read` and puts `place` before the place of what it throws.
template <class Read>
auto within(std::string_view place, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw error.within(place);
  }
}

}  // namespace tersor::onnx
