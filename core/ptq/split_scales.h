// SPDX-License-Identifier: Apache-2.0
// Equalization cannot cross a Swish: f(s x) is not s f(x). But the two nodes of a quantizer need not carry the same
// scale.
//
//   - In front of a Swish: the Conv writes its channels stretched to the same integers, and the DequantizeLinear behind
//     it has a scale and a zero point for each channel.
//   - Behind a Swish (or a float Concat, Add, MaxPool or Resize): the QuantizeLinear has a scale for each channel, and
//     the Convs that read it have the factors in their weights.
//   - Where float nodes alone read a Conv (a spectrum on its way to its power, the heads of a detector): as in front of
//     a Swish.
//
// insert_split_scales() writes them as per-channel Mul and Add in the float graph, so that all that follows sees
// ordinary nodes; fuse_split_scales.h moves them into the quantizers of the finished model. No node and no kernel is
// added in the end. For runtimes of the ONNX Runtime kind, which look at each node's parameters by themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/ptq/placement.h"

namespace tersor::ptq {

/// Parts of the names of what an inserted node makes: in front of a quantizer, and of what is stretched behind one.
constexpr const char* kScaledSuffix = "_scaled";
constexpr const char* kStretchedSuffix = "_stretched";

/// What a Conv writes whose channels are stretched: all integers from end to end.
struct StretchedOutput {
  NodeId conv;
  double low = 0, high = 0;
};

struct SplitScales {
  int64_t before = 0;  // Convs whose output is dequantized channel by channel
  int64_t behind = 0;  // tensors that are prepared to be quantized channel by channel; equalize_channels() decides
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
