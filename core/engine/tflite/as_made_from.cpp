// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/graph/edit.h"
#include "core/graph/quantized.h"
#include "core/tflite/integer_model.h"
#include "core/tflite/operators.h"
#include "core/tflite/value_shapes.h"

namespace tersor::tflite {

namespace {

/// Operators whose output has its axes where their first input has them, as far as both have as many.
bool keeps_order(const Node& node) {
  static constexpr std::string_view kOthers[] = {"RESHAPE", "TRANSPOSE", "FULLY_CONNECTED", "BATCH_MATMUL",
                                                 "ARG_MAX", "MEAN",      "REDUCE_MAX",      "REDUCE_MIN"};
  return node.domain == kTfliteDomain &&
         std::find(std::begin(kOthers), std::end(kOthers), node.op_type) == std::end(kOthers);
}

class Fitting {
 public:
  Fitting(Model model, const Model& reference)
      : model_(std::move(model)), graph_(model_.graph), reference_(reference.graph) {
    if (auto shapes = value_shapes(reference)) shapes_ = *std::move(shapes);
  }

  Model fitted() {
    graph_.inputs = pair_ports(graph_.inputs, reference_.inputs, "inputs");
    graph_.outputs = pair_ports(graph_.outputs, reference_.outputs, "outputs");
    for (const Node& node : graph_.nodes()) look_at(node);
    for (int round = 0; round < 2; ++round) spread_orders();
    show_tensors();
    for (ValueId& input : graph_.inputs) fit_input(input);
    for (ValueId& output : graph_.outputs) fit_output(output);
    return std::move(model_);
  }

 private:
  /// A value of this model that the reference has too, and its dimensions in both.
  struct Pair {
    ValueId other;
    Dims dims, of_other;
  };

  std::optional<Dims> shape_of_other(ValueId value) const {
    const auto at = static_cast<size_t>(value.index);
    return at < shapes_.size() ? shapes_[at] : std::nullopt;
  }

  static Dims declared(const Value& value) {
    Dims dims;
    if (value.shape)
      for (const Dim& dim : *value.shape) dims.push_back(dim.value);
    return dims;
  }

  /// Of an input or output of the reference: what it leaves open is as in this file.
  Dims dims_of_port(ValueId other, const Dims& own) const {
    if (const auto shape = shape_of_other(other)) return *shape;
    const auto& open = reference_.value(other).shape;
    if (!open || open->size() != own.size()) return {};
    for (const AxisOrder& order : {plain_order(own.size()), channels_last(own.size())}) {
      Dims dims(own.size());
      bool fits = true;
      for (size_t k = 0; k < own.size(); ++k) {
        const auto axis = static_cast<size_t>(order[k]);
        fits = fits && (!(*open)[axis].fixed() || (*open)[axis].value == own[k]);
        dims[axis] = own[k];
      }
      if (fits) return dims;
    }
    return {};
  }

  /// By name where all have one there, else by place. Returns them in the reference's order.
  std::vector<ValueId> pair_ports(const std::vector<ValueId>& own, const std::vector<ValueId>& others,
                                  const char* what) {
    if (own.size() != others.size())
      throw Error(ErrorCode::kMismatch,
                  "The float model has " + std::to_string(others.size()) + " " + what + ", the .tflite file " +
                      std::to_string(own.size()) + ".",
                  "graph", "Give the model that the file was made from.");
    const auto named = [&](ValueId one) {
      return std::find_if(others.begin(), others.end(),
                          [&](ValueId other) { return reference_.name_of(other) == graph_.name_of(one); });
    };
    const bool by_name = std::all_of(own.begin(), own.end(), [&](ValueId one) { return named(one) != others.end(); });
    std::vector<ValueId> sorted(own.size());
    for (size_t k = 0; k < own.size(); ++k) {
      const ValueId other = by_name ? *named(own[k]) : others[k];
      const Dims dims = declared(graph_.value(own[k]));
      pairs_[own[k]] = {other, dims, dims_of_port(other, dims)};
      names_[graph_.name_of(own[k])] = other;
    }
    for (size_t k = 0; k < own.size(); ++k)
      for (const ValueId one : own)
        if (pairs_.at(one).other == others[k]) sorted[k] = one;
    return sorted;
  }

