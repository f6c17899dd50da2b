// SPDX-License-Identifier: Apache-2.0
// Models whose inputs take one fixed batch of N, and samples of one row: each sample fills all N rows, so that samples,
// names, labels and counts are those of batch 1, whatever the number of workers, and the first row is what it gave.
#pragma once

#include <cstdint>
#include <vector>

#include "core/samples/input_spec.h"

namespace tersor::samples {

/// The first dimension that all inputs have, where it is fixed and more than 1; else 1.
int64_t fixed_batch(const std::vector<InputSpec>& inputs);

/// The same inputs with a batch of 1. Each has a shape of one dimension or more.
std::vector<InputSpec> of_one_row(std::vector<InputSpec> inputs);

/// Each tensor, whose first axis is 1, `batch` times along it; as they are for 1.
std::vector<Tensor> fill_batch(std::vector<Tensor> rows, int64_t batch);

/// Of each tensor whose first axis is `batch` the first row, the others as they are; all as they are for 1.
std::vector<Tensor> first_rows(std::vector<Tensor> tensors, int64_t batch);

}  // namespace tersor::samples
