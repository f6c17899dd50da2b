// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/runtime_functions.h"
#include "core/simulate/qlinear_binary.h"
#include "core/simulate/qlinear_pool.h"
#include "core/simulate/qlinear_softmax.h"
#include "core/simulate/qlinear_table.h"
#include "tests/simulate/vectors.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

std::vector<uint8_t> through(const Table& table, const std::vector<uint8_t>& x) {
  std::vector<uint8_t> y;
  for (uint8_t raw : x) y.push_back(table[raw]);
  return y;
}

void check_binary(BinaryKind kind, const std::string& kernel) {
  for (const Json& one : vector_cases(kernel)) {
    const Json& params = one["params"];
    const Grid ga = grid_of(params, "a"), gb = grid_of(params, "b"), gy = grid_of(params, "y");
    const auto a = raw_of(one["inputs"]["a"]["data"]), b = raw_of(one["inputs"]["b"]["data"]);
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
      continue;  // inner broadcasts: the operator's test has them
    for (Profile profile : kAllProfiles) {
      CAPTURE(kernel, key_of(profile), to_text(params, false));
      std::vector<uint8_t> y(std::max(a.size(), b.size()));
      const auto broadcast = a.size() == b.size() ? InnerBroadcast::kNone
                             : a.size() == 1      ? InnerBroadcast::kScalarA
                                                  : InnerBroadcast::kScalarB;
      qlinear_binary(kind, profile, a, ga, b, gb, y, gy, broadcast);
      REQUIRE(y == raw_of(expected(one, profile)));
    }
  }
}

}  // namespace

TEST_CASE("a fused multiply-add rounds once") {
  // 1 + 2^-24 is halfway between two floats; the tail of the product decides.
  REQUIRE(fma_once(1.0f, 1.0f, 5.9604644775390625e-08f) == 1.0f);
  REQUIRE(fma_once(1.00000011920928955078125f, 5.9604644775390625e-08f, 1.0f) == 1.00000011920928955078125f);
  uint32_t seed = 12345;
  const auto next = [&] {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(seed)) * 1.7e-8f;
  };
  for (int i = 0; i < 100000; ++i) {
    const float a = next(), b = next(), c = next();
    REQUIRE(fma_once(a, b, c) == std::fmaf(a, b, c));
    REQUIRE(fma_once(a, b, -a * b) == std::fmaf(a, b, -a * b));
  }
}

TEST_CASE("QLinearAdd gives each runtime's bytes") {
  check_binary(BinaryKind::kAdd, "QLinearAdd");
}
TEST_CASE("QLinearMul gives each runtime's bytes") {
  check_binary(BinaryKind::kMul, "QLinearMul");
}

TEST_CASE("QLinearSigmoid gives each runtime's bytes") {
  for (const Json& one : vector_cases("QLinearSigmoid"))
    for (Profile profile : kAllProfiles) {
      const Table table = sigmoid_table(grid_of(one["params"], "x"), grid_of(one["params"], "y"), profile);
      CAPTURE(key_of(profile), to_text(one["params"], false));
      REQUIRE(through(table, raw_of(one["inputs"]["a"]["data"])) == raw_of(expected(one, profile)));
    }
}

TEST_CASE("tanh between DequantizeLinear and QuantizeLinear gives each runtime's bytes") {
  for (const Json& one : vector_cases("Tanh (float)"))
    for (Profile profile : kAllProfiles) {
      const Grid x = grid_of(one["params"], "x"), y = grid_of(one["params"], "y");
      std::vector<uint8_t> got;
      for (uint8_t raw : raw_of(one["inputs"]["x"]["data"])) {
        float value = dequantize(raw, x);
        kernels::runtime_tanh(&value, 1, fuses(profile), &value);
        got.push_back(quantize(value, y));
      }
      CAPTURE(key_of(profile), to_text(one["params"], false));
      REQUIRE(got == raw_of(expected(one, profile)));
    }
}

TEST_CASE("QLinearLeakyRelu gives the runtimes' bytes") {
  for (const Json& one : vector_cases("QLinearLeakyRelu")) {
    const Json& params = one["params"];
    const Table table =
        leaky_relu_table(grid_of(params, "x"), grid_of(params, "y"), static_cast<float>(params["alpha"].get<double>()));
    REQUIRE(through(table, raw_of(one["inputs"]["a"]["data"])) == raw_of(expected(one, Profile::kX64)));
  }
}

TEST_CASE("QLinearSoftmax gives the runtimes' bytes, the truncated inverse scale included") {
  for (const Json& one : vector_cases("QLinearSoftmax")) {
    const Json& params = one["params"];
    const Json& shape = one["inputs"]["a"]["shape"];
    const int rank = static_cast<int>(shape.size());
    int axis = params["axis"].get<int>();
    axis = axis < 0 ? axis + rank : axis;
    if (params["opset"].get<int>() >= 13 && axis != rank - 1) continue;  // moved axes: the operator's test has them
    int64_t length = 1;
    for (int i = params["opset"].get<int>() >= 13 ? rank - 1 : axis; i < rank; ++i)
      length *= shape[static_cast<size_t>(i)].get<int64_t>();
    const auto x = raw_of(one["inputs"]["a"]["data"]);
    std::vector<uint8_t> y(x.size());
    QLinearSoftmax(length, grid_of(params, "x"), grid_of(params, "y")).run(x, y);
    CAPTURE(to_text(params, false));
    REQUIRE(y == raw_of(expected(one, Profile::kX64)));
  }
}

TEST_CASE("QLinearGlobalAveragePool gives the runtimes' bytes") {
  for (const Json& one : vector_cases("QLinearGlobalAveragePool")) {
    const auto x = raw_of(one["inputs"]["a"]["data"]);
    const Json& shape = one["inputs"]["a"]["shape"];
    const int64_t planes = shape[0].get<int64_t>() * shape[1].get<int64_t>();
    const int64_t count = static_cast<int64_t>(x.size()) / planes;
    std::vector<uint8_t> y;
    for (int64_t plane = 0; plane < planes; ++plane)
      y.push_back(qlinear_global_average(std::span(x).subspan(static_cast<size_t>(plane * count)), 1, count,
                                         grid_of(one["params"], "x"), grid_of(one["params"], "y")));
    REQUIRE(y == raw_of(expected(one, Profile::kX64)));
  }
}

TEST_CASE("QuantizeLinear and DequantizeLinear give the runtimes' values") {
  for (const Json& one : vector_cases("QuantizeLinear")) {
    const std::string dtype = one["params"]["dtype"];
    if (dtype != "u8" && dtype != "s8") continue;
    const Grid y = grid_of(one["params"], "y");
    std::vector<uint8_t> got;
    for (float x : floats_of(one["inputs"]["x"]["data"])) got.push_back(quantize(x, y));
    REQUIRE(got == raw_of(expected(one, Profile::kX64)));
  }
  for (const Json& one : vector_cases("DequantizeLinear")) {
    const std::string dtype = one["params"]["dtype"];
    if (dtype != "u8" && dtype != "s8") continue;
    const Grid x = grid_of(one["params"], "x");
    std::vector<float> got;
    for (uint8_t raw : raw_of(one["inputs"]["x"]["data"])) got.push_back(dequantize(raw, x));
    REQUIRE(got == floats_of(expected(one, Profile::kX64)));
  }
}
