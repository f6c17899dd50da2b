// SPDX-License-Identifier: Apache-2.0
#include "core/export/check_export.h"

#include <cmath>
#include <set>

#include "core/graph/attribute_defaults.h"
#include "core/graph/uses.h"
#include "core/graph/validate.h"

namespace tersor::ptq {

using Arithmetic = NodeOutcome::Arithmetic;

namespace {

class ExportCheck {
 public:
  ExportCheck(const Model& before, const Model& after, const QuantizationPlan& plan)
      : before_(before), after_(after), plan_(plan), graph_(after.graph), uses_(after.graph) {}

  void run() {
    check_structure();
    std::set<NodeId> brought;
    for (const Node& node : before_.graph.nodes()) brought.insert(node.id);
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      at_ = i;
      const Node& node = graph_.nodes()[i];
      const bool is_pair = node.is("QuantizeLinear") || node.is("DequantizeLinear");
      // One that the model brought with it is an operator like any other.
      if (is_pair && brought.count(node.id) == 0) check_parameters(node);
      check_bias(node);
      check_float_weight(node);
    }
    for (const NodeOutcome& outcome : plan_.outcomes) check_outcome(outcome);
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw Error(ErrorCode::kInternal, "The quantized model breaks a rule of runtimes: " + rule,
                at_ < graph_.nodes().size() ? place_of(graph_.nodes()[at_], at_) : "graph",
                "This is a bug in Tersor; please report it with this text.");
  }
  void require(bool holds, const std::string& rule) const {
    if (!holds) fail(rule);
  }
  const Node* producer(ValueId id) const {
    const auto index = id.valid() ? uses_.producer_index(id) : std::nullopt;
    return index ? &graph_.nodes()[*index] : nullptr;
  }
  bool is_implied(ValueId id) const {
    const ActivationPlan* const plan = plan_.find(id);
    return plan != nullptr && plan->is_implied;
  }
  /// What makes the value, or what operators that preserve have it from.
  const Node* source(ValueId id) const {
    const Node* node = producer(id);
    while (node != nullptr && is_implied(id)) node = producer(id = node->inputs[0]);
    return node;
  }
  bool from_pair(ValueId id) const {
    const Node* node = source(id);
    return node != nullptr && node->is("DequantizeLinear");
  }
  /// The QuantizeLinear that alone reads the value, or its Clip to a grid of fewer bits than the type has.
  const Node* sole_quantizer(ValueId id) const {
    if (uses_.reader_count(id) != 1 || uses_.is_output(id)) return nullptr;
    const Node& node = graph_.nodes()[uses_.reader_indices(id)[0]];
    if (node.is("Clip")) return sole_quantizer(node.outputs[0]);
    return node.is("QuantizeLinear") ? &node : nullptr;
  }
  /// Of integers that are stored, or unpacked (export/pack_codes.h).
  std::optional<Shape> shape_of_codes(ValueId id) const {
    if (const Tensor* const stored = graph_.initializer(id)) return stored->shape();
    const Node* const node = producer(id);
    const Tensor* const shape = node != nullptr && node->is("Reshape") ? graph_.initializer(node->inputs[1]) : nullptr;
    if (shape == nullptr) return std::nullopt;
    const auto dims = shape->data<int64_t>();
    return Shape(std::vector<int64_t>(dims.begin(), dims.end()));
  }
  const Tensor& scale_of(const Node& pair) const { return *graph_.initializer(pair.inputs[1]); }

  void check_structure();
  void check_parameters(const Node& node) const;
  void check_zero_point(const Node& node) const;
  void check_bias(const Node& node) const;
  void check_float_weight(const Node& node) const;
  void check_outcome(const NodeOutcome& outcome);
  void check_integer(const Node& node, bool needs_output) const;

