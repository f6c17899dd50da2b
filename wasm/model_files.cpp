// SPDX-License-Identifier: Apache-2.0
#include "wasm/model_files.h"

#include "core/base/error.h"
#include "core/onnx/defer.h"

namespace tersor::wasm {

namespace {

/// So large are models whose weights are worth being read again.
constexpr size_t kLargeModel = size_t{8} << 20;

onnx::Source as_source(samples::Bytes bytes) {
  return {std::move(bytes.owner), bytes.view};
}

}  // namespace

const onnx::Source& ModelFiles::read(size_t file) {
  return read_.emplace(file, as_source(source_->read_all(file))).first->second;
}

onnx::ExternalData ModelFiles::external() {
  return [this](const std::string& location) {
    const auto& files = source_->files();
    for (size_t i = 1; i < files.size(); ++i)
      if (files[i].path == location) return read(i);
    throw Error(ErrorCode::kIo, "The file \"" + location + "\" that holds weights of the model is not here.", location,
                "Give it together with the model.");
  };
}

void ModelFiles::let_go(Model& model) const {
  size_t total = 0;
  for (const auto& [file, source] : read_) total += source.bytes.size();
  if (total < kLargeModel) return;
  for (const auto& [file, source] : read_)
    onnx::defer_tensors(model, source.bytes, [from = source_, index = file](uint64_t offset, uint64_t length) {
      return as_source(from->read(index, offset, length));
    });
}

}  // namespace tersor::wasm
