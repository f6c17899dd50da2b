// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"

namespace tersor::config {

/// All nodes on the ways from some of the inputs to some of the outputs, both included.
struct IgnoredSubgraph {
  std::vector<std::string> inputs, outputs;

  static constexpr auto fields() {
    return std::make_tuple(field("inputs", &IgnoredSubgraph::inputs, "Names of nodes that the ways begin at."),
                           field("outputs", &IgnoredSubgraph::outputs, "Names of nodes that they end at."));
  }
  bool operator==(const IgnoredSubgraph&) const = default;
};

/// Nodes that stay in float. Names and defaults are those of NNCF.
struct IgnoredScope {
  std::vector<std::string> names, patterns, types;
  std::vector<IgnoredSubgraph> subgraphs;
  bool validate = true;

  static constexpr auto fields() {
    return std::make_tuple(
        field("names", &IgnoredScope::names, "Names of nodes."),
        field("patterns", &IgnoredScope::patterns, "Regular expressions that names of nodes begin with."),
        field("types", &IgnoredScope::types, "Operator types."),
        field("subgraphs", &IgnoredScope::subgraphs,
              "Inputs and outputs of parts of the graph: all nodes on the ways between them, and they too."),
        field("validate", &IgnoredScope::validate, "Whether what chooses no node is an error; else a remark."));
  }
  bool operator==(const IgnoredScope&) const = default;
};

}  // namespace tersor::config
