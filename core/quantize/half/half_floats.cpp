// SPDX-License-Identifier: Apache-2.0
#include "core/half/half_floats.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/number_text.h"
#include "core/cost/value_types.h"
#include "core/graph/uses.h"
#include "core/graph/value_types.h"
#include "core/tensor/float16.h"

namespace tersor::half {

namespace {

constexpr float kLargest = 65504, kSmallestNormal = 0x1p-14f;
constexpr float kRoom = 4;          // times the largest value seen, for values of other samples
constexpr float kLargestAngle = 4;  // of which a step of float16 is small beside a turn
constexpr int64_t kFewestStored = 1024;

using Types = std::set<std::string_view>;

/// Of ONNX's own, as far as ONNX allows float16 for their floats and the runtimes compute them in it or cast around.
const Types kHalfTypes = {"Abs",
                          "Add",
                          "ArgMax",
                          "ArgMin",
                          "AveragePool",
                          "BatchNormalization",
                          "Cast",
                          "Ceil",
                          "Clip",
                          "Concat",
                          "Conv",
                          "ConvTranspose",
                          "Cos",
                          "DepthToSpace",
                          "Div",
                          "Dropout",
                          "Elu",
                          "Equal",
                          "Erf",
                          "Exp",
                          "Expand",
                          "Flatten",
                          "Floor",
                          "Gather",
                          "GatherElements",
                          "GatherND",
                          "Gelu",
                          "Gemm",
                          "GlobalAveragePool",
                          "GlobalMaxPool",
                          "Greater",
                          "GreaterOrEqual",
                          "GroupNormalization",
                          "HardSigmoid",
                          "HardSwish",
                          "Identity",
                          "InstanceNormalization",
                          "LayerNormalization",
                          "LeakyRelu",
                          "Less",
                          "LessOrEqual",
                          "Log",
                          "LogSoftmax",
                          "MatMul",
                          "Max",
                          "MaxPool",
                          "Min",
                          "Mish",
                          "Mul",
                          "Neg",
                          "PRelu",
                          "Pad",
                          "Pow",
                          "Reciprocal",
                          "ReduceL1",
                          "ReduceL2",
                          "ReduceMax",
                          "ReduceMean",
                          "ReduceMin",
                          "ReduceProd",
                          "ReduceSum",
                          "ReduceSumSquare",
                          "Relu",
                          "Reshape",
                          "Resize",
                          "Round",
                          "ScatterElements",
                          "ScatterND",
                          "Selu",
                          "Shape",
                          "Sigmoid",
                          "Sin",
                          "Size",
                          "Slice",
                          "Softmax",
                          "Softplus",
                          "Softsign",
                          "SpaceToDepth",
                          "Split",
                          "Sqrt",
                          "Squeeze",
                          "Sub",
                          "Sum",
                          "Tanh",
                          "Tile",
                          "Transpose",
                          "Unsqueeze",
                          "Upsample",
                          "Where"};
const Types kMicrosoftTypes = {"BiasGelu", "FastGelu", "GatherBlockQuantized", "Gelu", "MatMulNBits", "QuickGelu"};
/// Sums of squares stand inside.
const Types kSquaring = {"GroupNormalization", "InstanceNormalization", "LayerNormalization", "ReduceL2"};
/// Would make another number of a small difference.
const Types kWhole = {"Ceil", "Floor", "Mod", "Range", "Round"};
const Types kTurning = {"Cos", "Sin", "Tan"};
/// Gives no value as it stands: what is wanted of its input is wanted of what makes that.
const Types kDividing = {"Div", "Log", "Pow", "Reciprocal", "Sqrt"};

bool in(const Types& types, const Node& node) {
  return node.domain.empty() && types.contains(node.op_type);
}

bool takes_half(const Node& node) {
  return in(kHalfTypes, node) || (node.domain == "com.microsoft" && kMicrosoftTypes.contains(node.op_type));
}

/// Inputs that stay float32 beside data of float16.
bool stays_float(const Node& node, size_t input) {
  return (node.is("Resize") && input > 0) || (node.is("Upsample") && input > 0) || (node.is("Dropout") && input > 0);
}

float largest_of(const Tensor& tensor) {
  float largest = 0;
  const Tensor aligned = tensor.aligned();
  for (const float x : aligned.data<float>()) largest = std::isnan(x) ? HUGE_VALF : std::max(largest, std::fabs(x));
  return largest;
}

bool has_weights(const Graph& graph, const Node& node) {
  const bool multiplies = node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul") ||
                          node.op_type == "MatMulNBits";
  return multiplies && node.inputs.size() > 1 && graph.initializer(node.inputs[1]) != nullptr;
}

bool has_bodies(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& entry) {
    return std::holds_alternative<std::shared_ptr<const Graph>>(entry.second) ||
           std::holds_alternative<std::vector<std::shared_ptr<const Graph>>>(entry.second);
  });
}

