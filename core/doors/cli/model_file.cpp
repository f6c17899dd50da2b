// SPDX-License-Identifier: Apache-2.0
#include "core/cli/model_file.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/cli/files.h"
#include "core/cli/print.h"
#include "core/onnx/rewrite_forms.h"
#include "core/tflite/read_model.h"

namespace tersor::cli {

namespace {

namespace fs = std::filesystem;

onnx::Source map_source(const std::string& path) {
  FileBytes file = map_file(path);
  return {std::move(file.owner), file.bytes};
}

/// With symbolic links followed; `failed` where there is none.
fs::path folder_of(const fs::path& file, std::error_code& failed) {
  const fs::path folder = file.parent_path();
  return fs::canonical(folder.empty() ? "." : folder, failed);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  return !folder.empty() && std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// A link in the model's folder may lead to where the model's own leads, and not elsewhere.
void check_beside(const std::string& model, const std::string& data) {
  std::error_code failed;
  const fs::path real = fs::canonical(data, failed);
  if (failed) return;  // mapping it says why
  if (!lies_in(real, folder_of(model, failed)) && !lies_in(real, folder_of(fs::canonical(model, failed), failed)))
    throw Error(ErrorCode::kInvalidModel, "A link leads out of the model's own folder, to \"" + real.string() + "\".");
  if (!fs::is_directory(real, failed) && !fs::is_regular_file(real, failed))
    throw Error(ErrorCode::kIo, "This is a pipe or a device; a regular file is needed.");
}

}  // namespace

ModelFile open_model(const std::string& path) {
  ModelFile file;
  file.source = map_source(path);
  file.bytes = file.source.bytes.size();
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const onnx::ExternalData beside = [&](const std::string& location) {
    try {
      check_beside(path, folder + location);
      onnx::Source found = map_source(folder + location);
      file.bytes += found.bytes.size();
      return found;
    } catch (const Error& error) {
      throw Error(error.code,
                  "The model keeps its weights in \"" + location + "\", which cannot be opened. " + error.message, {},
                  "Put that file beside the model.");
    }
  };
  try {
    file.model = tflite::read_model(file.source, beside);
  } catch (const Error& error) {
    throw Error(error.code, error.message, error.place.empty() ? path : path + ": " + error.place, error.hint);
  }
  return file;
}

OpenedModel opened_model(ModelFile file) {
  OpenedModel opened = tersor::open_model(std::move(file.model), file.source.bytes);
  opened.file_bytes = file.bytes;
  return opened;
}

ModelFile open_runnable_model(const std::string& path) {
  ModelFile file = open_model(path);
  onnx::rewrite_forms(file.model);
  return file;
}

void print_warnings(const std::vector<Diagnostic>& warnings) {
  for (const Diagnostic& one : warnings)
    print("warning: %s%s%s\n", one.message.c_str(), one.hint.empty() ? "" : " ", one.hint.c_str());
}

}  // namespace tersor::cli
