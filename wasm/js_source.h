// SPDX-License-Identifier: Apache-2.0
// Files that JavaScript holds: a table of paths and sizes, and a function that reads a range of one.
#pragma once

#include <emscripten/val.h>

#include <vector>

#include "core/onnx/source.h"
#include "core/samples/source.h"

namespace tersor::wasm {

/// `table` is {files: [{path, size}], read(file, offset, length)}; read() gives a Uint8Array, or a text that says why
/// it cannot.
class JsSource : public samples::FileSource {
 public:
  explicit JsSource(const emscripten::val& table);
  const std::vector<samples::SourceFile>& files() const override { return files_; }
  samples::Bytes read(size_t file, uint64_t offset, uint64_t length) const override;

 private:
  std::vector<samples::SourceFile> files_;
  emscripten::val read_;
};

/// The bytes of a typed array, copied in.
samples::Bytes copied(const emscripten::val& array);
/// A Uint8Array on these bytes, until the memory moves.
emscripten::val as_view(std::span<const std::byte> bytes);
/// A Uint8Array of its own with these bytes.
emscripten::val to_array(std::span<const std::byte> bytes);

}  // namespace tersor::wasm
