// SPDX-License-Identifier: Apache-2.0
#include "core/report/padding.h"

namespace tersor::report {

std::vector<PaddingRow> padding_of(const Graph& graph, const framework::Attachment& attachment,
                                   const ptq::QuantizationPlan& plan) {
  std::vector<PaddingRow> rows;
  for (const ptq::KernelPlan& kernel : plan.kernels) {
    const int64_t size = attachment.of(kernel.node).config().simd_size, channels = kernel.op.outputs;
    if (size <= 1 || channels <= 0) continue;
    const Node& node = *graph.find(kernel.node);
    PaddingRow row;
    row.name = graph.label_of(node);
    row.op = node.op_type;
    row.simd_size = static_cast<int>(size);
    row.channels = channels;
    row.padded_channels = (channels + size - 1) / size * size;
    row.overhead = static_cast<double>(row.padded_channels - channels) / static_cast<double>(channels);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tersor::report
