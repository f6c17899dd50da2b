// SPDX-License-Identifier: Apache-2.0
#include "tests/support/shared.h"

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "tests/catch.h"

namespace tersor::test {

std::optional<std::string> shared_file(const std::string& relative) {
  const char* folder = std::getenv("TERSOR_SHARED");
  const std::string path = std::string(folder != nullptr ? folder : "../shared") + "/" + relative;
  if (std::ifstream(path).good()) return path;
  std::cout << "skipped: " << Catch::getResultCapture().getCurrentTestName() << " (shared/" << relative
            << " is not here)\n";
  return std::nullopt;
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  INFO(path);
  REQUIRE(file.good());
  std::vector<std::byte> bytes(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace tersor::test
