// SPDX-License-Identifier: Apache-2.0
#include "core/framework/ignored_scope.h"

#include <algorithm>
#include <iterator>

#include "core/base/faults.h"
#include "core/base/names.h"
#include "core/framework/name_pattern.h"
#include "core/framework/overrides.h"
#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"

namespace tersor::framework {

namespace {

using Names = std::set<std::string>;

/// Of all nodes, those of bodies too.
struct Known {
  Names names;
  std::vector<std::pair<std::string, std::string>> types;  // type, with its domain where it has one, and name

  void add(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      const std::string name = override_name(graph, node);
      names.insert(name);
      types.emplace_back(node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type, name);
      for_each_subgraph(node, [&](const Graph& body) { add(body); });
    }
  }
};

/// Marks what a way leads to from something marked (`forward`), or from which a way leads to it; nodes are in
/// topological order.
void spread(const Graph& graph, const Uses& uses, bool forward, std::vector<bool>& marked) {
  for (size_t k = 0; k < marked.size(); ++k) {
    const size_t index = forward ? k : marked.size() - 1 - k;
    const auto take = [&](size_t other) { marked[index] = marked[index] || marked[other]; };
    if (forward) {
      for (const ValueId id : uses.reads(index))
        if (const auto maker = uses.producer_index(id)) take(*maker);
    } else {
      for (const ValueId id : graph.nodes()[index].outputs)
        if (id.valid())
          for (const size_t reader : uses.reader_indices(id)) take(reader);
    }
  }
}

Names ways_between(const Graph& graph, const config::IgnoredSubgraph& part) {
  const auto& nodes = graph.nodes();
  const auto marked = [&](const std::vector<std::string>& names) {
    std::vector<bool> all(nodes.size());
    for (size_t k = 0; k < nodes.size(); ++k)
      all[k] = std::find(names.begin(), names.end(), override_name(graph, nodes[k])) != names.end();
    return all;
  };
  const Uses uses(graph);
  std::vector<bool> after = marked(part.inputs), before = marked(part.outputs);
  spread(graph, uses, true, after);
  spread(graph, uses, false, before);
  Names names;
  for (size_t k = 0; k < nodes.size(); ++k)
    if (after[k] && before[k]) names.insert(override_name(graph, nodes[k]));
  return names;
}

/// Looks for what each rule chooses, and says of which there is nothing.
class Search {
 public:
  Search(const config::IgnoredScope& scope, const Graph& graph, const Graph* former, std::vector<Diagnostic>& notes)
      : scope_(scope), graph_(graph), former_(former), notes_(notes) {
    known_.add(graph);
    for (const auto& [type, name] : known_.types) prepared_.insert(name);
    if (former != nullptr) known_.add(*former);
  }

  Names chosen() {
    const std::string place = "config.ignored_scope.";
    each(scope_.names, place + "names", [&](const std::string& name, const std::string& at) { add_name(name, at); });
    each(scope_.patterns, place + "patterns", [&](const std::string& text, const std::string& at) {
      const NamePattern pattern(text, at);
      Names found;
      std::copy_if(known_.names.begin(), known_.names.end(), std::inserter(found, found.end()),
                   [&](const std::string& name) { return pattern.matches(name); });
      add(found, "The pattern \"" + text + "\" matches the name of no node.", at,
          "Patterns match from a name's beginning on. ");
    });
    each(scope_.types, place + "types", [&](const std::string& type, const std::string& at) {
      Names found, types;
      for (const auto& [one, name] : known_.types) {
        if (one == type) found.insert(name);
        types.insert(one);
      }
      add(found, "The model has no operator of the type \"" + type + "\".", at,
          suggestion(type, {types.begin(), types.end()}));
    });
    each(scope_.subgraphs, place + "subgraphs",
         [&](const config::IgnoredSubgraph& part, const std::string& at) { add_subgraph(part, at); });
    faults_.throw_if_any(ErrorCode::kInvalidConfig, "ignored_scope", "config.ignored_scope");
    return std::move(chosen_);
  }

 private:
  template <class Rule, class Visit>
  void each(const std::vector<Rule>& rules, const std::string& place, Visit visit) {
    for (size_t k = 0; k < rules.size(); ++k)
      faults_.attempt([&] { visit(rules[k], place + "[" + std::to_string(k) + "]"); });
  }

  void add(const Names& found, const std::string& otherwise, const std::string& place, const std::string& hint) {
    chosen_.insert(found.begin(), found.end());
    if (!found.empty() || former_ == nullptr) return;
    if (scope_.validate)
      throw Error(ErrorCode::kInvalidConfig, otherwise, place, hint + "With validate at false it is passed over.");
    notes_.push_back({"ignored_scope", otherwise, place, hint.substr(0, hint.find_last_not_of(' ') + 1)});
  }

  void add_name(const std::string& name, const std::string& place) {
    const bool is_known = known_.names.count(name) != 0;
    add(is_known ? Names{name} : Names{}, "No node of the model is called \"" + name + "\".", place,
        is_known ? "" : suggestion(name, {known_.names.begin(), known_.names.end()}));
    if (is_known && former_ != nullptr && prepared_.count(name) == 0)
      notes_.push_back({"ignored_scope",
                        "\"" + name + "\" is not quantized on its own: it was folded into the nodes around it.", place,
                        "Name the operator that it belongs to."});
  }

  void add_subgraph(const config::IgnoredSubgraph& part, const std::string& place) {
    const auto check = [&](const std::vector<std::string>& names, const std::string& list) {
      each(names, place + list, [&](const std::string& name, const std::string& at) {
        if (known_.names.count(name) == 0) add_name(name, at);
      });
    };
    check(part.inputs, ".inputs");
    check(part.outputs, ".outputs");
    Names found = ways_between(graph_, part);
    if (former_ != nullptr) found.merge(ways_between(*former_, part));
    add(found, "No way leads from its inputs to its outputs.", place, "The inputs are the nodes that come first. ");
  }

  const config::IgnoredScope& scope_;
  const Graph& graph_;
  const Graph* former_;
  std::vector<Diagnostic>& notes_;
  Known known_;
  Names prepared_, chosen_;
  Faults faults_;
};

}  // namespace

std::set<std::string> ignored_names(const config::IgnoredScope& scope, const Graph& graph, const Graph* former,
                                    std::vector<Diagnostic>& notes) {
  return Search(scope, graph, former, notes).chosen();
}

}  // namespace tersor::framework
