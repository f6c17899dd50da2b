// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace tersor {

/// Inputs of calibrated samples for the pass after it, which need not read them again; as many as fit into `bytes`.
/// Threads may keep and take at the same time, each sample by one.
class KeptSamples {
 public:
  KeptSamples(int64_t samples, int64_t bytes) : inputs_(static_cast<size_t>(samples)), room_(bytes) {}

  void keep(int64_t sample, const std::vector<Tensor>& inputs) {
    int64_t bytes = 0;
    for (const Tensor& input : inputs) bytes += static_cast<int64_t>(input.bytes().size());
    if (room_.fetch_sub(bytes) >= bytes) inputs_[static_cast<size_t>(sample)] = inputs;
  }
  /// Empty where the sample was not kept.
  std::vector<Tensor> look_at(int64_t sample) const { return inputs_[static_cast<size_t>(sample)]; }

 private:
  std::vector<std::vector<Tensor>> inputs_;
  std::atomic<int64_t> room_;
};

}  // namespace tersor
