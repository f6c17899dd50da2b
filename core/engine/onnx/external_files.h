// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/source.h"

namespace tersor::onnx {

/// The files beside a model, each fetched once.
class ExternalFiles {
 public:
  explicit ExternalFiles(const ExternalData& find) : find_(find) {}

  /// The bytes that a TensorProto's external_data entries (encoded StringStringEntryProto) describe, `wanted` in
  /// number. Error kInvalidModel when location, offset or length are wrong, kIo when the file is not there.
  Source slice(const std::vector<std::string_view>& entries, uint64_t wanted);

 private:
  const Source& file(const std::string& location);

  const ExternalData& find_;
  std::map<std::string, Source> files_;
};

}  // namespace tersor::onnx
