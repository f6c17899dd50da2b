// SPDX-License-Identifier: Apache-2.0
#include "core/cli/files.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

namespace tersor::cli {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& hint) {
  throw Error(ErrorCode::kIo, what + ": " + std::strerror(errno) + ".", path, hint);
}

/// Closes the descriptor at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

void write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

}  // namespace

FileBytes map_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail("The file cannot be opened", path, "Check the path and its permissions.");
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail("The file cannot be read", path, {});
  if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::kIo, "This is a folder where a file is expected.", path);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {nullptr, {}};
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) fail("The file cannot be read", path, {});
  std::shared_ptr<const void> owner(memory, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return {std::move(owner), {static_cast<const std::byte*>(memory), size}};
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string beside = path + ".tersor-" + std::to_string(::getpid()) + ".tmp";
  Descriptor file{::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.number < 0) fail("The file cannot be written", path, "Check that the folder exists and is writable.");
  try {
    write_all(file.number, bytes);
    const int closed = ::close(file.number);
    file.number = -1;
    if (closed != 0) throw errno;
    if (::rename(beside.c_str(), path.c_str()) != 0) throw errno;
  } catch (int reason) {
    ::unlink(beside.c_str());
    errno = reason;
    fail("The file could not be written completely", path,
         reason == ENOSPC ? "The disk is full: free some space." : "Nothing was left behind.");
  }
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace tersor::cli