class Chooser {
 public:
  Chooser(const Model& model, const SeenValues& seen)
      : graph_(model.graph), uses_(graph_), seen_(seen), reasons_(graph_.nodes().size()) {}

  std::vector<FloatNode> choose() {
    for (size_t k = 0; k < graph_.nodes().size(); ++k) judge(k);
    std::vector<FloatNode> list;
    for (size_t k = 0; k < reasons_.size(); ++k)
      if (!reasons_[k].empty()) list.push_back({graph_.nodes()[k].id, reasons_[k]});
    return list;
  }

 private:
  DType type_of(ValueId id) const { return seen_.types[static_cast<size_t>(id.index)]; }
  bool is_float(ValueId id) const { return id.valid() && type_of(id) == DType::kFloat32; }
  bool is_unknown(ValueId id) const { return id.valid() && type_of(id) == DType::kUndefined; }

  /// The greatest magnitude, of a constant or in the samples; 0 where it is not known.
  float largest(ValueId id) const {
    if (!is_float(id)) return 0;
    if (const Tensor* constant = graph_.initializer(id))
      return constant->dtype() == DType::kFloat32 ? largest_of(*constant) : 0;
    if (!seen_.largest) return 0;
    const auto found = seen_.largest->find(graph_.name_of(id));
    return found == seen_.largest->end() ? 0 : found->second;
  }

  void keep(size_t k, std::string reason) {
    if (reasons_[k].empty()) reasons_[k] = std::move(reason);
  }

  void judge(size_t k) {
    const Node& node = graph_.nodes()[k];
    std::vector<ValueId> all = uses_.reads(k);
    all.insert(all.end(), node.outputs.begin(), node.outputs.end());
    const bool unknown = std::any_of(all.begin(), all.end(), [&](ValueId id) { return is_unknown(id); });
    if (!unknown && std::none_of(all.begin(), all.end(), [&](ValueId id) { return is_float(id); })) return;
    if (has_bodies(node)) return keep(k, "its bodies are in float32");
    if (!takes_half(node)) return keep(k, "float16 is not computed by this operator");
    if (unknown) return keep(k, "the types of its values are not known before the model runs");
    if (node.outputs.size() > 1 && (node.is("LayerNormalization") || node.is("BatchNormalization")))
      return keep(k, "its further outputs are float32");
    judge_values(k, node);
    judge_constants(k, node);
    judge_exactness(k, node);
  }

  void judge_values(size_t k, const Node& node) {
    const bool squares = in(kSquaring, node);
    const auto judge_one = [&](ValueId id, bool is_squared) {
      if (!is_float(id) || graph_.initializer(id) != nullptr) return;
      const float seen = largest(id), reach = is_squared ? seen * seen : seen;
      if (reach > kLargest / kRoom)
        keep(k, (is_squared ? "its squares reach " : "its values reach ") + formatted("%.2g", reach) +
                    ", and float16 ends at 65504");
      else if (seen > 0 && seen < kSmallestNormal)
        keep(k, "its values stay below " + formatted("%.2g", seen) + ", where float16 has few digits");
    };
    for (size_t i = 0; i < node.inputs.size(); ++i) judge_one(node.inputs[i], squares && i == 0);
    for (const ValueId id : node.outputs) judge_one(id, false);
  }

  void judge_constants(size_t k, const Node& node) {
    for (const ValueId id : node.inputs) {
      const Tensor* constant = id.valid() ? graph_.initializer(id) : nullptr;
      if (constant == nullptr || !is_float(id)) continue;
      const float reach = largest(id);
      if (reach > 0 && reach < kSmallestNormal) {
        keep(k, "its constant " + formatted("%.2g", reach) + " is below float16's normal numbers");
        for (const ValueId output : node.outputs)
          for (const size_t reader : uses_.reader_indices(output))
            if (in(kDividing, graph_.nodes()[reader])) keep(reader, "it divides by a sum with such a constant");
      } else if (reach > kLargest && (has_weights(graph_, node) || node.is("Div") || node.is("Pow"))) {
        keep(k, "its constant " + formatted("%.2g", reach) + " is beyond float16");
      }
    }
  }

