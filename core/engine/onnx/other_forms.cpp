// SPDX-License-Identifier: Apache-2.0
// Operators that changed what they mean.
#include <algorithm>

#include "core/onnx/rewriter.h"

namespace tersor::onnx {

/// spatial = 1 is what BatchNormalization is since opset 9. spatial = 0 normalizes each element by its own statistics,
/// of the shape of one sample: y = (x - mean) / sqrt(var + epsilon) * scale + bias, element by element.
void batch_normalization_9(Rewriter& rewriter, Node& node) {
  const int64_t spatial = node.int_or("spatial", 1);
  node.attributes.erase("spatial");
  if (spatial != 0) return;
  const bool training =
      std::any_of(node.outputs.begin() + 1, node.outputs.end(), [](ValueId id) { return id.valid(); });
  if (node.inputs.size() != 5 || training)
    rewriter.refuse("BatchNormalization with spatial = 0 in training has no equal since opset 9.");
  const ValueId x = node.inputs[0], scale = node.inputs[1], bias = node.inputs[2], mean = node.inputs[3],
                variance = node.inputs[4];
  const ValueId epsilon = rewriter.number(node, "epsilon", node.float_or("epsilon", 1e-5f), rewriter.dtype(node, 0));
  const ValueId centered = rewriter.value(node, "centered"), widened = rewriter.value(node, "widened"),
                deviation = rewriter.value(node, "deviation"), normal = rewriter.value(node, "normal"),
                scaled = rewriter.value(node, "scaled");
  rewriter.before.push_back(rewriter.make(node, "center", "Sub", {x, mean}, {centered}));
  rewriter.before.push_back(rewriter.make(node, "widen", "Add", {variance, epsilon}, {widened}));
  rewriter.before.push_back(rewriter.make(node, "root", "Sqrt", {widened}, {deviation}));
  rewriter.before.push_back(rewriter.make(node, "divide", "Div", {centered, deviation}, {normal}));
  rewriter.before.push_back(rewriter.make(node, "scale", "Mul", {normal, scale}, {scaled}));
  node.op_type = "Add";
  node.attributes = {};
  node.inputs = {scaled, bias};
  node.outputs.resize(1);
}

/// Scan of opset 8 runs over a batch of sequences of their own lengths.
void scan_9(Rewriter& rewriter, Node&) {
  rewriter.refuse("Scan of opset 8 has no equal in newer operator sets.");
}

/// The mask became bool; whoever reads it gets the old type from a Cast.
void dropout_10(Rewriter& rewriter, Node& node) {
  if (node.outputs.size() < 2 || !node.outputs[1].valid()) return;
  const ValueId mask = node.outputs[1], flags = rewriter.value(node, "flags");
  Node cast = rewriter.make(node, "mask", "Cast", {flags}, {mask});
  cast.attributes["to"] = static_cast<int64_t>(rewriter.dtype(node, 0));
  rewriter.after.push_back(std::move(cast));
  node.outputs[1] = flags;
}

void dropout_12(Rewriter& rewriter, Node& node) {
  if (const auto* ratio = node.attribute<float>("ratio"))
    set_input(node, 1, rewriter.number(node, "ratio", *ratio, DType::kFloat32));
  node.attributes.erase("ratio");
}

void scatter_11(Rewriter&, Node& node) {
  node.op_type = "ScatterElements";
}

/// Softmax, LogSoftmax and Hardmax took all dimensions from `axis` on as one; now they take that axis alone.
void softmax_13(Rewriter& rewriter, Node& node) {
  const int64_t given = node.int_or("axis", 1);
  const auto dims = rewriter.input(node, 0).dims;
  int64_t axis = given;
  if (dims) {
    const auto rank = static_cast<int64_t>(dims->size());
    if (axis < 0) axis += rank;
    const bool alone = axis >= 0 && axis < rank &&
                       std::all_of(dims->begin() + axis + 1, dims->end(), [](int64_t dim) { return dim == 1; });
    if (alone) {
      node.attributes["axis"] = axis == rank - 1 ? int64_t{-1} : axis;
      return;
    }
  } else if (given == -1) {
    node.attributes["axis"] = int64_t{-1};
    return;
  }
  if (node.inputs.empty() || node.outputs.empty()) rewriter.refuse(node.op_type + " lacks its input or output.");
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const ValueId shape = rewriter.value(node, "shape"), flat = rewriter.value(node, "flat"),
                result = rewriter.value(node, "flat_result");
  rewriter.before.push_back(rewriter.make(node, "shape", "Shape", {x}, {shape}));
  Node flatten = rewriter.make(node, "flatten", "Flatten", {x}, {flat});
  flatten.attributes["axis"] = axis;
  rewriter.before.push_back(std::move(flatten));
  node.inputs[0] = flat;
  node.outputs[0] = result;
  node.attributes["axis"] = int64_t{-1};
  rewriter.after.push_back(rewriter.make(node, "reshape", "Reshape", {result, shape}, {y}));
}

/// The alignment that was the only one is named now, and no longer the default.
void roi_align_16(Rewriter&, Node& node) {
  node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
}

/// How many parts to split into evenly is said by an attribute.
void split_18(Rewriter&, Node& node) {
  const bool says_sizes = node.inputs.size() > 1 && node.inputs[1].valid();
  if (!says_sizes) node.attributes["num_outputs"] = static_cast<int64_t>(node.outputs.size());
}

void grid_sample_20(Rewriter&, Node& node) {
  const std::string mode = node.string_or("mode", "bilinear");
  if (mode == "bilinear" || mode == "bicubic") node.attributes["mode"] = mode.substr(2);
}

/// Scale and bias were one per group, and are one per channel now.
void group_normalization_21(Rewriter& rewriter, Node&) {
  rewriter.refuse("GroupNormalization of opset 18 has another form from opset 21 on, which is not converted.");
}

}  // namespace tersor::onnx
