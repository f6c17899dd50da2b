// SPDX-License-Identifier: Apache-2.0
// What becomes of the operators' forms. That the results compute the same is judged by a runtime: tests/zoo.
#include "core/onnx/convert_opset.h"

#include "core/base/error.h"
#include "core/graph/print.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "tests/catch.h"

using namespace tersor;

namespace {

/// x -> one node -> y, of an old opset.
struct Single {
  Model model;
  ValueId x, y;

  Single(int64_t opset, const char* op, std::vector<Dim> dims = {{2, {}}, {3, {}}, {4, {}}, {5, {}}}) {
    model.ir_version = 3;
    model.opset_imports = {{"", opset}};
    Graph& graph = model.graph;
    graph.name = "g";
    x = graph.add_value("x", DType::kFloat32, std::move(dims));
    y = graph.add_value("y", DType::kFloat32);
    graph.inputs = {x};
    graph.outputs = {y};
    Node node;
    node.op_type = op;
    node.inputs = {x};
    node.outputs = {y};
    graph.append(node);
  }
  Node& node() { return model.graph.nodes()[0]; }
  Attribute& operator[](const char* key) { return node().attributes[key]; }

  /// The nodes and constants after raising, without the first line.
  std::string raised(int64_t target = 13) {
    REQUIRE(onnx::convert_to_opset(model, target));
    REQUIRE(model.opset() == target);
    const Model back = onnx::read(onnx::Source::of(onnx::write(model)));
    REQUIRE(to_text(back.graph) == to_text(model.graph));
    const std::string text = to_text(model.graph);
    return text.substr(text.find('\n') + 1);
  }
};

using Ints = std::vector<int64_t>;

}  // namespace

TEST_CASE("attributes that became inputs are moved to constants") {
  SECTION("Slice") {
    Single slice(9, "Slice");
    slice["starts"] = Ints{1, 0};
    slice["ends"] = Ints{2, 3};
    slice["axes"] = Ints{1, 3};
    REQUIRE(slice.raised() ==
            "  y_starts: int64[2] {1, 0}\n  y_ends: int64[2] {2, 3}\n  y_axes: int64[2] {1, 3}\n"
            "  y = Slice(x, y_starts, y_ends, y_axes)\n");
  }
  SECTION("Slice without axes") {
    Single slice(7, "Slice");
    slice["starts"] = Ints{1};
    slice["ends"] = Ints{2};
    REQUIRE(slice.raised(10) == "  y_starts: int64[1] {1}\n  y_ends: int64[1] {2}\n  y = Slice(x, y_starts, y_ends)\n");
  }
  SECTION("Clip with one bound") {
    Single clip(10, "Clip");
    clip["max"] = 6.0f;
    REQUIRE(clip.raised() == "  y_max: float32[] {6}\n  y = Clip(x, _, y_max)\n");
  }
  SECTION("Clip of half precision") {
    Single clip(8, "Clip");
    clip.model.graph.value(clip.x).dtype = DType::kFloat16;
    clip["min"] = 0.0f;
    REQUIRE(clip.raised() == "  y_min: float16[]\n  y = Clip(x, y_min)\n");
  }
  SECTION("Pad") {
    Single pad(9, "Pad");
    pad["mode"] = std::string("constant");
    pad["pads"] = Ints{0, 0, 1, 1, 0, 0, 1, 1};
    pad["value"] = -1.5f;
    REQUIRE(pad.raised() ==
            "  y_pads: int64[8] {0, 0, 1, 1, 0, 0, 1, 1}\n  y_value: float32[] {-1.5}\n"
            "  y = Pad(x, y_pads, y_value) {mode = \"constant\"}\n");
  }
  SECTION("Squeeze") {
    Single squeeze(11, "Squeeze");
    squeeze["axes"] = Ints{0};
    REQUIRE(squeeze.raised() == "  y_axes: int64[1] {0}\n  y = Squeeze(x, y_axes)\n");
    Single all(11, "Squeeze");
    REQUIRE(all.raised() == "  y = Squeeze(x)\n");
  }
  SECTION("Unsqueeze and ReduceSum") {
    Single unsqueeze(11, "Unsqueeze"), sum(11, "ReduceSum"), mean(11, "ReduceMean");
    unsqueeze["axes"] = Ints{1, 2};
    sum["axes"] = Ints{-1};
    sum["keepdims"] = int64_t{0};
    mean["axes"] = Ints{-1};
    REQUIRE(unsqueeze.raised() == "  y_axes: int64[2] {1, 2}\n  y = Unsqueeze(x, y_axes)\n");
    REQUIRE(sum.raised() == "  y_axes: int64[1] {-1}\n  y = ReduceSum(x, y_axes) {keepdims = 0}\n");
    REQUIRE(mean.raised() == "  y = ReduceMean(x) {axes = [-1]}\n");
  }
  SECTION("Split") {
    Single split(11, "Split");
    split["split"] = Ints{1, 2};
    split["axis"] = int64_t{1};
    REQUIRE(split.raised() == "  y_split: int64[2] {1, 2}\n  y = Split(x, y_split) {axis = 1}\n");
  }
  SECTION("TopK") {
    Single top(9, "TopK");
    top["k"] = int64_t{2};
    REQUIRE(top.raised() == "  y_k: int64[1] {2}\n  y = TopK(x, y_k)\n");
  }
  SECTION("Dropout") {
    Single dropout(10, "Dropout");
    dropout["ratio"] = 0.25f;
    REQUIRE(dropout.raised() == "  y_ratio: float32[] {0.25}\n  y = Dropout(x, y_ratio)\n");
  }
}

