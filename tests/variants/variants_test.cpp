// SPDX-License-Identifier: Apache-2.0
#include "core/variants/variants.h"

#include <set>

#include "core/base/json.h"
#include "core/onnx/write.h"
#include "core/report/compare.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

namespace variants_test {
using namespace tersor;
using test::NamedModel;

namespace {

using Numbers = std::vector<int64_t>;

OpenedModel network() {
  NamedModel made;
  made.input("x", {1, 8}).weight("w", {8, 8}).weight("v", {8, 4});
  made.node("MatMul", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"b"}).node("MatMul", {"b", "v"}, {"y"}).output("y");
  Model model = made.build();
  const std::vector<std::byte> bytes = onnx::write(model);
  return open_model(std::move(model), bytes);
}

report::Comparison compared(const Model& in_float, const Model& other, report::Depth depth) {
  report::Comparer comparer(report::CompareProgram::make(in_float, other, simulate::Profile::kX64, false, {}, depth));
  for (uint32_t sample = 0; sample < 6; ++sample)
    comparer.add(sample, test::random_inputs(in_float, sample), report::Depth::kOutputs);
  return comparer.result();
}

}  // namespace

TEST_CASE("half of the samples calibrate, and all the others judge", "[variants]") {
  const VariantSamples all = variant_samples(6);
  CHECK(all.calibrated == Numbers{0, 2, 4});
  CHECK(all.judged == Numbers{1, 3, 5});
  CHECK(all.held_aside);
  CHECK(variant_samples(1000).calibrated.size() == 128);
  CHECK(variant_samples(1000).judged.size() == 872);
}

TEST_CASE("fewer may calibrate and fewer judge; where none are left, those that calibrate judge", "[variants]") {
  const VariantSamples few = variant_samples(8, 2, 3);
  CHECK(few.calibrated == Numbers{0, 4});
  CHECK(few.judged == Numbers{1, 3, 6});
  CHECK(few.held_aside);
  const VariantSamples one = variant_samples(1);
  CHECK(one.judged == one.calibrated);
  CHECK_FALSE(one.held_aside);
}

TEST_CASE("every name and every file of the variants is there once", "[variants]") {
  std::set<std::string> names, files;
  for (const VariantKind& kind : variant_kinds()) {
    CHECK(names.emplace(kind.dtype).second);
    CHECK(files.emplace(kind.file).second);
    CHECK(&variant_kind(kind.dtype) == &kind);
    CHECK(kind.platform.empty() == kind.platform_alone.empty());
    if (!kind.platform.empty()) CHECK(variant_settings(kind, true).platform.name == kind.platform);
    if (!kind.platform.empty()) CHECK(variant_settings(kind, false).platform.name == kind.platform_alone);
  }
  CHECK_FALSE(variant_kind("fp32").is_judged());
  CHECK(variant_kind("fp16").is_judged());
  CHECK_THROWS_AS(variant_kind("q9"), Error);
}

TEST_CASE("a variant that the model cannot have has the reason in its row; other errors end all", "[variants]") {
  const Variant row =
      refused_variant(variant_kind("q4"), {ErrorCode::kUnsupportedModel, "No weights.", "graph", "Take q8."});
  CHECK(row.file == "model_q4.onnx");
  CHECK(row.refused->message == "No weights.");
  CHECK(row.refused->hint == "Take q8.");
  CHECK(to_json(row).at("size_bytes").is_null());
  CHECK_THROWS_AS(refused_variant(variant_kind("q4"), {ErrorCode::kInvalidSamples, "Not finite."}), Error);
}

TEST_CASE("a float16 file is judged by what the engine runs in its place", "[variants]") {
  const OpenedModel opened = network();
  const VariantFile whole = variant_file(variant_kind("fp32"), opened, nullptr, nullptr);
  CHECK_FALSE(whole.computed);
  VariantFile half = variant_file(variant_kind("fp16"), opened, nullptr, nullptr);
  CHECK(static_cast<size_t>(*half.row.size_bytes) == half.bytes.size());
  const report::Comparison found = compared(opened.model, *half.computed, report::Depth::kOutputs);
  CHECK(*found.output_sqnr_db > 50);
  CHECK(*found.output_sqnr_db < 80);
  judge(half.row, std::move(half.report), found, true, std::nullopt, nullptr);
  CHECK(half.row.held_aside);
  CHECK(half.row.leads == (half.row.verdict->usability <= report::Usability::kUsableWithCare));
  CHECK(half.row.comparison->samples == 6);
  REQUIRE(half.row.verdict);
  CHECK_FALSE(half.row.verdict->reason.empty());
}

