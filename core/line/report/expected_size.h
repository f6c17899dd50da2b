// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/decide/placement.h"

namespace tersor::report {

/// What samples may ask for.
struct AskedFloat {
  std::span<const size_t> kernels = {};  // nodes of the prepared graph whose weights stay in float
  bool constants = false;                // tables, weights of recurrent layers and other constants do
};

/// Bytes that the quantized file is expected to have, known before any sample is seen. From the bytes of the model's
/// file, which holds `original`, it takes what is folded and what exporters note; weights and tables have the size of
/// their codes, one that several nodes share counts once; and what quantizers add is in it, which is up to half of a
/// small model's file. `prepared` is the graph that `placement` and `attachment` are of. What samples ask to be in
/// float is in float; biases that they may add are not counted.
int64_t expected_size(const Graph& original, const Graph& prepared, const framework::Attachment& attachment,
                      const ptq::Placement& placement, const config::QuantizationConfig& config, int64_t model_bytes,
                      const AskedFloat& asked = {});

}  // namespace tersor::report
