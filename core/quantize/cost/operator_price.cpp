// SPDX-License-Identifier: Apache-2.0
#include "core/cost/operator_price.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/graph/folded_values.h"
#include "core/graph/operators.h"

namespace tersor::cost {

namespace {

template <size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& types) {
  return std::find(types.begin(), types.end(), node.op_type) != types.end();
}

/// The runtime gives the same bytes another shape.
bool is_view(const Node& node) {
  return has_trait(node, Trait::kView);
}

/// A Transpose has a price of its own.
bool copies(const Node& node) {
  return (has_trait(node, kMoves) && !is_view(node) && !node.is("Transpose")) || node.is("Concat") || node.is("Pad") ||
         node.op_type == "QLinearConcat";
}

bool is_conv(const Node& node) {
  return node.op_type == "Conv" || node.op_type == "QLinearConv" || node.op_type == "ConvTranspose";
}

bool is_product(const Node& node) {
  static constexpr std::array<std::string_view, 5> kProducts{"Gemm", "MatMul", "QGemm", "QLinearMatMul",
                                                             "MatMulIntegerToFloat"};
  return is_one_of(node, kProducts);
}

constexpr double kBytesOfFloat = 4;

/// The operator that stands for those of which nobody has measured a price.
std::string_view nearest(const Node& node) {
  if (has_trait(node, Trait::kReduces) || node.op_type == "LayerNormalization") return "ReduceMean";
  if (node.op_type == "Gelu" || node.op_type == "Pow") return "Erf";
  if (node.op_type == "Elu" || node.op_type == "Selu" || node.op_type == "Celu") return "Exp";
  if (node.op_type == "PRelu") return "LeakyRelu";
  if (node.op_type == "GlobalMaxPool") return "GlobalAveragePool";
  static constexpr std::array<std::string_view, 12> kCircular{"Cos",  "Tan",   "Asin",  "Acos",  "Atan", "Sinh",
                                                              "Cosh", "Asinh", "Acosh", "Atanh", "Sin",  "Mod"};
  if (is_one_of(node, kCircular)) return "Sin";
  return node.inputs.size() > 1 ? "Add" : "Neg";
}

}  // namespace

OperatorPrices::OperatorPrices(const tpc::PriceList& prices, const Graph& graph, const ValueTypes& types)
    : prices_(prices), graph_(graph), types_(types), folded_(folded_values(graph)) {
  for (const Node& node : graph.nodes()) {
    const ValueId weight = weight_of(node);
    const Shape* shape = constant_shape(weight);
    if (shape == nullptr || !(is_conv(node) || is_product(node))) continue;
    const Tensor* stored = graph.initializer(weight);
    const bool narrow = stored != nullptr && bits_of(stored->dtype()) <= 8;
    weight_bytes_ += static_cast<double>(shape->elements()) * (narrow ? 1 : kBytesOfFloat);
  }
}

const Shape* OperatorPrices::constant_shape(ValueId value) const {
  if (!value.valid()) return nullptr;
  if (const Tensor* constant = graph_.initializer(value)) return &constant->shape();
  const auto index = static_cast<size_t>(value.index);
  return folded_[index] && index < types_.size() && types_[index] ? &types_[index]->shape : nullptr;
}

const Shape* OperatorPrices::conv_weight_shape(const Node& node) const {
  const ValueId weight = weight_of(node);
  if (const Shape* constant = constant_shape(weight)) return constant;
  const auto index = static_cast<size_t>(weight.index);
  return weight.valid() && index < types_.size() && types_[index] ? &types_[index]->shape : nullptr;
}

double OperatorPrices::elements(ValueId value) const {
  const auto index = static_cast<size_t>(value.index);
  if (!value.valid() || index >= types_.size() || !types_[index] || folded_[index]) return 0;
  return static_cast<double>(types_[index]->shape.elements());
}

int OperatorPrices::rank(ValueId value) const {
  const auto index = static_cast<size_t>(value.index);
  return value.valid() && index < types_.size() && types_[index] ? static_cast<int>(types_[index]->shape.rank()) : 0;
}

bool OperatorPrices::is_picture(ValueId value) const {
  if (rank(value) != 4) return false;
  const Shape& shape = types_[static_cast<size_t>(value.index)]->shape;
  return shape[1] > 1 && shape[2] * shape[3] > 1;
}

