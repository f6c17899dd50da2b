// SPDX-License-Identifier: Apache-2.0
// Activations by a table in the file: the values, who computes with them, and what is said of them.
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/report/compare.h"
#include "core/report/range_remarks.h"
#include "core/report/ranges.h"
#include "core/tpc/read.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/run_sweep.h"

namespace table_activation_test {
using namespace tersor;
using test::NamedModel;
using Arithmetic = ptq::NodeOutcome::Arithmetic;
using Ints = std::vector<int64_t>;

namespace {

/// With what a quantizer stands after it: an input, a Relu, a mover, a Concat, a Conv with both signs.
Model layers() {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 3, 3}).weight("b1", {8}).weight("w2", {6, 8, 3, 3});
  model.node("Conv", {"x", "w1", "b1"}, {"a"}, {{"pads", Ints{1, 1, 1, 1}}}).node("Relu", {"a"}, {"r"});
  model.node("MaxPool", {"r"}, {"p"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  model.node("Conv", {"p", "w2"}, {"b"}, {{"pads", Ints{1, 1, 1, 1}}});
  model.node("Concat", {"b", "p"}, {"c"}, {{"axis", int64_t{1}}}).weight("w3", {5, 14, 1, 1});
  model.node("Conv", {"c", "w3"}, {"d"}).node("Flatten", {"d"}, {"f"}).weight("w4", {80, 3}).weight("b4", {3});
  return model.node("Gemm", {"f", "w4", "b4"}, {"y"}).output("y").build();
}

/// ort-cpu with one quantizer for all activations.
tpc::TargetPlatformCapabilities platform(const std::string& method, int bits, const std::string& sign = "AUTO") {
  const std::string how = R"("activation_quantization_method": ")" + method + R"(", "activation_n_bits": )" +
                          std::to_string(bits) + R"(, "signedness": ")" + sign + "\"";
  return tpc::read_platform(
      R"({"schema_version": 1, "name": "table", "version": 1, "title": "t", "description": "d",
    "export_rules": {"placement": "OPERANDS", "signed_activations": false, "narrow_weights": true,
      "integer_bias": true, "fold_clamps": true, "quantize_outputs": true, "unlisted_kernel": "FLOAT"},
    "attribute_configs": {"float": {"weights_n_bits": 32, "enable_weights_quantization": false},
      "kernel": {"weights_quantization_method": "SYMMETRIC", "weights_n_bits": 8,
        "weights_per_channel_threshold": true, "enable_weights_quantization": true}},
    "op_configs": {"op": {"default_weight_attr_config": "float", )" +
          how + R"(, "supported_input_activation_n_bits": 16, "enable_activation_quantization": true},
      "linear": {"extends": "op", "attr_weights_configs_mapping": {"kernel_attr": "kernel", "bias_attr": "float"}},
      "same": {"extends": "op", "enable_activation_quantization": false, "quantization_preserving": true}},
    "qc_options": {"op": {"quantization_config_list": ["op"]}, "linear": {"quantization_config_list": ["linear"]},
      "same": {"quantization_config_list": ["same"]}},
    "tp_model": {"name": "t", "add_metadata": false, "default_qco": "op", "operator_set": [
      {"name": "Conv", "qc_options": "linear", "runtime_kernel": "INTEGER"},
      {"name": "FullyConnected", "qc_options": "linear", "runtime_kernel": "INTEGER_FLOAT_OUTPUT"},
      {"name": ["Concatenate", "ReLU"], "qc_options": "op", "runtime_kernel": "INTEGER"},
      {"name": ["MaxPool", "Flatten"], "qc_options": "same", "runtime_kernel": "INTEGER"}], "fusing_patterns": []}})",
      "table.json");
}

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;
};

Made make(const Model& model, const tpc::TargetPlatformCapabilities& platform,
          const config::QuantizationConfig& config = test::plain_config()) {
  const std::vector<std::byte> bytes = onnx::write(model);
  Made made;
  made.job =
      prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), Settings{platform, config});
  calibrate::Statistics statistics = test::statistics_of(*made.job);
  test::run_sweep(*made.job, statistics, [&](size_t k) { return test::sample(*made.job, k); });
  made.result = quantize(*made.job, statistics);
  return made;
}

