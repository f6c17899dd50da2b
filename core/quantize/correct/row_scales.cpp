// SPDX-License-Identifier: Apache-2.0
#include "core/correct/row_scales.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/correct/append_node.h"

namespace tersor::ptq {

double mean_square_of_reach(const quant::Histogram& of, double centre, RowScale scale, size_t length) {
  std::vector<std::pair<double, uint64_t>> reaches;  // how far the values of a bin reach, and how many they are
  for (size_t i = 0; i < of.counts().size(); ++i) {
    if (of.counts()[i] == 0) continue;
    const double above = std::min<double>(of.lower(i) + of.bin_width(), of.max()) - centre;
    const double below = centre - std::max<double>(of.lower(i), of.min());
    reaches.emplace_back(scale == RowScale::kTwoSided ? std::max(above, below) : std::max(above, 0.0), of.counts()[i]);
  }
  std::sort(reaches.rbegin(), reaches.rend());
  if (reaches.empty() || !(reaches[0].first > 0)) return 1;
  double sum = 0, before = 0;
  uint64_t counted = 0;
  for (const auto& [reach, count] : reaches) {
    counted += count;
    const double farther =
        std::min(1.0, static_cast<double>(length) * static_cast<double>(counted) / static_cast<double>(of.total()));
    const double part = reach / reaches[0].first;
    sum += part * part * (farther - before);
    before = farther;
  }
  return sum;
}

ValueId divide_rows(Model& model, ValueId x, ValueId rows, RowScale scale, double most, std::vector<NodeId>& inserted) {
  constexpr int64_t kAxesAreInputs = 18;
  Graph& graph = model.graph;
  const std::string stem = graph.name_of(rows);
  const auto value = [&](const char* end) { return graph.add_unique_value(stem + end, DType::kFloat32); };
  ValueId reach = x;
  if (scale == RowScale::kTwoSided) {
    reach = value("_abs");
    inserted.push_back(append_node(graph, "Abs", {x}, reach));
  }
  const ValueId largest = value("_largest"), r = value("_row");
  const std::vector<int64_t> last{-1};
  std::vector<ValueId> inputs{reach};
  Attributes attributes;
  attributes["keepdims"] = int64_t{1};
  if (model.opset() >= kAxesAreInputs)
    inputs.push_back(graph.add_initializer(stem + "_axes", Tensor::of<int64_t>(Shape{1}, last)));
  else
    attributes["axes"] = last;
  inserted.push_back(append_node(graph, "ReduceMax", std::move(inputs), largest, std::move(attributes)));
  const auto least = static_cast<float>(std::ldexp(most, -20));
  inserted.push_back(
      append_node(graph, "Max", {largest, graph.add_initializer(stem + "_least", Tensor::scalar(least))}, r));
  inserted.push_back(append_node(graph, "Div", {x, r}, rows));
  return r;
}

void multiply_rows(Graph& graph, size_t index, ValueId r, std::vector<NodeId>& inserted) {
  const ValueId output = graph.nodes()[index].outputs[0];
  const ValueId product = graph.add_unique_value(graph.name_of(output) + "_by_row", DType::kFloat32);
  graph.value(product).shape = graph.value(output).shape;
  graph.nodes()[index].outputs[0] = product;
  inserted.push_back(append_node(graph, "Mul", {product, r}, output));
}

}  // namespace tersor::ptq
