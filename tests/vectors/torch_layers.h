// SPDX-License-Identifier: Apache-2.0
// Layers as PyTorch prints them, "Conv2d(3, 4, kernel_size=(3, 3), bias=False)", as ONNX nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

struct TorchLayer {
  std::string text, type;
  std::vector<std::string> values;           // without a name, in order
  std::map<std::string, std::string> named;  // "kernel_size" -> "(3, 3)"

  static TorchLayer parse(const std::string& text);

  /// Of the named one, or of the unnamed one at `place`.
  std::optional<std::string> find(const char* name, int place = -1) const;
  double real(const char* name, double otherwise, int place = -1) const;
  /// The numbers of a tuple, or one number as often as `count` says.
  std::vector<int64_t> ints(const char* name, size_t count, int64_t otherwise, int place = -1) const;
  bool flag(const char* name, bool otherwise) const;

  /// Channels that it wants and makes; -1: any, and as many as it is given.
  int64_t wanted_channels() const;
  int64_t made_channels() const;
};

/// Appends the layer's nodes. `state` are its tensors ("weight", "running_mean"); the value it makes is called
/// `output`. Throws NotReadable for a layer that is not known.
ValueId append_layer(Graph& graph, const TorchLayer& layer, ValueId input, const std::string& output,
                     const std::map<std::string, Tensor>& state);

}  // namespace tersor::vectors
