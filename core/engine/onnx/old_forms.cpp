// SPDX-License-Identifier: Apache-2.0
// Operators as they were before opset 7: broadcasting by attribute, flags of training, attributes that became inputs.
#include <array>
#include <string_view>

#include "core/onnx/rewriter.h"

namespace tersor::onnx {

namespace {

DType type_of_word(const Rewriter& rewriter, std::string_view word) {
  constexpr std::array<std::pair<std::string_view, DType>, 12> kWords = {{{"FLOAT", DType::kFloat32},
                                                                          {"UINT8", DType::kUint8},
                                                                          {"INT8", DType::kInt8},
                                                                          {"UINT16", DType::kUint16},
                                                                          {"INT16", DType::kInt16},
                                                                          {"INT32", DType::kInt32},
                                                                          {"INT64", DType::kInt64},
                                                                          {"BOOL", DType::kBool},
                                                                          {"FLOAT16", DType::kFloat16},
                                                                          {"DOUBLE", DType::kFloat64},
                                                                          {"UINT32", DType::kUint32},
                                                                          {"UINT64", DType::kUint64}}};
  for (const auto& [name, dtype] : kWords)
    if (name == word) return dtype;
  rewriter.refuse("Cast to \"" + std::string(word) + "\" has no equal since opset 6.");
}

/// Input 1 with ones after its dimensions, so that numpy's rule lays it where `axis` did.
void align_second(Rewriter& rewriter, Node& node, int64_t axis) {
  const auto a = rewriter.input(node, 0).dims, b = rewriter.input(node, 1).dims;
  if (!a || !b) rewriter.refuse(node.op_type + " broadcasts along an axis, and the ranks of its inputs are not known.");
  const auto rank = static_cast<int64_t>(a->size()), own = static_cast<int64_t>(b->size());
  if (axis < 0) axis += rank;
  const int64_t after = rank - axis - own;
  if (axis < 0 || after < 0) rewriter.refuse(node.op_type + " has an axis that its inputs do not have.");
  if (after == 0) return;
  std::vector<int64_t> shape(static_cast<size_t>(own), 0);
  shape.resize(static_cast<size_t>(own + after), 1);
  const ValueId aligned = rewriter.value(node, "aligned");
  rewriter.before.push_back(rewriter.make(node, "align", "Reshape",
                                          {node.inputs[1], rewriter.int64s(node, "aligned_shape", shape)}, {aligned}));
  node.inputs[1] = aligned;
}

}  // namespace

void pad_2(Rewriter&, Node& node) {
  if (const auto* pads = node.attribute<std::vector<int64_t>>("paddings")) node.attributes["pads"] = Attribute(*pads);
  node.attributes.erase("paddings");
}

/// The sizes could be an input.
void split_2(Rewriter& rewriter, Node& node) {
  if (node.inputs.size() < 2) return;
  const Fact sizes = rewriter.input(node, 1);
  if (!sizes.constant) rewriter.refuse("Split with computed sizes has no equal between opset 2 and 13.");
  std::vector<int64_t> values;
  for (const double one : sizes.constant->to_doubles()) values.push_back(static_cast<int64_t>(one));
  node.attributes["split"] = values;
  node.inputs.resize(1);
}

/// LpPool, GlobalLpPool
void whole_p_2(Rewriter&, Node& node) {
  if (!node.holds<float>("p")) return;
  const auto p = static_cast<int64_t>(node.float_or("p", 2));
  node.attributes["p"] = p;
}

void concat_4(Rewriter&, Node& node) {
  node.attributes.emplace("axis", int64_t{1});
}

void reshape_5(Rewriter& rewriter, Node& node) {
  const auto* shape = node.attribute<std::vector<int64_t>>("shape");
  if (shape == nullptr) return;
  set_input(node, 1, rewriter.int64s(node, "shape", *shape));
  node.attributes.erase("shape");
}

void cast_6(Rewriter& rewriter, Node& node) {
  if (!node.holds<std::string>("to")) return;
  const DType to = type_of_word(rewriter, node.string_or("to", ""));
  node.attributes["to"] = static_cast<int64_t>(to);
}

/// Its constants got more digits.
void selu_6(Rewriter&, Node& node) {
  node.attributes.emplace("alpha", 1.6732f);
  node.attributes.emplace("gamma", 1.0507f);
}

/// A number of repeats along one axis became one for each.
void tile_6(Rewriter& rewriter, Node& node) {
  const Fact x = rewriter.input(node, 0), tiles = rewriter.input(node, 1), axis = rewriter.input(node, 2);
  if (!x.dims || !tiles.constant || !axis.constant || node.inputs.size() != 3)
    rewriter.refuse("Tile of this operator set needs constant tiles and axis, and an input of known rank.");
  std::vector<int64_t> repeats(x.dims->size(), 1);
  auto at = static_cast<int64_t>(axis.constant->to_doubles()[0]);
  if (at < 0) at += static_cast<int64_t>(repeats.size());
  if (at < 0 || at >= static_cast<int64_t>(repeats.size())) rewriter.refuse("Tile has an axis that its input lacks.");
  repeats[static_cast<size_t>(at)] = static_cast<int64_t>(tiles.constant->to_doubles()[0]);
  node.inputs.resize(1);
  set_input(node, 1, rewriter.int64s(node, "repeats", repeats));
}

void broadcast_7(Rewriter& rewriter, Node& node) {
  const bool broadcasts = node.int_or("broadcast", 0) != 0;
  const bool has_axis = node.attributes.contains("axis");
  const int64_t axis = node.int_or("axis", 0);
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  if (broadcasts && has_axis && node.inputs.size() == 2) align_second(rewriter, node, axis);
}

/// One slope for each channel lay along axis 1.
void prelu_7(Rewriter& rewriter, Node& node) {
  const auto slope = rewriter.input(node, 1).dims;
  if (node.inputs.size() == 2 && slope && slope->size() == 1 && (*slope)[0] != 1) align_second(rewriter, node, 1);
}

/// BatchNormalization, Dropout: a model that is quantized is one that is used.
void inference_7(Rewriter& rewriter, Node& node) {
  const bool trains =
      node.op_type == "BatchNormalization" && node.attributes.contains("is_test") && node.int_or("is_test", 0) == 0;
  if (trains) rewriter.warn("BatchNormalization was in training mode (is_test = 0); it is taken as in inference.");
  node.attributes.erase("is_test");
  if (node.op_type == "BatchNormalization" && node.outputs.size() > 1) node.outputs.resize(1);
}

/// numpy's rule for C.
void gemm_7(Rewriter&, Node& node) {
  node.attributes.erase("broadcast");
}

/// RNN, GRU, LSTM: which outputs are there tells whether the sequence is wanted.
void recurrent_7(Rewriter&, Node& node) {
  node.attributes.erase("output_sequence");
}

void upsample_7(Rewriter&, Node& node) {
  if (!node.holds<float>("height_scale") || !node.holds<float>("width_scale")) return;
  node.attributes["scales"] =
      std::vector<float>{1, 1, node.float_or("height_scale", 1), node.float_or("width_scale", 1)};
  node.attributes.erase("height_scale");
  node.attributes.erase("width_scale");
}

}  // namespace tersor::onnx
