// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tpc/operators_set.h"

namespace tersor::tpc {

/// A chain of operators that the platform computes as one: nothing is quantized between them. A group of one set is an
/// OperatorSetConcat of that set.
struct Fusing {
  std::vector<OperatorSetConcat> operator_groups_list;
  std::string name;
  /// How the outputs inside the chain are quantized; absent, or with activations disabled: not at all.
  std::optional<OpQuantizationConfig> fuse_op_quantization_config = std::nullopt;
  bool operator==(const Fusing&) const = default;

  /// Error kInvalidPlatform for fewer than two groups. Without a name, the groups' names joined by "_".
  static Fusing of(std::vector<OperatorSetConcat> operator_groups_list, std::string name = {});
  /// True when the other's sequence of groups occurs in this one without gaps; a group of one set occurs in every group
  /// that has it.
  bool contains(const Fusing& other) const;
};

}  // namespace tersor::tpc
