// SPDX-License-Identifier: Apache-2.0
// Test material that is not part of the project (zoo models, conformance cases) lies in the folder that the environment
// variable TERSOR_SHARED names, by default ../shared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tersor::test {

/// The file's path when it exists; otherwise prints "skipped: <path> is not here" and gives none, and the test returns.
std::optional<std::string> shared_file(const std::string& relative);

/// Whole file. Fails the test when it cannot be read.
std::vector<std::byte> read_file(const std::string& path);

}  // namespace tersor::test
