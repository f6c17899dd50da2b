// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/utf8.h"
#include "core/base/visible.h"

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

namespace {

/// What comes from outside is shortened where it is quoted; this is for what nobody thought of.
std::string bounded(std::string text, size_t most) {
  text = visible(std::move(text));
  if (text.size() <= most) return text;
  return std::string(beginning(text, most)) + "...";
}

constexpr size_t kMostMessage = 50000, kMostPlace = 2000, kMostHint = 10000;

}  // namespace

Error::Error(ErrorCode code_in, std::string message_in, std::string place_in, std::string hint_in)
    : code(code_in),
      message(bounded(std::move(message_in), kMostMessage)),
      place(bounded(std::move(place_in), kMostPlace)),
      hint(bounded(std::move(hint_in), kMostHint)) {
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
