// SPDX-License-Identifier: Apache-2.0
// Right nodes of operators with many inputs that must fit together, damaged at random: another input, none, another
// attribute. They give a result or an Error with the node's place, and nothing else happens. Worth most in the
// sanitized build.
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;

namespace {

struct RightNode {
  std::string type;
  std::vector<Tensor> inputs;
  test::ModelBuilder::Attributes attributes = {};
  int64_t opset = 28;
  size_t outputs = 1;
};

Tensor floats(std::initializer_list<int64_t> dims, float step = 0.25f) {
  Tensor tensor = Tensor::make(DType::kFloat32, Shape(dims));
  float value = -1;
  for (float& x : tensor.mutable_data<float>()) {
    x = value;
    value = value > 1 ? -1 : value + step;
  }
  return tensor;
}

Tensor ints(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

std::vector<RightNode> right_nodes() {
  const std::vector<int64_t> two{2, 2};
  return {
      {"AffineGrid", {floats({1, 2, 3}), ints({1, 1, 3, 4})}},
      {"Attention", {floats({2, 4, 3, 8}), floats({2, 2, 5, 8}), floats({2, 2, 5, 6}), floats({3, 5})}, {}, 28, 4},
      {"Attention",
       {floats({1, 3, 8}), floats({1, 2, 8}), floats({1, 2, 8}), Tensor(), floats({1, 2, 4, 4}), floats({1, 2, 4, 4})},
       {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}, {"is_causal", int64_t{1}}},
       28,
       3},
      {"Col2Im", {floats({1, 8, 4}), ints({3, 3}), ints({2, 2})}},
      {"ConvTranspose", {floats({1, 4, 3, 3}), floats({4, 3, 2, 2})}, {{"strides", two}}},
      {"Conv", {floats({1, 4, 5, 5, 5}), floats({6, 2, 2, 2, 2}), floats({6})}, {{"group", int64_t{2}}}},
      {"DeformConv",
       {floats({1, 2, 4, 4}), floats({2, 1, 2, 2}), floats({1, 8, 3, 3}), floats({2}), floats({1, 4, 3, 3})},
       {{"group", int64_t{2}}}},
      {"DFT", {floats({2, 6, 1}), ints({5}), ints({1})}, {{"onesided", int64_t{1}}}},
      {"Einsum", {floats({2, 3, 4}), floats({2, 4, 5}), floats({5})}, {{"equation", std::string("bij,bjk,k->bi")}}},
      {"GridSample", {floats({1, 2, 4, 4}), floats({1, 3, 3, 2})}, {{"mode", std::string("cubic")}}},
      {"LinearAttention",
       {floats({1, 3, 8}), floats({1, 3, 4}), floats({1, 3, 6}), Tensor(), floats({1, 3, 2}), floats({1, 3, 2})},
       {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}},
       28,
       2},
      {"MaxRoiPool", {floats({1, 2, 6, 6}), floats({2, 5}, 0)}, {{"pooled_shape", two}}},
      {"MaxUnpool",
       {floats({1, 1, 2, 2}), Tensor::of<int64_t>(Shape{1, 1, 2, 2}, {0, 3, 9, 15})},
       {{"kernel_shape", two}, {"strides", two}}},
      {"MelWeightMatrix", {ints({8}), ints({16}), ints({8192}), Tensor::scalar(0.0f), Tensor::scalar(4000.0f)}},
      {"NonMaxSuppression",
       {floats({1, 6, 4}), floats({1, 2, 6}), ints({3}), Tensor::scalar(0.5f), Tensor::scalar(0.0f)}},
      {"ReverseSequence", {floats({4, 3, 2}), ints({4, 2, 0})}},
      {"RoiAlign",
       {floats({2, 3, 5, 5}), floats({2, 4}, 1), ints({0, 1})},
       {{"output_height", int64_t{2}}, {"output_width", int64_t{3}}}},
      {"RotaryEmbedding",
       {floats({1, 2, 3, 8}), floats({9, 4}), floats({9, 4}), Tensor::of<int64_t>(Shape{1, 3}, {0, 8, 3})}},
      {"ScatterND", {floats({4, 3}), Tensor::of<int64_t>(Shape{2, 1}, {3, -4}), floats({2, 3})}},
      {"STFT", {floats({1, 16, 1}), Tensor::scalar<int64_t>(4), floats({8})}},
      {"TensorScatter", {floats({2, 3, 6, 4}), floats({2, 3, 2, 4}), ints({4, 0})}},
  };
}

class Damage {
 public:
  explicit Damage(uint32_t seed) : bits_(seed) {}

