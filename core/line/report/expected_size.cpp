// SPDX-License-Identifier: Apache-2.0
#include "core/report/expected_size.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>

#include "core/choose/choose_constants.h"
#include "core/choose/shared_weights.h"
#include "core/export/added_names.h"
#include "core/export/pack_codes.h"
#include "core/graph/subgraphs.h"
#include "core/onnx/exporter_notes.h"

namespace tersor::report {

namespace {

using ptq::kCodes, ptq::kEntries, ptq::kIndices, ptq::kPacked, ptq::kPlaces, ptq::kRestored, ptq::kScale, ptq::kShape,
    ptq::kShaped, ptq::kTable, ptq::kZeroPoint;

constexpr std::string_view kQuantize = "QuantizeLinear", kDequantize = "DequantizeLinear";
constexpr int64_t length(std::string_view name) {
  return static_cast<int64_t>(name.size());
}

constexpr int64_t kField = 2;       // its number and its length
constexpr int64_t kTensor = 11;     // beside its name and its values: type, dimension, four fields
constexpr int64_t kAttribute = 14;  // axis
constexpr int64_t kValue = 10;      // what is declared of a tensor, beside its name

/// The names that are made from a tensor's (export/added_names.h), and what holds them in the file.
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
    const auto longer_input = length(kRestored);  // of who reads it
    return longer_input + value(kCodes) + value(kRestored) +
           (has_own_params ? tensor(kScale, 4) + tensor(kZeroPoint, 1) : 0) +
           node(kQuantize, {"", kScale, kZeroPoint, kCodes}) +
           node(kDequantize, {kCodes, kScale, kZeroPoint, kRestored});
  }
  int64_t weight(int64_t ranges, int64_t bytes_of_zero) const {
    return length(kCodes) + tensor(kScale, 4 * ranges) + value("") + tensor(kZeroPoint, bytes_of_zero * ranges) +
           node(kDequantize, {kCodes, kScale, kZeroPoint, ""}) + (ranges > 1 ? kAttribute : 0);
  }
  /// What unpacking the codes adds to that, in place of a DequantizeLinear.
  int64_t unpacked(int64_t rank) const {
    int64_t bytes = tensor(kShape, 8 * rank) - tensor(kZeroPoint, 0);
    bytes += node("Cast", {kPacked, kIndices}) + node("Cast", {kShaped, kPlaces}) + 2 * kAttribute;
    bytes += node("Gather", {kTable, kIndices, kEntries}) + node("Reshape", {kEntries, kShape, kShaped});
    for (const std::string_view made : {kIndices, kEntries, kShaped, kPlaces}) bytes += value(made);
    return bytes + node("Mul", {kPlaces, kScale, ""}) - node(kDequantize, {kCodes, kScale, kZeroPoint, ""});
  }
  int64_t bias(int64_t ranges) const {
    return length(kCodes) + value("") + tensor(kScale, 4 * ranges) + node(kDequantize, {kCodes, kScale, ""}) +
           (ranges > 1 ? kAttribute : 0);
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
    for_each_subgraph(node, [&](const Graph& body) { bytes += size_of(body); });
  }
  return bytes;
}

/// Of stored integers, in bytes.
class Codes {
 public:
  /// `packs`: those of 2 to 7 bits are packed (export/pack_codes.h); else 4 bits are the least that a type has.
  explicit Codes(bool packs) : packs_(packs) {}

  int64_t bytes(int64_t elements, int bits, std::string_view name) {
    if (packs_ && bits < 8) saved_[bits] += ptq::bytes_packing_saves(elements, bits, name.size() + sizeof(kCodes) - 1);
    return (elements * (bits > 8 ? 16 : bits > 4 || packs_ ? 8 : 4) + 7) / 8;
  }
  /// What packing takes off the whole.
  int64_t saved() const {
    int64_t sum = 0;
    for (const auto& [bits, bytes] : saved_) sum += std::max<int64_t>(bytes - ptq::bytes_of_unpacking(bits), 0);
    return sum;
  }

 private:
  bool packs_;
  std::map<int, int64_t> saved_;
};

