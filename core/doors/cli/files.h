// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::cli {

/// A file's bytes and what keeps them there.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// In place of a path: standard input, or standard output, which then holds that file alone; what is printed goes to
/// standard error.
inline constexpr std::string_view kStandardStream = "-";

/// The file mapped into memory: pages are read when they are looked at; a pipe is read to its end. Error kIo naming the
/// path and the system's reason, or that it is a folder, a device, or a pipe to which nobody writes.
FileBytes map_file(const std::string& path);

/// Error kIo where a mapped file was shortened or rewritten since it was mapped. What was computed of it since may be
/// of other bytes, so files are committed and answers given only after this check; until then missing bytes read as 0.
void expect_unchanged();

/// Counts the open file among those that this process has read: none of them is written over. For readers other than
/// map_file().
void note_read(int descriptor);

bool is_terminal(int descriptor);

/// While one lives, SIGINT, SIGTERM and SIGHUP only raise a flag.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

/// A file that is written beside its place and renamed when complete, so that no half-written file is ever there; what
/// is not committed leaves nothing behind, also when the program is interrupted; what a killed one left in the folder
/// is removed. A place that is no regular file
/// (/dev/stdout, a pipe) is written directly. Errors are kIo with the path (no such folder, not writable, disk full),
/// kCancelled when interrupted.
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

  SignalGuard guard_;
  std::string path_;    // as given, for messages
  std::string target_;  // with symbolic links followed
  std::string beside_;  // empty: written directly
  int descriptor_ = -1;
};

/// Throws the error, if any, that writing a file there would end in, as far as can be told beforehand: before the work
/// is done whose result it is to take. Also where the file has been read.
void expect_writable(const std::string& path);

struct FileToWrite {
  std::string path;
  std::span<const std::byte> bytes;
};

/// All of them, through OutputFile; none where one cannot be written.
void write_files(const std::vector<FileToWrite>& files);
void write_file(const std::string& path, std::span<const std::byte> bytes);

/// What follows the last '/' of a path.
inline std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tersor::cli
