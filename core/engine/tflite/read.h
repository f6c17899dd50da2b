// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/tflite/network.h"

namespace tersor::tflite {

/// The first graph of a file; constants alias its bytes, which `owner` keeps. Error kInvalidModel where it is damaged,
/// with the byte; kUnsupportedModel for operators, types and forms that are not known here, with their place.
Network read(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner);

}  // namespace tersor::tflite
