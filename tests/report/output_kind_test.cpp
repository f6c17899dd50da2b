// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_kind.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace tersor;
using report::OutputKind;

namespace {

struct Line {
  Graph graph;
  ValueId last;

  Line() : last(graph.add_value("x", DType::kFloat32)) { graph.inputs = {last}; }
  ValueId constant(float value) { return graph.add_initializer("k", Tensor::scalar(value)); }
  ValueId node(const char* type, std::vector<ValueId> inputs, DType dtype = DType::kFloat32) {
    Node node;
    node.op_type = type;
    node.inputs = std::move(inputs);
    last = graph.add_unique_value("v", dtype);
    node.outputs = {last};
    graph.append(std::move(node));
    return last;
  }
  OutputKind kind() {
    graph.outputs = {last};
    return report::output_kind(graph, Uses(graph), last);
  }
};

}  // namespace

TEST_CASE("a Softmax or an ArgMax at the end makes an output one of classes, logits alone do not") {
  Line logits;
  logits.node("Gemm", {logits.last, logits.constant(1)});
  REQUIRE(logits.kind() == OutputKind::kValues);
  Line softmax;
  softmax.node("Softmax", {softmax.last});
  softmax.node("Reshape", {softmax.last, softmax.constant(1)});
  REQUIRE(softmax.kind() == OutputKind::kClasses);
  Line number;
  number.node("ArgMax", {number.last}, DType::kInt64);
  REQUIRE(number.kind() == OutputKind::kClasses);
  Line written_out;
  const ValueId exponentials = written_out.node("Exp", {written_out.last});
  written_out.node("Div", {exponentials, written_out.node("ReduceSum", {exponentials})});
  REQUIRE(written_out.kind() == OutputKind::kClasses);
  Line mask;
  mask.node("Sigmoid", {mask.last});
  mask.node("Transpose", {mask.last});
  REQUIRE(mask.kind() == OutputKind::kScores);
}

TEST_CASE("the axis of classes is that of the Softmax, through a Transpose and copies") {
  const auto axis_of = [](Line& line, int64_t opset) {
    Model model;
    model.graph = line.graph;
    model.graph.outputs = {line.last};
    model.opset_imports = {{"", opset}};
    return report::class_axis(model, Uses(model.graph), line.last);
  };
  Line line;
  line.node("Softmax", {line.last});
  CHECK(axis_of(line, 13) == -1);
  CHECK(axis_of(line, 12) == 1);
  line.graph.nodes()[0].attributes["axis"] = int64_t{-3};
  CHECK(axis_of(line, 13) == -3);
  line.node("Identity", {line.last});
  CHECK(axis_of(line, 13) == -3);
  line.node("Transpose", {line.last});
  line.graph.nodes()[2].attributes["perm"] = std::vector<int64_t>{0, 2, 3, 1};
  CHECK(axis_of(line, 13) == 3);
  line.node("Reshape", {line.last, line.constant(1)});
  CHECK_FALSE(axis_of(line, 13));
  Line number;
  number.node("Squeeze", {number.node("ArgMax", {number.last}, DType::kInt64)}, DType::kInt64);
  CHECK(axis_of(number, 13) == 0);
  Line index;
  index.node("TopK", {index.last}, DType::kInt64);
  CHECK_FALSE(axis_of(index, 13));
}

TEST_CASE("what is divided by its length is an embedding, in each of its forms") {
  Line short_form;
  short_form.node("LpNormalization", {short_form.last});
  REQUIRE(short_form.kind() == OutputKind::kEmbedding);
  Line of_pytorch;
  const ValueId x = of_pytorch.last;
  const ValueId clipped = of_pytorch.node("Clip", {of_pytorch.node("ReduceL2", {x}), of_pytorch.constant(1e-12f)});
  of_pytorch.node("Div", {x, of_pytorch.node("Expand", {clipped})});
  REQUIRE(of_pytorch.kind() == OutputKind::kEmbedding);
  Line of_tensorflow;
  const ValueId y = of_tensorflow.last;
  const ValueId sum = of_tensorflow.node("ReduceSum", {of_tensorflow.node("Mul", {y, y})});
  const ValueId root = of_tensorflow.node("Sqrt", {of_tensorflow.node("Max", {sum, of_tensorflow.constant(1e-12f)})});
  of_tensorflow.node("Mul", {y, of_tensorflow.node("Reciprocal", {root})});
  REQUIRE(of_tensorflow.kind() == OutputKind::kEmbedding);
  Line standardized;  // a LayerNormalization written out
  const ValueId z = standardized.last;
  const ValueId variance = standardized.node("ReduceMean", {standardized.node("Mul", {z, z})});
  standardized.node("Div", {z, standardized.node("Sqrt", {variance})});
  REQUIRE(standardized.kind() == OutputKind::kValues);
}

