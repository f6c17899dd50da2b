// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/fuse_split_scales.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/graph/uses.h"
#include "core/passes/edit.h"
#include "core/ptq/runtime_fusions.h"
#include "core/ptq/split_scales.h"

namespace tersor::ptq {

namespace {

/// The constant operand of a Mul or Add that has one value per channel of axis 1; empty otherwise.
std::vector<double> channel_constant(const Graph& graph, const Node& node) {
  if ((!node.is("Mul") && !node.is("Add")) || node.inputs.size() != 2) return {};
  const Tensor* constant = passes::float_constant(graph, node.inputs[1]);
  if (constant == nullptr || constant->shape().rank() < 3 || constant->shape()[1] != constant->elements()) return {};
  return passes::to_doubles(*constant);
}

ValueId channel_parameters(Graph& graph, const std::string& stem, const std::vector<float>& values) {
  return graph.add_initializer(stem, Tensor::of<float>(Shape{static_cast<int64_t>(values.size())}, values));
}

class Fuser {
 public:
  explicit Fuser(Model& model) : graph_(model.graph) {}

  /// Into the QuantizeLinears first: where one follows decides what a DequantizeLinear may carry.
  int64_t fuse() {
    int64_t fused = fuse_all([&](size_t i, const std::vector<double>& factors) {
      return is_inserted(graph_.nodes()[i].outputs[0], kScaledSuffix) && fuse_into_quantize(i, factors);
    });
    fused += fuse_all([&](size_t i, const std::vector<double>& factors) {
      return is_inserted(graph_.nodes()[i].inputs[0], kStretchedSuffix) && fuse_into_dequantize(i, factors);
    });
    graph_.erase_unused_initializers();
    return fused;
  }

 private:
  template <class Fuse>
  int64_t fuse_all(Fuse&& fuse_one) {
    const size_t count = graph_.nodes().size();
    gone_.assign(count, false);
    int64_t fused = 0;
    for (size_t i = 0; i < count; ++i) {
      const Node& node = graph_.nodes()[i];
      const std::vector<double> factors = node.is("Mul") ? channel_constant(graph_, node) : std::vector<double>{};
      if (!factors.empty() && fuse_one(i, factors)) ++fused;
    }
    passes::erase_marked(graph_, gone_);
    return fused;
  }

  bool is_inserted(ValueId value, std::string_view suffix) const {
    return graph_.name_of(value).find(suffix) != std::string::npos;
  }

  /// From the value on, node by node, nodes that quantizers pass and one at least that fuses with them, up to a node of
  /// type `end`. `next` gives the node there, and goes on to the value behind it.
  template <class Next>
  bool fuses_up_to(const char* end, ValueId value, Next next) const {
    bool fuses = false;
    while (const auto index = next(value)) {
      const Node& node = graph_.nodes()[*index];
      if (node.is(end)) return fuses;
      if (!fuses_with_neighbours(node) && !lets_through(node)) return false;
      fuses = fuses || fuses_with_neighbours(node);
    }
    return false;
  }

  bool made_from_codes(const Uses& uses, ValueId made) const {
    return fuses_up_to("DequantizeLinear", made, [&](ValueId& value) {
      const auto maker = uses.producer_index(value);
      if (maker && !graph_.nodes()[*maker].inputs.empty()) value = graph_.nodes()[*maker].inputs[0];
      return maker;
    });
  }

  bool becomes_codes(const Uses& uses, ValueId read) const {
    return fuses_up_to("QuantizeLinear", read, [&](ValueId& value) {
      const auto reader = passes::sole_reader(graph_, uses, value);
      if (reader) value = graph_.nodes()[*reader].outputs[0];
      return reader;
    });
  }

