// SPDX-License-Identifier: Apache-2.0
// tersor sweep MODEL.onnx --stats PARTS --data DATA --shard I/N --folder DIR -o OUT.tstats: the second pass over the
// samples, which rounds weights and corrects biases, by N processes at the same time.
#include <memory>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/data_option.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/cli/shard_option.h"
#include "core/cli/shared_folder.h"
#include "core/cli/statistics_files.h"
#include "core/native/join_statistics.h"
#include "core/native/gather.h"
#include "core/trial/take_samples.h"

namespace tersor::cli {

namespace {

struct SweepCommand {
  std::string model, output, shard, folder;
  std::vector<std::string> stats;
  DataOption data;
  SettingsOption settings;
  int64_t wait = 600;
  Workforce workforce{0, progress_line()};
  bool json = false;
};

/// Equal in all processes that measure the same.
std::string key_of(const Draft& decided, const calibrate::Statistics& statistics) {
  const std::string text = decided.digest + "\n" + statistics.samples_digest();
  return sha256_hex(bytes_of(text));
}

void sweep_model(const SweepCommand& command) {
  const Shard shard = read_shard(command.shard);
  expect_writable(command.output);
  ModelFile file = open_model(command.model);
  auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
  Settings settings = read_settings(command.settings, std::nullopt, &opened->model.graph);
  calibrate::Statistics statistics = read_statistics(command.stats);
  if (const std::string missing = missing_parts(statistics); !missing.empty())
    throw Error(ErrorCode::kMismatch, missing, "--stats", "Give the other parts as well.");
  take_samples(opened, statistics, settings);
  const auto data = open_data(command.data, opened->model, command.json);
  Gathering gathering(prepare(opened, std::move(settings)), std::move(statistics), {.trains = false});
  take_passes(gathering, *data, nullptr, command.workforce, {}, [&](const Gathered& so_far) {
    return partners_in(command.folder, shard, key_of(so_far.draft, so_far.statistics), command.wait);
  });
  const Gathered gathered = gathering.take();
  statistics = gathered.statistics;
  write_file(command.output, calibrate::write(statistics));
  const size_t steps = statistics.rounded.weights.size() + statistics.measured.outputs.size();
  if (command.json)
    print("%s\n", to_text(Json{{"output", command.output}, {"measured", steps}}).c_str());
  else if (gathered.passes > 0)
    print("rounded %zu weights, corrected %zu biases: %s\n", statistics.rounded.weights.size(),
          statistics.measured.outputs.size(), command.output.c_str());
  else
    print("these settings need no second pass: %s\n", command.output.c_str());
}

}  // namespace

void add_sweep(CLI::App& program) {
  auto options = std::make_shared<SweepCommand>();
  CLI::App* command = program.add_subcommand(
      "sweep", "The second pass over the samples (rounded weights, measured biases) by several processes at once");
  command->footer(
      "Examples:\n  tersor sweep model.onnx --stats part1.tstats part2.tstats --data pictures/ --shard 1/2 --folder "
      "work/ -o all.tstats\n  tersor quantize model.onnx --stats all.tstats -o model.int8.onnx");
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The statistics file to write (.tstats), the same in all processes; - writes to standard output")
      ->required();
  command->add_option("--stats", options->stats, "Statistics of all parts of tersor calibrate")->required();
  add_data_option(*command, options->data, false);
  add_settings_option(*command, options->settings, false);
  command->add_option("--shard", options->shard, "I/N: this is the I-th of N processes, which run at the same time")
      ->required();
  command->add_option("--folder", options->folder, "A folder that all processes see, for what they tell each other")
      ->required();
  command->add_option("--wait", options->wait, "Seconds to wait for another process; default 600")
      ->check(count_from(1));
  add_threads(*command, options->workforce.threads);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { sweep_model(*options); });
}

}  // namespace tersor::cli
