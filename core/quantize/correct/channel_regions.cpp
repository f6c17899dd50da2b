// SPDX-License-Identifier: Apache-2.0
#include "core/correct/channel_regions.h"

#include <algorithm>
#include <optional>

#include "core/graph/attribute_defaults.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

using passes::KernelOp;

namespace {

bool spatial_resize(const Node& node) {
  return string_of(node, "coordinate_transformation_mode") != "tf_crop_and_resize";
}

/// Operators with f(s x) = s f(x) channel by channel for s > 0, in their first input.
bool is_homogeneous(const Node& node) {
  return node.is("Relu") || node.is("LeakyRelu") || node.is("PRelu") || node.is("MaxPool") || node.is("AveragePool") ||
         node.is("GlobalAveragePool") || node.is("GlobalMaxPool") || (node.is("Resize") && spatial_resize(node));
}

class Finder {
 public:
  Finder(const Graph& graph, const Placement& placement)
      : graph_(graph), uses_(graph), placement_(placement), captured_(passes::captured_values(graph)) {
    counts_.assign(graph.value_count(), 0);
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (const ValueId output = graph.nodes()[i].outputs[0]; output.valid())
        counts_[static_cast<size_t>(output.index)] = channels_made_by(i);
    find_doomed();
  }

  /// The region around the value; none when a factor per channel cannot pass through all of it.
  std::optional<ChannelRegion> grow(ValueId start) {
    if (doomed_[static_cast<size_t>(start.index)]) return std::nullopt;
    region_ = {};
    gates_.clear();
    joined_.clear();
    open_.clear();
    if (!join(start, 0)) return std::nullopt;
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      if (!grow_from(value)) return std::nullopt;
    }
    for (const size_t gated : gates_)
      if (region_.values.count(graph_.nodes()[gated].inputs[0]) +
              region_.values.count(graph_.nodes()[gated].inputs[1]) !=
          1)
        return std::nullopt;
    if (region_.ends.empty()) return std::nullopt;
    settle_channels();
    return std::move(region_);
  }

 private:
  /// False where its channels are not known or already have another place.
  bool join(ValueId value, int64_t first) {
    const int64_t count = channels_of(value);
    if (count < 1) return false;
    const auto [it, is_new] = region_.values.insert({value, {first, count}});
    if (is_new) open_.push_back(value);
    return it->second.first == first;
  }
  /// Of a value that Convs make, through what regions pass through; 0 of any other.
  int64_t channels_of(ValueId value) const { return value.valid() ? counts_[static_cast<size_t>(value.index)] : 0; }
  int64_t channels_made_by(size_t index) const {
    const Node& node = graph_.nodes()[index];
    if (const KernelOp* op = conv(index)) return op->outputs;
    if (const Tensor* factors = channel_factors(graph_, node)) return factors->elements();
    if (node.inputs.empty()) return 0;
    if ((node.is("Add") || node.is("Mul")) && node.inputs.size() == 2) {
      const int64_t a = channels_of(node.inputs[0]), b = channels_of(node.inputs[1]);
      return node.is("Mul") ? std::max(a, b) : a == b ? a : 0;  // a gate may have one channel, or be no region's
    }
    if (joins_channels(node)) {
      int64_t sum = 0;
      for (const ValueId input : node.inputs) {
        const int64_t count = channels_of(input);
        if (count == 0) return 0;
        sum += count;
      }
      return sum;
    }
    return is_homogeneous(node) || clips_from_zero(node) ? channels_of(node.inputs[0]) : 0;
  }
  static bool joins_channels(const Node& node) { return node.is("Concat") && node.int_or("axis", 0) == 1; }
  const KernelOp* conv(size_t index) const {
    const NodeRole& role = placement_.roles[index];
    return role.has_kernel() && role.op && graph_.nodes()[index].is("Conv") ? &*role.op : nullptr;
  }
  bool constant(ValueId id) const { return !id.valid() || graph_.initializer(id) != nullptr; }