  const Model& before_;
  const Model& after_;
  const QuantizationPlan& plan_;
  const Graph& graph_;
  const Uses uses_;
  size_t at_ = 0;
};

void ExportCheck::check_structure() {
  at_ = graph_.nodes().size();
  try {
    validate(after_);
  } catch (const Error& error) {
    fail(error.what());
  }
  const int64_t opset = after_.opset(), ir = after_.ir_version;
  require(opset >= 13 && ir >= 8, "operator set 13 or newer needs IR version 8 or newer.");
  const auto names = [](const Graph& graph, const std::vector<ValueId>& ids) {
    std::vector<std::string> list;
    for (const ValueId id : ids) list.push_back(graph.name_of(id));
    return list;
  };
  require(names(before_.graph, before_.graph.inputs) == names(graph_, graph_.inputs), "the inputs keep their names.");
  require(names(before_.graph, before_.graph.outputs) == names(graph_, graph_.outputs),
          "the outputs keep their names.");
}

void ExportCheck::check_parameters(const Node& node) const {
  require(node.inputs.size() >= 2 && graph_.initializer(node.inputs[1]) != nullptr, "a scale is an initializer.");
  const Tensor& scale = scale_of(node);
  for (const float x : scale.data<float>()) require(std::isnormal(x) && x > 0, "a scale is positive and normal.");
  check_zero_point(node);
  if (scale.shape().rank() == 0) return;
  // A tied weight is the table of an embedding, transposed.
  const Node* turned = producer(node.inputs[0]);
  const bool is_turned = turned != nullptr && turned->is("Transpose");
  const std::optional<Shape> stored = shape_of_codes(is_turned ? turned->inputs[0] : node.inputs[0]);
  require(node.is("DequantizeLinear") && stored, "only weights have parameters per axis.");
  const int axis = normalize_axis(node.int_or("axis", 1), stored->rank());
  const auto perm = is_turned ? turned->ints_or("perm", {}) : std::vector<int64_t>{};
  if (const int64_t block = int_of(node, "block_size"); block > 0) {
    std::vector<int64_t> dims = stored->dims();
    int64_t& along = dims[static_cast<size_t>(axis)];
    along = (along + block - 1) / block;
    require(!is_turned && scale.shape() == Shape(std::move(dims)), "there is one scale for each block of the axis.");
    return;
  }
  const int place = is_turned ? static_cast<int>(perm[static_cast<size_t>(axis)]) : axis;
  require((*stored)[place] == scale.elements(), "there is one scale per index of the axis.");
}

void ExportCheck::check_zero_point(const Node& node) const {
  if (node.inputs.size() < 3 || !node.inputs[2].valid()) {
    const Tensor* stored = graph_.initializer(node.inputs[0]);
    require(stored != nullptr && stored->dtype() == DType::kInt32, "only an int32 bias has no zero point.");
    return;
  }
  const Tensor* zero_point = graph_.initializer(node.inputs[2]);
  require(zero_point != nullptr, "a zero point is an initializer.");
  const int bits = bits_of(zero_point->dtype());
  require(bits == 8 || ((bits == 4 || bits == 16) && after_.opset() >= 21),
          "a zero point has 8 bits; 4 or 16 from operator set 21 on.");
  require(zero_point->shape() == scale_of(node).shape(), "zero point and scale have one shape.");
  const Tensor* stored = graph_.initializer(node.inputs[0]);
  if (stored != nullptr) require(stored->dtype() == zero_point->dtype(), "a zero point has the type of its integers.");
}

void ExportCheck::check_bias(const Node& node) const {
  const bool can_have_bias = node.is("Conv") || node.is("Gemm") || node.is("ConvTranspose");
  const bool has_bias = can_have_bias && node.inputs.size() > 2 && node.inputs[2].valid();
  const Node* bias = has_bias ? producer(node.inputs[2]) : nullptr;
  if (bias == nullptr || !bias->is("DequantizeLinear")) return;
  // A bias that is computed may come from a quantizer of its own, as any activation does.
  const Tensor* stored = graph_.initializer(bias->inputs[0]);
  if (stored == nullptr || stored->dtype() != DType::kInt32) return;
  const Node *input = source(node.inputs[0]), *weight = producer(node.inputs[1]);
  require(from_pair(node.inputs[0]) && from_pair(node.inputs[1]), "an int32 bias goes with quantized operands.");
  const float input_scale = scale_of(*input).data<float>()[0];
  const auto weight_scale = scale_of(*weight).data<float>(), bias_scale = scale_of(*bias).data<float>();
  const bool shared = node.is("ConvTranspose");  // between groups
  require(shared ? bias_scale.size() % weight_scale.size() == 0 : weight_scale.size() == bias_scale.size(),
          "a bias has as many scales as its weight.");
  for (size_t c = 0; c < bias_scale.size(); ++c)
    require(bias_scale[c] == input_scale * weight_scale[c % weight_scale.size()],
            "the scale of a bias is the product of its operands'.");
}

void ExportCheck::check_float_weight(const Node& node) const {
  const bool multiplies = node.is("Conv") || node.is("Gemm") || node.is("ConvTranspose");
  require(!node.name.empty(), "every node has a name.");
  if (!multiplies || node.inputs.size() < 2 || graph_.initializer(node.inputs[1]) == nullptr) return;
  require(!(from_pair(node.inputs[0]) && sole_quantizer(node.outputs[0]) != nullptr),
          "no operator with a float weight stands between a DequantizeLinear and a QuantizeLinear.");
}

void ExportCheck::check_integer(const Node& node, bool needs_output) const {
  if (needs_output && !is_implied(node.outputs[0]))
    require(sole_quantizer(node.outputs[0]) != nullptr, "the output of an integer kernel is read by one quantizer.");
  const bool is_kernel = plan_.reads_quantized(node.id);
  const size_t operands = is_kernel ? 2 : node.is("Concat") || node.is("Add") ? node.inputs.size() : 1;
  for (size_t k = 0; k < operands && k < node.inputs.size(); ++k)
    require(from_pair(node.inputs[k]), "an operand of an integer kernel comes from a DequantizeLinear.");
}

void ExportCheck::check_outcome(const NodeOutcome& outcome) {
  if (outcome.arithmetic != Arithmetic::kInteger && outcome.arithmetic != Arithmetic::kIntegerFloatOutput) return;
  at_ = 0;
  while (at_ < graph_.nodes().size() && graph_.nodes()[at_].id != outcome.node) ++at_;
  require(at_ < graph_.nodes().size(), "an integer kernel of the plan is in the model.");
  check_integer(graph_.nodes()[at_],
                outcome.arithmetic == Arithmetic::kInteger && graph_.nodes()[at_].outputs.size() == 1);
}

}  // namespace

void check_export(const Model& float_model, const Model& quantized, const QuantizationPlan& plan) {
  ExportCheck(float_model, quantized, plan).run();
}

}  // namespace tersor::ptq