TEST_CASE("a mask of Dropout keeps its type") {
  Single dropout(9, "Dropout");
  Graph& graph = dropout.model.graph;
  graph.outputs.push_back(graph.add_value("mask", DType::kFloat32));
  dropout.node().outputs.push_back(graph.outputs[1]);
  REQUIRE(dropout.raised() == "  y, y_flags = Dropout(x)\n  mask = Cast(y_flags) {to = 1}\n");
}

TEST_CASE("Upsample becomes Resize with its coordinates and rounding") {
  Single nearest(7, "Upsample");
  nearest["scales"] = std::vector<float>{1, 1, 2, 2};
  nearest["mode"] = std::string("nearest");
  REQUIRE(nearest.raised() ==
          "  y_scales: float32[4] {1, 1, 2, 2}\n"
          "  y = Resize(x, _, y_scales) {mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
          "nearest_mode = \"floor\"}\n");
  Single linear(7, "Upsample");
  linear["scales"] = std::vector<float>{1, 1, 2, 2};
  linear["mode"] = std::string("linear");
  REQUIRE(linear.raised(11) ==
          "  y_scales: float32[4] {1, 1, 2, 2}\n  y_roi: float32[0] {}\n"
          "  y = Resize(x, y_roi, y_scales) {mode = \"linear\", coordinate_transformation_mode = \"asymmetric\"}\n");
}

TEST_CASE("a Resize of opset 10 that shrinks rounds up, one of both kinds is split") {
  const auto resize = [](std::initializer_list<float> scales) {
    Single one(10, "Resize");
    Graph& graph = one.model.graph;
    one.node().inputs.push_back(graph.add_initializer("scales", Tensor::of<float>({4}, scales)));
    return one.raised();
  };
  REQUIRE(resize({1, 1, 0.5f, 1}).find("nearest_mode = \"ceil\"") != std::string::npos);
  const std::string both = resize({1, 1, 0.5f, 2});
  REQUIRE(both.find("y_growing: float32[4] {1, 1, 1, 2}") != std::string::npos);
  REQUIRE(both.find("y_shrinking: float32[4] {1, 1, 0.5, 1}") != std::string::npos);
  REQUIRE(both.find("y_grown = Resize(x, _, y_growing)") != std::string::npos);
  REQUIRE(both.find("y = Resize(y_grown, _, y_shrinking)") != std::string::npos);
}

TEST_CASE("Resize with tf_half_pixel_for_nn gets another rounding instead") {
  Single resize(11, "Resize");
  Graph& graph = resize.model.graph;
  const ValueId roi = graph.add_initializer("roi", Tensor::make(DType::kFloat32, Shape{0}));
  const ValueId scales = graph.add_initializer("scales", Tensor::of<float>({4}, {1, 1, 2, 2}));
  resize.node().inputs = {resize.x, roi, scales};
  resize["coordinate_transformation_mode"] = std::string("tf_half_pixel_for_nn");
  resize["nearest_mode"] = std::string("floor");
  REQUIRE(resize.raised().find("y = Resize(x, _, scales) {coordinate_transformation_mode = \"half_pixel\", "
                               "nearest_mode = \"round_prefer_ceil\"}") != std::string::npos);
}

