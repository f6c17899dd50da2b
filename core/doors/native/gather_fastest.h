// SPDX-License-Identifier: Apache-2.0
// The switch `measure` (core/report/fastest_file.h) where threads and files are.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/native/gather.h"
#include "core/report/fastest_file.h"

namespace tersor {

/// Times ONNX files in a runtime, the float model first. `inputs`: a sample, by the names of the model's inputs.
using Timer = std::function<report::RuntimeTimes(const std::vector<std::vector<std::byte>>& files,
                                                 const std::map<std::string, Tensor>& inputs)>;

struct FastestGathered {
  Gathered gathered;
  report::TimeForecast time;
};

/// Of the files for several words of `prefer` the one that the timer has as the fastest of those that are as accurate.
/// `first`: what was gathered for the word that was asked for; the others are gathered of the same samples of `data`.
/// `opened` as prepare() was given it. Errors of the timer; kInvalidSamples without samples (`data` null).
FastestGathered gather_fastest(const std::shared_ptr<const OpenedModel>& opened, Gathered first,
                               const samples::DataSet* data, const Timer& timer, const Workforce& workforce,
                               const TrainingRun& training);

}  // namespace tersor
