// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

/// An immutable list of operators. It points to records that outlive it.
class Registry {
 public:
  explicit Registry(std::vector<const Op*> ops) : ops_(std::move(ops)) {}

  /// The operator of that domain ("" is ONNX's own), type and operator set version; null when there is none. The last
  /// record that fits wins.
  const Op* find(std::string_view domain, std::string_view type, int64_t version) const;
  /// This list with `more` after it, so that `more` wins where both answer.
  Registry with(std::span<const Op* const> more) const;
  std::span<const Op* const> ops() const { return ops_; }

 private:
  std::vector<const Op*> ops_;
};

/// The float operators of ONNX and their integer helpers.
const Registry& standard();

}  // namespace tersor::ops
