// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/job/job.h"
#include "core/samples/data_set.h"

namespace tersor {

/// Ifs of the graph itself whose condition is the same for all samples (64 are looked at, spread evenly), and that have
/// a Conv, ConvTranspose, Gemm or MatMul in the branch that is taken: by label_of(), true for then_branch. None where
/// the conditions cannot be computed.
std::map<std::string, bool> taken_branches(const Model& model, const std::shared_ptr<const samples::DataSet>& data);
/// Those that statistics were made with: the prepared graph is the one that they are of. None where no choice gives it.
std::map<std::string, bool> taken_branches(const std::shared_ptr<const OpenedModel>& opened, const Settings& settings,
                                           const calibrate::Statistics& statistics);

}  // namespace tersor
