// SPDX-License-Identifier: Apache-2.0
#include "core/samples/model_inputs.h"

#include <algorithm>
#include <set>

#include "core/samples/preprocessing.h"

namespace tersor::samples {

namespace {

/// Whether what the output gives can be what the input takes the next time.
bool could_feed(const Value& output, const InputSpec& input) {
  if (output.dtype != input.dtype || !output.shape || output.shape->size() != input.shape->size()) return false;
  return std::equal(output.shape->begin(), output.shape->end(), input.shape->begin(),
                    [](const Dim& a, const Dim& b) { return !a.fixed() || !b.fixed() || a.value == b.value; });
}

}  // namespace

std::vector<InputSpec> model_inputs(const Graph& graph) {
  std::vector<InputSpec> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    inputs.push_back({value.name, value.dtype, value.shape});
  }
  std::set<size_t> taken;  // outputs that are the next value of an input
  for (size_t i = 0; i < inputs.size() && inputs.size() > 1; ++i) {
    InputSpec& input = inputs[i];
    constexpr size_t kFewestAxes = 2;
    if (!input.shape || input.shape->size() < kFewestAxes || picture_input(input)) continue;
    for (size_t o = 1; o < graph.outputs.size() && !input.next; ++o)
      if (could_feed(graph.value(graph.outputs[o]), input) && taken.insert(o).second) input.next = o;
  }
  return inputs;
}

std::optional<int64_t> class_count(const Graph& graph) {
  if (graph.outputs.empty()) return std::nullopt;
  const Value& output = graph.value(graph.outputs[0]);
  constexpr size_t kAxes = 2;
  if (!output.shape || output.shape->size() != kAxes || !output.shape->back().fixed() || output.shape->back().value < 2)
    return std::nullopt;
  return output.shape->back().value;
}

}  // namespace tersor::samples
