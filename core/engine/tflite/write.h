// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/tflite/network.h"

namespace tersor::tflite {

/// The network as a .tflite file: equal networks give equal bytes. Constants begin at multiples of 16, since kernels
/// read them in place, and equal ones share a buffer. Error kUnsupportedModel when the file would pass 2 GB.
std::vector<std::byte> write(const Network& network);

}  // namespace tersor::tflite
