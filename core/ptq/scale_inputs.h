// SPDX-License-Identifier: Apache-2.0
// An input of the model whose values end below the threshold of its quantizer (2.6 in a range of 4) leaves part of the
// range unused. Where it alone feeds a kernel, a zero padding between them or none, a Mul stretches it to the threshold
// and the kernel's weights take the factor back:
//
//   x -> Conv(W, b)   becomes   x -> Mul(threshold / largest) -> Conv(W largest / threshold, b)
//
// The file's input keeps its meaning; only what the Mul makes is quantized. For POWER_OF_TWO and SYMMETRIC inputs.
#pragma once

#include <vector>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/ptq/placement.h"
#include "core/ptq/rewrite.h"

namespace tersor::ptq {

struct ScaledInput {
  ValueId input;
  NodeId mul;
  double factor = 1;
};

struct ScaledInputs {
  std::vector<ScaledInput> list;
  Rewrite done;
};

/// Changes model and statistics. Tensors of another value than before have other names. Attachment and placement must
/// be made anew afterwards, and go through quantize_scaled() in between.
ScaledInputs scale_inputs(Model& model, const framework::Attachment& attachment, const Placement& placement,
                          calibrate::Statistics& statistics, const config::QuantizationConfig& config);

/// In a new attachment of the model: such an input stays float, its Mul is quantized as the input was.
void quantize_scaled(framework::Attachment& attachment, const std::vector<ScaledInput>& scaled);

}  // namespace tersor::ptq
