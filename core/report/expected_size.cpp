// SPDX-License-Identifier: Apache-2.0
#include "core/report/expected_size.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

namespace tersor::report {

namespace {

constexpr std::string_view kQuantize = "QuantizeLinear", kDequantize = "DequantizeLinear";
constexpr std::string_view kCodes = "_quantized", kScale = "_scale", kZeroPoint = "_zero_point",
                           kRestored = "_DequantizeLinear_Output";
constexpr int64_t kField = 2;       // its number and its length
constexpr int64_t kTensor = 11;     // beside its name and its values: type, dimension, four fields
constexpr int64_t kAttribute = 14;  // axis
constexpr int64_t kValue = 10;      // what is declared of a tensor, beside its name

/// The names that apply_plan.cpp makes from one, and what holds them in the file.
class Added {
 public:
  explicit Added(std::string_view name) : name_(static_cast<int64_t>(name.size())) {}

  int64_t tensor(std::string_view suffix, int64_t values) const { return kTensor + named(suffix) + values; }
  /// Its inputs and its output; it is named after its type.
  int64_t node(std::string_view type, std::initializer_list<std::string_view> values) const {
    int64_t bytes = kField + 1 + kField + static_cast<int64_t>(type.size()) + kField + 1 + named(type);
    for (const std::string_view suffix : values) bytes += kField + named(suffix);
    return bytes;
  }
  int64_t value(std::string_view suffix) const { return kValue + named(suffix); }
  int64_t pair(bool has_own_params) const {
    const auto longer_input = static_cast<int64_t>(kRestored.size());  // of who reads it
    return longer_input + value(kCodes) + value(kRestored) +
           (has_own_params ? tensor(kScale, 4) + tensor(kZeroPoint, 1) : 0) +
           node(kQuantize, {"", kScale, kZeroPoint, kCodes}) +
           node(kDequantize, {kCodes, kScale, kZeroPoint, kRestored});
  }
  int64_t weight(int64_t ranges, int64_t bytes_of_zero) const {
    return static_cast<int64_t>(kCodes.size()) + tensor(kScale, 4 * ranges) + value("") +
           tensor(kZeroPoint, bytes_of_zero * ranges) + node(kDequantize, {kCodes, kScale, kZeroPoint, ""}) +
           (ranges > 1 ? kAttribute : 0);
  }
  int64_t bias(int64_t ranges) const {
    return static_cast<int64_t>(kCodes.size()) + value("") + tensor(kScale, 4 * ranges) +
           node(kDequantize, {kCodes, kScale, ""}) + (ranges > 1 ? kAttribute : 0);
  }

 private:
  int64_t named(std::string_view suffix) const { return name_ + static_cast<int64_t>(suffix.size()); }

  int64_t name_;
};

/// About what a graph takes in a file: what differs between two that share most of it is nearly exact.
int64_t size_of(const Graph& graph) {
  int64_t bytes = 0;
  const auto add_tensor = [&](const Tensor& tensor) {
    bytes += kTensor + tensor.elements() * bits_of(tensor.dtype()) / 8;
  };
  const auto add_text = [&](const std::string& text) { bytes += kField + static_cast<int64_t>(text.size()); };
  for (const auto& [id, tensor] : graph.initializers()) add_tensor(tensor), add_text(graph.name_of(id));
  for (const Node& node : graph.nodes()) {
    add_text(node.name), add_text(node.op_type);
    for (const std::vector<ValueId>* list : {&node.inputs, &node.outputs})
      for (const ValueId id : *list)
        if (id.valid()) add_text(graph.name_of(id));
    for (const auto& [key, value] : node.attributes) {
      bytes += kAttribute;
      if (const auto* tensor = std::get_if<Tensor>(&value)) add_tensor(*tensor);
    }
  }
  return bytes;
}

int64_t added_by(const Graph& graph, const passes::KernelOp& op, const framework::WeightAttribute& weight,
                 bool has_integer_bias) {
  const Tensor* const values = graph.initializer(op.weight);
  if (values == nullptr) return 0;
  const int bits = weight.config.weights_n_bits;
  const int64_t ranges = weight.config.weights_per_channel_threshold ? op.outputs : 1;
  const int64_t codes = (values->elements() * (bits > 8 ? 16 : bits > 4 ? 8 : 4) + 7) / 8;
  int64_t bytes = codes - 4 * values->elements() + Added(graph.name_of(op.weight)).weight(ranges, bits > 8 ? 2 : 1);
  if (op.bias.valid() && has_integer_bias) bytes += Added(graph.name_of(op.bias)).bias(ranges);
  return bytes;
}

}  // namespace

int64_t expected_size(const Graph& original, const Graph& prepared, const framework::Attachment& attachment,
                      const ptq::Placement& placement, int64_t model_bytes) {
  int64_t bytes = model_bytes + size_of(prepared) - size_of(original);
  std::set<size_t> groups;
  for (const ptq::PlacedTensor& tensor : placement.tensors)
    bytes += Added(prepared.name_of(tensor.value)).pair(groups.insert(tensor.group).second);
  std::set<ValueId> stored;  // weights that several read are one
  for (size_t i = 0; i < prepared.nodes().size(); ++i) {
    const ptq::NodeRole& role = placement.roles[i];
    if (!role.has_kernel() || role.float_weight || !role.op || !stored.insert(role.op->weight).second) continue;
    if (const auto* weight = attachment.of(prepared.nodes()[i].id).weight(tpc::kKernelAttr))
      bytes += added_by(prepared, *role.op, *weight,
                        role.role != ptq::Role::kWeightOnly && attachment.export_rules.integer_bias);
  }
  return std::max<int64_t>(bytes, 0);
}

}  // namespace tersor::report