TEST_CASE("Softmax takes one axis alone where that is the same, else it runs on a matrix") {
  Single last(11, "Softmax"), whole(11, "Softmax"), ones(11, "LogSoftmax", {{-1, "N"}, {8, {}}, {1, {}}, {1, {}}}),
      unknown(9, "Hardmax");
  last["axis"] = int64_t{3};
  REQUIRE(last.raised() == "  y = Softmax(x) {axis = -1}\n");
  REQUIRE(ones.raised() == "  y = LogSoftmax(x) {axis = 1}\n");
  REQUIRE(whole.raised() ==
          "  y_shape = Shape(x)\n  y_flat = Flatten(x) {axis = 1}\n  y_flat_result = Softmax(y_flat) {axis = -1}\n"
          "  y = Reshape(y_flat_result, y_shape)\n");
  unknown.model.graph.value(unknown.x).shape.reset();
  unknown["axis"] = int64_t{2};
  REQUIRE(unknown.raised().find("y_flat = Flatten(x) {axis = 2}") != std::string::npos);
}

TEST_CASE("the rank after common operators is known without declarations") {
  Single softmax(11, "Softmax", {{1, {}}, {8, {}}, {7, {}}, {7, {}}});
  Graph& graph = softmax.model.graph;
  const ValueId pooled = graph.add_value("pooled"), flat = graph.add_value("flat");
  softmax.node().inputs = {flat};
  Node flatten;
  flatten.op_type = "Flatten";
  flatten.inputs = {pooled};
  flatten.outputs = {flat};
  graph.insert(0, flatten);
  Node pool;
  pool.op_type = "GlobalAveragePool";
  pool.inputs = {softmax.x};
  pool.outputs = {pooled};
  graph.insert(0, pool);
  REQUIRE(softmax.raised() ==
          "  pooled = GlobalAveragePool(x)\n  flat = Flatten(pooled)\n  y = Softmax(flat) {axis = -1}\n");
}

TEST_CASE("BatchNormalization loses spatial, and becomes arithmetic where that was 0") {
  for (const int64_t spatial : {1, 0}) {
    Single norm(8, "BatchNormalization");
    Graph& graph = norm.model.graph;
    for (const char* name : {"scale", "bias", "mean", "variance"})
      norm.node().inputs.push_back(graph.add_initializer(name, Tensor::make(DType::kFloat32, Shape{3})));
    norm["spatial"] = spatial;
    const std::string text = norm.raised();
    const char* wanted = spatial == 1 ? "  y = BatchNormalization(x, scale, bias, mean, variance)\n"
                                      : "  y_centered = Sub(x, mean)\n  y_widened = Add(variance, y_epsilon)\n"
                                        "  y_deviation = Sqrt(y_widened)\n  y_normal = Div(y_centered, y_deviation)\n"
                                        "  y_scaled = Mul(y_normal, scale)\n  y = Add(y_scaled, bias)\n";
    REQUIRE(text.find(wanted) != std::string::npos);
  }
}

TEST_CASE("Scatter becomes ScatterElements") {
  Single scatter(10, "Scatter");
  REQUIRE(scatter.raised() == "  y = ScatterElements(x)\n");
}

TEST_CASE("raising goes into subgraphs, with names that are used nowhere") {
  auto inner = std::make_shared<Graph>();
  inner->name = "then";
  const ValueId captured = inner->add_value("x"), result = inner->add_value("r");
  Node squeeze;
  squeeze.op_type = "Squeeze";
  squeeze.inputs = {captured};
  squeeze.outputs = {result};
  squeeze.attributes["axes"] = Ints{0};
  inner->append(squeeze);
  inner->outputs = {result};
  Single branch(11, "If");
  branch.model.graph.add_initializer("r_axes", Tensor::scalar(1.0f));
  branch["then_branch"] = std::shared_ptr<const Graph>(inner);
  const std::string text = branch.raised();
  REQUIRE(text.find("      r_axes_2: int64[1] {0}\n      r = Squeeze(x, r_axes_2)\n") != std::string::npos);
  REQUIRE(inner->nodes()[0].inputs.size() == 1);  // the model that was given out before is untouched
}

TEST_CASE("the versions fit each other, and nothing is ever lowered") {
  Single relu(7, "Relu");
  REQUIRE(relu.raised() == "  y = Relu(x)\n");
  REQUIRE(relu.model.ir_version == 8);
  REQUIRE_FALSE(onnx::convert_to_opset(relu.model, 11));
  REQUIRE(relu.model.opset() == 13);
  REQUIRE_THROWS_AS(onnx::convert_to_opset(relu.model, 22), Error);
  REQUIRE_THROWS_AS(onnx::convert_to_opset(relu.model, 6), Error);
}

TEST_CASE("what has no newer form is refused with the node's place, and the model stays as it was") {
  Single scan(8, "Scan"), pad(9, "Pad");
  for (Single* one : {&scan, &pad}) {
    const std::string before = to_text(one->model.graph);
    try {
      onnx::convert_to_opset(one->model);
      FAIL("no error");
    } catch (const Error& error) {
      INFO(error.message);
      REQUIRE(error.code == ErrorCode::kUnsupportedModel);
      REQUIRE_FALSE(error.place.empty());
    }
    REQUIRE(to_text(one->model.graph) == before);
  }
  Single relu(6, "Not");
  REQUIRE(relu.raised() == "  y = Not(x)\n");
}

