// SPDX-License-Identifier: Apache-2.0
#include "core/report/compare.h"
#include "core/report/report.h"
#include "core/report/saturation_remark.h"
#include "core/report/verdict.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::report;

namespace {

struct Builder {
  Model model;
  ValueId zero;

  explicit Builder(bool quantized) {
    model.opset_imports = {{"", 13}};
    graph().inputs = {graph().add_value("x", DType::kFloat32, std::vector<Dim>{{1, {}}, {2, {}}})};
    if (quantized) zero = graph().add_initializer("zero", Tensor::scalar(uint8_t{0}));
  }
  Graph& graph() { return model.graph; }

  ValueId node(std::string type, std::vector<ValueId> inputs, const std::string& output, std::string name = {}) {
    Node made;
    made.op_type = std::move(type);
    made.name = std::move(name);
    made.inputs = std::move(inputs);
    const ValueId id = graph().add_value(output, DType::kFloat32);
    made.outputs = {id};
    graph().append(std::move(made));
    return id;
  }
  ValueId through(ValueId id, const std::string& name, float step, const std::string& output) {
    const ValueId scale = graph().add_initializer(name + "_scale", Tensor::scalar(step));
    const ValueId raw = node("QuantizeLinear", {id, scale, zero}, name + "_raw");
    graph().value(raw).dtype = DType::kUint8;
    return node("DequantizeLinear", {raw, scale, zero}, output);
  }
};

/// x [1, 2] -> MatMul with [2, 1] of 1.27 -> y; quantized, the weights are 127 and x has steps of 1/64.
Model make_product(bool quantized) {
  Builder b(quantized);
  Graph& graph = b.graph();
  if (!quantized) {
    const ValueId w = graph.add_initializer("w", Tensor::of<float>({2, 1}, {1.27f, 1.27f}));
    graph.outputs = {b.node("MatMul", {graph.inputs[0], w}, "y", "product")};
    return b.model;
  }
  const ValueId codes = graph.add_initializer("w_codes", Tensor::of<int8_t>({2, 1}, {127, 127})),
                scale = graph.add_initializer("w_scale", Tensor::scalar(0.01f)),
                zero = graph.add_initializer("w_zero", Tensor::scalar(int8_t{0}));
  const ValueId w = b.node("DequantizeLinear", {codes, scale, zero}, "w_real");
  const ValueId x = b.through(graph.inputs[0], "x_in", 1.0f / 64, "x_real");
  graph.outputs = {b.through(b.node("MatMul", {x, w}, "y_real", "product"), "y_real", 0.05f, "y")};
  return b.model;
}

/// x [1, 2] -> ReduceMean -> y; quantized, in steps of 1/64.
Model make_mean(bool quantized) {
  Builder b(quantized);
  const ValueId input = b.graph().inputs[0];
  const ValueId x = quantized ? b.through(input, "x_in", 1.0f / 64, "x_real") : input;
  const ValueId mean = b.node("ReduceMean", {x}, quantized ? "y_real" : "y", "mean");
  b.graph().outputs = {quantized ? b.through(mean, "y_real", 1.0f / 64, "y") : mean};
  return b.model;
}

using Sample = std::pair<float, float>;

/// In two parts, which are merged.
Comparison compare(Model (*make)(bool), simulate::Profile profile, const std::vector<Sample>& samples) {
  const auto program = CompareProgram::make(make(false), make(true), profile);
  Comparer first(program), second(program);
  for (size_t k = 0; k < samples.size(); ++k)
    (k == 0 ? first : second)
        .add(static_cast<int64_t>(k),
             std::vector<Tensor>{Tensor::of<float>({1, 2}, {samples[k].first, samples[k].second})});
  first.merge_saved(second.save());
  return first.result();
}

}  // namespace

