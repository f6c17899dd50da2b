// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "core/graph/attribute_defaults.h"
#include "core/graph/uses.h"
#include "core/onnx/facts.h"
#include "core/onnx/rewrite_forms.h"

namespace tersor::onnx {

namespace {

/// A sequence whose tensors are known before a run: a list of them, or parts of one tensor whose number is not known.
struct Sequence {
  std::vector<ValueId> elements;
  bool counted = true;
  // Where the elements are not counted: element k is input[k * size : (k + 1) * size] along the axis.
  ValueId input = {};
  int64_t axis = 0, size = 1;
  bool squeezes = false;
};

class SequenceRewriter {
 public:
  explicit SequenceRewriter(Model& model) : graph_(model.graph), opset_(model.opset()) {}

  void run() {
    facts_.enter(graph_);
    std::vector<Node> nodes = std::move(graph_.nodes());
    graph_.nodes().clear();
    std::vector<NodeId> replaced;
    for (Node& node : nodes) {
      if (node.domain.empty() && rewrite(node)) replaced.push_back(node.id);
      facts_.pass(graph_, node);
      graph_.nodes().push_back(std::move(node));
    }
    drop_unread(replaced);
  }

 private:
  /// Whether the node's outputs are tensors that other nodes make by now, or sequences that may be read no more.
  bool rewrite(Node& node) {
    if (node.outputs.size() != 1 || !node.outputs[0].valid()) return false;
    const ValueId made = node.outputs[0];
    if (node.is("SequenceConstruct") || node.is("SequenceEmpty")) {
      sequences_[made] = {node.inputs};
      return true;
    }
    if (node.inputs.empty()) return false;
    if (node.is("SplitToSequence")) return split(node);
    const auto found = sequences_.find(node.inputs[0]);
    if (found == sequences_.end()) return false;
    const Sequence sequence = found->second;
    if (node.is("Identity")) {
      sequences_[made] = sequence;
      return true;
    }
    if (node.is("SequenceInsert")) return insert(node, sequence);
    if (node.is("SequenceErase")) return erase(node, sequence);
    if (node.is("SequenceAt")) return take(node, sequence);
    if (node.is("SequenceLength") && sequence.counted) {
      graph_.set_initializer(made, Tensor::scalar(static_cast<int64_t>(sequence.elements.size())));
      return become_constant(node);
    }
    return node.is("ConcatFromSequence") && sequence.counted && concat(node, sequence);
  }

  /// The initializer takes the node's output; what is left of the node makes a value that nobody reads.
  bool become_constant(Node& node) {
    node.outputs[0] = graph_.add_unique_value(graph_.name_of(node.outputs[0]) + "_unread");
    return true;
  }

  std::optional<int64_t> position(const Node& node, size_t input) const {
    if (input >= node.inputs.size() || !node.inputs[input].valid()) return std::nullopt;
    const Fact fact = facts_.of(graph_, node, input);
    if (!fact.constant || fact.constant->elements() != 1 || !is_integer(fact.dtype)) return std::nullopt;
    return fact.constant->to_int64s()[0];
  }

  bool split(const Node& node) {
    const Fact input = facts_.of(graph_, node, 0);
    int64_t axis = node.int_or("axis", 0);
    if (axis < 0 && input.dims) axis += static_cast<int64_t>(input.dims->size());
    const bool known_axis = input.dims && axis >= 0 && axis < static_cast<int64_t>(input.dims->size());
    const int64_t extent = known_axis ? (*input.dims)[static_cast<size_t>(axis)] : -1;
    const bool given = node.inputs.size() > 1 && node.inputs[1].valid();
    Sequence made{{}, false, node.inputs[0], axis, 1, !given && int_of(node, "keepdims") == 0};
    std::vector<int64_t> sizes;
    if (given) {
      const Fact parts = facts_.of(graph_, node, 1);
      if (!parts.constant || !is_integer(parts.dtype)) return false;
      const std::vector<int64_t> values = parts.constant->to_int64s();
      if (parts.constant->shape().rank() == 1)
        sizes = values;
      else if (values.size() == 1 && values[0] > 0)
        made.size = values[0];
      else
        return false;
    }
    if (sizes.empty() && extent > 0)
      for (int64_t at = 0; at < extent; at += made.size) sizes.push_back(std::min(made.size, extent - at));
    if (!sizes.empty()) {
      made.counted = true;
      if (made.squeezes)
        for (size_t k = 0; k < sizes.size(); ++k)
          made.elements.push_back(gather(node, made, static_cast<int64_t>(k), "_" + std::to_string(k)));
      else
        made.elements = split_node(node, axis, sizes);
    }
    sequences_[node.outputs[0]] = std::move(made);
    return true;
  }

  std::vector<ValueId> split_node(const Node& node, int64_t axis, const std::vector<int64_t>& sizes) {
    Node part = named(node, "Split", "_Split");
    part.inputs = {node.inputs[0]};
    part.attributes["axis"] = axis;
    if (opset_ >= 13)
      part.inputs.push_back(graph_.add_initializer(graph_.label_of(node) + "_sizes", numbers(sizes)));
    else
      part.attributes["split"] = sizes;
    for (size_t k = 0; k < sizes.size(); ++k)
      part.outputs.push_back(graph_.add_unique_value(graph_.name_of(node.outputs[0]) + "_" + std::to_string(k)));
    const std::vector<ValueId> outputs = part.outputs;
    append(std::move(part));
    return outputs;
  }

