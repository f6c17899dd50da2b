// SPDX-License-Identifier: Apache-2.0
// Transformer operators of com.microsoft give what ONNX Runtime 1.32 gave for the same numbers.
#include <cmath>

#include "core/base/error.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

namespace microsoft_operators_test {
using namespace tersor;

namespace {

/// Numbers of no pattern, from -1 to 1.
Tensor sequence(Shape shape, int64_t seed) {
  Tensor tensor = Tensor::make(DType::kFloat32, std::move(shape));
  int64_t k = 0;
  for (float& x : tensor.mutable_data<float>()) {
    x = static_cast<float>((k * 37 + seed * 11 + k * k * 5) % 64 - 32) / 32;
    ++k;
  }
  return tensor;
}

Tensor times(Tensor tensor, float factor) {
  for (float& x : tensor.mutable_data<float>()) x *= factor;
  return tensor;
}

Tensor int32s(Shape shape, const std::vector<int32_t>& values) {
  return Tensor::of<int32_t>(std::move(shape), values);
}

/// Inputs without elements are absent ones; outputs `unread` are absent too.
std::vector<Tensor> made(const std::string& type, const std::vector<Tensor>& inputs, size_t outputs,
                         const test::ModelBuilder::Attributes& attributes, std::vector<size_t> unread = {}) {
  test::ModelBuilder builder;
  std::vector<ValueId> ids;
  std::vector<Tensor> given;
  for (const Tensor& input : inputs) {
    if (input.elements() == 0) {
      ids.push_back({});
      continue;
    }
    ids.push_back(builder.input("i" + std::to_string(ids.size()), input.shape().dims(), input.dtype()));
    given.push_back(input);
  }
  std::vector<ValueId> results = builder.nodes("com.microsoft::" + type, ids, outputs, attributes);
  for (const size_t k : unread) builder.model.graph.nodes().back().outputs[k] = {};
  for (const ValueId id : builder.model.graph.nodes().back().outputs)
    if (id.valid()) builder.output(id);
  return run::Runner(run::Program::compile(builder.model, ops::standard())).run(given);
}

void require_close(const Tensor& got, const Shape& shape, const std::vector<float>& expected) {
  REQUIRE(got.shape() == shape);
  REQUIRE(static_cast<size_t>(got.elements()) == expected.size());
  for (size_t k = 0; k < expected.size(); ++k) CHECK(std::abs(got.data<float>()[k] - expected[k]) < 2e-6f);
}

const Tensor kAbsent = Tensor::make(DType::kFloat32, Shape{0});

}  // namespace

TEST_CASE("GroupQueryAttention takes packed rows, caches of other lengths by sample, a window, a cap and a bias") {
  const std::vector<Tensor> inputs = {sequence({2, 1, 32}, 1),
                                      kAbsent,
                                      kAbsent,
                                      sequence({2, 1, 3, 8}, 2),
                                      sequence({2, 1, 3, 8}, 3),
                                      int32s({2}, {3, 1}),
                                      Tensor::scalar(int32_t{4}),
                                      kAbsent,
                                      kAbsent,
                                      kAbsent,
                                      sequence({1, 2, 1, 4}, 6)};
  const test::ModelBuilder::Attributes attributes = {
      {"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}, {"local_window_size", int64_t{3}}, {"softcap", 2.0f}};
  const std::vector<Tensor> got = made("GroupQueryAttention", inputs, 3, attributes);
  require_close(
      got[0], {2, 1, 16},
      {-0.5759341f,  -0.4161568f, -0.793173f,   -0.008395746f, 0.2395881f,   -0.3506346f,   0.5223492f,  0.0173109f,
       -0.5972518f,  -0.2555906f, -0.8240055f,  0.1426557f,    0.1992408f,   -0.209098f,    0.4724871f,  -0.2049204f,
       0.04744046f,  0.8599405f,  -0.01505954f, -0.5775596f,   -0.5311785f,  -0.4686785f,   -0.3900596f, 0.2974405f,
       -0.03815572f, 0.7743442f,  -0.1006557f,  -0.6631557f,   -0.06895906f, -0.006459087f, -0.4756557f, 0.2118443f});
  require_close(
      got[2], {2, 1, 4, 8},
      {0.03125f,  -0.65625f, 0.96875f,  0.90625f,  -0.84375f, -0.28125f, 0.59375f,  -0.21875f, -0.71875f, -0.90625f,
       -0.78125f, -0.34375f, 0.40625f,  -0.53125f, 0.84375f,  0.53125f,  0.53125f,  0.84375f,  -0.53125f, 0.40625f,
       -0.34375f, -0.78125f, -0.90625f, -0.71875f, -0.90625f, -0.09375f, -0.96875f, 0.46875f,  0.21875f,  0.28125f,
       0.65625f,  -0.65625f, -0.21875f, 0.59375f,  -0.28125f, -0.84375f, 0.90625f,  0.96875f,  -0.65625f, 0.03125f,
       0.09375f,  0.90625f,  0.03125f,  -0.53125f, -0.78125f, -0.71875f, -0.34375f, 0.34375f,  0,         0,
       0,         0,         0,         0,         0,         0,         0,         0,         0,         0,
       0,         0,         0,         0});
  std::vector<Tensor> sink = inputs;
  sink.push_back(sequence({2}, 7));
  REQUIRE_THROWS_AS(made("GroupQueryAttention", sink, 3, attributes), Error);
}

TEST_CASE("do_rotary turns queries and keys as RotaryEmbedding does, by the places of each sample") {
  const Tensor q = sequence({2, 1, 16}, 1), k = sequence({2, 1, 8}, 2), v = sequence({2, 1, 8}, 3),
               past_k = sequence({2, 1, 3, 8}, 4), past_v = sequence({2, 1, 3, 8}, 5), lengths = int32s({2}, {3, 1}),
               total = Tensor::scalar(int32_t{4}), cosines = sequence({5, 4}, 6), sines = sequence({5, 4}, 7);
  const Tensor places = Tensor::of<int64_t>({2, 1}, std::vector<int64_t>{3, 1});
  const auto turned = [&](const Tensor& x) {
    return made("RotaryEmbedding", {x, places, cosines, sines}, 1, {{"interleaved", int64_t{1}}})[0];
  };
  test::ModelBuilder::Attributes attributes = {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}};
  const std::vector<Tensor> expected =
      made("GroupQueryAttention", {turned(q), turned(k), v, past_k, past_v, lengths, total}, 3, attributes);
  attributes.insert(attributes.end(), {{"do_rotary", int64_t{1}}, {"rotary_interleaved", int64_t{1}}});
  const std::vector<Tensor> got =
      made("GroupQueryAttention", {q, k, v, past_k, past_v, lengths, total, cosines, sines}, 3, attributes);
  for (size_t o = 0; o < 3; ++o)
    require_close(got[o], expected[o].shape(), {expected[o].data<float>().begin(), expected[o].data<float>().end()});
}

TEST_CASE("MultiHeadAttention takes a bias, a mask of keys, added scores, a cache and no view ahead") {
  const std::vector<Tensor> got =
      made("MultiHeadAttention",
           {sequence({2, 2, 4}, 1), sequence({2, 2, 4}, 2), sequence({2, 2, 4}, 3), sequence({12}, 4),
            int32s({2, 3}, {1, 0, 1, 1, 1, 0}), sequence({1, 2, 2, 3}, 5), sequence({2, 2, 1, 2}, 6),
            sequence({2, 2, 1, 2}, 7)},
           3, {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}, {"mask_filter_value", -5.0f}});
  require_close(
      got[0], {2, 2, 4},
      {-0.5931509f, 0.714107f, 0.3457241f, 0.2878303f, -1.165053f, -0.7159705f, 0.2341208f, -0.0110252f, -0.07763804f,
       -1.117019f, -0.8333961f, -0.5060043f, -0.3955769f, -1.227128f, -0.6755345f, -0.5666561f});
  require_close(got[1], {2, 2, 3, 2}, {-0.9375f, 0.375f,   -0.8125f, -0.9375f, 0.3125f, -0.5625f, 0,       -0.0625f,
                                       1.5625f,  0.6875f,  1.1875f,  -0.4375f, 0.1875f, 0.75f,    0.4375f, 0.8125f,
                                       -0.4375f, -0.8125f, -0.375f,  0.8125f,  1.8125f, -0.5625f, 1.4375f, 0.3125f});
}

TEST_CASE("the sum that SkipLayerNormalization and its simplified form normalize is an output too") {
  const Tensor x = sequence({2, 2, 3}, 1), gamma = sequence({3}, 3), bias = sequence({3}, 5);
  const test::ModelBuilder::Attributes attributes = {{"epsilon", 1e-3f}};
  std::vector<Tensor> got =
      made("SkipLayerNormalization", {x, sequence({1, 2, 3}, 2), gamma, sequence({3}, 4), bias}, 4, attributes, {1, 2});
  require_close(got[0], {2, 2, 3},
                {0.3554598f, 0.2004291f, 0.6754259f, 0.3989227f, -0.7369221f, -2.055632f, 0.3892647f, 0.5976974f,
                 0.2139192f, 0.4033946f, -0.6292775f, -2.035357f});
  require_close(got[1], {2, 2, 3},
                {-0.25f, -0.3125f, 0.5625f, 1.5f, 1.3125f, -1.9375f, 0.3125f, -1.875f, 0.875f, 1.6875f, 1.375f, 0});
  got = made("SkipSimplifiedLayerNormalization", {x, sequence({2, 2, 3}, 2), gamma, bias}, 4, attributes, {1, 2});
  require_close(got[0], {2, 2, 3},
                {-0.01954016f, 0.5129291f, 1.362926f, 0.0292028f, -0.5366014f, -1.169329f, 0.02298636f, 0.7930295f,
                 0.9670691f, 0.04292865f, -0.6911513f, -0.04435961f});
}

TEST_CASE("Gelus of com.microsoft, with a bias or without") {
  const Tensor x = times(sequence({2, 3}, 1), 4), bias = sequence({3}, 2);
  require_close(made("Gelu", {x}, 1, {})[0], {2, 3},
                {-0.01137261f, 2.613627f, 0.9784186f, 0.7080614f, 1.818007f, -0.0002066009f});
  require_close(made("QuickGelu", {x}, 1, {})[0], {2, 3},
                {-0.0297753f, 2.595225f, 0.9804959f, 0.7139699f, 1.800944f, -0.005289167f});
  require_close(made("BiasGelu", {x, bias}, 1, {})[0], {2, 3},
                {-0.004859585f, 1.540368f, 1.679896f, 0.4011257f, 0.7080614f, -0.001875356f});
  require_close(made("FastGelu", {x, bias}, 1, {})[0], {2, 3},
                {-0.004426416f, 1.540195f, 1.679795f, 0.4010994f, 0.7079527f, -0.001568511f});
}

TEST_CASE("RotaryEmbedding of com.microsoft counts positions from one number, and heads from its tables") {
  const Tensor first = Tensor::of<int64_t>({1}, std::vector<int64_t>{1});
  require_close(
      made("RotaryEmbedding", {sequence({1, 2, 8}, 1), first, sequence({4, 2}, 2), sequence({4, 2}, 3)}, 1, {})[0],
      {1, 2, 8},
      {-0.6826172f, 0.1708984f, -0.4599609f, 0.7177734f, 0.3837891f, 0.2763672f, 0.3955078f, -1.387695f, 0.9306641f,
       0.01855469f, -0.06933594f, -0.7197266f, -0.09667969f, -0.5322266f, 0.3642578f, -0.1220703f});
}

}  // namespace microsoft_operators_test
