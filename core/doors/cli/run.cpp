// SPDX-License-Identifier: Apache-2.0
// tersor run: the outputs of a model on samples, as DIR/<sample>/<output>.npy.
#include <cinttypes>
#include <filesystem>
#include <functional>

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
#include "core/tflite/interpret.h"
#include "core/tflite/read.h"

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
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> outputs_of;
  samples::SampleReader reader;
};

/// A model file of either kind: what its samples and outputs are, and who computes them in a thread.
struct Computed {
  ModelFile file;
  std::vector<std::string> outputs;
  std::function<decltype(Worker::outputs_of)()> worker;
};

/// The network of an int8 .tflite file; null of any other file.
std::shared_ptr<const tflite::Network> integer_network(const std::string& path) try {
  const FileBytes file = map_file(path);
  if (!tflite::is_tflite(file.bytes)) return nullptr;
  auto network = std::make_shared<const tflite::Network>(tflite::read(file.bytes, file.owner));
  return tflite::is_quantized(*network) ? network : nullptr;
} catch (const Error& error) {
  throw error.within(path);
}

/// Such a file computes as TensorFlow Lite Micro does; its integer inputs and outputs are given in real numbers.
Computed compute_integers(const std::shared_ptr<const tflite::Network>& network) {
  Computed made;
  for (const int32_t input : network->inputs) {
    const tflite::NetworkTensor& tensor = network->tensors[static_cast<size_t>(input)];
    std::vector<Dim> dims;
    for (const int32_t dim : tensor.shape) dims.push_back({dim, ""});
    Graph& graph = made.file.model.graph;
    const DType type = tensor.dtype == DType::kInt8 ? DType::kFloat32 : tensor.dtype;
    graph.inputs.push_back(graph.add_value(tensor.name, type, std::move(dims)));
  }
  for (const int32_t output : network->outputs)
    made.outputs.push_back(network->tensors[static_cast<size_t>(output)].name);
  made.worker = [network] {
    return [network](const std::vector<Tensor>& inputs) { return tflite::interpret_floats(*network, inputs); };
  };
  return made;
}

Computed open_any(const RunOptions& options) {
  const auto profile = enum_from_word<simulate::Profile>(options.runtime, "--runtime");
  if (const auto network = integer_network(options.model)) return compute_integers(network);
  Computed made{open_runnable_model(options.model), {}, {}};
  const auto program = simulate::compile(made.file.model, profile);
  for (const run::Port& port : program->outputs()) made.outputs.push_back(port.name);
  made.worker = [program] {
    const auto runner = std::make_shared<run::Runner>(program);
    return [runner](const std::vector<Tensor>& inputs) { return runner->run(inputs); };
  };
  return made;
}

void write_outputs(const std::string& folder, const std::vector<std::string>& names,
                   const std::vector<Tensor>& outputs) {
  make_folder(folder);
  for (size_t k = 0; k < names.size(); ++k) write_file(folder + "/" + names[k] + ".npy", npy_file(outputs[k]));
}

void run_model(const RunOptions& options) {
  for (const std::string& path : options.data.data) expect_outside(options.output, path);
  const Computed computed = open_any(options);
  const auto data = open_data(options.data, computed.file.model, options.json);
  const std::vector<int64_t> chosen = chosen_samples(options.data, *data);
  std::vector<std::string> sample_names;
  for (const int64_t sample : chosen) sample_names.push_back(data->name(sample));
  const std::vector<std::string> folders = file_names(sample_names), files = file_names(computed.outputs);
  make_folder(options.output);

  const int threads = thread_count(options.threads);
  std::vector<Worker> workers;
  for (int k = 0; k < threads; ++k)
    workers.push_back({computed.worker(), samples::SampleReader(data, samples::SampleReader::Values::kAny)});
  const auto count = static_cast<int64_t>(chosen.size());
  {
    const ProgressFunction shown = progress_line();
    StageCount progress(shown, "run", count);
    fan_out(threads, count, [&](int number, int64_t item) {
      Worker& worker = workers[static_cast<size_t>(number)];
      const auto k = static_cast<size_t>(item);
      write_outputs(options.output + "/" + folders[k], files,
                    samples::first_rows(worker.outputs_of(worker.reader.load(chosen[k])), data->batch()));
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
      .add_option("--runtime", options->runtime, "Whose arithmetic a quantized model runs in: x64, wasm, arm64 or avx2")
      ->capture_default_str();
  add_threads(command, options->threads);
  command.add_flag("--json", options->json, "Print JSON");
  command.callback([options] { run_model(*options); });
}

}  // namespace tersor::cli