const Node* named(const Model& model, const std::string& name) {
  for (const Node& node : model.graph.nodes())
    if (node.name == name) return &node;
  return nullptr;
}

/// What the quantizer makes of x by its definition: the step of x, and of the entries the nearest.
float by_table(float x, const ptq::ActivationPlan& plan) {
  const quant::LutParams& table = *plan.table;
  const float scale = plan.params.scale[0];
  const double code = std::clamp<double>(std::nearbyint(x / scale), table.values.low(), table.values.high());
  return static_cast<float>(table.table[quant::nearest_entry(table.table, code)]) * scale;
}

/// Every tensor by a table as its quantizer finds it and as its readers do.
void check_values(const Made& made) {
  const Model& file = made.result.model;
  run::ProgramOptions options;
  for (const ptq::ActivationPlan& one : made.result.plan.activations) {
    const std::string name = made.result.draft.model.graph.name_of(one.tensor.value);
    const Node *quantize = named(file, name + "_QuantizeLinear"), *restore = named(file, name + "_DequantizeLinear");
    REQUIRE((quantize != nullptr && restore != nullptr));
    REQUIRE(one.is_looked_up == (named(file, name + "_Gather") == nullptr));
    options.fetched.insert(options.fetched.end(), {quantize->inputs[0], restore->outputs[0]});
  }
  run::Runner runner(run::Program::compile(file, ops::standard(), options));
  const std::vector<Tensor> values = runner.run(test::sample(*made.job, 500));
  for (size_t k = 0; k < made.result.plan.activations.size(); ++k) {
    const auto x = values[1 + 2 * k].data<float>(), back = values[2 + 2 * k].data<float>();
    for (size_t i = 0; i < x.size(); ++i) REQUIRE(back[i] == by_table(x[i], made.result.plan.activations[k]));
  }
}

/// The preview's tensors hold entries of their table and nothing else.
void check_preview(const Made& made) {
  run::ProgramOptions options;
  for (const ptq::ActivationPlan& one : made.result.plan.activations)
    options.fetched.push_back(
        named(made.result.model, made.result.draft.model.graph.name_of(one.tensor.value) + "_DequantizeLinear")
            ->outputs[0]);
  run::Runner runner(simulate::compile(made.result.model, simulate::Profile::kX64, options));
  const std::vector<Tensor> values = runner.run(test::sample(*made.job, 500));
  for (size_t k = 0; k < options.fetched.size(); ++k) {
    const ptq::ActivationPlan& plan = made.result.plan.activations[k];
    std::set<float> entries;
    for (const int32_t entry : plan.table->table) entries.insert(static_cast<float>(entry) * plan.params.scale[0]);
    REQUIRE(entries.size() <= (size_t{1} << plan.table->n_bits));
    for (const float x : values[1 + k].data<float>()) REQUIRE(entries.count(x) == 1);
  }
}

/// Noise over signal of the preview's outputs, on samples of its own.
double noise_of(const Made& made) {
  run::Runner exact(run::Program::compile(made.job->opened->model, ops::standard()));
  run::Runner simulated(simulate::compile(made.result.model, simulate::Profile::kX64));
  double signal = 0, noise = 0;
  for (uint64_t k = 600; k < 630; ++k) {
    const Tensor a = exact.run(test::sample(*made.job, k))[0], b = simulated.run(test::sample(*made.job, k))[0];
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      signal += std::pow(a.data<float>()[i], 2);
      noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return noise / signal;
}

}  // namespace