  /// x -> Mul -> Q(D)   becomes   x -> Q(D / factor per channel).
  bool fuse_into_quantize(size_t mul, const std::vector<double>& factors) {
    const Uses uses(graph_);
    const ValueId scaled = graph_.nodes()[mul].outputs[0];
    const auto reader = passes::sole_reader(graph_, uses, scaled);
    if (!reader || !graph_.nodes()[*reader].is("QuantizeLinear")) return false;
    const bool plain = std::all_of(factors.begin(), factors.end(), [](double factor) { return factor == 1; });
    if (!plain && made_from_codes(uses, graph_.nodes()[mul].inputs[0])) return false;
    Node& quantize = graph_.nodes()[*reader];
    quantize.inputs[0] = graph_.nodes()[mul].inputs[0];
    gone_[mul] = true;
    if (plain) return false;
    const Tensor &scale = *graph_.initializer(quantize.inputs[1]), &zero = *graph_.initializer(quantize.inputs[2]);
    std::vector<float> scales;
    for (const double factor : factors) scales.push_back(static_cast<float>(scale.data<float>()[0] / factor));
    Tensor zeros = Tensor::make(zero.dtype(), Shape{static_cast<int64_t>(factors.size())});
    std::fill(zeros.mutable_bytes().begin(), zeros.mutable_bytes().end(), zero.bytes()[0]);
    set_parameters(quantize, scales, std::move(zeros));
    return true;
  }

  /// DQ(d) -> Mul -> Add   becomes   DQ(d factor, zero point per channel).
  bool fuse_into_dequantize(size_t mul, const std::vector<double>& factors) {
    const Uses uses(graph_);
    const Node& product = graph_.nodes()[mul];
    const auto maker = uses.producer_index(product.inputs[0]);
    const auto reader = passes::sole_reader(graph_, uses, product.outputs[0]);
    if (!maker || !reader || !graph_.nodes()[*maker].is("DequantizeLinear") ||
        uses.reader_count(product.inputs[0]) != 1)
      return false;
    const std::vector<double> offsets = channel_constant(graph_, graph_.nodes()[*reader]);
    Node& dequantize = graph_.nodes()[*maker];
    const float common = graph_.initializer(dequantize.inputs[1])->data<float>()[0];
    const Tensor& zero = *graph_.initializer(dequantize.inputs[2]);
    const bool is_signed = zero.dtype() == DType::kInt8;
    if (offsets.size() != factors.size() || bits_of(zero.dtype()) != 8) return false;
    if (becomes_codes(uses, graph_.nodes()[*reader].outputs[0])) return false;
    const double middle = is_signed ? static_cast<int8_t>(zero.bytes()[0]) : static_cast<uint8_t>(zero.bytes()[0]);
    std::vector<float> scales;
    Tensor zeros = Tensor::make(zero.dtype(), Shape{static_cast<int64_t>(factors.size())});
    for (size_t c = 0; c < factors.size(); ++c) {
      scales.push_back(static_cast<float>(common * factors[c]));
      const double point = std::nearbyint(middle - offsets[c] / scales.back());
      if (point < (is_signed ? -128 : 0) || point > (is_signed ? 127 : 255)) return false;
      zeros.mutable_bytes()[c] = static_cast<std::byte>(static_cast<int>(point) & 0xff);
    }
    set_parameters(dequantize, scales, std::move(zeros));
    dequantize.outputs[0] = graph_.nodes()[*reader].outputs[0];
    gone_[mul] = gone_[*reader] = true;
    return true;
  }

  void set_parameters(Node& node, const std::vector<float>& scales, Tensor zeros) {
    const std::string stem = node.name;
    node.inputs[1] = channel_parameters(graph_, stem + "_scale", scales);
    node.inputs[2] = graph_.add_initializer(stem + "_zero_point", std::move(zeros));
    node.attributes["axis"] = int64_t{1};
  }

  Graph& graph_;
  std::vector<bool> gone_;
};

}  // namespace

int64_t fuse_split_scales(Model& quantized) {
  return Fuser(quantized).fuse();
}

}  // namespace tersor::ptq
