// SPDX-License-Identifier: Apache-2.0
#include "core/tune/recompute.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/base/error.h"

namespace tersor::tune {

namespace {

class Blocks {
 public:
  Blocks(const Graph& graph, const std::vector<size_t>& places, size_t blocks)
      : from_(graph), forward_(places.size()), blocks_(std::max<size_t>(blocks, 1)), made_(graph) {
    TERSOR_CHECK(forward_ <= graph.nodes().size());
    const size_t all = 1 + (places.empty() ? 0 : *std::max_element(places.begin(), places.end()));
    for (size_t k = 0; k < forward_; ++k) {
      block_of_.push_back(places[k] * blocks_ / all);
      for (const ValueId output : graph.nodes()[k].outputs)
        if (output.valid()) maker_[output] = k;
    }
    // What a later block reads is kept.
    for (size_t k = 0; k < forward_; ++k)
      for (const ValueId input : graph.nodes()[k].inputs)
        if (const auto maker = maker_.find(input); maker != maker_.end() && block_of_[maker->second] != block_of_[k])
          kept_.insert(input);
  }

  Graph make() {
    find_needed();
    made_.nodes().clear();
    // Two models side by side: block after block, so that what no later one reads is soon gone.
    std::vector<size_t> order(forward_);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return block_of_[a] < block_of_[b]; });
    for (const size_t k : order) made_.append(from_.nodes()[k]);
    for (size_t k = forward_; k < from_.nodes().size(); ++k) {
      Node node = from_.nodes()[k];
      for (ValueId& input : node.inputs)
        if (const auto block = again(input)) {
          repeat(*block);
          input = second_.at(input);
        }
      made_.append(std::move(node));
    }
    return std::move(made_);
  }

 private:
  /// The block whose work is done again for the value.
  std::optional<size_t> again(ValueId value) const {
    const auto maker = maker_.find(value);
    if (maker == maker_.end() || kept_.count(value) != 0) return std::nullopt;
    const size_t block = block_of_[maker->second];
    return block + 1 == blocks_ ? std::nullopt : std::optional(block);
  }

  /// Nodes whose values gradients read, and those before them in the same block.
  void find_needed() {
    needed_.assign(forward_, false);
    for (size_t k = forward_; k < from_.nodes().size(); ++k) need(from_.nodes()[k]);
    for (size_t k = forward_; k-- > 0;)
      if (needed_[k]) need(from_.nodes()[k]);
  }
  void need(const Node& reader) {
    for (const ValueId input : reader.inputs)
      if (again(input)) needed_[maker_.at(input)] = true;
  }

  void repeat(size_t block) {
    if (!repeated_.insert(block).second) return;
    for (size_t k = 0; k < forward_; ++k) {
      if (!needed_[k] || block_of_[k] != block) continue;
      Node node = from_.nodes()[k];
      node.name.clear();
      for (ValueId& input : node.inputs)
        if (const auto found = second_.find(input); found != second_.end()) input = found->second;
      for (ValueId& output : node.outputs)
        if (output.valid()) output = second_[output] = made_.add_unique_value("again", from_.value(output).dtype);
      made_.append(std::move(node));
    }
  }

  const Graph& from_;
  size_t forward_, blocks_;
  Graph made_;
  std::vector<size_t> block_of_;       // by forward node
  std::map<ValueId, size_t> maker_;    // the forward node that makes a value
  std::set<ValueId> kept_;             // values that later blocks read
  std::vector<bool> needed_;           // by forward node
  std::map<ValueId, ValueId> second_;  // what is computed again
  std::set<size_t> repeated_;
};

}  // namespace

Graph recomputed_by_block(const Graph& graph, const std::vector<size_t>& places, size_t blocks) {
  return Blocks(graph, places, blocks).make();
}

}  // namespace tersor::tune
