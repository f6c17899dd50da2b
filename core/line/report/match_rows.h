// SPDX-License-Identifier: Apache-2.0
// Outputs whose rows are in an order that depends on data, as after a TopK or NonMaxSuppression: compared as sets.
#pragma once

#include <vector>

#include "core/report/output_kind.h"
#include "core/tensor/tensor.h"

namespace tersor::report {

/// Puts the rows of `other` beside those of `reference` that are most alike, in all sorted outputs with as many rows at
/// once: the pair of rows that differ least first, each output measured by the root mean square of the reference's.
/// Where one side has more rows, the other one gets rows of zeros. Rows are along axis 1 behind a batch, else
/// along axis 0; an output of more than a million pairs of rows stays as it is.
void match_rows(const std::vector<OutputTrait>& traits, std::vector<Tensor>& reference, std::vector<Tensor>& other);

}  // namespace tersor::report
