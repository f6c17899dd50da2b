// SPDX-License-Identifier: Apache-2.0
// The fuzzers' committed corpora, in every build: seeds, and what once was a finding. Each file as it is, cut at
// several places, and with single bytes changed.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/fuzz/operator_case.h"
#include "tests/fuzz/targets.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

std::vector<std::string> corpus_of(std::string_view target) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/corpus/" + std::string(target)))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// A copy of its own, so that a sanitizer sees every step beyond its end.
void run_copy(const fuzz::Target& target, const std::vector<std::byte>& bytes) {
  const std::vector<std::byte> copy(bytes.begin(), bytes.end());
  target.run(copy);
}

}  // namespace

TEST_CASE("fuzz targets return from their corpora") {
  for (const fuzz::Target& target : fuzz::kTargets) {
    const auto corpus = corpus_of(target.name);
    CHECK_FALSE(corpus.empty());
    for (const std::string& path : corpus) {
      INFO(path);
      CHECK_NOTHROW(run_copy(target, test::read_file(path)));
    }
  }
}

TEST_CASE("fuzz targets return from damaged corpora") {
  std::mt19937 chance(7);
  for (const fuzz::Target& target : fuzz::kTargets)
    for (const std::string& path : corpus_of(target.name)) {
      const auto bytes = test::read_file(path);
      for (int round = 0; round < 24 && !bytes.empty(); ++round) {
        auto damaged = bytes;
        const size_t at = chance() % bytes.size();
        damaged[at] = static_cast<std::byte>(chance());
        if (round % 3 == 0) damaged.resize(at);
        INFO(path << ", round " << round);
        CHECK_NOTHROW(run_copy(target, damaged));
      }
    }
}

TEST_CASE("the operators' corpus is written as it is read") {
  for (const std::string& path : corpus_of("operators")) {
    INFO(path);
    const auto once = fuzz::encode(fuzz::decode(test::read_file(path)));
    CHECK(fuzz::encode(fuzz::decode(once)) == once);
  }
}
