// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/samples/picture.h"

namespace tersor::samples {

/// The picture scaled to width x height with the antialiased triangle filter: its support grows with the reduction, as
/// in Pillow's BILINEAR. Weights and sums in double, horizontal pass then vertical, rounded to 8 bits once at the end,
/// half away from zero. A side that keeps its length is not filtered.
Picture resize(const Picture& picture, int64_t width, int64_t height);

}  // namespace tersor::samples
