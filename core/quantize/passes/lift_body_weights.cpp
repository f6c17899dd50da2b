// SPDX-License-Identifier: Apache-2.0
// Weights that bodies of If, Loop and Scan hold themselves become initializers of the graph around them, which bodies
// read by name: what several bodies have is there once, and is stored as weights that are outside are
// (export/body_weights.h).
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/base/digest.h"
#include "core/graph/edit.h"
#include "core/graph/subgraphs.h"
#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

class Lifter {
 public:
  explicit Lifter(Graph& graph) : outer_(graph) {}

  int lift() {
    note_names(outer_);
    for (Node& node : outer_.nodes()) lift_from(node);
    return lifted_;
  }

 private:
  void lift_from(Node& node) {
    for (auto& [name, attribute] : node.attributes) {
      if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) *one = lifted(*one);
      if (auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
        for (auto& body : *many) body = lifted(body);
    }
  }

  std::shared_ptr<const Graph> lifted(const std::shared_ptr<const Graph>& body) {
    auto copy = std::make_shared<Graph>(*body);
    const int before = lifted_;
    for (Node& node : copy->nodes()) lift_from(node);
    const std::vector<bool> captured = captured_values(*copy);
    std::vector<ValueId> found;
    for (const auto& [id, tensor] : copy->initializers())
      if (tensor.dtype() == DType::kFloat32 && tensor.shape().rank() >= 2 && tensor.elements() >= kWorthIt &&
          !is_edge(*copy, id) && !captured[static_cast<size_t>(id.index)])
        found.push_back(id);
    for (const ValueId id : found) {
      const std::string name = outside(copy->name_of(id), *copy->initializer(id));
      const auto known = copy->find(name);
      const ValueId read = known ? *known : copy->add_value(name);
      replace_reads(*copy, id, read);
      copy->erase_initializer(id);
      copy->value(id).dtype = DType::kUndefined;
      copy->value(id).shape.reset();
      ++lifted_;
    }
    return lifted_ == before ? body : copy;
  }

  static bool is_edge(const Graph& body, ValueId id) {
    return std::find(body.outputs.begin(), body.outputs.end(), id) != body.outputs.end() ||
           std::find(body.inputs.begin(), body.inputs.end(), id) != body.inputs.end();
  }

  /// The name of the initializer outside with these values. No value of a body may be called so, or it would hide it.
  std::string outside(const std::string& stem, const Tensor& tensor) {
    const Tensor read = tensor;
    std::string& name = known_[read.shape().text() + sha256_hex(read.bytes())];
    if (!name.empty()) return name;
    std::string wanted = stem + "_of_body";
    while (names_.count(wanted) != 0 || outer_.find(wanted)) wanted += "_";
    return name = outer_.name_of(outer_.add_initializer(wanted, tensor));
  }

  void note_names(const Graph& graph) {
    for (const Node& node : graph.nodes())
      for_each_subgraph(node, [&](const Graph& body) {
        for (size_t k = 0; k < body.value_count(); ++k) names_.insert(body.name_of(ValueId{static_cast<int32_t>(k)}));
        note_names(body);
      });
  }

  static constexpr int64_t kWorthIt = 256;  // elements

  Graph& outer_;
  std::map<std::string, std::string> known_;
  std::set<std::string> names_;  // of all values of bodies
  int lifted_ = 0;
};

}  // namespace

int lift_body_weights(Model& model) {
  return Lifter(model.graph).lift();
}

}  // namespace tersor::passes
