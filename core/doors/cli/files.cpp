// SPDX-License-Identifier: Apache-2.0
#include "core/cli/files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

namespace tersor::cli {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& hint) {
  throw Error(ErrorCode::kIo, what + ": " + std::strerror(errno) + ".", path, hint);
}

constexpr const char* kReadable = "Check the path and its permissions.";

/// Closes the descriptor at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

volatile std::sig_atomic_t interrupted = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::mutex guarding;
int guards = 0;
struct sigaction former[std::size(kSignals)];

void throw_if_interrupted(const std::string& path) {
  if (interrupted != 0)
    throw Error(ErrorCode::kCancelled, "Interrupted while writing; nothing was left behind.", path,
                "Start the job again.");
}

/// Device and number of each file that this process has read.
std::mutex reading;
std::set<std::pair<dev_t, ino_t>> files_read;

/// The file that a path leads to; the path itself where there is none yet.
std::string follow_links(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string target(real);
  std::free(real);
  return target;
}

constexpr const char* kWritable = "Check that the folder exists and is writable.";

[[noreturn]] void fail_to_write(const std::string& path) {
  fail("The file cannot be written", path, errno == ENAMETOOLONG ? "Give a shorter name." : kWritable);
}

constexpr std::string_view kBefore = ".tersor-", kBehind = ".tmp";

/// Where a file is written before it takes its place.
std::string beside(const std::string& target) {
  return target + std::string(kBefore) + std::to_string(::getpid()) + std::string(kBehind);
}

std::string folder_of(const std::string& file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

/// The process that wrote a file of that name beside its place; none for other names.
std::optional<pid_t> writer_of(std::string_view name) {
  const size_t at = name.rfind(kBefore);
  if (at == std::string_view::npos || !name.ends_with(kBehind)) return std::nullopt;
  const std::string_view digits = name.substr(at + kBefore.size(), name.size() - kBehind.size() - at - kBefore.size());
  pid_t writer = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), writer);
  if (fault != std::errc() || end != digits.data() + digits.size() || writer <= 0) return std::nullopt;
  return writer;
}

/// Nobody writes to it any more: the process is gone, and no process of another machine or container, whose numbers are
/// its own, holds the lock that OutputFile takes.
bool is_left_over(const std::string& path, pid_t writer) {
  if (::kill(writer, 0) == 0 || errno != ESRCH) return false;
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat status {};
  return file.number >= 0 && ::fstat(file.number, &status) == 0 && S_ISREG(status.st_mode) &&
         ::flock(file.number, LOCK_EX | LOCK_NB) == 0;
}

/// Removes what killed processes left in a folder; what cannot be removed stays.
void remove_left_over(const std::string& folder) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string path = entry->path().string();
    const auto writer = writer_of(entry->path().filename().string());
    if (writer && is_left_over(path, *writer)) ::unlink(path.c_str());
  }
}

/// A file in memory. Never freed: the signal handler may be looking.
struct Mapping {
  std::byte* begin = nullptr;
  size_t size = 0;
  int descriptor = -1;
  std::string path;
  struct timespec written {};
  Mapping* next = nullptr;
  std::atomic<bool> open{true}, cut_off{false};
};

std::mutex mapping;
std::atomic<Mapping*> mappings{nullptr};
size_t page = 0;

/// After the end of a file that was shortened there is no memory. The job goes on with zeros, and expect_unchanged()
/// ends it.
void fill_in(int signal, siginfo_t* info, void*) {
  auto* const wanted = static_cast<std::byte*>(info->si_addr);
  for (Mapping* one = mappings; one != nullptr; one = one->next) {
    if (!one->open || wanted < one->begin || wanted >= one->begin + one->size) continue;
    std::byte* const start = one->begin + static_cast<size_t>(wanted - one->begin) / page * page;
    if (::mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    one->cut_off = true;
    return;
  }
  ::signal(signal, SIG_DFL);  // it comes again
}

bool has_changed(const Mapping& one) {
  struct stat status {};
  return one.cut_off || ::fstat(one.descriptor, &status) != 0 || static_cast<size_t>(status.st_size) != one.size ||
         status.st_mtim.tv_sec != one.written.tv_sec || status.st_mtim.tv_nsec != one.written.tv_nsec;
}

std::shared_ptr<const void> keep_mapping(void* memory, size_t size, int descriptor, const std::string& path,
                                         const struct timespec& written) {
  const std::lock_guard lock(mapping);
  if (mappings == nullptr) {
    page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = fill_in;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
  }
  auto* const made = new Mapping;
  made->begin = static_cast<std::byte*>(memory);
  made->size = size;
  made->descriptor = descriptor;
  made->path = path;
  made->written = written;
  made->next = mappings;
  mappings = made;
  return {memory, [made](const void*) {
            const std::lock_guard releasing(mapping);
            if (has_changed(*made)) made->cut_off = true;
            made->open = false;
            ::munmap(made->begin, made->size);
            ::close(made->descriptor);
          }};
}

}  // namespace