TEST_CASE("of variants the one to take is usable, then fast, then small, then exact", "[variants]") {
  const auto judged = [](double decibels, double speed, int64_t bytes, const Variant* leader) {
    Variant row;
    row.size_bytes = bytes;
    row.time = report::TimeForecast{};
    row.time->times_as_fast = speed;
    report::Report of_file;
    of_file.time = row.time;
    of_file.model.size_bytes = 1000, of_file.output.size_bytes = bytes;
    report::Comparison found;
    found.samples = found.distinct = 64;
    found.outputs = {{"y", decibels}};
    found.output_sqnr_db = decibels;
    judge(row, of_file, found, true, std::nullopt, leader);
    return row;
  };
  const Variant first = judged(45, 1.5, 400, nullptr);
  CHECK(first.leads);
  CHECK(judged(40, 1.5, 300, &first).leads);
  CHECK(judged(40, 1.6, 900, &first).leads);
  CHECK(judged(50, 1.52, 410, &first).leads);
  CHECK_FALSE(judged(44, 1.52, 410, &first).leads);
  CHECK_FALSE(judged(60, 1.2, 100, &first).leads);
  CHECK_FALSE(judged(14, 3, 100, &first).leads);  // with care
  CHECK_FALSE(judged(-5, 3, 100, nullptr).leads);
}

TEST_CASE("weights in Constant nodes become float16 as others do", "[variants]") {
  const auto bytes_of = [](bool in_nodes) {
    NamedModel made;
    made.input("x", {1, 64});
    if (in_nodes)
      made.node("Constant", {}, {"w"},
                {{"value", Tensor::of<float>(Shape{64, 64}, std::vector<float>(64 * 64, 0.3F))}});
    else
      made.constant("w", Tensor::of<float>(Shape{64, 64}, std::vector<float>(64 * 64, 0.3F)));
    Model model = made.node("MatMul", {"x", "w"}, {"y"}).output("y").build();
    const std::vector<std::byte> bytes = onnx::write(model);
    const VariantFile half = variant_file(variant_kind("fp16"), open_model(std::move(model), bytes), nullptr, nullptr);
    CHECK(half.row.notes.empty());
    return half.bytes.size();
  };
  CHECK(bytes_of(true) == bytes_of(false));
  CHECK(bytes_of(true) < 64 * 64 * 2 + 1000);
}

TEST_CASE("values beyond float16 in the samples keep float32, and the row says which", "[variants]") {
  const OpenedModel opened = network();
  const Largest largest = {{"x", 1}, {"a", 1e6f}, {"b", 1e6f}, {"y", 1}};
  const VariantFile made = variant_file(variant_kind("fp16"), opened, nullptr, &largest);
  REQUIRE(made.row.notes.size() == 3);
  CHECK(made.row.notes[0] == "\"a_node\" (MatMul) keeps float32: its values reach 1e+06, and float16 ends at 65504.");
}

TEST_CASE("the largest values of all parts together are those of one that has seen everything", "[variants]") {
  const Model model = network().model;
  const auto program = largest_values_program(model);
  LargestValues all(program, model), even(program, model), odd(program, model);
  for (uint32_t sample = 0; sample < 6; ++sample) {
    const std::vector<Tensor> inputs = test::random_inputs(model, sample);
    all.add(inputs);
    (sample % 2 == 0 ? even : odd).add(inputs);
  }
  CHECK(even.values() != all.values());
  even.merge(odd.values());
  CHECK(even.values() == all.values());
  CHECK(all.values().size() == 4);
}

TEST_CASE("outputs alone are compared to the same figures as with the layers", "[variants]") {
  const OpenedModel opened = network();
  const VariantFile half = variant_file(variant_kind("fp16"), opened, nullptr, nullptr);
  const report::Comparison alone = compared(opened.model, *half.computed, report::Depth::kOutputs);
  const report::Comparison deep = compared(opened.model, *half.computed, report::Depth::kLayers);
  CHECK(to_json(alone.outputs) == to_json(deep.outputs));
  CHECK(alone.layers.empty());
  CHECK(alone.float_sums.empty());
}

}  // namespace variants_test