TEST_CASE("sums that saturate without VNNI are counted by layer, with the remedy") {
  // 64 * 2 = 128: 2 * 128 * 127 fits into 16 bits with a sign; from 130 on it does not.
  const Comparison comparison =
      compare(make_product, simulate::Profile::kAvx2, {{1.0f, 1.0f}, {2.0f, 2.0f}, {3.0f, 3.0f}, {3.9f, 3.9f}});
  REQUIRE(comparison.saturation.size() == 1);
  REQUIRE(comparison.saturation[0].name == "product");
  REQUIRE(comparison.saturation[0].op == "MatMul");
  REQUIRE(comparison.saturation[0].sums == 4);
  REQUIRE(comparison.saturation[0].saturated == 2);
  const auto remark = saturation_remark(comparison);
  REQUIRE(remark.has_value());
  REQUIRE(remark->place == "product");
  REQUIRE(remark->message.find("50 %") != std::string::npos);
  REQUIRE(remark->hint.find("7-bit weights") != std::string::npos);
}

TEST_CASE("with VNNI sums are exact, and those that would saturate without are counted") {
  const Comparison exact = compare(make_product, simulate::Profile::kX64, {{1.0f, 1.0f}, {3.9f, 3.9f}});
  REQUIRE(exact.saturation.size() == 1);
  REQUIRE(exact.saturation[0].sums == 2);
  REQUIRE(exact.saturation[0].saturated == 1);
  Report report;
  report.comparison = exact;
  const Verdict verdict = verdict_of(report);
  REQUIRE(verdict.causes.empty());
  REQUIRE_THAT(verdict.cautions.at(0), Catch::Matchers::Contains("VNNI") && Catch::Matchers::Contains("ort-cpu-avx2"));
  report.comparison->output_sqnr_db = 26.7;
  report.comparison->without_vnni = {-2.7, evaluate::Agreement{6, 64}};
  REQUIRE_THAT(
      verdict_of(report).cautions.at(0),
      Catch::Matchers::Contains("There the output SQNR is -2.7 dB, and 6 of 64 answers are the float model's.") &&
          Catch::Matchers::Contains("set to 1, which gives 26.7 dB there"));
  const Comparison cut_off = compare(make_product, simulate::Profile::kAvx2, {{1.0f, 1.0f}, {3.9f, 3.9f}});
  REQUIRE(*cut_off.outputs[0].sqnr_db < *exact.outputs[0].sqnr_db - 3);
}

TEST_CASE("no layer saturates elsewhere, and small sums never do") {
  REQUIRE(compare(make_product, simulate::Profile::kWasm, {{3.9f, 3.9f}}).saturation.empty());
  REQUIRE(compare(make_product, simulate::Profile::kArm64, {{3.9f, 3.9f}}).saturation.empty());
  const Comparison small = compare(make_product, simulate::Profile::kAvx2, {{0.5f, 0.5f}, {1.0f, 1.0f}});
  REQUIRE(small.saturation.size() == 1);
  REQUIRE(small.saturation[0].saturated == 0);
  REQUIRE_FALSE(saturation_remark(small).has_value());
}

TEST_CASE("float sums say how many of their values the runtime's order of sums may decide") {
  // Codes 1 and 2 have their mean in the middle between two codes; 2 and 4 do not.
  const Comparison comparison =
      compare(make_mean, simulate::Profile::kX64, {{0.015625f, 0.03125f}, {0.03125f, 0.0625f}});
  REQUIRE(comparison.float_sums.size() == 1);
  REQUIRE(comparison.float_sums[0].name == "mean");
  REQUIRE(comparison.float_sums[0].values == 2);
  REQUIRE(comparison.float_sums[0].undecided == 1);
  REQUIRE(comparison.float_sums[0].largest_difference_steps == 1);
  const Comparison decided = compare(make_mean, simulate::Profile::kX64, {{0.03125f, 0.0625f}});
  REQUIRE(decided.float_sums[0].undecided == 0);
  REQUIRE(decided.float_sums[0].largest_difference_steps == 0);
  REQUIRE(compare(make_product, simulate::Profile::kX64, {{1.0f, 1.0f}}).float_sums.empty());
}