  void look_at(const Node& node) {
    if (node.domain != kTfliteDomain || node.outputs.size() != 1) return;
    const NetworkTensor output = output_of(node);
    const ValueId value = node.outputs[0];
    Pair& pair = pairs_[value];
    pair.dims = Dims(output.shape.begin(), output.shape.end());
    if (!output.order.empty()) orders_[value] = output.order;
    if (!pair.other.valid()) {
      const auto port = names_.find(node.name);
      const auto other = port != names_.end() ? std::optional(port->second) : reference_.find(node.name);
      if (other && reference_.initializer(*other) == nullptr) {
        pair.other = *other;
        pair.of_other = shape_of_other(*other).value_or(Dims());
      }
    }
    if (is_file_edge(node) && node.op_type == "QUANTIZE" && orders_.count(value) != 0)
      orders_[node.inputs[0]] = orders_[value];
    tell_order(value, pair);
    if (const auto input = pairs_.find(node.inputs[0]); input != pairs_.end()) tell_order(input->first, input->second);
  }

  /// Where sizes alone leave no doubt.
  void tell_order(ValueId value, const Pair& pair) {
    if (orders_.count(value) != 0 || !pair.other.valid() || pair.of_other.size() != pair.dims.size()) return;
    const AxisOrder plain = plain_order(pair.dims.size()), last = channels_last(pair.dims.size());
    const bool is_plain = pair.dims == pair.of_other, is_last = pair.dims == in_order(pair.of_other, last);
    if (is_plain && (!is_last || lie_alike(pair.of_other, plain, last)))
      orders_[value] = plain;
    else if (is_last && !is_plain)
      orders_[value] = last;
  }

  void spread_orders() {
    const auto pass = [&](const Node& node) {
      if (!keeps_order(node) || node.outputs.size() != 1) return;
      const ValueId a = node.inputs[0], b = node.outputs[0];
      const auto from = orders_.find(a), to = orders_.find(b);
      if (pairs_.count(a) == 0 || pairs_[a].dims.size() != pairs_[b].dims.size()) return;
      if (from != orders_.end() && to == orders_.end()) orders_[b] = from->second;
      if (from == orders_.end() && to != orders_.end()) orders_[a] = to->second;
    };
    const auto& nodes = graph_.nodes();
    std::for_each(nodes.begin(), nodes.end(), pass);
    std::for_each(nodes.rbegin(), nodes.rend(), pass);
  }

  /// The order of a tensor that has the reference's sizes in it.
  std::optional<AxisOrder> order_of(ValueId value) const {
    const auto found = orders_.find(value);
    const auto pair = pairs_.find(value);
    if (found == orders_.end() || pair == pairs_.end() || !pair->second.other.valid()) return std::nullopt;
    const auto& [other, dims, of_other] = pair->second;
    if (of_other.size() != dims.size() || found->second.size() != dims.size()) return std::nullopt;
    return in_order(of_other, found->second) == dims ? std::optional(found->second) : std::nullopt;
  }

  /// The same of an input or output, of which something has to be assumed.
  AxisOrder order_of_port(ValueId value) const {
    if (const auto order = order_of(value)) return *order;
    const Pair& pair = pairs_.at(value);
    const AxisOrder plain = plain_order(pair.dims.size()), last = channels_last(pair.dims.size());
    if (pair.of_other.size() != pair.dims.size() || in_order(pair.of_other, last) != pair.dims) return plain;
    const auto is_plain = [&](const auto& entry) {
      return entry.second.size() > 2 && entry.second == plain_order(entry.second.size());
    };
    return std::any_of(orders_.begin(), orders_.end(), is_plain) ? plain : last;
  }

  /// What turns a tensor of that order so that its axes are as in the reference.
  static std::vector<int64_t> turn_back(const AxisOrder& order) {
    std::vector<int64_t> perm;
    for (size_t k = 0; k < order.size(); ++k) perm.push_back(position_of(order, static_cast<int>(k)));
    return perm;
  }

  /// A node of ONNX that takes one value to another.
  static Node between(const std::string& type, ValueId from, ValueId to) {
    Node node;
    node.op_type = type;
    node.inputs = {from};
    node.outputs = {to};
    return node;
  }

