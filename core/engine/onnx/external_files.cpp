// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/external_files.h"

#include "core/base/error.h"
#include "core/onnx/format.h"

namespace tersor::onnx {

namespace {

constexpr const char* kSaveAgain = "Save the model again with its data beside it.";

struct Description {
  std::string location;
  std::string offset;
  std::string length;
};

Description describe(const std::vector<std::string_view>& entries) {
  Description description;
  for (const std::string_view entry : entries) {
    std::string key, value;
    Fields fields(entry);
    while (fields.next()) {
      if (fields.tag() == entry_field::kKey) key = fields.text();
      if (fields.tag() == entry_field::kValue) value = fields.text();
    }
    if (key == "location") description.location = value;
    if (key == "offset") description.offset = value;
    if (key == "length") description.length = value;
  }
  return description;
}

uint64_t whole_number(const std::string& text, const char* what) {
  uint64_t number = 0;
  bool good = text.size() <= 18;
  for (const char digit : text) {
    good = good && digit >= '0' && digit <= '9';
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  if (!good)
    throw Error(ErrorCode::kInvalidModel,
                std::string("The ") + what + " of the external data is \"" + text + "\", no whole number.", {},
                kSaveAgain);
  return number;
}

/// A model must not reach outside its own folder.
void check_location(const std::string& location) {
  const bool leaves = location.front() == '/' || location.front() == '\\' || location.find(':') != std::string::npos ||
                      ("/" + location + "/").find("/../") != std::string::npos ||
                      location.find("..\\") != std::string::npos || location.find('\0') != std::string::npos;
  if (leaves)
    throw Error(ErrorCode::kInvalidModel,
                "The external data lies at \"" + location + "\", outside the model's own folder.", {}, kSaveAgain);
}

}  // namespace

const Source& ExternalFiles::file(const std::string& location) {
  if (const auto it = files_.find(location); it != files_.end()) return it->second;
  check_location(location);
  if (!find_)
    throw Error(ErrorCode::kIo, "The model keeps its weights in \"" + location + "\", which is not here.", {},
                "Give that file together with the model.");
  return files_.emplace(location, find_(location)).first->second;
}

Source ExternalFiles::slice(const std::vector<std::string_view>& entries, uint64_t wanted) {
  const Description description = describe(entries);
  if (description.location.empty())
    throw Error(ErrorCode::kInvalidModel, "The tensor's external data names no file.", {}, kSaveAgain);
  const uint64_t offset = whole_number(description.offset, "offset");
  const uint64_t length = description.length.empty() ? wanted : whole_number(description.length, "length");
  if (length != wanted)
    throw Error(
        ErrorCode::kInvalidModel,
        "The tensor needs " + std::to_string(wanted) + " bytes, its external data says " + std::to_string(length) + ".",
        {}, kSaveAgain);
  if (wanted == 0) return {};
  const Source& source = file(description.location);
  const uint64_t available = source.bytes.size();
  if (offset > available || length > available - offset)
    throw Error(ErrorCode::kInvalidModel,
                "The tensor's data ends at byte " + std::to_string(offset + length) + " of \"" + description.location +
                    "\", which has " + std::to_string(available) + " bytes.",
                {}, "The file is cut short or belongs to another model.");
  return {source.owner, source.bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length))};
}

}  // namespace tersor::onnx
