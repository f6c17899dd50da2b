// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace tersor::tpc {

/// A file of platforms/ as it was when the program was built.
struct BuiltinFile {
  std::string_view name;
  int version;
  std::string_view text;
  std::string_view prices;  // a list of prices.json and prices_<processor>.json of its folder
};

/// By name, then version. Written by core/tpc/CMakeLists.txt.
std::span<const BuiltinFile> builtin_files();

}  // namespace tersor::tpc
