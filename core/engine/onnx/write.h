// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::onnx {

/// A file beside the model that takes the large initializers.
struct ExternalTarget {
  std::string location;  // its name, relative to the model
  size_t at_least_bytes = 4096;
  /// Takes the file's bytes, in order. Tensors begin at multiples of 4096, with zeros between them.
  std::function<void(std::span<const std::byte>)> append;
};

struct WriteOptions {
  std::optional<ExternalTarget> external;
  /// List initializers among the inputs, as such a file did (Model::initializers_were_inputs). A runtime then lets
  /// callers replace them and does not count on their values, so quantized models must not. Before IR version 4 they
  /// are listed in any case.
  bool initializers_as_inputs = false;
};

/// The model as an ONNX file: equal models give equal bytes. Fields stand in the order of their numbers, initializers
/// as raw data in their order. Error kUnsupportedModel when the file would pass protobuf's 2 GB.
std::vector<std::byte> write(const Model& model, const WriteOptions& options = {});

}  // namespace tersor::onnx
