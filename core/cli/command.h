// SPDX-License-Identifier: Apache-2.0
// A subcommand is one file of this folder: a function that adds its options and what to do to the program's command
// line.
#pragma once

#include <CLI/CLI.hpp>

namespace tersor::cli {

using AddCommand = void (*)(CLI::App& program);

}  // namespace tersor::cli
