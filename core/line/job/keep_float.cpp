// SPDX-License-Identifier: Apache-2.0
#include "core/job/keep_float.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/framework/overrides.h"
#include "core/graph/operators.h"
#include "core/ops/registry.h"

namespace tersor {

namespace {

bool has_weights(std::string_view type) {
  return has_trait(type, Trait::kWeighted | Trait::kRecurrent) || type == "Gather" || type == "Loop";
}

config::Override in_float(const std::string& word, const Graph& graph) {
  const auto& nodes = graph.nodes();
  const auto named = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const Node& node) { return framework::override_name(graph, node) == word; });
  constexpr int64_t kAnyVersion = 21;
  config::Override override;
  // A type that preparation makes (a Gemm of MatMul and Add) need not be in the graph as read.
  const bool is_type = named == nodes.end() && ops::standard().find("", word, kAnyVersion) != nullptr;
  (is_type ? override.type : override.name) = word;
  const bool weights = named != nodes.end() ? has_weights(named->op_type) : has_weights(word);
  override.config = std::string("{\"enable_activation_quantization\": false") +
                    (weights ? ", \"enable_weights_quantization\": false}" : "}");
  return override;
}

}  // namespace

void check_keep_float(const std::vector<std::string>& words, const std::string& place) {
  const auto given = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (given("auto") && given("none"))
    throw Error(ErrorCode::kInvalidConfig, "The automatic choice is switched on and off: auto and none.", place,
                "Give one of them.");
}

void keep_float(const std::vector<std::string>& words, const Graph& graph, Settings& settings) {
  for (const std::string& word : words)
    if (word == "auto" || word == "none")
      settings.config.keep_float_automatically = word == "auto";
    else
      settings.overrides.push_back(in_float(word, graph));
}

}  // namespace tersor