  ValueId gather(const Node& node, const Sequence& sequence, int64_t index, const std::string& suffix) {
    Node one = named(node, "Gather", suffix);
    one.inputs = {sequence.input,
                  graph_.add_initializer(graph_.label_of(node) + suffix + "_index", Tensor::scalar(index))};
    one.attributes["axis"] = sequence.axis;
    one.outputs = {graph_.add_unique_value(graph_.name_of(node.outputs[0]) + suffix)};
    const ValueId made = one.outputs[0];
    append(std::move(one));
    return made;
  }

  bool insert(const Node& node, const Sequence& before) {
    if (!before.counted || node.inputs.size() < 2) return false;
    Sequence after = before;
    const auto count = static_cast<int64_t>(after.elements.size());
    int64_t at = count;
    if (node.inputs.size() > 2 && node.inputs[2].valid()) {
      const auto given = position(node, 2);
      if (!given) return false;
      at = *given < 0 ? *given + count : *given;
    }
    if (at < 0 || at > count) return false;
    after.elements.insert(after.elements.begin() + at, node.inputs[1]);
    sequences_[node.outputs[0]] = std::move(after);
    return true;
  }

  bool erase(const Node& node, const Sequence& before) {
    const auto count = static_cast<int64_t>(before.elements.size());
    const auto given = node.inputs.size() > 1 ? position(node, 1) : std::optional<int64_t>(-1);
    if (!before.counted || !given) return false;
    const int64_t at = *given < 0 ? *given + count : *given;
    if (at < 0 || at >= count) return false;
    Sequence after = before;
    after.elements.erase(after.elements.begin() + at);
    sequences_[node.outputs[0]] = std::move(after);
    return true;
  }

  /// SequenceAt becomes what gives that element.
  bool take(Node& node, const Sequence& sequence) {
    const auto given = position(node, 1);
    if (!given) return false;
    if (sequence.counted) {
      const auto count = static_cast<int64_t>(sequence.elements.size());
      const int64_t at = *given < 0 ? *given + count : *given;
      if (at < 0 || at >= count) return false;
      become(node, "Identity", {sequence.elements[static_cast<size_t>(at)]});
      return false;
    }
    if (sequence.squeezes) {
      become(node, "Gather", {sequence.input, constant(node, "_index", Tensor::scalar(*given))});
      node.attributes["axis"] = sequence.axis;
      return false;
    }
    // From the end on, elements are known only where each is one slice.
    if (*given < 0 && sequence.size != 1) return false;
    const int64_t begin = *given * sequence.size;
    const int64_t end = *given == -1 ? std::numeric_limits<int64_t>::max() : begin + sequence.size;
    become(node, "Slice",
           {sequence.input, constant(node, "_begin", numbers({begin})), constant(node, "_end", numbers({end})),
            constant(node, "_axis", numbers({sequence.axis}))});
    return false;
  }

  bool concat(Node& node, const Sequence& sequence) {
    std::vector<ValueId> parts = sequence.elements;
    const int64_t axis = node.int_or("axis", 0);
    if (int_of(node, "new_axis") != 0)
      for (size_t k = 0; k < parts.size(); ++k) {
        Node one = named(node, "Unsqueeze", "_Unsqueeze_" + std::to_string(k));
        one.inputs = {parts[k]};
        if (opset_ >= 13)
          one.inputs.push_back(constant(node, "_axis_" + std::to_string(k), numbers({axis})));
        else
          one.attributes["axes"] = std::vector<int64_t>{axis};
        parts[k] = graph_.add_unique_value(graph_.label_of(node) + "_part_" + std::to_string(k));
        one.outputs = {parts[k]};
        append(std::move(one));
      }
    become(node, "Concat", std::move(parts));
    node.attributes["axis"] = axis;
    return false;
  }

  void become(Node& node, const char* type, std::vector<ValueId> inputs) {
    node.op_type = type;
    node.inputs = std::move(inputs);
    node.attributes = {};
  }

  Node named(const Node& node, const char* type, const std::string& suffix) const {
    Node made;
    made.op_type = type;
    made.name = graph_.label_of(node) + suffix;
    return made;
  }

  void append(Node node) {
    facts_.pass(graph_, node);
    graph_.append(std::move(node));
  }

  ValueId constant(const Node& node, const std::string& suffix, Tensor tensor) {
    return graph_.add_initializer(graph_.label_of(node) + suffix, std::move(tensor));
  }
  static Tensor numbers(const std::vector<int64_t>& values) {
    return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
  }

  /// Nodes that make sequences, last first, as far as nothing reads them any more.
  void drop_unread(const std::vector<NodeId>& replaced) {
    for (auto it = replaced.rbegin(); it != replaced.rend(); ++it) {
      const Uses uses(graph_);
      const Node* node = graph_.find(*it);
      const bool read = std::any_of(node->outputs.begin(), node->outputs.end(),
                                    [&](ValueId id) { return id.valid() && uses.reader_count(id) != 0; });
      if (!read) graph_.erase_nodes([&](const Node& other) { return other.id == *it; });
    }
    graph_.erase_unused_initializers();
  }

  Graph& graph_;
  const int64_t opset_;
  Facts facts_;
  std::map<ValueId, Sequence> sequences_;
};

bool is_of_sequences(const Node& node) {
  return node.is("SplitToSequence") || node.is("SequenceConstruct") || node.is("SequenceEmpty");
}

}  // namespace

void rewrite_sequences(Model& model) {
  const auto& nodes = model.graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), is_of_sequences)) SequenceRewriter(model).run();
}

}  // namespace tersor::onnx
