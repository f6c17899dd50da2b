// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tersor::cli {

/// A file's bytes and what keeps them there.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// The file mapped into memory: pages are read when they are looked at. Error kIo naming the path and the system's
/// reason.
FileBytes map_file(const std::string& path);

/// A file that is written beside its place and renamed when complete, so that no half-written file is ever there; what
/// is not committed leaves nothing behind, also when the program is interrupted (SIGINT, SIGTERM). A place that is no
/// regular file (/dev/stdout, a pipe) is written directly. Errors are kIo with the path (no such folder, not writable,
/// disk full), kCancelled when interrupted.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void give_up(int reason);

  std::string path_;    // as given, for messages
  std::string target_;  // with symbolic links followed
  std::string beside_;  // empty: written directly
  int descriptor_ = -1;
};

/// Throws the error, if any, that writing a file there would end in, as far as can be told beforehand: before the work
/// is done whose result it is to take.
void expect_writable(const std::string& path);

/// The whole file at once, through OutputFile.
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

}  // namespace tersor::cli
