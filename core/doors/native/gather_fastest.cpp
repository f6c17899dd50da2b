// SPDX-License-Identifier: Apache-2.0
#include "core/native/gather_fastest.h"

#include <algorithm>
#include <utility>

#include "core/native/drive.h"
#include "core/onnx/write.h"
#include "core/samples/model_inputs.h"

namespace tersor {

namespace {

struct Candidate {
  Gathered gathered;
  std::vector<std::byte> bytes;
  report::FileToTime file;
};

Candidate candidate_of(config::Preference word, Gathered gathered) {
  const auto file = report::file_to_time(word, gathered.statistics.choices);
  std::vector<std::byte> bytes = quantize(*gathered.job, gathered.statistics, gathered.draft).bytes;
  return {std::move(gathered), std::move(bytes), file};
}

/// The first of the samples that were calibrated with.
std::map<std::string, Tensor> inputs_of(const Gathered& gathered, const samples::DataSet* data) {
  const auto& recorded = gathered.statistics.samples;
  if (data == nullptr || data->size() == 0)
    throw Error(ErrorCode::kInvalidSamples, "There is no sample to time files with.", "measure",
                "measure runs the models: give samples, beside statistics too.");
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), data);
  const std::vector<Tensor> inputs = recorded.empty()
                                         ? samples::SampleReader(shared).load(0)
                                         : SampleInputs(*data, nullptr, gathered.statistics, 1).at(0, 0, false);
  const auto names = samples::model_inputs(gathered.job->opened->model.graph);
  std::map<std::string, Tensor> by_name;
  for (size_t k = 0; k < std::min(names.size(), inputs.size()); ++k) by_name.emplace(names[k].name, inputs[k]);
  return by_name;
}

}  // namespace

FastestGathered gather_fastest(const std::shared_ptr<const OpenedModel>& opened, Gathered first,
                               const samples::DataSet* data, const Timer& timer, const Workforce& workforce,
                               const TrainingRun& training) {
  const auto asked = first.job->asked ? first.job->asked : first.job;
  if (asked->settings.format == FileFormat::kTflite)
    throw Error(ErrorCode::kInvalidArgument, "Files are timed in ONNX Runtime, which runs no .tflite files.", "measure",
                "Measure an ONNX file, or leave measure out.");
  const auto words = report::words_to_time(asked->settings.config);
  const std::map<std::string, Tensor> inputs = inputs_of(first, data);
  std::vector<int64_t> calibrated;
  for (const calibrate::SampleRecord& one : first.statistics.samples)
    calibrated.push_back(static_cast<int64_t>(one.index));
  std::vector<Candidate> candidates;
  candidates.push_back(candidate_of(words[0], std::move(first)));
  for (size_t k = 1; k < words.size() && candidates[0].file.decibels; ++k) {
    Settings settings = asked->settings;
    settings.config.prefer = words[k];
    try {
      Candidate next =
          candidate_of(words[k], gather(prepare(opened, std::move(settings)), *data, calibrated, workforce, training));
      if (std::none_of(candidates.begin(), candidates.end(),
                       [&](const Candidate& one) { return report::are_same_file(one.bytes, next.bytes); }))
        candidates.push_back(std::move(next));
    } catch (const Error& error) {
      if (error.code != ErrorCode::kUnsupportedModel) throw;  // the word has no file
    }
  }
  std::vector<std::vector<std::byte>> files = {onnx::write(opened->model)};
  std::vector<report::FileToTime> listed;
  for (Candidate& one : candidates) files.push_back(std::move(one.bytes)), listed.push_back(one.file);
  report::FastestFile fastest = report::fastest_file(listed, timer(files, inputs));
  return {std::move(candidates[fastest.taken].gathered), std::move(fastest.time)};
}

}  // namespace tersor