/// Packed codes are looked up in one table for each number of bits: of every byte the codes that it stands for.
int64_t bytes_of_table(int bits) {
  constexpr int64_t kBytes = 256;
  return kTensor + kBytes * (8 / bits);
}

/// Codes and scales of blocks, and the nodes that restore or multiply them.
int64_t added_by_blocks(const Graph& graph, const passes::KernelOp& op, const framework::WeightAttribute& weight,
                        bool has_levels, bool half_scales, Codes& codes) {
  const std::string& name = graph.name_of(op.weight);
  const int bits = weight.config.weights_n_bits, size = *weight.config.weights_block_size;
  const int64_t blocks = (weight.block_columns + size - 1) / size * op.outputs;
  const bool has_zero_points = weight.config.weights_quantization_method == quant::QuantizationMethod::kUniform;
  const int64_t floats = 4 * graph.initializer(op.weight)->elements();
  // About what nodes, shapes and names take, which have the weight's name in them so many times.
  if (has_levels) {
    const int64_t made = 480 + 56 * length(name) + (weight.block_columns % size != 0 ? 48 * length(name) : 0) +
                         (has_zero_points ? 100 + 15 * length(name) : 0);
    return made + codes.bytes(blocks * size, bits, name) + 2 * blocks + 4 * op.outputs +
           (has_zero_points ? codes.bytes(blocks, bits, name) : 0) - floats;
  }
  const int64_t nodes = 400 + 14 * length(name) + (has_zero_points ? 120 + 5 * length(name) : 0) +
                        (half_scales ? 100 + 4 * length(name) : 0);
  return nodes + codes.bytes(blocks * size, bits, name) + blocks * ((has_zero_points ? 8 : 4) - (half_scales ? 2 : 0)) -
         floats;
}

/// `has_codes`: the kernel's codes are stored for it; false where it reads those of another kernel with the same
/// weight.
int64_t added_by(const Graph& graph, const passes::KernelOp& op, const framework::WeightAttribute& weight,
                 bool in_integers, bool has_integer_bias, bool has_codes, bool half_scales, Codes& codes) {
  if (weight.config.weights_block_size && !(in_integers && weight.config.weights_n_bits == quant::kBitsOfLevels))
    return added_by_blocks(graph, op, weight, in_integers, half_scales, codes);
  const int64_t elements = graph.initializer(op.weight)->elements();
  const int bits = weight.config.weights_n_bits;
  const int64_t ranges = weight.config.weights_per_channel_threshold ? op.outputs : 1;
  int64_t bytes = (has_codes ? codes.bytes(elements, bits, graph.name_of(op.weight)) : 0) - 4 * elements +
                  Added(graph.name_of(op.weight)).weight(ranges, bits > 8 ? 2 : 1);
  if (op.bias.valid() && has_integer_bias) bytes += Added(graph.name_of(op.bias)).bias(ranges);
  return bytes;
}

/// Codes of 4 bits, scales and zero points of an embedding in blocks, which one node gathers.
int64_t added_by_table(const Tensor& table, const framework::WeightAttribute& weight, bool half_scales) {
  constexpr int64_t kParts = 300;  // about: names, attributes, a Cast
  const int64_t size = *weight.config.weights_block_size, in_row = (weight.block_columns + size - 1) / size;
  const int64_t blocks = table.shape()[0] * in_row;
  const bool has_zero_points = weight.config.weights_quantization_method == quant::QuantizationMethod::kUniform;
  return kParts + (table.elements() + 1) / 2 + blocks * (half_scales ? 2 : 4) + (has_zero_points ? blocks / 2 : 0) -
         4 * table.elements();
}