TEST_CASE("what changed from opset 13 to 21 takes its new form") {
  SECTION("reductions") {
    Single mean(13, "ReduceMean");
    mean["axes"] = Ints{2, 3};
    mean["keepdims"] = int64_t{0};
    REQUIRE(mean.raised(21) == "  y_axes: int64[2] {2, 3}\n  y = ReduceMean(x, y_axes) {keepdims = 0}\n");
    REQUIRE(mean.model.ir_version == 10);
  }
  SECTION("a Split into even parts says how many") {
    Single split(13, "Split");
    const ValueId second = split.model.graph.add_value("y2", DType::kFloat32);
    split.node().outputs.push_back(second);
    split["axis"] = int64_t{3};
    REQUIRE(split.raised(21).find("num_outputs = 2") != std::string::npos);
  }
  SECTION("a Split that names its sizes stays") {
    Single split(11, "Split");
    split["split"] = Ints{2};
    REQUIRE(split.raised(21).find("num_outputs") == std::string::npos);
  }
  SECTION("GridSample") {
    Single sample(16, "GridSample");
    sample["mode"] = std::string("bicubic");
    REQUIRE(sample.raised(21).find("mode = \"cubic\"") != std::string::npos);
  }
  SECTION("RoiAlign keeps its alignment") {
    Single align(11, "RoiAlign");
    REQUIRE(align.raised(21).find("output_half_pixel") != std::string::npos);
  }
  SECTION("GroupNormalization is refused, with its place") {
    Single group(18, "GroupNormalization");
    REQUIRE_THROWS_WITH(onnx::convert_to_opset(group.model, 21), Catch::Contains("GroupNormalization of opset 18"));
  }
}

TEST_CASE("what stood before opset 7 is raised too") {
  SECTION("broadcasting along an axis") {
    Single add(6, "Add");
    add.model.graph.set_initializer(add.model.graph.add_value("b"),
                                    Tensor::of<float>({3}, std::vector<float>{1, 2, 3}));
    add.node().inputs.push_back(*add.model.graph.find("b"));
    add["broadcast"] = int64_t{1};
    add["axis"] = int64_t{1};
    REQUIRE(add.raised(7).find("y_aligned_shape: int64[3] {0, 1, 1}\n  y_aligned = Reshape(b, y_aligned_shape)\n"
                               "  y = Add(x, y_aligned)\n") != std::string::npos);
  }
  SECTION("one slope for each channel") {
    Single prelu(6, "PRelu");
    prelu.model.graph.set_initializer(prelu.model.graph.add_value("s"),
                                      Tensor::of<float>({3}, std::vector<float>{1, 2, 3}));
    prelu.node().inputs.push_back(*prelu.model.graph.find("s"));
    REQUIRE(prelu.raised(7).find("y = PRelu(x, y_aligned)") != std::string::npos);
  }
  SECTION("Reshape, Cast and Tile") {
    Single reshape(1, "Reshape");
    reshape["shape"] = Ints{6, -1};
    reshape["consumed_inputs"] = Ints{0};
    REQUIRE(reshape.raised() == "  y_shape: int64[2] {6, -1}\n  y = Reshape(x, y_shape)\n");
    Single cast(1, "Cast");
    cast["to"] = std::string("INT64");
    REQUIRE(cast.raised() == "  y = Cast(x) {to = 7}\n");
    Single tile(5, "Tile");
    Graph& graph = tile.model.graph;
    graph.set_initializer(graph.add_value("tiles"), Tensor::scalar(2.0f));
    graph.set_initializer(graph.add_value("axis"), Tensor::scalar(1.0f));
    tile.node().inputs.push_back(*graph.find("tiles"));
    tile.node().inputs.push_back(*graph.find("axis"));
    REQUIRE(tile.raised().find("y_repeats: int64[4] {1, 2, 1, 1}\n") != std::string::npos);
  }
  SECTION("flags and attributes that are gone") {
    Single dropout(6, "Dropout");
    dropout["is_test"] = int64_t{1};
    REQUIRE(dropout.raised(7) == "  y = Dropout(x)\n");
    Single pad(1, "Pad");
    pad["paddings"] = Ints{0, 0, 1, 1, 0, 0, 1, 1};
    REQUIRE(pad.raised(7).find("pads") != std::string::npos);
    Single concat(1, "Concat");
    REQUIRE(concat.raised(7) == "  y = Concat(x) {axis = 1}\n");
  }
}
