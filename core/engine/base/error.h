// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace tersor {

/// What kind of thing went wrong. Cross every edge (JSON, JavaScript, exit messages) as their words, see to_word().
enum class ErrorCode {
  kInvalidArgument,   // a caller passed a value that no input file explains
  kInvalidModel,      // the model file is broken or breaks the ONNX rules
  kUnsupportedModel,  // the model is valid but holds something that cannot be run or quantized here
  kInvalidSamples,    // samples are missing, undecodable, of another shape, or not finite
  kInvalidLabels,     // labels do not fit the samples or the model's output
  kInvalidConfig,     // a configuration field, recipe or command line value
  kInvalidPlatform,   // a target platform file
  kMismatch,          // statistics, recipe or samples that belong to something else
  kIo,                // a file cannot be read or written
  kOutOfMemory,       // the memory that would be needed is not there
  kCancelled,         // the caller asked to stop
  kInternal,          // a bug in Tersor
};

/// The word of a code, such as "invalid_model".
std::string_view to_word(ErrorCode code);

/// The one error of the house, the same four fields on every edge.
///   message  a sentence that names the value found and what was expected
///   place    a path such as `graph.node[12] "conv1".kernel`; empty where there is none
///   hint     what to do next; empty where nothing can be said
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, std::string place = {}, std::string hint = {});

  ErrorCode code;
  std::string message;
  std::string place;
  std::string hint;

  /// "place: message hint", for logs and test output.
  const char* what() const noexcept override { return what_.c_str(); }

  /// The same error with `outer` put before its place: `outer.place`, `outer[3]`, `outer "name"`.
  Error within(std::string_view outer) const;

 private:
  std::string what_;
};

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

}  // namespace tersor

/// A bug guard that stays in every build: throws Error of code kInternal with file and line.
#define TERSOR_CHECK(condition)                                                       \
  do {                                                                                \
    if (!(condition)) ::tersor::detail::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
