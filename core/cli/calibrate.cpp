// SPDX-License-Identifier: Apache-2.0
// tersor calibrate MODEL.onnx --data DATA -o OUT.tstats: what the float model does with the samples, for quantize
// --stats.
#include <cstdio>
#include <memory>

#include "core/base/json.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/native/gather.h"
#include "core/native/size_text.h"

namespace tersor::cli {

namespace {

struct CalibrateOptions {
  std::string model, output, shard;
  DataOption data;
  SettingsOption settings;
  Shard part;
  Workforce workforce{0, progress_line()};
  bool json = false;
};

/// "I/N" with 1 <= I <= N.
void read_shard(const std::string& text, Shard& shard) {
  if (text.empty()) return;
  long long index = 0, count = 0;
  char end = 0;
  if (std::sscanf(text.c_str(), "%lld/%lld%c", &index, &count, &end) != 2 || index < 1 || index > count)
    throw Error(ErrorCode::kInvalidArgument, "\"" + text + "\" is no shard; \"2/3\" is the second of three.",
                "--shard");
  shard = {index, count};
}

void calibrate_model(CalibrateOptions& options) {
  read_shard(options.shard, options.part);
  expect_writable(options.output);
  ModelFile file = open_model(options.model);
  auto opened = std::make_shared<const OpenedModel>(tersor::open_model(std::move(file.model), file.source.bytes));
  Settings settings = read_settings(options.settings, std::nullopt, &opened->model.graph);
  const auto data = open_data(options.data, opened->model, options.json);
  settings.preprocessing = preprocessing_text(*data);
  const auto job = prepare(opened, std::move(settings));
  const auto memory = calibration_bytes(*job);
  if (memory && !options.json) std::printf("memory: at most %s for each thread\n", size_text(*memory).c_str());
  const std::vector<int64_t> chosen = chosen_samples(options.data, *data);
  const auto statistics = calibrate_shard(job, *data, chosen, options.part, options.workforce);
  write_file(options.output, calibrate::write(statistics));
  if (options.json) {
    Json json{
        {"output", options.output}, {"samples", statistics.samples.size()}, {"tensors", statistics.tensors.size()}};
    if (memory) json["memory_bytes_per_thread"] = *memory;
    std::printf("%s\n", to_text(json).c_str());
    return;
  }
  std::printf("calibrated on %zu samples, %zu tensors: %s\n", statistics.samples.size(), statistics.tensors.size(),
              options.output.c_str());
}

}  // namespace

void add_calibrate(CLI::App& program) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = program.add_subcommand("calibrate", "Run samples through the float model and keep what it saw");
  command->footer(
      "Examples:\n  tersor calibrate model.onnx --data pictures/ -o model.tstats\n  tersor calibrate model.onnx --data "
      "pictures/ --shard 1/4 -o part1.tstats");
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The statistics file to write (.tstats); - writes to standard output")
      ->required();
  add_data_option(*command, options->data, false);
  add_settings_option(*command, options->settings, false);
  command->add_option("--shard", options->shard, "I/N: only the I-th of N parts of the samples");
  command->add_option("--threads", options->workforce.threads, "Threads; 0: one for each core")->check(thread_limit());
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { calibrate_model(*options); });
}

}  // namespace tersor::cli
