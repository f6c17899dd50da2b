// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <cstring>
#include <utility>

namespace tersor {

std::string_view to_word(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kInvalidModel:
      return "invalid_model";
    case ErrorCode::kUnsupportedModel:
      return "unsupported_model";
    case ErrorCode::kInvalidSamples:
      return "invalid_samples";
    case ErrorCode::kInvalidLabels:
      return "invalid_labels";
    case ErrorCode::kInvalidConfig:
      return "invalid_config";
    case ErrorCode::kInvalidPlatform:
      return "invalid_platform";
    case ErrorCode::kMismatch:
      return "mismatch";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

Error::Error(ErrorCode code_in, std::string message_in, std::string place_in, std::string hint_in)
    : code(code_in), message(std::move(message_in)), place(std::move(place_in)), hint(std::move(hint_in)) {
  if (!place.empty()) what_ = place + ": ";
  what_ += message;
  if (!hint.empty()) what_ += " " + hint;
}

Error Error::within(std::string_view outer) const {
  std::string joined(outer);
  if (!place.empty()) joined += (place.front() == '[' ? "" : place.front() == '"' ? " " : ".") + place;
  return Error(code, message, joined, hint);
}

namespace detail {

void check_failed(const char* condition, const char* file, int line) {
  // Only the part of the path inside the project: error texts must not depend on where it was built.
  const char* core = std::strstr(file, "core/");
  for (const char* next = core; next != nullptr; next = std::strstr(next + 1, "core/")) core = next;
  throw Error(ErrorCode::kInternal, std::string("The internal check `") + condition + "` failed.",
              std::string(core != nullptr ? core : file) + ":" + std::to_string(line),
              "This is a bug in Tersor; please report it with this text.");
}

}  // namespace detail
}  // namespace tersor