TEST_CASE("scores behind other values in a Concat are detections, of levels too") {
  const auto trait = [](Line& line) {
    line.graph.outputs = {line.last};
    return report::output_trait(line.graph, Uses(line.graph), line.last);
  };
  const auto level = [](Line& line, ValueId from, const char* scores) {
    const ValueId boxes = line.node("Mul", {from, line.constant(8)});
    return line.node("Concat", {boxes, line.node(scores, {from})});
  };
  Line head;
  level(head, head.last, "Sigmoid");
  head.node("Transpose", {head.last});
  CHECK(trait(head).kind == OutputKind::kDetections);
  CHECK_FALSE(trait(head).objectness);
  CHECK_FALSE(trait(head).background);
  CHECK_FALSE(trait(head).sorted);
  Line softmax;
  level(softmax, softmax.last, "Softmax");
  CHECK(trait(softmax).background);
  Line levels;
  const ValueId x = levels.last, first = level(levels, x, "Sigmoid"), second = level(levels, x, "Sigmoid");
  levels.node("Concat", {levels.node("Reshape", {first, levels.constant(1)}), second});
  CHECK(trait(levels).kind == OutputKind::kDetections);
  Line yolox;
  const ValueId y = yolox.last;
  yolox.node("Concat", {yolox.node("Exp", {y}), yolox.node("Sigmoid", {y}), yolox.node("Sigmoid", {y})});
  CHECK(trait(yolox).kind == OutputKind::kDetections);
  CHECK(trait(yolox).objectness);
  Line yolov5;  // one Sigmoid over boxes and scores
  const ValueId part = yolov5.node("Slice", {yolov5.node("Sigmoid", {yolov5.last})});
  yolov5.node("Concat", {yolov5.node("Mul", {part, yolov5.constant(2)}), part});
  CHECK(trait(yolov5).objectness);
  Line values;
  values.node("Concat", {values.node("Exp", {values.last}), values.node("Relu", {values.last})});
  CHECK(trait(values).kind == OutputKind::kValues);
  Line scores;
  scores.node("Concat", {scores.node("Sigmoid", {scores.last}), scores.node("Sigmoid", {scores.last})});
  CHECK(trait(scores).kind == OutputKind::kScores);
  Line deep;  // 2^60 ways, of which those of three joins are looked at
  for (int k = 0; k < 60; ++k) deep.node("Concat", {deep.last, deep.last});
  CHECK(trait(deep).kind == OutputKind::kValues);
}

TEST_CASE("rows are sorted behind a TopK or NonMaxSuppression, through what keeps rows and no further") {
  const auto is_sorted = [](Line& line) {
    line.graph.outputs = {line.last};
    return report::output_trait(line.graph, Uses(line.graph), line.last).sorted;
  };
  Line rows;
  const ValueId x = rows.last, indices = rows.node("Cast", {rows.node("NonMaxSuppression", {x}, DType::kInt64)});
  rows.node("Mul", {rows.node("Gather", {x, indices}), rows.constant(2)});
  CHECK(is_sorted(rows));
  Line classifier;
  classifier.node("Gather", {classifier.last, classifier.node("TopK", {classifier.last}, DType::kInt64)});
  CHECK(is_sorted(classifier));
  classifier.node("Gemm", {classifier.last, classifier.constant(1)});
  CHECK_FALSE(is_sorted(classifier));
}
