// SPDX-License-Identifier: Apache-2.0
#include "core/ops/microsoft.h"

#include <algorithm>

namespace tersor::ops {

namespace {

bool says_nothing(const Attribute& attribute) {
  if (const auto* number = std::get_if<int64_t>(&attribute)) return *number == 0 || *number == -1;
  if (const auto* number = std::get_if<float>(&attribute)) return *number == 0 || *number == 1;
  const auto* word = std::get_if<std::string>(&attribute);
  return word != nullptr && (*word == "NONE" || word->empty());
}

constexpr const char* kHint =
    "Export the model without it, or give the model as it was before ONNX Runtime's optimizer.";

}  // namespace

void require_attributes(const Setup& setup, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : setup.node.attributes)
    if (std::find(known.begin(), known.end(), name) == known.end() && !says_nothing(value))
      unsupported("The attribute " + name + " of " + setup.node.op_type + " is not supported here.", kHint);
}

void refuse_input(const Setup& setup, size_t k, std::string_view name) {
  if (setup.has_input(k))
    unsupported("The input " + std::string(name) + " of " + setup.node.op_type + " is not supported here.", kHint);
}

void refuse_output(const Setup& setup, size_t k, std::string_view name) {
  if (setup.has_output(k))
    unsupported("The output " + std::string(name) + " of " + setup.node.op_type + " is not supported here.", kHint);
}

}  // namespace tersor::ops
