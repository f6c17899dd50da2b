// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/job/job.h"
#include "core/onnx/source.h"

namespace tersor::cli {

/// A model with the file it was read from; the file stays mapped while either lives.
struct ModelFile {
  onnx::Source source;
  Model model;
  uint64_t bytes = 0;  // of the file and of those that hold weights of it
};

/// Maps and reads a model; weights it keeps in files of their own are mapped from its folder. Errors name the file.
ModelFile open_model(const std::string& path);

/// The model for calibration and quantization.
OpenedModel opened_model(ModelFile file);

/// The same for a model that will be run: onnx::rewrite_forms() has been over it.
ModelFile open_runnable_model(const std::string& path);

/// Prints a line for each remark on a model's file.
void print_warnings(const std::vector<Diagnostic>& warnings);

}  // namespace tersor::cli
