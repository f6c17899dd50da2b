// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/convert_opset.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/graph/subgraphs.h"
#include "core/graph/validate.h"
#include "core/onnx/format.h"
#include "core/onnx/rewriter.h"

namespace tersor::onnx {

namespace {

constexpr int64_t kOldestTarget = 7;

// Ascending by version: a node goes through all that lie between the model's opset and the target.
constexpr Rule kRules[] = {
    {2, "GlobalLpPool", whole_p_2},
    {2, "LpPool", whole_p_2},
    {2, "Pad", pad_2},
    {2, "Split", split_2},
    {4, "Concat", concat_4},
    {5, "Reshape", reshape_5},
    {6, "Cast", cast_6},
    {6, "Selu", selu_6},
    {6, "Tile", tile_6},
    {7, "Add", broadcast_7},
    {7, "And", broadcast_7},
    {7, "BatchNormalization", inference_7},
    {7, "Div", broadcast_7},
    {7, "Dropout", inference_7},
    {7, "Equal", broadcast_7},
    {7, "GRU", recurrent_7},
    {7, "Gemm", gemm_7},
    {7, "Greater", broadcast_7},
    {7, "LSTM", recurrent_7},
    {7, "Less", broadcast_7},
    {7, "Mul", broadcast_7},
    {7, "Or", broadcast_7},
    {7, "PRelu", prelu_7},
    {7, "Pow", broadcast_7},
    {7, "RNN", recurrent_7},
    {7, "Sub", broadcast_7},
    {7, "Upsample", upsample_7},
    {7, "Xor", broadcast_7},
    {9, "BatchNormalization", batch_normalization_9},
    {9, "Scan", scan_9},
    {9, "Upsample", upsample_9},
    {10, "Dropout", dropout_10},
    {10, "Slice", slice_10},
    {10, "TopK", top_k_10},
    {10, "Upsample", upsample_10},
    {11, "Clip", clip_11},
    {11, "Pad", pad_11},
    {11, "Resize", resize_11},
    {11, "Scatter", scatter_11},
    {12, "Dropout", dropout_12},
    {13, "Hardmax", softmax_13},
    {13, "LogSoftmax", softmax_13},
    {13, "ReduceSum", axes_13},
    {13, "Resize", resize_13},
    {13, "Softmax", softmax_13},
    {13, "Split", split_13},
    {13, "Squeeze", axes_13},
    {13, "Unsqueeze", axes_13},
    {16, "RoiAlign", roi_align_16},
    {18, "ReduceL1", axes_13},
    {18, "ReduceL2", axes_13},
    {18, "ReduceLogSum", axes_13},
    {18, "ReduceLogSumExp", axes_13},
    {18, "ReduceMax", axes_13},
    {18, "ReduceMean", axes_13},
    {18, "ReduceMin", axes_13},
    {18, "ReduceProd", axes_13},
    {18, "ReduceSumSquare", axes_13},
    {18, "Split", split_18},
    {20, "DFT", dft_20},
    {20, "GridSample", grid_sample_20},
    {21, "GroupNormalization", group_normalization_21},
};

void collect_names(const Graph& graph, std::set<std::string>& names) {
  for (size_t k = 0; k < graph.value_count(); ++k) names.insert(graph.name_of(ValueId{static_cast<int32_t>(k)}));
  for (const Node& node : graph.nodes())
    for_each_subgraph(node, [&](const Graph& inner) { collect_names(inner, names); });
}

class Converter {
 public:
  Converter(Model& model, int64_t target) : model_(model), from_(model.opset()), target_(target) {
    collect_names(model.graph, names_);
  }

  void convert(Graph& graph, const std::string& place) {
    facts_.enter(graph);
    std::vector<Node> nodes = std::move(graph.nodes());
    graph.nodes().clear();
    for (size_t i = 0; i < nodes.size(); ++i) {
      Node& node = nodes[i];
      const std::string where = place + place_of(node, i).substr(std::string("graph").size());
      facts_.pass(graph, node);
      convert_subgraphs(node, where);
      Rewriter rewriter(graph, target_, facts_, names_, model_.warnings);
      rewriter.place = where;
      if (node.domain.empty()) apply_rules(rewriter, node);
      for (Node& one : rewriter.before) graph.append(std::move(one));
      graph.nodes().push_back(std::move(node));
      for (Node& one : rewriter.after) graph.append(std::move(one));
    }
  }

 private:
  void apply_rules(Rewriter& rewriter, Node& node) const {
    // Which inputs an operator of the first sets might overwrite.
    if (from_ < 6) node.attributes.erase("consumed_inputs");
    for (const Rule& rule : kRules)
      if (rule.version > from_ && rule.version <= target_ && node.op_type == rule.op) rule.apply(rewriter, node);
  }

  std::shared_ptr<const Graph> converted(const std::shared_ptr<const Graph>& graph, const std::string& place) {
    auto copy = std::make_shared<Graph>(*graph);
    convert(*copy, place);
    return copy;
  }

  void convert_subgraphs(Node& node, const std::string& where) {
    for (auto& [key, attribute] : node.attributes) {
      if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) *one = converted(*one, where + "." + key);
      if (auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
        for (size_t k = 0; k < many->size(); ++k)
          (*many)[k] = converted((*many)[k], where + "." + key + "[" + std::to_string(k) + "]");
    }
  }

  Model& model_;
  int64_t from_;
  int64_t target_;
  Facts facts_;
  std::set<std::string> names_;
};

}  // namespace

int64_t ir_version_for(int64_t opset) {
  constexpr std::array<int64_t, 13> kFrom9 = {4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 9, 9, 10};
  return kFrom9[static_cast<size_t>(std::clamp<int64_t>(opset, 9, 21) - 9)];
}

bool convert_to_opset(Model& model, int64_t target) {
  if (target < kOldestTarget || target > kNewestTarget)
    throw Error(ErrorCode::kInvalidArgument, "Models can be raised to opset " + std::to_string(kOldestTarget) + " to " +
                                                 std::to_string(kNewestTarget) + ", not to " + std::to_string(target) +
                                                 ".");
  const int64_t from = model.opset();
  if (from == 0 || from >= target) return false;
  Graph graph = model.graph;  // so that the model stays whole when a node cannot be converted
  Converter(model, target).convert(graph, "graph");
  model.graph = std::move(graph);
  for (OpsetImport& import : model.opset_imports)
    if (import.domain.empty()) import.version = target;
  model.ir_version = std::max(model.ir_version, ir_version_for(target));
  validate(model);
  return true;
}

}  // namespace tersor::onnx
