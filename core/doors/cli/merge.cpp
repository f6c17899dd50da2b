// SPDX-License-Identifier: Apache-2.0
// tersor merge PART.tstats ... -o ALL.tstats: what several processes calibrated, in one file.
#include <memory>

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/files.h"
#include "core/cli/print.h"
#include "core/cli/statistics_files.h"

namespace tersor::cli {

namespace {

struct MergeOptions {
  std::vector<std::string> parts;
  std::string output;
  bool json = false;
};

void merge_statistics(const MergeOptions& options) {
  expect_writable(options.output);
  const calibrate::Statistics all = read_statistics(options.parts);
  write_file(options.output, calibrate::write(all));
  if (options.json) {
    const Json json{{"output", options.output}, {"parts", options.parts.size()}, {"samples", all.samples.size()}};
    print("%s\n", to_text(json).c_str());
    return;
  }
  print("merged %zu parts, %zu samples of %llu: %s\n", options.parts.size(), all.samples.size(),
        static_cast<unsigned long long>(all.data_set_size), options.output.c_str());
}

}  // namespace

void add_merge(CLI::App& program) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* command = program.add_subcommand("merge", "Put statistics of several calibrate --shard into one file");
  command->footer(
      "Examples:\n  tersor merge part1.tstats part2.tstats -o all.tstats\n  tersor quantize model.onnx --stats "
      "all.tstats --data pictures/ -o model.int8.onnx");
  command->add_option("PART", options->parts, "Statistics files (.tstats)")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The statistics file to write (.tstats); - writes to standard output")
      ->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { merge_statistics(*options); });
}

}  // namespace tersor::cli
