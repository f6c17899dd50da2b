// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/quant/quantizer.h"

namespace tersor::quant {

/// The range with the least error among `found` and many others within `start`, whose ends are tried one after the
/// other, evenly at first and then closely around the best. A divergence over bins is so rugged that a descent ends in
/// a valley beside the deepest.
Range scan_ends(const Quantizer& quantizer, const IntegerGrid& grid, const Range& start, const Range& found,
                double least, const RangeError& error);

}  // namespace tersor::quant
