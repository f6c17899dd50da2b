// SPDX-License-Identifier: Apache-2.0
// How `tersor run` names and writes what it computes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace tersor::cli {

/// Each name as a file name: every byte outside [A-Za-z0-9._-] becomes `_`, an empty name and those that mean a folder
/// ("." and "..") too, and a name that an earlier one has taken gets `~2`, `~3`, ...
std::vector<std::string> file_names(const std::vector<std::string>& names);

/// The tensor as a .npy file (version 1.0). Error kUnsupportedModel for types that numpy does not have.
std::vector<std::byte> npy_file(const Tensor& tensor);

}  // namespace tersor::cli