bool is_terminal(int descriptor) {
#if defined(__EMSCRIPTEN__)
  // Emscripten takes the standard streams for terminals, whatever they are.
  return EM_ASM_INT({ return require('tty').isatty($0); }, descriptor) != 0;
#else
  return ::isatty(descriptor) != 0;
#endif
}

SignalGuard::SignalGuard() {
  const std::lock_guard lock(guarding);
  if (guards++ > 0) return;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (size_t k = 0; k < std::size(kSignals); ++k) ::sigaction(kSignals[k], &action, &former[k]);
}

SignalGuard::~SignalGuard() {
  const std::lock_guard lock(guarding);
  if (--guards > 0) return;
  for (size_t k = 0; k < std::size(kSignals); ++k) ::sigaction(kSignals[k], &former[k], nullptr);
}

void note_read(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const std::lock_guard lock(reading);
  files_read.emplace(status.st_dev, status.st_ino);
}

namespace {

/// Waits for who writes to a pipe, without limit once there is someone; false at its end.
bool wait_for_more(int pipe, bool has_writer, int64_t& waited) {
  constexpr int kStep = 20, kPatience = 2000;  // milliseconds; a shell starts reader and writer at the same time
  struct pollfd readable {
    pipe, POLLIN, 0
  };
  if (has_writer) return ::poll(&readable, 1, -1) >= 0 || errno == EINTR;
  if (waited >= kPatience) return false;
  waited += kStep;
  ::poll(nullptr, 0, kStep);
  return true;
}

/// All that comes through a pipe, opened without waiting.
FileBytes read_pipe(int pipe, const std::string& path) {
  constexpr size_t kAtOnce = size_t{1} << 16, kMost = size_t{1} << 31;
  const auto bytes = std::make_shared<std::vector<std::byte>>();
  int64_t waited = 0;
  for (;;) {
    const size_t before = bytes->size();
    bytes->resize(before + kAtOnce);
    const ssize_t got = ::read(pipe, bytes->data() + before, kAtOnce);
    const int reason = got < 0 ? errno : 0;
    bytes->resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0 && bytes->size() <= kMost) continue;
    if (got > 0) throw Error(ErrorCode::kIo, "More than 2 GB come through this pipe.", path, "Give a file.");
    if (got == 0 && before > 0) return {bytes, *bytes};
    errno = reason;
    if (reason != 0 && reason != EAGAIN && reason != EINTR) fail("The pipe cannot be read", path, kReadable);
    if (!wait_for_more(pipe, reason == EAGAIN, waited))
      throw Error(ErrorCode::kIo, "This is a pipe, and nothing comes through it.", path,
                  "Start what writes to it, or give a file.");
  }
}

}  // namespace

namespace {

FileBytes read_standard_input(const std::string& path) {
  if (is_terminal(STDIN_FILENO))
    throw Error(ErrorCode::kIo, "Standard input is the terminal.", path,
                "Send a file through a pipe, or give its name.");
  note_read(STDIN_FILENO);
  return read_pipe(STDIN_FILENO, path);
}

/// Where the file on standard output is written to: what is printed from now on goes to standard error.
int standard_output() {
  static const int output = [] {
    std::fflush(stdout);
#if defined(__EMSCRIPTEN__)
    // Emscripten's dup() opens a path once more, which this stream does not have.
    return EM_ASM_INT({
      const kept = FS.nextfd();
      FS.streams[kept] = FS.streams[1];
      FS.streams[kept].fd = kept;
      FS.streams[1] = FS.streams[2];
      return kept;
    });
#else
    const int kept = ::dup(STDOUT_FILENO);
    if (kept < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) fail("It cannot be written to", "standard output", "");
    return kept;
#endif
  }();
  return output;
}

}  // namespace