  void act_on(RightNode& node) {
    const size_t k = below(node.inputs.size());
    switch (below(5)) {
      case 0:
        node.inputs[k] = Tensor();
        return;
      case 1:
        node.inputs[k] = other_shape(node.inputs[k]);
        return;
      case 2:
        node.inputs[k] = other_values(node.inputs[k]);
        return;
      case 3:
        if (node.attributes.empty()) return;
        node.attributes[below(node.attributes.size())].second = any_attribute();
        return;
      default:
        static constexpr const char* kNames[] = {
            "strides",        "pads",          "dilations", "group",
            "kernel_shape",   "axis",          "mode",      "sampling_ratio",
            "output_height",  "offset_group",  "onesided",  "inverse",
            "q_num_heads",    "kv_num_heads",  "reduction", "num_heads",
            "output_padding", "spatial_scale", "softcap",   "left_window_size",
            "output_shape",   "batch_axis",    "auto_pad",  "rotary_embedding_dim"};
        node.attributes.emplace_back(kNames[below(std::size(kNames))], any_attribute());
    }
  }

 private:
  size_t below(size_t count) { return bits_() % count; }

  int64_t integer() {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    static constexpr int64_t kChoices[] = {-kMost - 1, kMost, -1, 0, 1, 2, 3, 4, 7, 1000000007, int64_t{1} << 40};
    return kChoices[below(std::size(kChoices))];
  }

  Attribute any_attribute() {
    switch (below(4)) {
      case 0:
        return std::vector<int64_t>(below(5), integer());
      case 1:
        return below(2) == 0 ? std::numeric_limits<float>::quiet_NaN() : -1e30f;
      case 2:
        return std::string(below(2) == 0 ? "add" : "nearest");
      default:
        return integer();
    }
  }

  Tensor other_shape(const Tensor& from) {
    std::vector<int64_t> dims = from.shape().dims();
    if (dims.empty() || below(3) == 0) dims.push_back(static_cast<int64_t>(below(4)));
    dims[below(dims.size())] = static_cast<int64_t>(below(5));
    if (below(4) == 0) dims.pop_back();
    return Tensor::make(below(6) == 0 ? DType::kInt32 : from.empty() ? DType::kFloat32 : from.dtype(), Shape(dims));
  }

  Tensor other_values(const Tensor& from) {
    if (from.empty()) return from;
    Tensor made = Tensor::make(from.dtype(), from.shape());
    static constexpr float kFloats[] = {
        0, 1, -1, 2.5f, 1e30f, -1e30f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    if (from.dtype() == DType::kFloat32)
      for (float& x : made.mutable_data<float>()) x = kFloats[below(std::size(kFloats))];
    if (from.dtype() == DType::kInt64)
      for (int64_t& x : made.mutable_data<int64_t>()) x = integer();
    return made;
  }

  std::mt19937 bits_;
};

/// True when it gave a result.
bool runs(const RightNode& right) {
  test::ModelBuilder builder(right.opset);
  std::vector<ValueId> values;
  std::vector<Tensor> given;
  for (const Tensor& tensor : right.inputs) {
    if (tensor.empty()) {
      values.push_back(ValueId{});
      continue;
    }
    values.push_back(builder.input("x" + std::to_string(values.size()),
                                   std::vector<int64_t>(static_cast<size_t>(tensor.shape().rank()), -1),
                                   tensor.dtype()));
    given.push_back(tensor);
  }
  for (const ValueId id : builder.nodes(right.type, values, right.outputs, right.attributes)) builder.output(id);
  run::ProgramOptions options;
  options.memory_limit = 1 << 22;
  try {
    run::Runner runner(run::Program::compile(builder.model, ops::standard(), options));
    runner.run(given);
    return true;
  } catch (const Error& error) {
    INFO(error.what());
    REQUIRE(error.code != ErrorCode::kInternal);
    REQUIRE(error.code != ErrorCode::kInvalidSamples);
    REQUIRE(error.place.substr(0, 11) == "graph.node[");
    return false;
  }
}

}  // namespace

TEST_CASE("damaged nodes are refused, never more") {
  for (const RightNode& right : right_nodes()) {
    INFO(right.type);
    CHECK(runs(right));
    int refusals = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
      INFO(right.type << " with seed " << seed);
      RightNode node = right;
      Damage damage(seed);
      for (uint32_t k = 0; k <= seed % 3; ++k) damage.act_on(node);
      refusals += runs(node) ? 0 : 1;
    }
    CHECK(refusals > 0);
  }
}
