// SPDX-License-Identifier: Apache-2.0
// The files of a model while it is opened, and what is left of them when it is: of a large model the weights are read
// again where they are needed, and do not stay in memory beside the forms that the engine makes of them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "core/graph/graph.h"
#include "core/onnx/source.h"
#include "wasm/js_source.h"

namespace tersor::wasm {

class ModelFiles {
 public:
  explicit ModelFiles(std::shared_ptr<const JsSource> source) : source_(std::move(source)) {}

  const onnx::Source& read(size_t file);
  /// Those beside it, by the names that the model gives them.
  onnx::ExternalData external();
  /// Where the files are large, the model keeps what it needs to read them again.
  void let_go(Model& model) const;

 private:
  const std::shared_ptr<const JsSource> source_;
  std::map<size_t, onnx::Source> read_;
};

}  // namespace tersor::wasm