  /// Positions and angles need more digits than float16 has.
  void judge_exactness(size_t k, const Node& node) {
    const bool turns = in(kTurning, node);
    const bool to_whole = node.is("Cast") && is_float(node.inputs[0]) && !is_float(node.outputs[0]);
    if (!turns && !to_whole && !in(kWhole, node)) return;
    if (turns && seen_.largest && largest(node.inputs[0]) <= kLargestAngle) return;
    keep(k, turns ? "its angles need more digits" : "its whole numbers need more digits");
    keep_makers(node.inputs[0]);
  }

  /// What makes the value from inputs and constants, up to kernels with weights.
  void keep_makers(ValueId id) {
    const auto maker = id.valid() ? uses_.producer_index(id) : std::nullopt;
    if (!maker || !reasons_[*maker].empty() || has_weights(graph_, graph_.nodes()[*maker])) return;
    keep(*maker, "it makes positions or angles, which need more digits");
    for (const ValueId input : graph_.nodes()[*maker].inputs)
      if (is_float(input)) keep_makers(input);
  }

  const Graph& graph_;
  const Uses uses_;
  const SeenValues& seen_;
  std::vector<std::string> reasons_;  // by index of the node; empty: float16
};

/// A number that float16 holds. What is beyond its ends only has to be far from everything else, with room for sums.
float within_half(float x) {
  return std::fabs(x) > kLargest ? std::copysign(0x1p15f, x) : x;
}

/// Every number as the nearest of float16.
Tensor rounded(const Tensor& tensor) {
  Tensor result = Tensor::make(DType::kFloat32, tensor.shape());
  const Tensor aligned = tensor.aligned();
  const auto from = aligned.data<float>();
  const auto to = result.mutable_data<float>();
  for (size_t k = 0; k < to.size(); ++k) to[k] = float_from_half(half_from_float(within_half(from[k])));
  return result;
}

Tensor narrowed(const Tensor& tensor) {
  Tensor result = Tensor::make(DType::kFloat16, tensor.shape());
  const Tensor aligned = tensor.aligned();
  const auto from = aligned.data<float>();
  const auto to = result.mutable_bytes();
  for (size_t k = 0; k < from.size(); ++k) {
    const uint16_t bits = half_from_float(within_half(from[k]));
    to[2 * k] = static_cast<std::byte>(bits & 255);
    to[2 * k + 1] = static_cast<std::byte>(bits >> 8);
  }
  return result;
}

enum class Form { kFile, kRounded };

class Halver {
 public:
  Halver(Model model, const SeenValues& seen, const std::vector<FloatNode>& in_float32, Form form)
      : model_(std::move(model)), seen_(seen), form_(form), uses_(graph()) {
    for (const FloatNode& one : in_float32) in_float32_.insert(one.node);
    for (const Node& node : graph().nodes()) is_half_.push_back(takes_half(node) && !in_float32_.contains(node.id));
    find_float_readers();
  }

  Model halve() {
    std::vector<Node> nodes = std::move(graph().nodes());
    graph().nodes().clear();
    for (size_t k = 0; k < nodes.size(); ++k) {
      Node& node = nodes[k];
      if (!is_half_[k]) {
        if (!takes_half(node))
          for (ValueId& input : node.inputs)
            if (is_stored_in_half(input)) input = widened(input);
        graph().nodes().push_back(std::move(node));
        continue;
      }
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (is_float(node.inputs[i]) && !stays_float(node, i)) node.inputs[i] = in_half(node.inputs[i]);
      std::vector<ValueId> made;
      for (ValueId& output : node.outputs) {
        if (!is_float(output)) continue;
        made.push_back(output);
        output = result_of(output);
        if (node.is("Cast")) node.attributes["to"] = static_cast<int64_t>(graph().value(output).dtype);
      }
      graph().nodes().push_back(std::move(node));
      for (const ValueId value : made) finish(value);
    }
    graph().erase_unused_initializers();
    return std::move(model_);
  }

 private:
  Graph& graph() { return model_.graph; }
  bool is_float(ValueId id) const {
    return id.valid() && static_cast<size_t>(id.index) < seen_.types.size() &&
           seen_.types[static_cast<size_t>(id.index)] == DType::kFloat32;
  }

  /// Values that a node in float32, a body or a caller reads.
  void find_float_readers() {
    for (const ValueId id : graph().outputs) read_in_float_.insert(id);
    for (size_t k = 0; k < graph().nodes().size(); ++k) {
      const Node& node = graph().nodes()[k];
      if (!is_half_[k])
        for (const ValueId id : uses_.reads(k)) read_in_float_.insert(id);
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (stays_float(node, i)) read_in_float_.insert(node.inputs[i]);
    }
  }

