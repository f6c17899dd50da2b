// SPDX-License-Identifier: Apache-2.0
#include "core/samples/model_inputs.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

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

namespace {

/// Of what is none, or too large a one, the largest there is.
size_t number_of(std::string_view digits) {
  size_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = fault == std::errc() && end == digits.data() + digits.size();
  return is_number ? number : std::numeric_limits<size_t>::max();
}

/// The strings of a list or dictionary, in the order of the numbers before their colons.
std::vector<std::string> quoted_names(std::string_view text) {
  std::map<size_t, std::string> names;
  size_t number = 0;  // of the key
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      std::string last;
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        last += text[i];
      }
      const size_t next = text.find_first_not_of(" \t\r\n", i + 1);
      const bool is_key = next != std::string_view::npos && text[next] == ':';
      if (is_key)
        number = number_of(last);
      else
        names.emplace(text[0] == '{' ? number : names.size(), std::move(last));
    } else if (c >= '0' && c <= '9') {
      const size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
      number = number_of(text.substr(i, end - i));
      i = end - 1;
    }
  }
  std::vector<std::string> in_order;
  for (auto& [place, name] : names)
    if (place == in_order.size()) in_order.push_back(std::move(name));
  return in_order;
}

/// The lines of a text, or what commas part in the only one.
std::vector<std::string> listed_names(std::string_view text) {
  const char between = text.find('\n') == std::string_view::npos ? ',' : '\n';
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string> names;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(between, from), text.size());
    std::string_view one = text.substr(from, to - from);
    one.remove_prefix(std::min(one.find_first_not_of(kBlanks), one.size()));
    one = one.substr(0, one.find_last_not_of(kBlanks) + 1);
    if (!one.empty()) names.emplace_back(one);
    from = to + 1;
  }
  return names;
}

}  // namespace

std::vector<std::string> class_names(const Model& model) {
  const auto classes = class_count(model.graph);
  for (const char* key : {"names", "classes", "class_names", "labels", "id2label"})
    for (const auto& [found, text] : model.metadata) {
      if (!classes || found != key || text.empty()) continue;
      std::vector<std::string> names = text[0] == '{' || text[0] == '[' ? quoted_names(text) : listed_names(text);
      const std::set<std::string> distinct(names.begin(), names.end());
      if (distinct.size() == names.size() && static_cast<int64_t>(names.size()) == *classes) return names;
    }
  return {};
}

}  // namespace tersor::samples
