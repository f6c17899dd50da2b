// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/tflite/network.h"

namespace tersor::tflite {

/// A file as C++ for a board: the array, aligned to 16 bytes, its length, the arena that it needs, and the operators
/// that a MicroMutableOpResolver has to know.
struct BoardSource {
  std::string header, source;
};

/// `name`: of the array and what belongs to it, an identifier; `header_name`: of the header's file.
BoardSource board_source(const Network& network, std::span<const std::byte> file, std::string_view name,
                         std::string_view header_name);

}  // namespace tersor::tflite
