// SPDX-License-Identifier: Apache-2.0
// Settings for single nodes: which override holds for which node, and what comes of all that hold.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/faults.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"
#include "core/framework/layer_filter_params.h"
#include "core/framework/quantize_config.h"
#include "core/graph/graph.h"

namespace tersor::framework {

/// The settings that hold for a node: the configuration, with the fields that overrides set.
struct NodeSettings {
  config::QuantizationConfig config;
  /// Field to the place of the override that sets it, such as "overrides[2].config.weights_n_bits".
  std::map<std::string, std::string> set_at;
  /// Fields and places of all overrides that match, those too that another one beats.
  std::vector<std::pair<std::string, std::string>> said_at;
  /// Of these fields those that an override of this very node's name sets: they must mean something for the node.
  std::vector<std::string> by_name;
  /// Fields with a value that a QuantizeConfig's quantizers leave open: given up where the platform does not offer
  /// them.
  std::vector<std::string> open_fields;
  std::string key;  // equal for nodes whose overrides are the same
  /// How a QuantizeConfig has the ranges chosen; none: by the configuration.
  std::optional<LayerQuantizer> kernel_quantizer;
  std::vector<LayerQuantizer> output_quantizers;  // NodeRequest::outputs
  std::vector<std::string> trainable_quantizers;  // classes that train kernel or output; of one target the last counts
};

/// What the QuantizeConfigs of the overrides ask of the nodes of a graph: by override, then by node.
using NodeRequests = std::vector<std::map<NodeId, NodeRequest>>;

/// A list of overrides, read.
class Overrides {
 public:
  Overrides() = default;
  /// `former`: the graph before it was prepared, so that an error can say of a name that preparation has done away with
  /// the node; may be null. `scope` knows the classes of QuantizeConfigs. Error kInvalidConfig for a filter or
  /// QuantizeConfig that cannot be read.
  explicit Overrides(const std::vector<config::Override>& list, const Graph* former = nullptr,
                     const QuantizeScope& scope = QuantizeScope(), const std::string& place = "overrides");

  bool empty() const { return entries_.empty() && ignored_.empty(); }
  /// Nodes of these names (override_name()) stay in float, whatever overrides say of them.
  void ignore(std::set<std::string> names) { ignored_ = std::move(names); }
  /// Error kInvalidConfig where a QuantizeConfig does not fit a node that its override matches.
  NodeRequests requests(const Graph& graph) const;
  NodeSettings settings_of(const Graph& graph, const Node& node, const config::QuantizationConfig& base,
                           const NodeRequests& requests) const;
  /// The nodes that overrides annotate, with what belongs to their layers; none where no override annotates.
  std::optional<std::vector<NodeId>> annotated(const Graph& graph) const;
  /// Error kInvalidConfig naming every override that matches no node of the graph, and the nearest name there is.
  void check_matched(const Graph& graph) const;
  /// The same as faults.
  void find_unmatched(const Graph& graph, Faults& faults) const;

 private:
  /// Ascending.
  enum class Strength { kType, kFilter, kPattern, kName };
  struct Entry {
    config::Override given;
    std::vector<LayerFilterParams> filter;  // one of them holds; none: there is no filter
    QuantizeScope::Ptr quantize_config;
    Strength strength = Strength::kType;
    std::string place;
  };
  static bool matches(const Entry& entry, const Graph& graph, const Node& node);
  [[noreturn]] void unmatched(const Entry& entry, const Graph& graph) const;

  std::vector<Entry> entries_;  // the weaker first; equals in the order given
  std::vector<std::string> former_names_;
  std::set<std::string> ignored_;
};

/// The name by which an override finds a node: its own, or that of its first output where it has none.
std::string override_name(const Graph& graph, const Node& node);

/// True when `*` stands for any text and `?` for any one byte.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace tersor::framework