  /// What grow_from() refuses whatever the region holds, and what cannot but lead there: most operators of a network
  /// are, and a region that is grown from each of them in vain would make the time grow with the square of the graph.
  void find_doomed() {
    doomed_.assign(graph_.value_count(), false);
    std::vector<ValueId> open;
    const auto doom = [&](ValueId value) {
      if (!value.valid() || doomed_[static_cast<size_t>(value.index)]) return;
      doomed_[static_cast<size_t>(value.index)] = true;
      open.push_back(value);
    };
    for (size_t k = 0; k < doomed_.size(); ++k)
      if (const ValueId value{static_cast<int32_t>(k)}; is_refused(value)) doom(value);
    std::vector<bool> passed(graph_.nodes().size(), false);
    const auto doom_around = [&](size_t index) {
      if (passed[index]) return;
      passed[index] = true;
      const Node& node = graph_.nodes()[index];
      const size_t joined = is_homogeneous(node) || clips_from_zero(node) ? 1 : node.inputs.size();
      std::for_each_n(node.inputs.begin(), joined, doom);
      doom(node.outputs[0]);
    };
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      if (const auto maker = uses_.producer_index(value)) {
        const Node& node = graph_.nodes()[*maker];
        if (passes_through(node))
          doom_around(*maker);
        else if (is_gate(node) && node.outputs[0] == value)
          std::for_each(node.inputs.begin(), node.inputs.end(), doom);
      }
      for (const size_t reader : uses_.reader_indices(value))
        if (passes_through(graph_.nodes()[reader])) doom_around(reader);
    }
  }

  bool is_refused(ValueId value) const {
    if (channels_of(value) < 1 || constant(value) || uses_.is_output(value) ||
        captured_[static_cast<size_t>(value.index)])
      return true;
    const auto maker = uses_.producer_index(value);
    if (!maker || graph_.nodes()[*maker].outputs[0] != value) return true;
    const Node& made_by = graph_.nodes()[*maker];
    if (!begins_at(*maker) && !passes_through(made_by) && !made_by.is("Mul")) return true;
    const auto& readers = uses_.reader_indices(value);
    return std::any_of(readers.begin(), readers.end(), [&](size_t reader) {
      const Node& node = graph_.nodes()[reader];
      if (const KernelOp* op = conv(reader)) return !ends_at(*op, node, value);
      return is_gate(node) ? channels_of(node.outputs[0]) != channels_of(value) : !passes_through(node);
    });
  }

  bool begins_at(size_t index) const {
    return conv(index) != nullptr || channel_factors(graph_, graph_.nodes()[index]) != nullptr;
  }
  bool ends_at(const KernelOp& op, const Node& node, ValueId value) const {
    const bool as_data = node.inputs[0] == value && std::count(node.inputs.begin(), node.inputs.end(), value) == 1;
    return as_data && op.inputs == channels_of(value) && (op.groups == 1 || op.groups == op.inputs);
  }
  bool is_gate(const Node& node) const {
    return node.is("Mul") && node.inputs.size() == 2 && node.inputs[0] != node.inputs[1] && !constant(node.inputs[0]) &&
           !constant(node.inputs[1]);
  }
  /// What pass_through() joins, whatever the region holds.
  bool passes_through(const Node& node) const {
    return node.outputs.size() == 1 && (joins_channels(node) || (node.is("Add") && node.inputs[0] != node.inputs[1]) ||
                                        is_homogeneous(node) || clips_from_zero(node));
  }

  bool grow_from(ValueId value) {
    if (doomed_[static_cast<size_t>(value.index)] || !pass_back(*uses_.producer_index(value))) return false;
    const auto& readers = uses_.reader_indices(value);
    return std::all_of(readers.begin(), readers.end(), [&](size_t reader) { return pass_on(reader, value); });
  }

  bool pass_back(size_t index) {
    const Node& node = graph_.nodes()[index];
    if (begins_at(index)) {
      region_.sources.insert(index);
      return true;
    }
    return pass_through(index, node, node.outputs[0]);
  }

  bool pass_on(size_t index, ValueId value) {
    const Node& node = graph_.nodes()[index];
    if (conv(index) != nullptr) {
      region_.ends.insert(index);
      return true;
    }
    if (is_gate(node)) {
      gates_.insert(index);
      return join(node.outputs[0], first_of(value));
    }
    return pass_through(index, node, value);
  }

  int64_t first_of(ValueId value) const { return region_.values.at(value).first; }

  /// Joins what the node reads and makes, `from` being one of these; false when a factor cannot pass through it.
  bool pass_through(size_t index, const Node& node, ValueId from) {
    const int64_t first = first_of(from);
    if (joins_channels(node)) return pass_through_concat(index, node, from);
    if (node.is("Mul")) {
      // Which side is the gate is not known from downstream: the side that some other way has led to.
      if (gates_.count(index) == 0) return false;
    } else {
      if (!passes_through(node) || !join(node.inputs[0], first)) return false;
      if (node.is("Add") && !join(node.inputs[1], first)) return false;
    }
    return join(node.outputs[0], first);
  }

  bool pass_through_concat(size_t index, const Node& node, ValueId from) {
    if (!joined_.insert(index).second) return true;  // with all that it joins
    int64_t before = 0;                              // channels of the inputs before `from`
    if (from != node.outputs[0])
      for (size_t k = 0; node.inputs[k] != from; ++k) before += channels_of(node.inputs[k]);
    int64_t at = first_of(from) - before;
    if (!join(node.outputs[0], at)) return false;
    for (const ValueId input : node.inputs) {
      if (!join(input, at)) return false;
      at += channels_of(input);
    }
    return true;
  }

  /// Until now a Concat may have placed what it joins below 0.
  void settle_channels() {
    int64_t least = 0, most = 0;
    for (const auto& [value, span] : region_.values) {
      least = std::min(least, span.first);
      most = std::max(most, span.first + span.count);
    }
    for (auto& [value, span] : region_.values) span.first -= least;
    region_.channels = most - least;
  }

  bool clips_from_zero(const Node& node) const {
    const auto bounds = node.is("Clip") ? clamp_bounds(graph_, node) : std::nullopt;
    return bounds && bounds->low == 0 && bounds->high > 0;
  }

  const Graph& graph_;
  const Uses uses_;
  const Placement& placement_;
  const std::vector<bool> captured_;
  ChannelRegion region_;
  std::vector<ValueId> open_;
  std::set<size_t> gates_;
  std::set<size_t> joined_;      // the Concats of the region
  std::vector<int64_t> counts_;  // by value
  std::vector<bool> doomed_;     // by value: no region holds it
};

}  // namespace

const Tensor* channel_factors(const Graph& graph, const Node& node) {
  if (!node.is("Mul") || node.inputs.size() != 2) return nullptr;
  const Tensor* factors = passes::float_constant(graph, node.inputs[1]);
  const bool fits = factors != nullptr && factors->shape().rank() >= 3 && factors->shape()[1] == factors->elements();
  return fits ? factors : nullptr;
}

std::vector<ChannelRegion> find_channel_regions(const Graph& graph, const Placement& placement) {
  std::vector<ChannelRegion> regions;
  std::set<ValueId> visited;
  Finder finder(graph, placement);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const bool begins = placement.roles[i].has_kernel() || channel_factors(graph, node) != nullptr;
    if (!begins || visited.count(node.outputs[0]) != 0) continue;
    auto region = finder.grow(node.outputs[0]);
    if (!region) continue;
    for (const auto& [value, span] : region->values) visited.insert(value);
    regions.push_back(std::move(*region));
  }
  return regions;
}

}  // namespace tersor::ptq
