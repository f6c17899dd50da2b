// SPDX-License-Identifier: Apache-2.0
// A fuzzer of the target that TERSOR_FUZZ_TARGET names.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tersor::fuzz::TERSOR_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