  void show_tensors() {
    std::vector<Node> shown;
    for (const Node& node : graph_.nodes()) {
      if (node.domain != kTfliteDomain || node.outputs.size() != 1) continue;
      const NetworkTensor output = output_of(node);
      const ValueId value = node.outputs[0];
      const auto order = order_of(value);
      if (!order || !is_code(output.dtype) || output.quantization.scale.size() != 1) continue;
      const Pair& pair = pairs_.at(value);
      const std::string& name = reference_.name_of(pair.other);
      ValueId codes = value;
      if (*order != plain_order(order->size())) {
        Node view = between("Transpose", value, graph_.add_unique_value(name + "_quantized_view", output.dtype));
        view.attributes["perm"] = turn_back(*order);
        codes = view.outputs[0];
        shown.push_back(std::move(view));
      }
      Node restored;
      restored.op_type = "DequantizeLinear";
      const Tensor zero_point = integers(output.dtype, {}, output.quantization.zero_point);
      restored.inputs = {codes, graph_.add_initializer(name + "_scale", Tensor::scalar(output.quantization.scale[0])),
                         graph_.add_initializer(name + "_zero_point", zero_point)};
      restored.outputs = {graph_.add_unique_value(name + "_DequantizeLinear_Output", DType::kFloat32)};
      shown.push_back(std::move(restored));
    }
    for (Node& node : shown) graph_.append(std::move(node));
  }

  /// The value of a port takes the name that it has in the reference, and whatever has that one another.
  void name_port(ValueId value, const std::string& name) {
    if (graph_.name_of(value) == name) return;
    if (const auto taken = graph_.find(name)) {
      std::string other = name + "_in_file";
      while (graph_.find(other)) other += "_";
      graph_.rename(*taken, other);
    }
    graph_.rename(value, name);
  }

  void fit_input(ValueId& input) {
    const Pair& pair = pairs_.at(input);
    const AxisOrder order = order_of_port(input);
    const Value own = graph_.value(input);
    const DType wanted = reference_.value(pair.other).dtype;
    std::vector<Node> before;
    ValueId now = input;
    if (order != plain_order(order.size())) {
      const ValueId outer = graph_.add_unique_value(own.name + "_outer", own.dtype);
      before.push_back(between("Transpose", outer, now));
      before.back().attributes["perm"] = std::vector<int64_t>(order.begin(), order.end());
      now = outer;
    }
    if (wanted != DType::kUndefined && wanted != own.dtype) {
      const ValueId outer = graph_.add_unique_value(own.name + "_outer", wanted);
      before.insert(before.begin(), between("Cast", outer, now));
      before.front().attributes["to"] = static_cast<int64_t>(own.dtype);
      now = outer;
    }
    name_port(now, reference_.name_of(pair.other));
    if (!pair.of_other.empty()) {
      graph_.value(now).shape.emplace();
      for (const int64_t dim : pair.of_other) graph_.value(now).shape->push_back({dim, ""});
    }
    prepend(graph_, std::move(before));
    input = now;
  }

  void fit_output(ValueId& output) {
    const Pair& pair = pairs_.at(output);
    const AxisOrder order = order_of_port(output);
    const Value own = graph_.value(output);
    const DType wanted = reference_.value(pair.other).dtype;
    ValueId now = output;
    const auto follow = [&](const std::string& type, DType dtype) {
      const ValueId outer = graph_.add_unique_value(own.name + "_outer", dtype);
      Node node = between(type, now, outer);
      now = outer;
      return node;
    };
    if (order != plain_order(order.size())) {
      Node node = follow("Transpose", own.dtype);
      node.attributes["perm"] = turn_back(order);
      graph_.append(std::move(node));
    }
    if (wanted != DType::kUndefined && wanted != own.dtype) {
      Node node = follow("Cast", wanted);
      node.attributes["to"] = static_cast<int64_t>(wanted);
      graph_.append(std::move(node));
    }
    name_port(now, reference_.name_of(pair.other));
    if (!pair.of_other.empty() && now != output) {
      graph_.value(now).shape.emplace();
      for (const int64_t dim : pair.of_other) graph_.value(now).shape->push_back({dim, ""});
    }
    output = now;
  }

  Model model_;
  Graph& graph_;
  const Graph& reference_;
  std::vector<std::optional<Dims>> shapes_;  // of the reference, by value
  std::map<ValueId, Pair> pairs_;
  std::map<std::string, ValueId> names_;  // of ports of this model
  std::map<ValueId, AxisOrder> orders_;
};

}  // namespace

Model as_made_from(Model integers, const Model& reference) {
  if (!is_integer_model(integers) || is_integer_model(reference)) return integers;
  return Fitting(std::move(integers), reference).fitted();
}

}  // namespace tersor::tflite
