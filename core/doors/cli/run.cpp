// SPDX-License-Identifier: Apache-2.0
// tersor run: the outputs of a model on samples, as DIR/<sample>/<output>.npy.
#include <cinttypes>
#include <filesystem>

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/data_option.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/output_files.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/native/stage_count.h"
#include "core/native/workers.h"
#include "core/samples/fixed_batch.h"
#include "core/simulate/program.h"

namespace tersor::cli {

namespace {

struct RunOptions {
  std::string model;
  DataOption data;
  std::string output;
  std::string runtime = "x64";
  int threads = 0;
  bool json = false;
};

void make_folder(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure || !std::filesystem::is_directory(path, failure))
    throw Error(ErrorCode::kIo,
                "The folder cannot be made: " + (failure ? failure.message() : "a file is in its place") + ".", path,
                "Choose another --output.");
}

/// Outputs among the samples would be samples of the next job.
void expect_outside(const std::string& folder, const std::string& data) {
  std::error_code none;
  const auto samples = std::filesystem::weakly_canonical(data, none);
  if (!std::filesystem::is_directory(samples, none)) return;
  const auto inside =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder), none).lexically_relative(samples);
  if (inside.empty() || *inside.begin() == "..") return;
  throw Error(ErrorCode::kIo, "The outputs would lie among the samples in \"" + data + "\".", folder,
              "Give a folder outside of them.");
}

/// What one thread needs.
struct Worker {
  run::Runner runner;
  samples::SampleReader reader;
};

void write_outputs(const std::string& folder, const std::vector<std::string>& names,
                   const std::vector<Tensor>& outputs) {
  make_folder(folder);
  for (size_t k = 0; k < names.size(); ++k) write_file(folder + "/" + names[k] + ".npy", npy_file(outputs[k]));
}

void run_model(const RunOptions& options) {
  for (const std::string& path : options.data.data) expect_outside(options.output, path);
  const ModelFile file = open_runnable_model(options.model);
  const auto program = simulate::compile(file.model, enum_from_word<simulate::Profile>(options.runtime, "--runtime"));
  const auto data = open_data(options.data, file.model, options.json);
  const std::vector<int64_t> chosen = chosen_samples(options.data, *data);
  std::vector<std::string> sample_names, outputs;
  for (const run::Port& port : program->outputs()) outputs.push_back(port.name);
  for (const int64_t sample : chosen) sample_names.push_back(data->name(sample));
  const std::vector<std::string> folders = file_names(sample_names), files = file_names(outputs);
  make_folder(options.output);

  const int threads = thread_count(options.threads);
  std::vector<Worker> workers;
  for (int k = 0; k < threads; ++k)
    workers.push_back({run::Runner(program), samples::SampleReader(data, samples::SampleReader::Values::kAny)});
  const auto count = static_cast<int64_t>(chosen.size());
  {
    const ProgressFunction shown = progress_line();
    StageCount progress(shown, "run", count);
    fan_out(threads, count, [&](int number, int64_t item) {
      Worker& worker = workers[static_cast<size_t>(number)];
      const auto k = static_cast<size_t>(item);
      write_outputs(options.output + "/" + folders[k], files,
                    samples::first_rows(worker.runner.run(worker.reader.load(chosen[k])), data->batch()));
      progress.step();
    });
  }
  if (options.json) {
    const Json json{{"output", options.output}, {"samples", count}, {"folders", folders}, {"files", files}};
    print("%s\n", to_text(json).c_str());
    return;
  }
  print("%" PRId64 " samples, %zu %s each, in %s\n", count, files.size(), files.size() == 1 ? "output" : "outputs",
        options.output.c_str());
}

}  // namespace

void add_run(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("run", "Outputs of a model, float or quantized, as .npy files.");
  command.footer(
      "Examples:\n  tersor run model.int8.onnx --data samples/ --output results/\n  tersor run model.onnx --data x.npz "
      "--output results/ --limit 1");
  auto options = std::make_shared<RunOptions>();
  command.add_option("MODEL", options->model, "The ONNX or .tflite file, float or quantized")->required();
  add_data_option(command, options->data, false);
  command.add_option("--output", options->output, "Folder for <sample>/<output>.npy")->required();
  command
      .add_option("--runtime", options->runtime,
                  "Whose arithmetic a quantized model runs in: x64, wasm, arm64, avx2 or tflite-micro")
      ->capture_default_str();
  add_threads(command, options->threads);
  command.add_flag("--json", options->json, "Print JSON");
  command.callback([options] { run_model(*options); });
}

}  // namespace tersor::cli
