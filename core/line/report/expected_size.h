// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/config/quantization_config.h"
#include "core/decide/placement.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::report {

/// The weights and constants that samples may show to need float.
struct AskedFloat {
  std::span<const size_t> kernels = {};  // nodes of the prepared graph whose weights stay in float
  bool constants = false;                // tables, weights of recurrent layers and other constants stay in float too
  const ptq::Placement* placement = nullptr;  // the quantizers that are left then; null: all of them
};

/// The expected size of the quantized file in bytes, before any sample was seen.
///
/// It starts from `model_bytes`, the size of the file of `original`, and subtracts what is folded and the notes of
/// exporters. Weights and tables count with the size of their codes, each only once if several nodes share it. What
/// quantizers add is included; it is up to half of a small model's file. `prepared` is the graph of `placement` and
/// `attachment`. The weights and constants in `asked` stay in float. Biases that samples may add are not counted.
int64_t expected_size(const Graph& original, const Graph& prepared, const framework::Attachment& attachment,
                      const ptq::Placement& placement, const config::QuantizationConfig& config, int64_t model_bytes,
                      const AskedFloat& asked = {});

}  // namespace tersor::report
