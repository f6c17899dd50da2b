// SPDX-License-Identifier: Apache-2.0
// The engine for the benchmarks: one model, one sample, run when asked. As WebAssembly its functions are called by
// tests/bench/page.mjs, which keeps the time; natively the program takes lines of standard input:
//
//   bench_engine MODEL.onnx [float|observe|simulate]      "run" runs once and answers with the milliseconds; the end
//   ends
//
// float: as it is. observe: with all statistics of a calibration with the default settings. simulate: a quantized model
// in integer kernels.
#include <cstdlib>
#include <vector>

#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/simulate/fuse.h"
#include "core/simulate/operators.h"
#include "core/tersor.h"
#include "core/tpc/builtin.h"

namespace {

using namespace tersor;

enum class Mode { kFloat, kObserve, kSimulate };

struct Engine {
  std::unique_ptr<run::Runner> runner;
  std::shared_ptr<const Job> job;
  std::unique_ptr<calibrate::Calibrator> calibrator;
  std::vector<Tensor> input, output;

  /// Dimensions that the model leaves open become 1. The sample is that of tests/bench/sample.mjs.
  void load(onnx::Source source, Mode mode) {
    const auto opened = std::make_shared<const OpenedModel>(open_model(source));
    std::shared_ptr<const run::Program> program;
    if (mode == Mode::kObserve) {
      job = prepare(opened, {tpc::get_target_platform_capabilities_by_label(tpc::kDefaultPlatform), {}});
      calibrator = std::make_unique<calibrate::Calibrator>(calibrator_of(*job, 1));
      program = job->program;
    } else if (mode == Mode::kSimulate) {
      constexpr auto profile = simulate::Profile::kWasm;
      program = run::Program::compile(simulate::fuse(opened->model, profile).model, simulate::registry(profile));
    } else {
      program = run::Program::compile(opened->model, ops::standard());
    }
    std::vector<int64_t> dims;
    for (const Dim& dim : *program->inputs().at(0).shape) dims.push_back(dim.fixed() ? dim.value : 1);
    Tensor sample = Tensor::make(DType::kFloat32, Shape(dims));
    uint32_t state = 1;
    for (float& value : sample.mutable_data<float>()) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
    }
    input = {std::move(sample)};
    if (mode != Mode::kObserve) runner = std::make_unique<run::Runner>(program);
  }

  void run() {
    if (calibrator)
      calibrator->add({0, ""}, "the sample", input);
    else
      output = runner->run(input);
  }
};

Engine& engine() {
  static Engine only;
  return only;
}

}  // namespace

#if defined(__EMSCRIPTEN__)

extern "C" {
/// 1 on success. Takes over `bytes`, which malloc gave. `mode`: 0 float, 1 observe, 2 simulate.
int bench_load(std::byte* bytes, size_t size, int mode) {
  try {
    engine().load(
        {std::shared_ptr<const void>(bytes, [](const void* p) { std::free(const_cast<void*>(p)); }), {bytes, size}},
        static_cast<Mode>(mode));
    return 1;
  } catch (const Error&) {
    return 0;
  }
}

int bench_run() {
  try {
    engine().run();
    return 1;
  } catch (const Error&) {
    return 0;
  }
}

const float* bench_output() {
  return engine().output[0].data<float>().data();
}
size_t bench_output_size() {
  return engine().output[0].data<float>().size();
}
}

#else

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int count, char** arguments) {
  const std::string word = count == 3 ? arguments[2] : "float";
  if (count < 2 || count > 3 || (word != "float" && word != "observe" && word != "simulate")) {
    std::cerr << "usage: bench_engine MODEL.onnx [float|observe|simulate]\n";
    return 2;
  }
  const Mode mode = word == "float" ? Mode::kFloat : word == "observe" ? Mode::kObserve : Mode::kSimulate;
  try {
    std::ifstream file(arguments[1], std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    engine().load(onnx::Source::of({bytes, bytes + text.size()}), mode);
  } catch (const Error& error) {
    std::cerr << error.message << "\n";
    return 1;
  }
  std::string line;
  while (std::getline(std::cin, line) && line == "run") {
    const auto start = std::chrono::steady_clock::now();
    engine().run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::cout << took.count() << std::endl;
  }
}

#endif
