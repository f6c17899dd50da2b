// SPDX-License-Identifier: Apache-2.0
#include "core/cli/model_file.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/cli/files.h"
#include "core/onnx/read.h"

namespace tersor::cli {

namespace {

onnx::Source map_source(const std::string& path) {
  FileBytes file = map_file(path);
  std::error_code none;
  if (file.bytes.empty() && !std::filesystem::is_regular_file(path, none))
    throw Error(ErrorCode::kIo, "This is a pipe or a device; a regular file is needed.", path,
                "Write the model to a file first.");
  return {std::move(file.owner), file.bytes};
}

}  // namespace

ModelFile open_model(const std::string& path) {
  ModelFile file;
  file.source = map_source(path);
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const onnx::ExternalData beside = [&](const std::string& location) {
    try {
      return map_source(folder + location);
    } catch (const Error& error) {
      throw Error(ErrorCode::kIo,
                  "The model keeps its weights in \"" + location + "\", which cannot be opened. " + error.message, {},
                  "Put that file beside the model.");
    }
  };
  try {
    file.model = onnx::read(file.source, beside);
  } catch (const Error& error) {
    throw Error(error.code, error.message, error.place.empty() ? path : path + ": " + error.place, error.hint);
  }
  return file;
}

}  // namespace tersor::cli