ValueId OperatorPrices::weight_of(const Node& node) const {
  const bool is_linear = node.op_type == "QLinearConv" || node.op_type == "QGemm" || node.op_type == "QLinearMatMul";
  const size_t place = is_linear ? 3 : 1;
  return place < node.inputs.size() ? node.inputs[place] : ValueId{};
}

std::string OperatorPrices::kind_of_conv(const Node& node) const {
  const Shape* weight = conv_weight_shape(node);
  const int64_t groups = node.int_or("group", 1);
  if (weight == nullptr || weight->rank() < 3) return "dense";
  int64_t places = 1;
  for (int axis = 2; axis < weight->rank(); ++axis) places *= (*weight)[axis];
  if (groups > 1 && (*weight)[1] == 1) return "depthwise";
  return places == 1 && groups == 1 ? "pointwise" : "dense";
}

std::string OperatorPrices::name_of_conv(const Node& node, const std::string& type) const {
  if (type == "ConvTranspose") return prices_.find(type) != nullptr ? type : "Conv/dense";
  const std::string name = type + "/" + kind_of_conv(node), exact = name + std::string(form_of_conv(node));
  return prices_.find(exact) != nullptr ? exact : name;
}

std::string_view OperatorPrices::form_of_conv(const Node& node) const {
  const Shape* weight = conv_weight_shape(node);
  if (weight != nullptr && weight->rank() == 3) return "/line";
  const auto steps = node.ints_or("dilations", {});
  const bool dilated = std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; });
  return dilated && kind_of_conv(node) != "pointwise" ? "/dilated" : "";
}

std::string OperatorPrices::guessed(const Node& node) const {
  if (node.op_type == "ConvTranspose") return prices_.find("ConvTranspose") == nullptr ? "ConvTranspose" : "";
  if (is_conv(node)) {
    const std::string_view form = form_of_conv(node);
    const bool known = name_of_conv(node, node.op_type).ends_with(form);
    return known ? "" : form == "/line" ? "Conv along one axis" : "Conv with dilations";
  }
  constexpr Trait kLikeOthers =
      kMoves | Trait::kActivation | Trait::kFunction | Trait::kArithmetic | Trait::kReduces | Trait::kRecurrent;
  if (has_trait(node, kLikeOthers) || is_product(node) || copies(node) || is_view(node)) return "";
  const std::string_view like = nearest(node);
  const bool known = prices_.find(node.op_type) != nullptr || (like != "Add" && like != "Neg") ||
                     node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear";
  return known ? "" : node.op_type;
}

Work OperatorPrices::work_of(const Node& node, double bytes) const {
  Work work;
  for (const ValueId id : node.inputs) work.inputs += elements(id);
  for (const ValueId id : node.outputs) work.outputs += elements(id);
  const Shape* weight = is_conv(node) ? conv_weight_shape(node) : constant_shape(weight_of(node));
  if (is_conv(node) && weight != nullptr) {
    const Shape& shape = *weight;
    const auto count = static_cast<double>(shape.elements());
    const bool transposed = node.op_type == "ConvTranspose";
    work.weights = count;
    work.products = (transposed ? elements(node.inputs[0]) : work.outputs) * count /
                    static_cast<double>(std::max<int64_t>(1, shape[0]));
    // Each group gathers what it reads.
    const double wide =
        transposed ? 1
                   : static_cast<double>(shape[0]) / static_cast<double>(std::max<int64_t>(1, node.int_or("group", 1)));
    work.columns = work.products / std::max(1.0, wide);
    const auto channels = std::max<int64_t>(1, transposed ? shape[1] : shape[0]);
    work.places = work.outputs / static_cast<double>(channels);
    work.tails = work.products * static_cast<double>(channels % 16) / static_cast<double>(channels);
  } else if (is_product(node)) {
    const auto index = static_cast<size_t>(node.inputs[0].index);
    const bool known = index < types_.size() && types_[index] && types_[index]->shape.rank() > 0;
    const double deep = known ? static_cast<double>(types_[index]->shape[types_[index]->shape.rank() - 1]) : 0;
    work.products = work.outputs * deep;
    if (weight != nullptr) work.weights = static_cast<double>(weight->elements());
  } else if (has_trait(node, Trait::kRecurrent)) {
    const auto index = static_cast<size_t>(node.inputs[0].index);
    const bool known = index < types_.size() && types_[index] && types_[index]->shape.rank() == 3;
    const double steps = known ? static_cast<double>(types_[index]->shape[0] * types_[index]->shape[1]) : 1;
    for (size_t k = 1; k < 3 && k < node.inputs.size(); ++k)
      if (const Shape* one = constant_shape(node.inputs[k]))
        work.products += steps * static_cast<double>(one->elements());
  } else {
    double window = 1;
    for (const int64_t side : node.ints_or("kernel_shape", {})) window *= static_cast<double>(side);
    work.columns = work.outputs * window;
  }
  if (bytes > prices_.cache_bytes) work.cold_weights = work.weights;
  return work;
}

