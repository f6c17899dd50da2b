// SPDX-License-Identifier: Apache-2.0
#include "core/ops/attribute_names.h"

#include <algorithm>

#include "core/base/names.h"
#include "core/graph/operators.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find(' ', from), text.size());
    words.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

std::vector<std::string> names_for(std::string_view type) {
  const Operator* known = find_operator(type);
  return known != nullptr ? words_of(known->attributes) : std::vector<std::string>();
}

}  // namespace

bool has_attribute(std::string_view domain, std::string_view type, std::string_view name) {
  // The first, of operator set 1, says nothing; runtimes keep notes of their own under names like the second.
  if (!domain.empty() || name == "consumed_inputs" || name.substr(0, 2) == "__") return true;
  const std::vector<std::string> names = names_for(type);
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_known_attributes(const Node& node) {
  for (const auto& [name, value] : node.attributes) {
    if (has_attribute(node.domain, node.op_type, name)) continue;
    const std::vector<std::string> names = names_for(node.op_type);
    invalid("There is no attribute \"" + name + "\" of " + node.op_type + " in ONNX.",
            suggestion(name, names) + (names.empty() ? "It has none." : "It has " + joined(names) + "."));
  }
}

}  // namespace tersor::ops
