// SPDX-License-Identifier: Apache-2.0
#include "core/report/expected_size.h"

#include "core/onnx/write.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;

namespace {

/// Two convolutions, an Add and a MatMul, with names of the length that exporters give.
Model residual() {
  test::NamedModel model;
  const std::vector<int64_t> pads{1, 1, 1, 1};
  model.input("image", {1, 4, 6, 6}).weight("blocks.0.conv.weight", {8, 4, 3, 3}).weight("blocks.0.conv.bias", {8});
  model.weight("blocks.1.conv.weight", {8, 8, 3, 3}).weight("blocks.1.conv.bias", {8}).weight("head.weight", {288, 5});
  model.node("Conv", {"image", "blocks.0.conv.weight", "blocks.0.conv.bias"}, {"/blocks.0/Conv_output_0"},
             {{"pads", pads}});
  model.node("Relu", {"/blocks.0/Conv_output_0"}, {"/blocks.0/Relu_output_0"});
  model.node("Conv", {"/blocks.0/Relu_output_0", "blocks.1.conv.weight", "blocks.1.conv.bias"},
             {"/blocks.1/Conv_output_0"}, {{"pads", pads}});
  model.node("Add", {"/blocks.0/Relu_output_0", "/blocks.1/Conv_output_0"}, {"/blocks.1/Add_output_0"});
  model.node("Flatten", {"/blocks.1/Add_output_0"}, {"/Flatten_output_0"});
  return model.node("MatMul", {"/Flatten_output_0", "head.weight"}, {"logits"}).output("logits").build();
}

}  // namespace

TEST_CASE("the size that is expected before any sample is seen is nearly that of the file") {
  for (const char* platform : {"ort-cpu", "ort-cpu-avx2", "imx500", "weight-only-int8", "weight-only-int4"})
    for (const bool weights : {true, false}) {
      config::QuantizationConfig config = test::plain_config();
      config.enable_weights_quantization = weights;
      if (!weights && std::string_view(platform).substr(0, 6) == "weight") continue;
      INFO(platform << (weights ? "" : " without weights"));
      const auto job = test::job_of(residual(), platform, config);
      const auto before = static_cast<int64_t>(onnx::write(job->opened->model).size());
      const auto made = static_cast<double>(quantize(*job, test::statistics_of(*job)).bytes.size());
      const auto expected = static_cast<double>(report::expected_size(job->opened->model.graph, job->model.graph,
                                                                      job->attachment, job->placement, config, before));
      CHECK(expected == Approx(made).epsilon(0.06));
    }
}
