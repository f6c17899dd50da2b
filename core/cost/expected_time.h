// SPDX-License-Identifier: Apache-2.0
// How long the runtime is expected to take for one sample, from the prices of the operators that it runs: those of the
// graph as its optimizer leaves it, and the changes of layout around convolutions.
#pragma once

#include <optional>

#include "core/graph/graph.h"
#include "core/tpc/price_list.h"

namespace tersor::cost {

/// Milliseconds. `model` is a float model or a file with QuantizeLinear and DequantizeLinear, and is valid. None where
/// shapes cannot be known before the samples.
std::optional<double> expected_milliseconds(const Model& model, const tpc::PriceList& prices);

}  // namespace tersor::cost
