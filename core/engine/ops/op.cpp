// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op.h"

namespace tersor::ops {

std::vector<Form> Kernel::forms(std::span<const Input> inputs) const {
  std::vector<Form> forms;
  for (const Input& input : inputs)
    forms.push_back(input.present() ? Form{Layout::kPlain, input.shape().rank()} : Form{});
  return forms;
}

std::optional<size_t> Kernel::alias(std::span<const Input>, std::span<const TensorType>) const {
  return std::nullopt;
}

bool Kernel::overwrites(size_t, std::span<const Input>, std::span<const TensorType>) const {
  return false;
}

int64_t Kernel::scratch_bytes(std::span<const Input>, std::span<const TensorType>) const {
  return 0;
}

int64_t Kernel::macs(std::span<const Input>, std::span<const TensorType>) const {
  return 0;
}

}  // namespace tersor::ops
