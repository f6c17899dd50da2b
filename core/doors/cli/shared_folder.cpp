// SPDX-License-Identifier: Apache-2.0
#include "core/cli/shared_folder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/cli/files.h"

namespace tersor::cli {

namespace {

using Bytes = std::vector<std::byte>;

/// Not mapped: others remove these files when everybody has read them. Empty where there is none.
Bytes read_if_there(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

class SharedFolder {
 public:
  SharedFolder(std::string folder, const Shard& shard, const std::string& job, int64_t wait)
      : stem_(std::move(folder) + "/" + job.substr(0, 16) + "-"), shard_(shard), wait_(wait) {}

  Bytes known(size_t step) const { return read_if_there(outcome_path(step)); }

  std::vector<Bytes> exchange(size_t step, std::span<const std::byte> own) const {
    write_file(part_path(step, shard_.number), own);
    std::vector<Bytes> parts;
    for (int64_t number = 1; number <= shard_.count; ++number) {
      parts.push_back(wait_for(step, number));
      if (parts.back().empty()) return {};
    }
    // Everybody has written this step's part, and so has read the parts of the step before.
    std::error_code gone;
    if (step > 0) std::filesystem::remove(part_path(step - 1, shard_.number), gone);
    return parts;
  }

  void settle(size_t step, std::span<const std::byte> outcome) const { write_file(outcome_path(step), outcome); }

 private:
  std::string outcome_path(size_t step) const { return stem_ + std::to_string(step) + ".outcome"; }
  std::string part_path(size_t step, int64_t number) const {
    return stem_ + std::to_string(step) + "." + std::to_string(number) + "of" + std::to_string(shard_.count);
  }

  /// Empty where nobody waits for this step any more.
  Bytes wait_for(size_t step, int64_t number) const {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(wait_);
    for (;;) {
      if (Bytes part = read_if_there(part_path(step, number)); !part.empty()) return part;
      if (!known(step).empty()) return {};
      if (Clock::now() >= end) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw Error(ErrorCode::kIo,
                "Part " + std::to_string(number) + " of " + std::to_string(shard_.count) + " has not come within " +
                    std::to_string(wait_) + " seconds.",
                part_path(step, number),
                "All parts run at the same time and see the same folder. Start the missing ones, and this one again: "
                "it goes on from there; --wait waits longer.");
  }

  std::string stem_;
  Shard shard_;
  int64_t wait_;
};

}  // namespace

SweepPartners partners_in(const std::string& folder, const Shard& shard, const std::string& job, int64_t wait) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder, failed))
    throw Error(ErrorCode::kIo, "The folder cannot be made.", folder, "Choose another --folder.");
  const auto shared = std::make_shared<SharedFolder>(folder, shard, job, wait);
  return {shard, [shared](size_t step) { return shared->known(step); },
          [shared](size_t step, std::span<const std::byte> own) { return shared->exchange(step, own); },
          [shared](size_t step, std::span<const std::byte> outcome) { shared->settle(step, outcome); }};
}

}  // namespace tersor::cli
