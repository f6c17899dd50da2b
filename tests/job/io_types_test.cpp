// SPDX-License-Identifier: Apache-2.0
#include "core/config/io_types.h"

#include "core/base/json.h"
#include "core/onnx/integer_edges.h"
#include "core/onnx/read.h"
#include "core/onnx/rewrite_forms.h"
#include "core/report/report_of.h"
#include "core/samples/model_inputs.h"
#include "core/samples/preprocessing.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace io_types_test {
using namespace tersor;
using test::NamedModel;

namespace {

/// Conv, Relu, and a Sigmoid at the end, which some platforms leave in float.
Model network() {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3}).weight("v", {2, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Conv", {"r", "v"}, {"d"});
  Model built = model.node("Sigmoid", {"d"}, {"y"}).output("y").build();
  built.graph.value(built.graph.outputs[0]).dtype = DType::kFloat32;
  return built;
}

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;

  Made(const char* platform, config::IoTypes types) {
    config::QuantizationConfig config = test::plain_config();
    config.io_types = types;
    config.prefer = config::Preference::kIntegers;
    job = test::job_of(network(), platform, config);
    result = quantize(*job, test::statistics_of(*job));
  }
  Model file() const { return onnx::read(onnx::Source::of(result.bytes)); }
};

}  // namespace

TEST_CASE("inputs and outputs have the types asked for, and the file's values are those of the float edges") {
  for (const char* platform : {"ort-cpu", "openvino", "qnn", "tflite", "imx500"}) {
    for (const auto types : {config::IoTypes::kUint8, config::IoTypes::kInt8, config::IoTypes::kUint8Int8,
                             config::IoTypes::kUint8Float32}) {
      INFO(platform << " " << enum_word(types));
      const Made made(platform, types);
      const Model file = made.file();
      const Graph& graph = file.graph;
      REQUIRE(graph.name_of(graph.inputs[0]) == "x");
      REQUIRE(graph.name_of(graph.outputs[0]) == "y");
      REQUIRE(graph.value(graph.inputs[0]).dtype == config::input_type(types));
      REQUIRE(graph.value(graph.outputs[0]).dtype == config::output_type(types));
      const auto inputs = test::sample(*made.job, 3);
      const Tensor wanted = run::Runner(simulate::compile(made.result.model, simulate::Profile::kX64)).run(inputs)[0];
      const Model opened = open_model(onnx::Source::of(made.result.bytes)).model;
      const Tensor found = run::Runner(simulate::compile(opened, simulate::Profile::kX64)).run(inputs)[0];
      REQUIRE(found == wanted);
    }
  }
}

TEST_CASE("integers that are given as the metadata says give integers that stand for the same values") {
  const Made made("ort-cpu", config::IoTypes::kUint8Int8);
  const Model file = made.file();
  const auto entry = std::find_if(file.metadata.begin(), file.metadata.end(),
                                  [](const auto& one) { return one.first == onnx::kIoTypes; });
  REQUIRE(entry != file.metadata.end());
  const Json edges = parse_json(entry->second, "metadata");
  const auto number = [&](const char* edge, const char* key) { return edges[edge][key].get<double>(); };
  const auto inputs = test::sample(*made.job, 3);
  Tensor codes = Tensor::make(DType::kUint8, inputs[0].shape());
  for (size_t k = 0; k < codes.mutable_data<uint8_t>().size(); ++k) {
    const double steps = std::nearbyint(inputs[0].data<float>()[k] / static_cast<float>(number("x", "scale")));
    codes.mutable_data<uint8_t>()[k] = static_cast<uint8_t>(std::clamp(steps + number("x", "zero_point"), 0.0, 255.0));
  }
  const Tensor found = run::Runner(simulate::compile(file, simulate::Profile::kX64)).run(std::vector<Tensor>{codes})[0];
  const Tensor wanted = run::Runner(simulate::compile(made.result.model, simulate::Profile::kX64)).run(inputs)[0];
  REQUIRE(found.dtype() == DType::kInt8);
  for (size_t k = 0; k < wanted.data<float>().size(); ++k)
    REQUIRE(static_cast<float>(number("y", "scale")) *
                static_cast<float>(found.data<int8_t>()[k] - static_cast<int>(number("y", "zero_point"))) ==
            wanted.data<float>()[k]);
}

TEST_CASE("a file that takes pixels gives what pictures give after their preprocessing") {
  const auto input = samples::model_inputs(network().graph)[0];
  for (const char* preset : {"unit", "imagenet", "signed", "raw"}) {
    for (const auto types : {config::IoTypes::kPixels, config::IoTypes::kPixelsInt8}) {
      INFO(preset << " " << enum_word(types));
      samples::Preprocessing how = samples::preset(preset, input);
      how.channels = samples::Channels::kBgr;
      samples::Picture picture{6, 6, 3, {}};
      for (int k = 0; k < 6 * 6 * 3; ++k) picture.pixels.push_back(static_cast<uint8_t>(k * 37 % 256));
      const Tensor floats = samples::picture_to_tensor(picture, how, input);
      config::QuantizationConfig config = test::plain_config();
      config.io_types = types;
      const auto job = with_preprocessing(*test::job_of(network(), "ort-cpu", config), to_text(to_json(how), false));
      calibrate::Calibrator calibrator = calibrator_of(*job, 1);
      const std::vector<Tensor> sample{floats};
      calibrator.add({0, samples::sample_digest(sample)}, "", sample);
      const auto result = quantize(*job, calibrator.statistics());
      const Model file = onnx::read(onnx::Source::of(result.bytes));
      REQUIRE(file.graph.value(file.graph.inputs[0]).dtype == DType::kUint8);
      const bool folds = std::string_view(preset) == "unit" || std::string_view(preset) == "raw";
      REQUIRE(file.graph.nodes()[0].is(folds ? "DequantizeLinear" : "Cast"));

      how.scale = 1;
      how.mean = {0};
      how.stddev = {1};
      auto as_pixels = input;
      as_pixels.dtype = DType::kUint8;
      const Tensor pixels = samples::picture_to_tensor(picture, how, as_pixels);
      const auto run = [](const Model& model, const Tensor& given) {
        return run::Runner(simulate::compile(model, simulate::Profile::kX64)).run(std::vector<Tensor>{given})[0];
      };
      const Tensor wanted = run(result.model, floats);
      const Model opened = open_model(onnx::Source::of(result.bytes)).model;
      REQUIRE(run(opened, floats) == wanted);
      if (types != config::IoTypes::kPixels) continue;
      REQUIRE(run(file, pixels) == wanted);
      REQUIRE(run(onnx::restore_edges(opened), pixels) == wanted);
    }
  }
}

TEST_CASE("pixels are refused where samples are arrays, with what to do") {
  config::QuantizationConfig config = test::plain_config();
  config.io_types = config::IoTypes::kPixels;
  const auto job = test::job_of(network(), "ort-cpu", config);
  REQUIRE_THROWS_WITH(quantize(*job, test::statistics_of(*job)), Catch::Contains("they are arrays"));
}

TEST_CASE("an edge without a quantizer stays float32, with a note") {
  const Made made("weight-only-int8", config::IoTypes::kUint8);
  REQUIRE(made.file().graph.value(made.file().graph.inputs[0]).dtype == DType::kFloat32);
  int notes = 0;
  for (const Diagnostic& note : remarks_on(*made.job, made.result)) notes += note.code == "float_edge" ? 1 : 0;
  REQUIRE(notes == 2);
}

}  // namespace io_types_test
