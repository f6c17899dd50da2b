// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/ptq/placement.h"

namespace tersor::report {

/// Bytes that the quantized file will have, known before any sample is seen: those of the model's, which holds
/// `original`, without what was folded and what exporters note, with codes in place of weights and tables, those that
/// several nodes have once, and with what quantizers add, of small models' files as much as half. `prepared` is the
/// graph that `placement` and `attachment` are of. What is decided by samples (layers kept in float, biases that are
/// added) is not in it.
int64_t expected_size(const Graph& original, const Graph& prepared, const framework::Attachment& attachment,
                      const ptq::Placement& placement, const config::QuantizationConfig& config, int64_t model_bytes);

}  // namespace tersor::report
