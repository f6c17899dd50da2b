// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"

namespace tersor::report {

/// The cost of padding a layer's output channels on a platform that computes `simd_size` channels at a time.
struct PaddingRow {
  std::string name;
  std::string op;
  int simd_size = 1;
  int64_t channels = 0;
  int64_t padded_channels = 0;
  double overhead = 0;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &PaddingRow::name, "Name of the node, or of its output."),
        field("op", &PaddingRow::op, "Operator type."),
        field("simd_size", &PaddingRow::simd_size, "Channels that the platform computes at a time here."),
        field("channels", &PaddingRow::channels, "Output channels of the layer."),
        field("padded_channels", &PaddingRow::padded_channels, "The next multiple of simd_size."),
        field("overhead", &PaddingRow::overhead,
              "Part that weights and work grow by: padded channels beyond the layer's own, by those."));
  }
};

/// Returns a row for every layer with quantized weights and a simd_size above 1, in graph order. `graph` and
/// `attachment` are those that the plan was made for.
std::vector<PaddingRow> padding_of(const Graph& graph, const framework::Attachment& attachment,
                                   const ptq::QuantizationPlan& plan);

}  // namespace tersor::report
