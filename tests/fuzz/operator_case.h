// SPDX-License-Identifier: Apache-2.0
// One node with its inputs, and its form in bytes: every string of bytes is one, so that a fuzzer can change any of
// them. Operators and attributes are named by a hash of their name; any other number counts through the lists below,
// which hold for what changes at random.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/ops/registry.h"

namespace tersor::fuzz {

struct GivenInput {
  Tensor tensor;  // empty: absent
  bool constant = false;
};

struct OperatorCase {
  uint8_t registry = 0;  // 0: the float operators; 1 to 4: with the integer ones of a runtime
  std::string domain;
  std::string type;
  int64_t opset = 17;
  size_t outputs = 1;
  std::vector<GivenInput> inputs;
  Attributes attributes;
};

const ops::Registry& registry_of(uint8_t number);

OperatorCase decode(std::span<const std::byte> bytes);
/// So that decode() gives the same case; tensors that are too large for it come out cut.
std::vector<std::byte> encode(const OperatorCase& one);

}  // namespace tersor::fuzz
