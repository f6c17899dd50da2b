// SPDX-License-Identifier: Apache-2.0
#include "core/graph/recurrent_weights.h"

#include <algorithm>

#include "core/graph/subgraphs.h"

namespace tersor {

namespace {

/// Whether the body reads its input `k` as the right factor of products alone, and gives it back as output `k - 1`.
bool is_factor(const Graph& body, size_t k) {
  std::vector<ValueId> same{body.inputs[k]};  // and what Identities make of it
  const auto is_same = [&](ValueId id) { return std::find(same.begin(), same.end(), id) != same.end(); };
  bool multiplies = false;
  for (const Node& node : body.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_same(node.inputs[i])) continue;
      if (node.is("MatMul") && i == 1)
        multiplies = true;
      else if (node.is("Identity"))
        same.push_back(node.outputs[0]);
      else
        return false;
    }
    bool has_body = false;
    for_each_subgraph(node, [&](const Graph&) { has_body = true; });
    if (has_body) return false;
  }
  return multiplies && k - 1 < body.outputs.size() && is_same(body.outputs[k - 1]);
}

}  // namespace

std::vector<size_t> recurrent_weights(const Node& node) {
  if (node.is("LSTM") || node.is("GRU") || node.is("RNN")) return {1, 2};
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
