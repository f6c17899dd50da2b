// SPDX-License-Identifier: Apache-2.0
// Equalization cannot cross a Swish: f(s x) is not s f(x). But the two nodes of a quantizer need not carry the same
// scale.
//
//   - In front of a Swish: the Conv writes its channels stretched to the same integers, and a Mul and an Add per
//   channel
//     behind the DequantizeLinear undo it.
//   - Behind a Swish (or a float Concat, Add, MaxPool or Resize): a Mul per channel stands in front of the
//     QuantizeLinear, and the Convs that read it have the factors in their weights.
//   - Where float nodes alone read a Conv (a spectrum on its way to its power, the heads of a detector): as in front of
//     a Swish.
//
// The quantizers keep one scale for the tensor: with a scale for each channel they take ONNX Runtime a hundred times as
// long wherever it has moved the channels to the last axis.
#pragma once

#include <cstdint>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/ptq/placement.h"

namespace tersor::ptq {

/// What a Conv writes whose channels are stretched: all integers from end to end.
struct StretchedOutput {
  NodeId conv;
  double low = 0, high = 0;
};

struct SplitScales {
  int64_t before = 0;               // Convs whose channels are stretched
  std::vector<NodeId> behind = {};  // the Muls by ones before quantizers; equalize_channels() fills them
  std::vector<StretchedOutput> stretched = {};
};

/// Changes the model where Convs feed a function of each element by itself (unary_region.h: a Swish, a GELU, ...), and
/// where float nodes alone read one and scales by channel halve its noise; behind float nodes only in models with such
/// a function. The statistics get entries for the new tensors. Attachment and placement must be made
/// anew afterwards.
SplitScales insert_split_scales(Model& model, const framework::Attachment& attachment, const Placement& placement,
                                calibrate::Statistics& statistics);

/// Lays the ranges of stretched outputs onto a new attachment of the model. A search would move their ends by part of a
/// step, and the zero point of each channel, which has to be whole, by as much.
void keep_ranges(framework::Attachment& attachment, const SplitScales& split);

}  // namespace tersor::ptq
