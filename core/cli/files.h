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

/// Writes beside the place and renames when complete, so that no half-written file is ever there. Error kIo (not
/// writable, disk full, no such folder); then nothing is left behind.
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

}  // namespace tersor::cli
