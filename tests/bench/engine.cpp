// SPDX-License-Identifier: Apache-2.0
// The engine for the benchmarks: one model, one sample, run when asked. As WebAssembly its functions are called by
// tests/bench/page.mjs, which keeps the time; natively the program takes lines of standard input:
//
//   bench_engine MODEL.onnx [float|observe|simulate]   says the multiplications of one run; "run" runs once and answers
//                                                      with the milliseconds; the end ends
//   bench_engine peak                                  10^9 products and sums a second of one core, apart and fused
//
// float: as it is. observe: with all statistics of a calibration with the default settings. simulate: a quantized model
// in integer kernels.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/job/tersor.h"
#include "core/ops/registry.h"
#include "core/simulate/fuse.h"
#include "core/simulate/operators.h"
#include "core/tpc/builtin.h"
#include "tests/bench/peak.h"

namespace {

using namespace tersor;

enum class Mode { kFloat, kObserve, kSimulate };

/// The sample of tests/bench/sample.mjs for an input of floats; what the model leaves open is 1.
Tensor seeded(const run::Port& port) {
  std::vector<int64_t> dims;
  if (port.shape)
    for (const Dim& dim : *port.shape) dims.push_back(dim.fixed() ? dim.value : 1);
  Tensor sample = Tensor::make(DType::kFloat32, Shape(dims));
  uint32_t state = 1;
  for (float& value : sample.mutable_data<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return sample;
}

struct Engine {
  std::shared_ptr<const run::Program> program;
  std::unique_ptr<run::Runner> runner;
  std::shared_ptr<const Job> job;
  std::unique_ptr<calibrate::Calibrator> calibrator;
  std::vector<Tensor> input, output;
  bool given = false;  // the caller fills the input itself
  std::string error;

  void load(onnx::Source source, Mode mode) {
    const auto opened = std::make_shared<const OpenedModel>(open_model(source));
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
    if (mode != Mode::kObserve) runner = std::make_unique<run::Runner>(program);
    for (const run::Port& port : program->inputs())
      if (port.dtype == DType::kFloat32) input.push_back(seeded(port));
  }

  void run() {
    if (calibrator)
      calibrator->add({0, ""}, "the sample", input);
    else
      output = runner->run(input);
  }

  double macs() const {
    std::vector<Shape> shapes;
    for (const Tensor& tensor : input) shapes.push_back(tensor.shape());
    return static_cast<double>(program->macs(shapes));
  }
};

Engine& engine() {
  static Engine only;
  return only;
}

}  // namespace

#if defined(__EMSCRIPTEN__)

namespace {

/// 1 when `work` went well; else bench_error() says what was wrong.
template <class Work>
int tried(Work&& work) {
  try {
    work();
    return 1;
  } catch (const Error& error) {
    engine().error = error.message + " " + error.place;
    return 0;
  }
}

}  // namespace

extern "C" {
/// 1 on success. Takes over `bytes`, which malloc gave. `mode`: 0 float, 1 observe, 2 simulate.
int bench_load(std::byte* bytes, size_t size, int mode) {
  return tried([&] {
    engine().load(
        {std::shared_ptr<const void>(bytes, [](const void* p) { std::free(const_cast<void*>(p)); }), {bytes, size}},
        static_cast<Mode>(mode));
  });
}

/// Room for the next input's values, in the graph's order, in place of the sample. `type` as ONNX numbers it.
std::byte* bench_add_input(int type, const int64_t* dims, int rank) {
  if (!engine().given) engine().input.clear();
  engine().given = true;
  engine().input.push_back(Tensor::make(static_cast<DType>(type), Shape(std::vector<int64_t>(dims, dims + rank))));
  return engine().input.back().mutable_bytes().data();
}

int bench_run() {
  return tried([] { engine().run(); });
}

int bench_outputs() {
  return static_cast<int>(engine().output.size());
}
const std::byte* bench_output(size_t index) {
  return engine().output[index].bytes().data();
}
size_t bench_output_bytes(size_t index) {
  return engine().output[index].bytes().size();
}
int bench_output_type(size_t index) {
  return static_cast<int>(engine().output[index].dtype());
}

double bench_macs() {
  double macs = 0;
  tried([&] { macs = engine().macs(); });
  return macs;
}
const char* bench_error() {
  return engine().error.c_str();
}

/// 10^9 operations a second of products and sums, measured for so long.
double bench_peak(double milliseconds) {
  return bench::measure_peak(milliseconds).separate;
}
}

#else

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>

int main(int count, char** arguments) {
  if (count == 2 && std::string(arguments[1]) == "peak") {
    const bench::Peak peak = bench::measure_peak(300);
    std::cout << peak.separate << " " << peak.fused << std::endl;
    return 0;
  }
  const std::string word = count == 3 ? arguments[2] : "float";
  if (count < 2 || count > 3 || (word != "float" && word != "observe" && word != "simulate")) {
    std::cerr << "usage: bench_engine MODEL.onnx [float|observe|simulate] | bench_engine peak\n";
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
  std::cout << engine().macs() << std::endl;
  std::string line;
  while (std::getline(std::cin, line) && line == "run") {
    const auto start = std::chrono::steady_clock::now();
    engine().run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::cout << took.count() << std::endl;
  }
}

#endif
