// SPDX-License-Identifier: Apache-2.0
#include "core/decide/runtime_fusions.h"

#include "core/graph/runtime_operators.h"

namespace tersor::ptq {

bool fuses_with_neighbours(const Node& node) {
  return node.domain.empty() && has_runtime_trait(node, RuntimeTrait::kFuses);
}

bool takes_several(const Node& node) {
  return node.domain.empty() && has_runtime_trait(node, RuntimeTrait::kTakesSeveral);
}

bool lets_through(const Node& node) {
  return node.domain.empty() && has_runtime_trait(node, RuntimeTrait::kLetsThrough);
}

}  // namespace tersor::ptq
