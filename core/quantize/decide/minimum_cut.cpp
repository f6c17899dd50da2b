// SPDX-License-Identifier: Apache-2.0
#include "core/decide/minimum_cut.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::ptq {

namespace {

struct Edge {
  size_t to;
  int64_t room;
};

/// Edges lie in pairs: 2k and its reverse 2k + 1.
class Flow {
 public:
  explicit Flow(size_t vertices) : at_(vertices), level_(vertices), next_(vertices) {}

  void add(size_t from, size_t to, int64_t room) {
    if (room <= 0) return;
    at_[from].push_back(edges_.size());
    edges_.push_back({to, room});
    at_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  /// Fills the network; then a vertex lies on the sink's side when it still reaches the sink.
  void fill(size_t source, size_t sink) {
    while (find_levels(source, sink)) {
      std::fill(next_.begin(), next_.end(), 0);
      while (push_path(source, sink)) continue;
    }
  }

  std::vector<bool> reaching(size_t sink) const {
    std::vector<bool> reached(at_.size(), false);
    std::vector<size_t> queue{sink};
    reached[sink] = true;
    for (size_t k = 0; k < queue.size(); ++k)
      for (const size_t edge : at_[queue[k]]) {
        const size_t from = edges_[edge].to;
        if (reached[from] || edges_[edge ^ 1].room == 0) continue;
        reached[from] = true;
        queue.push_back(from);
      }
    return reached;
  }

 private:
  bool find_levels(size_t source, size_t sink) {
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<size_t> queue{source};
    level_[source] = 0;
    for (size_t k = 0; k < queue.size(); ++k)
      for (const size_t edge : at_[queue[k]]) {
        const auto& [to, room] = edges_[edge];
        if (room == 0 || level_[to] >= 0) continue;
        level_[to] = level_[queue[k]] + 1;
        queue.push_back(to);
      }
    return level_[sink] >= 0;
  }

  /// One path from source to sink along rising levels, without recursion: graphs may be thousands of nodes deep.
  bool push_path(size_t source, size_t sink) {
    std::vector<size_t> path;
    size_t vertex = source;
    while (vertex != sink) {
      bool moved = false;
      for (size_t& k = next_[vertex]; k < at_[vertex].size(); ++k) {
        const size_t edge = at_[vertex][k];
        if (edges_[edge].room == 0 || level_[edges_[edge].to] != level_[vertex] + 1) continue;
        path.push_back(edge);
        vertex = edges_[edge].to;
        moved = true;
        break;
      }
      if (moved) continue;
      if (path.empty()) return false;
      vertex = edges_[path.back() ^ 1].to;
      path.pop_back();
      ++next_[vertex];
    }
    int64_t least = MinimumCut::kNever;
    for (const size_t edge : path) least = std::min(least, edges_[edge].room);
    for (const size_t edge : path) {
      edges_[edge].room -= least;
      edges_[edge ^ 1].room += least;
    }
    return true;
  }

  std::vector<std::vector<size_t>> at_;
  std::vector<Edge> edges_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace

size_t MinimumCut::add_choice() {
  yes_.push_back(0);
  no_.push_back(0);
  return yes_.size() - 1;
}

void MinimumCut::add_cost(size_t choice, int64_t of_yes, int64_t of_no) {
  TERSOR_CHECK(of_yes >= 0 && of_no >= 0);
  yes_[choice] = std::min(kNever, yes_[choice] + of_yes);
  no_[choice] = std::min(kNever, no_[choice] + of_no);
}

void MinimumCut::add_pair_cost(size_t says_yes, size_t says_no, int64_t cost) {
  TERSOR_CHECK(cost >= 0);
  pairs_.push_back({says_yes, says_no, cost});
}

std::vector<bool> MinimumCut::solve() const {
  const size_t count = yes_.size(), source = count, sink = count + 1;
  Flow flow(count + 2);
  // A choice on the source's side says yes: it cuts its edge to the sink.
  for (size_t k = 0; k < count; ++k) {
    const int64_t both = std::min(yes_[k], no_[k]);
    flow.add(source, k, no_[k] - both);
    flow.add(k, sink, yes_[k] - both);
  }
  for (const Pair& pair : pairs_) flow.add(pair.from, pair.to, pair.cost);
  flow.fill(source, sink);
  std::vector<bool> answers = flow.reaching(sink);
  answers.resize(count);
  answers.flip();
  return answers;
}

int64_t MinimumCut::cost_of(const std::vector<bool>& answers) const {
  int64_t sum = 0;
  const auto add = [&](int64_t cost) { sum = std::min(sum + std::min(cost, kNever), kNever); };
  for (size_t k = 0; k < yes_.size(); ++k) add(answers[k] ? yes_[k] : no_[k]);
  for (const Pair& pair : pairs_)
    if (answers[pair.from] && !answers[pair.to]) add(pair.cost);
  return sum;
}

}  // namespace tersor::ptq