FileBytes map_file(const std::string& path) {
  if (path == kStandardStream) return read_standard_input(path);
  // Opening a pipe would wait for its other end.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (file.number < 0) fail("The file cannot be opened", path, kReadable);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail("The file cannot be read", path, kReadable);
  if (S_ISDIR(status.st_mode))
    throw Error(ErrorCode::kIo, "This is a folder where a file is expected.", path, "Give one of its files.");
  if (S_ISFIFO(status.st_mode)) return read_pipe(file.number, path);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::kIo, "This is a device where a file is expected.", path, "Write it to a file first.");
  note_read(file.number);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {nullptr, {}};
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) fail("The file cannot be read", path, kReadable);
  auto owner = keep_mapping(memory, size, std::exchange(file.number, -1), path, status.st_mtim);
  return {std::move(owner), {static_cast<const std::byte*>(memory), size}};
}

void expect_unchanged() {
  const std::lock_guard lock(mapping);
  for (const Mapping* one = mappings; one != nullptr; one = one->next)
    if (one->open ? has_changed(*one) : one->cut_off.load())
      throw Error(ErrorCode::kIo, "The file has changed while it was read.", one->path,
                  "Start again when nothing writes to it.");
}

void expect_writable(const std::string& path) {
  if (path.empty()) throw Error(ErrorCode::kIo, "The name of the file to write is empty.");
  if (path == kStandardStream) {
    standard_output();
    return;
  }
  const std::string target = follow_links(path);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail_to_write(path);
  if (exists && S_ISDIR(status.st_mode))
    throw Error(ErrorCode::kIo, "This is a folder where a file is to be written.", path, "Add the name of a file.");
  if (exists) {
    const std::lock_guard lock(reading);
    if (files_read.count({status.st_dev, status.st_ino}) != 0)
      throw Error(ErrorCode::kIo, "This job reads the file that it is to write over.", path, "Give another name.");
  }
  // A regular file is made anew beside its place, so it is the folder that has to let it.
  const bool direct = exists && !S_ISREG(status.st_mode);
  const std::string folder = folder_of(target);
  if (::access(direct ? target.c_str() : folder.c_str(), direct ? W_OK : W_OK | X_OK) != 0) fail_to_write(path);
  // The longer name may be too long.
  if (!direct && ::access(beside(target).c_str(), F_OK) != 0 && errno != ENOENT) fail_to_write(path);
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  expect_writable(path);
  if (path == kStandardStream) {
    descriptor_ = standard_output();
    return;
  }
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  const bool direct = exists && !S_ISREG(status.st_mode);
  if (!direct) {
    remove_left_over(folder_of(target_));
    beside_ = beside(target_);
  }
  const std::string& opened = direct ? target_ : beside_;
  descriptor_ = ::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_to_write(path_);
  if (!direct) ::flock(descriptor_, LOCK_EX | LOCK_NB);  // by which others know that it is written to
  // A file that is replaced keeps its permissions.
  if (exists && !direct && ::fchmod(descriptor_, status.st_mode & 07777) != 0) give_up(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && path_ != kStandardStream) ::close(descriptor_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void OutputFile::give_up(int reason) {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!beside_.empty()) ::unlink(beside_.c_str());
  beside_.clear();
  errno = reason;
  fail("The file could not be written completely", path_,
       reason == ENOSPC ? "The disk is full: free some space." : "Nothing was left behind.");
}

void OutputFile::append(std::span<const std::byte> bytes) {
  constexpr size_t kAtOnce = size_t{1} << 20;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kAtOnce));
    throw_if_interrupted(path_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up(errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void OutputFile::commit() {
  expect_unchanged();
  if (path_ == kStandardStream) return;  // it ends with the program
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) give_up(errno);
  if (!beside_.empty() && ::rename(beside_.c_str(), target_.c_str()) != 0) give_up(errno);
  beside_.clear();
}

void write_files(const std::vector<FileToWrite>& files) {
  std::list<OutputFile> open;
  for (const FileToWrite& file : files) open.emplace_back(file.path).append(file.bytes);
  throw_if_interrupted(files[0].path);
  expect_unchanged();
  for (OutputFile& file : open) file.commit();
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  write_files({{path, bytes}});
}

}  // namespace tersor::cli
