// SPDX-License-Identifier: Apache-2.0
// The float engine for the benchmarks: one model, one sample, run when asked. As WebAssembly its functions are called
// by tests/bench/page.mjs, which keeps the time; natively the program takes lines of standard input:
//
//   bench_engine MODEL.onnx      "run" runs once and answers with the milliseconds; "quit", or the end, ends
#include <cstdlib>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/read.h"
#include "core/run/program.h"

namespace {

using namespace tersor;

struct Engine {
  std::unique_ptr<run::Runner> runner;
  std::vector<Tensor> input, output;

  /// Dimensions that the model leaves open become 1. The sample is that of tests/bench/sample.mjs.
  void load(onnx::Source source) {
    const Model model = onnx::read(source);
    const auto program = run::Program::compile(model, ops::standard());
    std::vector<int64_t> dims;
    for (const Dim& dim : *program->inputs().at(0).shape) dims.push_back(dim.fixed() ? dim.value : 1);
    Tensor sample = Tensor::make(DType::kFloat32, Shape(dims));
    uint32_t state = 1;
    for (float& value : sample.mutable_data<float>()) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
    }
    input = {std::move(sample)};
    runner = std::make_unique<run::Runner>(program);
  }

  void run() { output = runner->run(input); }
};

Engine& engine() {
  static Engine only;
  return only;
}

}  // namespace

#if defined(__EMSCRIPTEN__)

extern "C" {
/// 1 on success. Takes over `bytes`, which malloc gave.
int bench_load(std::byte* bytes, size_t size) {
  try {
    engine().load(
        {std::shared_ptr<const void>(bytes, [](const void* p) { std::free(const_cast<void*>(p)); }), {bytes, size}});
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

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: bench_engine MODEL.onnx\n";
    return 2;
  }
  try {
    std::ifstream file(arguments[1], std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    engine().load(onnx::Source::of({bytes, bytes + text.size()}));
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