std::string OperatorPrices::name_of(const Node& node) const {
  if (is_conv(node)) return name_of_conv(node, node.op_type);
  if (has_trait(node, Trait::kRecurrent)) return "LSTM";
  const auto index = node.outputs.empty() ? 0 : static_cast<size_t>(node.outputs[0].index);
  const bool is_integer = index < types_.size() && types_[index] && bits_of(types_[index]->dtype) == 8;
  std::string name = copies(node) ? "copies" : node.op_type;
  if (is_integer && prices_.find(name + "/integer") != nullptr) return name + "/integer";
  if (prices_.find(name) != nullptr) return name;
  if (is_integer) return "copies/integer";
  const std::string_view like = nearest(node);
  return std::string(like == "Sin" && prices_.find("Sin") == nullptr ? "Log" : like);
}

double OperatorPrices::priced(const std::string& name, const Work& work) const {
  const tpc::Price* price = prices_.find(name);
  if (price == nullptr) return 0;
  const double working = price->node + price->input * work.inputs + price->output * work.outputs +
                         price->product * work.products + price->column * work.columns + price->weight * work.weights +
                         price->place * work.places + price->tail * work.tails;
  return std::max(working, price->cold * work.cold_weights);
}

double OperatorPrices::of(const Node& node) const {
  if (is_view(node)) return priced("copies", {});
  if (node.op_type == "QuantizeLinear") return quantizing(node.outputs[0]);
  if (node.op_type == "DequantizeLinear") {
    const Tensor* constant = graph_.initializer(node.inputs[0]);
    return constant != nullptr ? restoring(static_cast<double>(constant->shape().elements()))
                               : dequantizing(node.outputs[0]);
  }
  return priced(name_of(node), work_of(node, weight_bytes_));
}

double OperatorPrices::in_integers(const Node& node) const {
  if (is_view(node)) return priced("copies/integer", {});
  const Work work = work_of(node, weight_bytes_ / kBytesOfFloat);
  if (node.op_type == "Conv") return priced(name_of_conv(node, "QLinearConv"), work);
  if (node.op_type == "Gemm") return priced("QGemm", work);
  if (node.op_type == "MatMul") return priced("QLinearMatMul", work);
  if (prices_.find("QLinear" + node.op_type) != nullptr) return priced("QLinear" + node.op_type, work);
  if (prices_.find(node.op_type + "/integer") != nullptr) return priced(node.op_type + "/integer", work);
  return priced("copies/integer", work);
}

double OperatorPrices::quantizing(ValueId value) const {
  Work work;
  work.outputs = elements(value);
  return priced("quantizers", work) / 2;
}

double OperatorPrices::dequantizing(ValueId value) const {
  return quantizing(value);
}

double OperatorPrices::quantizing_before(const Node& node) const {
  return node.op_type == "MaxPool" ? priced("MaxPool/plain", work_of(node, 0)) : 0;
}

double OperatorPrices::turning(ValueId value, bool is_integer) const {
  Work work;
  work.outputs = elements(value);
  return is_picture(value) ? priced(is_integer ? "Transpose/integer" : "Transpose", work) : 0;
}

double OperatorPrices::restoring(double elements) const {
  Work work;
  work.weights = elements;
  return priced("stored", work);
}

}  // namespace tersor::cost