TEST_CASE("activations by a table have its values in the file and in the preview, and kernels stay integer") {
  for (const char* method : {"LUT_SYM_QUANTIZER", "LUT_POT_QUANTIZER"})
    for (const int bits : {2, 4, 7})
      for (const char* sign : {"AUTO", "SIGNED", "UNSIGNED"}) {
        INFO(method << " " << bits << " " << sign);
        const Made made = make(layers(), platform(method, bits, sign));
        REQUIRE(made.result.model.opset() == 13);
        REQUIRE(made.result.plan.activations.size() == 7);
        std::set<bool> signs;
        for (const ptq::ActivationPlan& one : made.result.plan.activations) {
          REQUIRE((one.table && one.table->n_bits == bits && one.params.storage() == DType::kUint8));
          signs.insert(one.table->values.is_signed);
          int exponent = 0;
          if (method[4] == 'P') REQUIRE(std::frexp(one.table->threshold[0], &exponent) == 0.5);
        }
        REQUIRE(signs.size() == (sign[0] == 'A' ? 2 : 1));
        check_values(made);
        check_preview(made);
        for (const ptq::NodeOutcome& one : made.result.plan.outcomes)
          if (made.result.draft.model.graph.find(one.node)->is("Conv") && sign[0] != 'S')
            REQUIRE(one.arithmetic == Arithmetic::kInteger);
        if (bits == 7 && sign[0] != 'U') REQUIRE(noise_of(made) < 0.003);
      }
}

TEST_CASE("a table of 8 bits or more would hold every code: the file has the even steps") {
  for (const int bits : {8, 12, 16})
    for (const bool of_powers : {false, true}) {
      const Made table = make(layers(), platform(of_powers ? "LUT_POT_QUANTIZER" : "LUT_SYM_QUANTIZER", bits));
      const Made even = make(layers(), platform(of_powers ? "POWER_OF_TWO" : "SYMMETRIC", bits));
      REQUIRE(test::count(table.result.model, "Gather") == 0);
      for (size_t k = 0; k < even.result.plan.activations.size(); ++k)
        REQUIRE(table.result.plan.activations[k].params == even.result.plan.activations[k].params);
      REQUIRE(noise_of(table) == noise_of(even));
    }
}

TEST_CASE("the threshold of a table is that of the selection method") {
  std::set<double> thresholds;
  for (const auto method : quant::activation_selection_methods()) {
    config::QuantizationConfig config = test::plain_config();
    config.activation_threshold_method = method;
    const Made made = make(layers(), platform("LUT_SYM_QUANTIZER", 4), config);
    thresholds.insert(made.result.plan.activations[1].table->threshold[0]);
    INFO(enum_word(method));
    REQUIRE(noise_of(made) < 0.1);
  }
  REQUIRE(thresholds.size() >= 4);
}

TEST_CASE("a setting asks for tables where the platform offers them") {
  for (const char* method : {"LUT_SYM_QUANTIZER", "LUT_POT_QUANTIZER"}) {
    config::QuantizationConfig config = test::plain_config();
    config::set_field(config, std::string("activation_quantization_method=") + method);
    const Made made = make(layers(), tpc::get_target_platform_capabilities("ort-cpu"), config);
    for (const ptq::ActivationPlan& one : made.result.plan.activations) REQUIRE(one.table->n_bits == 4);
    check_values(made);
    try {
      make(layers(), tpc::get_target_platform_capabilities("qnnpack"), config);
      FAIL("it was not refused");
    } catch (const Error& error) {
      REQUIRE(error.message.find(std::string("with activation_quantization_method = ") + method +
                                 "; it can be UNIFORM") != std::string::npos);
    }
  }
}

TEST_CASE("tables beat even steps of as few bits, whatever corrections are on") {
  const auto noise = [&](const char* method, const config::QuantizationConfig& config) {
    return noise_of(make(layers(), platform(method, 3), config));
  };
  config::QuantizationConfig all = test::plain_config();
  all.split_scales = all.activation_channel_equalization = all.concat_threshold_update = true;
  all.activation_bias_correction = all.shift_negative_activation_correction = all.input_scaling = true;
  all.relu_unbound_correction = all.softmax_shift = all.weights_second_moment_correction = true;
  config::QuantizationConfig measured = all;
  measured.weights_bias_correction_method = config::BiasCorrectionMethod::kMeasured;
  for (const auto& config : {test::plain_config(), all, measured})
    REQUIRE(noise("LUT_SYM_QUANTIZER", config) < noise("SYMMETRIC", config));
}

