// SPDX-License-Identifier: Apache-2.0
#include "core/graph/recurrent_weights.h"

#include <algorithm>

#include "core/graph/operators.h"
#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"

namespace tersor {

namespace {

/// Whether the body reads its input `k` as the right factor of products alone, and gives it back as output `k - 1`.
bool is_factor(const Graph& body, size_t k) {
  const std::vector<ValueId> copies = copies_of(body, body.inputs[k]);
  const auto is_copy = [&](ValueId id) { return std::find(copies.begin(), copies.end(), id) != copies.end(); };
  bool multiplies = false;
  for (const Node& node : body.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_copy(node.inputs[i]) || node.is("Identity")) continue;
      if (!node.is("MatMul") || i != 1) return false;
      multiplies = true;
    }
    bool has_body = false;
    for_each_subgraph(node, [&](const Graph&) { has_body = true; });
    if (has_body) return false;
  }
  return multiplies && k - 1 < body.outputs.size() && is_copy(body.outputs[k - 1]);
}

}  // namespace

std::vector<size_t> recurrent_weights(const Node& node) {
  if (has_trait(node, Trait::kRecurrent)) return {1, 2};
  std::vector<size_t> weights;
  if (!node.is("Loop")) return weights;
  constexpr size_t kOwn = 2;  // the trip count and the condition come before what is carried
  for_each_subgraph(node, [&](const Graph& body) {
    for (size_t k = kOwn; k < std::min(node.inputs.size(), body.inputs.size()); ++k)
      if (is_factor(body, k)) weights.push_back(k);
  });
  return weights;
}

}  // namespace tersor
