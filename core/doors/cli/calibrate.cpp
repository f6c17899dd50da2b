// SPDX-License-Identifier: Apache-2.0
// tersor calibrate MODEL.onnx --data DATA -o OUT.tstats: what the float model does with the samples, for quantize
// --stats.
#include <memory>

#include "core/base/json.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/cli/shard_option.h"
#include "core/native/gather.h"
#include "core/native/size_text.h"
#include "core/trial/take_samples.h"

namespace tersor::cli {

namespace {

struct CalibrateOptions {
  std::string model, output, shard;
  DataOption data;
  SettingsOption settings;
  Workforce workforce{0, progress_line()};
  bool json = false;
};

void calibrate_model(CalibrateOptions& options) {
  const Shard shard = read_shard(options.shard);
  expect_writable(options.output);
  ModelFile file = open_model(options.model);
  auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
  Settings settings = read_settings(options.settings, std::nullopt, &opened->model.graph);
  const auto data = open_data(options.data, opened->model, options.json);
  take_samples(opened->model, data, settings);
  const auto job = prepare(opened, std::move(settings));
  const auto memory = calibration_bytes(*job);
  if (memory && !options.json) print("memory: at most %s for each thread\n", size_text(*memory).c_str());
  const std::vector<int64_t> chosen = chosen_samples(options.data, *data);
  const auto statistics = calibrate_shard(job, *data, chosen, shard, options.workforce);
  write_file(options.output, calibrate::write(statistics));
  if (options.json) {
    Json json{
        {"output", options.output}, {"samples", statistics.samples.size()}, {"tensors", statistics.tensors.size()}};
    if (memory) json["memory_bytes_per_thread"] = *memory;
    print("%s\n", to_text(json).c_str());
    return;
  }
  print("calibrated on %zu samples, %zu tensors: %s\n", statistics.samples.size(), statistics.tensors.size(),
        options.output.c_str());
}

}  // namespace

void add_calibrate(CLI::App& program) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = program.add_subcommand("calibrate", "Run samples through the float model and keep what it saw");
  command->footer(
      "Examples:\n  tersor calibrate model.onnx --data pictures/ -o model.tstats\n  tersor calibrate model.onnx --data "
      "pictures/ --shard 1/2 -o part1.tstats");
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The statistics file to write (.tstats); - writes to standard output")
      ->required();
  add_data_option(*command, options->data, false);
  add_settings_option(*command, options->settings, false);
  command->add_option("--shard", options->shard, "I/N: only the I-th of N parts of the samples; default: all");
  add_threads(*command, options->workforce.threads);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { calibrate_model(*options); });
}

}  // namespace tersor::cli
