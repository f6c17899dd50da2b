// SPDX-License-Identifier: Apache-2.0
// Writers for the small files that the tests of samples read: .npy, zip, PNG, and data sets in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/samples/data_set.h"

namespace tersor::test {

using FileBytes = std::vector<std::byte>;

FileBytes bytes_of(std::string_view text);
template <class T>
FileBytes bytes_of(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}
template <class T>
FileBytes bytes_of(const std::vector<T>& values) {
  return bytes_of(std::span<const T>(values));
}

/// A .npy file of version 1 around `data`; `header` is the dictionary's text.
FileBytes npy_around(const std::string& header, const FileBytes& data, int version = 1);
/// A .npy file: `type` as in "<f4", `shape` as in "(2, 3)".
template <class T>
FileBytes npy(const std::string& type, const std::string& shape, const std::vector<T>& values, bool fortran = false) {
  const std::string order = fortran ? "True" : "False";
  return npy_around("{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }",
                    bytes_of(values));
}

/// A zip archive of stored members.
FileBytes zip_of(const std::vector<std::pair<std::string, FileBytes>>& members);

/// A PNG around `rows`: filter byte and packed pixels of each row (of each pass). `extra` chunks stand before the
/// pixels.
struct PngParts {
  uint32_t width = 1, height = 1;
  int depth = 8, colour = 2, interlace = 0;
  std::vector<std::pair<std::string, FileBytes>> extra;
  FileBytes rows;
};
FileBytes png_of(const PngParts& parts);

/// An input of fixed sides; -1 stands for a free one.
samples::InputSpec input(std::vector<int64_t> dims, DType dtype = DType::kFloat32, std::string name = "x");

using NamedFiles = std::vector<std::pair<std::string, FileBytes>>;
std::shared_ptr<const samples::FileSource> source_of(const NamedFiles& files);
std::shared_ptr<const samples::DataSet> open_set(const NamedFiles& files, const std::vector<samples::InputSpec>& inputs,
                                                 const samples::DataSetOptions& options = {});

/// The text of the error that `call` throws, "place | message | hint"; "no error" when it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.place + " | " + error.message + " | " + error.hint;
  }
  return "no error";
}

}  // namespace tersor::test
