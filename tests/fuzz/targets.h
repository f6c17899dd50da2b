// SPDX-License-Identifier: Apache-2.0
// What the fuzzers feed with bytes. Whatever the bytes, a target returns: a result is fine and so is a proper Error.
// Anything else throws Finding, or is seen by a sanitizer. libfuzzer.cpp makes a fuzzer of each, corpus_test.cpp runs
// their committed corpora in the suite.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

#include "core/base/error.h"

namespace tersor::fuzz {

struct Finding : std::logic_error {
  using std::logic_error::logic_error;
};

using Bytes = std::span<const std::byte>;

void reader(Bytes bytes);     // a model file: read, written, read again
void model(Bytes bytes);      // a model file: run, raised, prepared by the passes, run again
void operators(Bytes bytes);  // one node, see operator_case.h
void samples(Bytes bytes);    // the first byte a format, the second an input, the rest a file

struct Target {
  std::string_view name;  // of its folder in corpus/
  void (*run)(Bytes bytes);
};

inline constexpr Target kTargets[] = {
    {"reader", reader}, {"model", model}, {"operators", operators}, {"samples", samples}};

/// Runs `body`. Throws Finding for an Error that no input may cause: a bug's, or one without a sentence.
template <class Body>
void only_proper_errors(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code == ErrorCode::kInternal || error.message.empty()) throw Finding(error.what());
  }
}

}  // namespace tersor::fuzz