TEST_CASE("channels by a table are not rescaled: the histogram that it follows would be lost") {
  NamedModel model;
  model.input("x", {1, 4, 8, 8}).weight("w1", {8, 4, 3, 3}).scale_along("w1", 0, 0.4).weight("w2", {6, 8, 3, 3});
  model.node("Conv", {"x", "w1"}, {"a"}).node("Relu", {"a"}, {"r"}).node("Conv", {"r", "w2"}, {"y"}).output("y");
  config::QuantizationConfig config = test::plain_config();
  config.activation_channel_equalization = true;
  REQUIRE(test::places(make(model.build(), platform("LUT_SYM_QUANTIZER", 4), config).result.draft,
                       test::kEqualization) == 0);
  REQUIRE(test::places(make(model.build(), platform("SYMMETRIC", 8), config).result.draft, test::kEqualization) > 0);
  const auto fuses = tpc::get_target_platform_capabilities("ort-cpu");  // its Convs' own outputs are not quantized
  REQUIRE(test::places(make(model.build(), fuses, config).result.draft, test::kEqualization) > 0);
  config::set_field(config, "activation_quantization_method=LUT_SYM_QUANTIZER");
  REQUIRE(test::places(make(model.build(), fuses, config).result.draft, test::kEqualization) == 0);
}

TEST_CASE("what the report says of a tensor by a table") {
  const Made made = make(layers(), platform("LUT_POT_QUANTIZER", 4));
  const Draft& draft = made.result.draft;
  const auto rows = report::ranges_of(draft.model.graph, made.result.plan, draft.statistics);
  REQUIRE(rows[0].tensor == "x");
  REQUIRE((rows[0].method == quant::QuantizationMethod::kLutPotQuantizer && rows[0].n_bits == 4));
  REQUIRE(rows[0].range[0] == made.result.plan.activations[0].table->table.front() * rows[0].scale[0]);
  REQUIRE(*rows[0].expected_sqnr_db > 20);
  REQUIRE(*rows[0].expected_sqnr_db < 28);
  const auto compared = report::CompareProgram::make(made.job->model, made.result.model, simulate::Profile::kX64);
  REQUIRE(compared->pairs().size() == rows.size());
  report::Comparer comparer(compared);
  for (uint64_t k = 0; k < 10; ++k) comparer.add(static_cast<int64_t>(k), test::sample(*made.job, 700 + k));
  const report::Comparison found = comparer.result();
  REQUIRE(found.layers[0].output == "x");
  REQUIRE(*found.layers[0].isolated_sqnr_db == Approx(*rows[0].expected_sqnr_db).margin(0.5));
  // The Conv reads the table's x in its own row as well, so it loses more than its own table takes.
  REQUIRE(found.layers[1].output == "r");
  REQUIRE(*found.layers[1].isolated_sqnr_db < *rows[1].expected_sqnr_db - 1);
}

TEST_CASE("a tensor that is 0 in every sample has even steps of as many bits, a constant its own value") {
  NamedModel model;
  model.input("x", {1, 16}).weight("w", {16, 4}).node("Gemm", {"x", "w"}, {"y"}).output("y");
  const auto plan_for = [&](float value) {
    const std::vector<std::byte> bytes = onnx::write(model.build());
    const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                             Settings{platform("LUT_SYM_QUANTIZER", 3), test::plain_config()});
    calibrate::Calibrator calibrator = calibrator_of(*job, 1);
    std::vector<Tensor> inputs = test::sample(*job, 1);
    for (float& x : inputs[0].mutable_data<float>()) x = value;
    calibrator.add({0, samples::sample_digest(inputs)}, "", inputs);
    return quantize(*job, calibrator.statistics()).plan.activations[0];
  };
  const ptq::ActivationPlan zeros = plan_for(0);
  REQUIRE((!zeros.table && zeros.params.grid.n_bits == 3));
  for (const float value : {5.0f, -5.0f}) REQUIRE(by_table(value, plan_for(value)) == Approx(value).epsilon(0.01));
}

}  // namespace table_activation_test