/// Tables, weights of recurrent layers, and on some platforms all other constants.
int64_t added_by_constants(const Graph& graph, const framework::Attachment& attachment,
                           const std::vector<passes::KernelOp>& kernels, Codes& codes) {
  int64_t bytes = 0;
  std::set<ValueId> stored;  // of which several readers have one
  for (const ptq::StoredConstant& one : ptq::constants_to_store(graph, attachment)) {
    const Tensor& constant = *graph.initializer(one.weight.value);
    const auto& how = one.weight.config;
    if (how.weights_block_size && one.by_row) {
      if (stored.insert(one.weight.value).second)
        bytes += added_by_table(constant, one.weight, attachment.export_rules.half_scales);
      continue;
    }
    const int axis = one.is_table ? 0 : one.is_recurrent ? 1 : 0;
    const int64_t ranges =
        how.weights_per_channel_threshold && constant.shape().rank() > axis ? constant.shape()[axis] : 1;
    const bool is_tied = one.is_table && std::any_of(kernels.begin(), kernels.end(), [&](const passes::KernelOp& op) {
                           return ptq::has_rows_of(constant, *graph.initializer(op.weight), op);
                         });
    const Added added(graph.name_of(one.weight.value));
    bytes += added.weight(ranges, one.by_row ? 0 : 1);
    // The codes and the scales of the rows are gathered, and a Cast and a Mul are in place of one node.
    if (one.by_row) bytes += 2 * added.node("Gather", {kCodes, kCodes, kCodes}) + 2 * added.value(kCodes);
    if (!stored.insert(one.weight.value).second) continue;
    bytes += (is_tied ? 0 : codes.bytes(constant.elements(), how.weights_n_bits, graph.name_of(one.weight.value))) -
             4 * constant.elements();
  }
  return bytes;
}

}  // namespace

int64_t expected_size(const Graph& original, const Graph& prepared, const framework::Attachment& attachment,
                      const ptq::Placement& placement, const config::QuantizationConfig& config, int64_t model_bytes,
                      const AskedFloat& asked) {
  int64_t bytes = model_bytes + size_of(prepared) - size_of(original);
  if (!config.keep_metadata) bytes -= onnx::exporter_notes_size(original);
  std::set<size_t> groups;
  for (const ptq::PlacedTensor& tensor : (asked.placement != nullptr ? *asked.placement : placement).tensors)
    bytes += Added(prepared.name_of(tensor.value)).pair(groups.insert(tensor.group).second);
  std::vector<size_t> nodes;
  std::vector<passes::KernelOp> kernels, quantized;
  for (size_t i = 0; i < prepared.nodes().size(); ++i) {
    const ptq::NodeRole& role = placement.roles[i];
    if (!role.has_kernel() || !role.op || prepared.initializer(role.op->weight) == nullptr) continue;
    nodes.push_back(i);
    kernels.push_back(*role.op);
  }
  const std::vector<ptq::SharedWeight> shared = ptq::find_shared_weights(prepared, kernels);
  const bool folds = tpc::folds(attachment.export_rules.float_weights);
  Codes codes(folds), entries(false);
  std::set<int> tables;  // by bits
  for (size_t k = 0; k < nodes.size(); ++k) {
    const ptq::NodeRole& role = placement.roles[nodes[k]];
    const auto* weight = attachment.of(prepared.nodes()[nodes[k]].id).weight(tpc::kKernelAttr);
    const bool is_kept = std::find(asked.kernels.begin(), asked.kernels.end(), nodes[k]) != asked.kernels.end();
    if (role.float_weight || weight == nullptr || is_kept) {
      if (shared[k].first != k) bytes -= 4 * prepared.initializer(kernels[k].weight)->elements();
      continue;
    }
    quantized.push_back(kernels[k]);
    const int bits = weight->config.weights_n_bits;
    const bool by_table = quant::is_table_method(weight->config.weights_quantization_method);
    if (folds && by_table && role.role == ptq::Role::kWeightOnly) {
      const ValueId value = kernels[k].weight;
      bytes += Added(prepared.name_of(value)).unpacked(prepared.initializer(value)->shape().rank());
      if (tables.insert(bits).second) bytes += bytes_of_table(bits);
    }
    const bool in_integers = role.role != ptq::Role::kWeightOnly;
    bytes += added_by(prepared, kernels[k], *weight, in_integers, in_integers && attachment.export_rules.integer_bias,
                      shared[k].first == k, attachment.export_rules.half_scales, by_table ? entries : codes);
  }
  if (!asked.constants) bytes += added_by_constants(prepared, attachment, quantized, codes);
  return std::max<int64_t>(bytes - codes.saved(), 0);
}

}  // namespace tersor::report
