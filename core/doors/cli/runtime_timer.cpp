// SPDX-License-Identifier: Apache-2.0
#include "core/cli/runtime_timer.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <system_error>

#include "core/base/json.h"
#include "core/cli/files.h"
#include "core/cli/output_files.h"

namespace tersor::cli {

namespace {

namespace fs = std::filesystem;

/// Gone with all that is in it when it goes out of scope.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / ("tersor-" + std::to_string(std::random_device{}()))) {
    fs::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string string() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string python() {
  const char* named = std::getenv("TERSOR_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

#ifdef _WIN32
FILE* open_process(const std::string& command) {
  return _popen(("\"" + command + "\"").c_str(), "r");
}
int close_process(FILE* process) {
  return _pclose(process);
}
constexpr const char* kNowhere = "NUL";
#elif defined(__EMSCRIPTEN__)
FILE* open_process(const std::string&) {
  return nullptr;
}
int close_process(FILE*) {
  return 1;
}
constexpr const char* kNowhere = "";
#else
FILE* open_process(const std::string& command) {
  return popen(command.c_str(), "r");
}
int close_process(FILE* process) {
  return pclose(process);
}
constexpr const char* kNowhere = "/dev/null";
#endif

/// What a Python program prints; none where it fails. `errors`: a file for what it says else.
std::optional<std::string> output_of(const std::string& arguments, const std::string& errors) {
  FILE* const process = open_process("\"" + python() + "\" " + arguments + " 2> \"" + errors + "\"");
  if (process == nullptr) return std::nullopt;
  std::string text;
  char part[4096];
  for (size_t read = 0; (read = std::fread(part, 1, sizeof part, process)) > 0;) text.append(part, read);
  if (close_process(process) != 0) return std::nullopt;
  return text;
}

std::string last_line(const std::string& path) {
  const FileBytes file = map_file(path);
  std::string text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

report::RuntimeTimes times_of(const std::vector<std::vector<std::byte>>& files,
                              const std::map<std::string, Tensor>& inputs) {
  const TemporaryFolder folder;
  const std::string script = timing_script();
  std::vector<std::vector<std::byte>> arrays;
  Json names = Json::array();
  for (const auto& [name, tensor] : inputs) names.push_back(name), arrays.push_back(npy_file(tensor));
  const std::string listed = to_text(names);
  std::vector<FileToWrite> written = {{folder / "timing.py", bytes_of(script)},
                                      {folder / "inputs.json", bytes_of(listed)}};
  for (size_t k = 0; k < files.size(); ++k) written.push_back({folder / (std::to_string(k) + ".onnx"), files[k]});
  for (size_t k = 0; k < arrays.size(); ++k) written.push_back({folder / (std::to_string(k) + ".npy"), arrays[k]});
  write_files(written);
  const std::string errors = folder / "errors";
  const auto text = output_of("\"" + (folder / "timing.py") + "\" \"" + folder.string() + "\"", errors);
  if (!text)
    throw Error(ErrorCode::kInvalidArgument, "ONNX Runtime could not time the files: " + last_line(errors), "--measure",
                "Leave --measure out, or name a Python with a newer onnxruntime by TERSOR_PYTHON.");
  return report::read_times(*text);
}

}  // namespace

Timer runtime_timer() {
#ifdef __EMSCRIPTEN__
  throw Error(ErrorCode::kInvalidArgument, "As WebAssembly the program starts no runtime that could time files.",
              "--measure", "Use the native program, or quantize({ ..., measure: true }) of the package.");
#endif
  if (!output_of("-c \"import numpy, onnxruntime\"", kNowhere))
    throw Error(ErrorCode::kInvalidArgument,
                "--measure times files in ONNX Runtime, and \"" + python() + "\" has no onnxruntime.", "--measure",
                "Install it (pip install onnxruntime numpy), or name a Python that has it by TERSOR_PYTHON. The "
                "packages for Python and Node measure, too.");
  return times_of;
}

}  // namespace tersor::cli