  ValueId new_value(ValueId like, const char* suffix, DType dtype) {
    const ValueId made = graph().add_unique_value(graph().name_of(like) + suffix, dtype);
    graph().value(made).shape = graph().value(like).shape;
    return made;
  }

  void cast(ValueId from, ValueId to, DType type) {
    Node node;
    node.op_type = "Cast";
    node.name = graph().name_of(to) + "_Cast";
    node.inputs = {from};
    node.outputs = {to};
    node.attributes["to"] = static_cast<int64_t>(type);
    graph().append(std::move(node));
  }

  /// The value as nodes in float16 read it.
  ValueId in_half(ValueId value) {
    const auto [found, is_new] = halves_.try_emplace(value, value);
    if (!is_new) return found->second;
    if (const Tensor* constant = graph().initializer(value)) {
      Tensor half = form_ == Form::kFile ? narrowed(*constant) : rounded(*constant);
      if (read_in_float_.contains(value)) {
        found->second = graph().add_initializer(graph().name_of(value) + "_float16", std::move(half));
      } else {
        graph().value(value).dtype = half.dtype();
        graph().set_initializer(value, std::move(half));
      }
      return found->second;
    }
    const ValueId half = new_value(value, "_float16", DType::kFloat16);
    cast(value, half, DType::kFloat16);
    found->second = half;
    if (form_ == Form::kRounded)
      cast(half, found->second = new_value(value, "_rounded", DType::kFloat32), DType::kFloat32);
    return found->second;
  }

  /// Weights, and not the numbers that positions are made of.
  bool is_stored_in_half(ValueId value) {
    const Tensor* constant = is_float(value) ? graph().initializer(value) : nullptr;
    if (constant == nullptr || constant->shape().rank() < 2 || constant->elements() < kFewestStored) return false;
    const float largest = largest_of(*constant);
    return largest >= kSmallestNormal && largest <= kLargest;
  }

  /// The constant in float16, cast back: a runtime does that once, when it opens the file.
  ValueId widened(ValueId value) {
    const ValueId half = in_half(value);
    if (form_ == Form::kRounded) return half;
    const auto [found, is_new] = widened_.try_emplace(value, half);
    if (is_new) cast(half, found->second = new_value(value, "_float32", DType::kFloat32), DType::kFloat32);
    return found->second;
  }

  /// What a node in float16 makes in the place of the value.
  ValueId result_of(ValueId value) {
    if (form_ == Form::kRounded) return exact_[value] = new_value(value, "_exact", DType::kFloat32);
    if (read_in_float_.contains(value)) return halves_[value] = new_value(value, "_float16", DType::kFloat16);
    graph().value(value).dtype = DType::kFloat16;
    return halves_[value] = value;
  }

  /// After the node: the value in float32, where somebody reads that.
  void finish(ValueId value) {
    if (form_ == Form::kRounded) {
      const ValueId half = new_value(value, "_float16", DType::kFloat16);
      cast(exact_[value], half, DType::kFloat16);
      cast(half, value, DType::kFloat32);
      halves_[value] = value;
    } else if (halves_[value] != value) {
      cast(halves_[value], value, DType::kFloat32);
    }
  }

  Model model_;
  const SeenValues& seen_;
  const Form form_;
  const Uses uses_;
  std::set<NodeId> in_float32_;
  std::vector<bool> is_half_;  // by index of the node
  std::set<ValueId> read_in_float_;
  std::map<ValueId, ValueId> halves_;   // by the value's own id
  std::map<ValueId, ValueId> exact_;    // before they are rounded
  std::map<ValueId, ValueId> widened_;  // constants for operators that have no float16
};

}  // namespace

SeenValues seen_values(const Model& model) {
  SeenValues seen{value_types(model.graph)};
  // Kernels that are no ONNX give their types where shapes are known.
  const cost::ValueTypes types = cost::value_types(model);
  for (size_t k = 0; k < types.size(); ++k)
    if (types[k] && seen.types[k] == DType::kUndefined) seen.types[k] = types[k]->dtype;
  return seen;
}

std::vector<FloatNode> nodes_in_float32(const Model& model, const SeenValues& seen) {
  return Chooser(model, seen).choose();
}

Model with_half_floats(Model model, const SeenValues& seen, const std::vector<FloatNode>& in_float32) {
  return Halver(std::move(model), seen, in_float32, Form::kFile).halve();
}

Model rounded_to_half(Model model, const SeenValues& seen, const std::vector<FloatNode>& in_float32) {
  return Halver(std::move(model), seen, in_float32, Form::kRounded).halve();
}

}  // namespace tersor::half
