// SPDX-License-Identifier: Apache-2.0
#include "core/native/folder_source.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/samples/zip_source.h"

namespace tersor {

namespace {

namespace fs = std::filesystem;

class FolderSource : public samples::FileSource {
 public:
  explicit FolderSource(ReadListener listener) : listener_(std::move(listener)) {}
  void add(const fs::path& place, std::string relative) {
    std::error_code failed;
    const uint64_t size = fs::file_size(place, failed);
    if (failed)
      throw Error(ErrorCode::kIo, "The file cannot be read: " + failed.message() + ".", place.string(),
                  "Check its permissions.");
    places_.push_back(place.string());
    files_.push_back({std::move(relative), size});
  }
  void add_instead(const fs::path& place, std::string relative, const char* instead) {
    places_.push_back(place.string());
    files_.push_back({std::move(relative), 0, instead});
  }

  const std::vector<samples::SourceFile>& files() const override { return files_; }
  std::string folder_name() const override { return folder_.empty() ? FileSource::folder_name() : folder_; }
  /// Keeps the name of a test_data_set_3, which tells it from its neighbours.
  void name_after(const fs::path& folder) {
    const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    if (name.rfind(FileSource::folder_name(), 0) == 0) folder_ = name;
  }

  samples::Bytes read(size_t file, uint64_t offset, uint64_t length) const override {
    // An ordinary read and no mapping: a file that shrinks meanwhile is an error and not a signal.
    const int descriptor = ::open(places_[file].c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail(file);
    if (listener_) listener_(descriptor);
    std::shared_ptr<const std::byte[]> bytes;
    try {
      std::unique_ptr<std::byte[]> fresh(new std::byte[static_cast<size_t>(length)]);  // unset: all of it is read into
      read_all(descriptor, file, offset, {fresh.get(), static_cast<size_t>(length)});
      bytes = std::move(fresh);
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    ::close(descriptor);
    return {{bytes.get(), static_cast<size_t>(length)}, bytes};
  }

 private:
  [[noreturn]] void fail(size_t file) const {
    throw Error(ErrorCode::kIo, std::string("The file cannot be read: ") + std::strerror(errno) + ".", places_[file],
                "Check its permissions.");
  }
  void read_all(int descriptor, size_t file, uint64_t offset, std::span<std::byte> out) const {
    while (!out.empty()) {
      const ssize_t got = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(file);
      if (got == 0)
        throw Error(ErrorCode::kIo, "The file has become shorter while it was read.", places_[file],
                    "Start again when nothing writes to it.");
      out = out.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
  }

  const ReadListener listener_;
  std::string folder_;
  std::vector<std::string> places_;
  std::vector<samples::SourceFile> files_;
};

/// What lies in a folder in place of a file; null for files and folders.
const char* no_file(const fs::directory_entry& entry) {
  std::error_code failed;
  const fs::file_type type = entry.status(failed).type();
  if (type == fs::file_type::not_found || failed == std::errc::too_many_symbolic_link_levels)
    return "a link that leads nowhere";
  if (failed) throw fs::filesystem_error("", entry.path(), failed);
  if (type == fs::file_type::fifo) return "a pipe";
  return type == fs::file_type::regular || type == fs::file_type::directory ? nullptr : "a device or a socket";
}

}  // namespace

std::shared_ptr<const samples::FileSource> open_folder(const std::string& path, const std::string& left_out,
                                                       ReadListener listener) {
  auto source = std::make_shared<FolderSource>(std::move(listener));
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) throw Error(ErrorCode::kIo, "There is no such file or folder.", path, "Check its path.");
  if (!fs::is_directory(status)) {
    source->add(path, fs::path(path).filename().string());
    return source;
  }
  source->name_after(path);
  try {
    const auto options = fs::directory_options::follow_directory_symlink;
    for (auto entry = fs::recursive_directory_iterator(path, options); entry != fs::recursive_directory_iterator();
         ++entry) {
      // A link that leads back up would go on for ever.
      constexpr int kDeepest = 32;
      if (entry.depth() > kDeepest)
        throw Error(ErrorCode::kIo, "The folders are nested more than 32 deep.", entry->path().string(),
                    "A link may lead back to a folder above it: remove that link.");
      std::string relative = entry->path().lexically_relative(path).generic_string();
      if (const char* instead = no_file(*entry))
        source->add_instead(entry->path(), std::move(relative), instead);
      else if (entry->is_regular_file() && (left_out.empty() || !fs::equivalent(entry->path(), left_out, failed)))
        source->add(entry->path(), std::move(relative));
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::kIo, "The folder cannot be read: " + error.code().message() + ".", error.path1().string(),
                "Check its permissions.");
  }
  return source;
}

std::shared_ptr<const samples::FileSource> open_samples(const std::vector<std::string>& paths,
                                                        const std::string& left_out, const ReadListener& listener) {
  std::vector<samples::JoinedSource::Part> parts;
  for (const std::string& path : paths) {
    std::shared_ptr<const samples::FileSource> source = open_folder(path, left_out, listener);
    const fs::path name = fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
    std::error_code failed;
    const bool is_archive = name.extension() == ".zip" && fs::is_regular_file(path, failed);
    try {
      if (is_archive) source = std::make_shared<samples::ZipSource>(std::move(source));
    } catch (const Error& error) {
      throw error.within(path);
    }
    const bool is_folder = is_archive || fs::is_directory(path, failed);
    parts.emplace_back(is_folder ? (is_archive ? name.stem() : name.filename()).string() : "", std::move(source));
  }
  if (parts.size() == 1) return parts[0].second;
  return std::make_shared<samples::JoinedSource>(std::move(parts));
}

}  // namespace tersor
