// SPDX-License-Identifier: Apache-2.0
#include "core/framework/layer_filter_params.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/kernel_operand.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/operators.h"

namespace tersor::framework {

namespace {

using Kind = AttributeFilter::Kind;

/// Inputs that hold what older operator sets had as attributes.
struct NamedInput {
  std::string_view type;
  std::string_view name;
  size_t slot;
};
constexpr NamedInput kNamedInputs[] = {
    {"Clip", "min", 1},      {"Clip", "max", 2},     {"Pad", "pads", 1},       {"Pad", "constant_value", 2},
    {"Dropout", "ratio", 1}, {"Squeeze", "axes", 1}, {"Unsqueeze", "axes", 1}, {"Slice", "axes", 3},
};

/// The number as a person writes it: 0.01 of the float32 that is nearest to 0.01.
double as_written(float number) {
  char text[32];
  for (int digits = 6; digits < 10; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(number));
    const double read = std::strtod(text, nullptr);
    if (static_cast<float>(read) == number) return read;
  }
  return static_cast<double>(number);  // NaN
}

std::optional<FilterValue> value_of(const Tensor& tensor) {
  if (tensor.elements() > 64 || tensor.dtype() == DType::kString) return std::nullopt;
  std::vector<double> numbers = tensor.to_doubles();
  if (tensor.dtype() == DType::kFloat32)
    for (double& one : numbers) one = as_written(static_cast<float>(one));
  if (numbers.size() == 1) return FilterValue(numbers[0]);
  return FilterValue(std::move(numbers));
}

FilterValue value_of(const DefaultValue& value) {
  if (const auto* word = std::get_if<std::string_view>(&value)) return FilterValue(std::string(*word));
  if (const auto* number = std::get_if<float>(&value)) return FilterValue(as_written(*number));
  return FilterValue(static_cast<double>(std::get<int64_t>(value)));
}

template <class T>
FilterValue value_of(const std::vector<T>& list) {
  std::vector<double> numbers(list.begin(), list.end());
  if constexpr (std::is_same_v<T, float>)
    for (double& one : numbers) one = as_written(static_cast<float>(one));
  return FilterValue(std::move(numbers));
}

std::optional<FilterValue> from_attribute(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return std::nullopt;
  const auto read = []<class T>(const T& held) -> std::optional<FilterValue> {
    if constexpr (std::is_same_v<T, float>)
      return FilterValue(as_written(held));
    else if constexpr (std::is_arithmetic_v<T>)
      return FilterValue(static_cast<double>(held));
    else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>)
      return FilterValue(held);
    else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<float>>)
      return value_of(held);
    else
      return std::nullopt;
  };
  return std::visit(read, found->second);
}

/// The names of what is derived from a node.
constexpr const char* kDerived[] = {"outputs", "has_kernel", "depthwise", "index_rank"};

std::optional<FilterValue> derived(const Graph& graph, const Node& node, std::string_view name) {
  if (name == "outputs")
    return FilterValue(static_cast<double>(
        std::count_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id.valid(); })));
  if (name == "has_kernel") return FilterValue(kernel_operand(graph, node).has_value() ? 1.0 : 0.0);
  if (name == "depthwise" && node.is("Conv")) {
    const Tensor* weight =
        node.inputs.size() > 1 && node.inputs[1].valid() ? graph.initializer(node.inputs[1]) : nullptr;
    const bool depthwise = weight != nullptr && weight->shape().rank() > 1 && weight->shape()[1] == 1;
    return FilterValue(depthwise && node.int_or("group", 1) > 1 ? 1.0 : 0.0);
  }
  if (name == "index_rank" && node.is("Gather") && node.inputs.size() > 1) {
    const Tensor* index = graph.initializer(node.inputs[1]);
    if (index != nullptr) return FilterValue(static_cast<double>(index->shape().rank()));
  }
  return std::nullopt;
}

bool contains(const FilterValue& list, const FilterValue& value) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&list)) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr && std::find(numbers->begin(), numbers->end(), *number) != numbers->end();
  }
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr) return false;
  if (const auto* words = std::get_if<std::vector<std::string>>(&list))
    return std::find(words->begin(), words->end(), *word) != words->end();
  const auto* text = std::get_if<std::string>(&list);
  return text != nullptr && text->find(*word) != std::string::npos;
}

bool compare(Kind kind, const FilterValue& found, const FilterValue& value) {
  if (kind == Kind::kEq) return found == value;
  if (kind == Kind::kNotEq) return found != value;
  if (kind == Kind::kContains) return contains(found, value);
  if (found.index() != value.index()) return false;
  if (kind == Kind::kGreater) return found > value;
  if (kind == Kind::kGreaterEq) return found >= value;
  if (kind == Kind::kSmaller) return found < value;
  return found <= value;
}

AttributeFilter comparison(Kind kind, std::string attribute, FilterValue value) {
  return {kind, std::move(attribute), std::move(value), {}};
}

AttributeFilter join(Kind kind, AttributeFilter a, AttributeFilter b) {
  return {kind, {}, {}, {std::move(a), std::move(b)}};
}

constexpr std::pair<Kind, const char*> kWords[] = {
    {Kind::kEq, "Eq"},
    {Kind::kNotEq, "NotEq"},
    {Kind::kGreater, "Greater"},
    {Kind::kGreaterEq, "GreaterEq"},
    {Kind::kSmaller, "Smaller"},
    {Kind::kSmallerEq, "SmallerEq"},
    {Kind::kContains, "Contains"},
};

FilterValue read_value(const Json& json, const std::string& place) {
  if (json.is_boolean()) return json.get<bool>() ? 1.0 : 0.0;
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) detail::wrong_type(json, "a number, a text or a list", place);
  if (!json.empty() && json[0].is_string()) {
    std::vector<std::string> words;
    from_json(json, words, place);
    return words;
  }
  std::vector<double> numbers;
  from_json(json, numbers, place);
  return numbers;
}

Json write_value(const FilterValue& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

AttributeFilter read_condition(const Json& json, const std::string& place);

std::vector<AttributeFilter> read_conditions(const Json& json, const std::string& place) {
  if (!json.is_array()) detail::wrong_type(json, "a list of conditions", place);
  std::vector<AttributeFilter> parts;
  for (size_t i = 0; i < json.size(); ++i)
    parts.push_back(read_condition(json[i], place + "[" + std::to_string(i) + "]"));
  return parts;
}

AttributeFilter read_condition(const Json& json, const std::string& place) {
  if (!json.is_object()) detail::wrong_type(json, "a condition", place);
  if (json.size() == 1 && json.contains("all")) return And(read_conditions(json["all"], place + ".all"));
  if (json.size() == 1 && json.contains("any")) return Or(read_conditions(json["any"], place + ".any"));
  for (const auto& entry : json.items())
    if (entry.key() != "attr" && entry.key() != "op" && entry.key() != "value")
      detail::unknown_key(entry.key(), {"attr", "op", "value", "all", "any"}, place);
  std::string attribute, word;
  from_json(json.value("attr", Json()), attribute, place + ".attr");
  from_json(json.value("op", Json()), word, place + ".op");
  for (const auto& [kind, name] : kWords)
    if (word == name) return comparison(kind, attribute, read_value(json.value("value", Json()), place + ".value"));
  throw Error(ErrorCode::kInvalidConfig, "\"" + shortened(word) + "\" is not a comparison.", place + ".op",
              "Use one of: Eq, NotEq, Greater, GreaterEq, Smaller, SmallerEq, Contains.");
}

Json write_condition(const AttributeFilter& filter) {
  if (filter.kind == Kind::kAnd || filter.kind == Kind::kOr) {
    Json parts = Json::array();
    for (const AttributeFilter& part : filter.parts) parts.push_back(write_condition(part));
    return Json{{filter.kind == Kind::kAnd ? "all" : "any", parts}};
  }
  const char* word = "";
  for (const auto& [kind, name] : kWords)
    if (kind == filter.kind) word = name;
  return Json{{"attr", filter.attribute}, {"op", word}, {"value", write_value(filter.value)}};
}

}  // namespace

std::optional<FilterValue> filter_value(const Graph& graph, const Node& node, std::string_view attribute) {
  if (auto found = from_attribute(node, std::string(attribute))) return found;
  if (node.domain.empty())
    for (const NamedInput& one : kNamedInputs)
      if (one.type == node.op_type && one.name == attribute && one.slot < node.inputs.size() &&
          node.inputs[one.slot].valid()) {
        const Tensor* constant = graph.initializer(node.inputs[one.slot]);
        return constant == nullptr ? std::nullopt : value_of(*constant);
      }
  if (auto found = derived(graph, node, attribute)) return found;
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "Pad" && attribute == "constant_value") return FilterValue(0.0);  // an input that may be absent
  if (const auto otherwise = default_of(node.op_type, attribute)) return value_of(*otherwise);
  return std::nullopt;
}

std::vector<std::string> filter_attributes(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (is_new && filter_value(graph, node, name)) names.push_back(name);
  };
  for (const auto& attribute : node.attributes) add(attribute.first);
  for (const NamedInput& one : kNamedInputs) add(std::string(one.name));
  for (const std::string_view name : names_with_defaults(node.op_type)) add(std::string(name));
  for (const char* name : kDerived) add(name);
  return names;
}

std::vector<std::string> possible_attributes(std::string_view type) {
  const Operator* op = find_operator(type);
  if (op == nullptr) return {};
  std::vector<std::string> names;
  for (std::string_view left = op->attributes; !left.empty();) {
    const size_t end = std::min(left.find(' '), left.size());
    if (end > 0) names.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  for (const NamedInput& one : kNamedInputs)
    if (one.type == type) names.emplace_back(one.name);
  for (const std::string_view name : names_with_defaults(type)) names.emplace_back(name);
  for (const std::string_view name : kDerived)
    if ((name != "depthwise" || type == "Conv") && (name != "index_rank" || type == "Gather")) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool AttributeFilter::matches(const Graph& graph, const Node& node) const {
  const auto holds = [&](const AttributeFilter& part) { return part.matches(graph, node); };
  if (kind == Kind::kAnd) return std::all_of(parts.begin(), parts.end(), holds);
  if (kind == Kind::kOr) return std::any_of(parts.begin(), parts.end(), holds);
  const auto found = filter_value(graph, node, attribute);
  return found && compare(kind, *found, value);
}

AttributeFilter Eq(std::string attribute, FilterValue value) {
  return comparison(Kind::kEq, std::move(attribute), std::move(value));
}
AttributeFilter NotEq(std::string attribute, FilterValue value) {
  return comparison(Kind::kNotEq, std::move(attribute), std::move(value));
}
AttributeFilter Greater(std::string attribute, FilterValue value) {
  return comparison(Kind::kGreater, std::move(attribute), std::move(value));
}
AttributeFilter GreaterEq(std::string attribute, FilterValue value) {
  return comparison(Kind::kGreaterEq, std::move(attribute), std::move(value));
}
AttributeFilter Smaller(std::string attribute, FilterValue value) {
  return comparison(Kind::kSmaller, std::move(attribute), std::move(value));
}
AttributeFilter SmallerEq(std::string attribute, FilterValue value) {
  return comparison(Kind::kSmallerEq, std::move(attribute), std::move(value));
}
AttributeFilter Contains(std::string attribute, FilterValue value) {
  return comparison(Kind::kContains, std::move(attribute), std::move(value));
}
AttributeFilter And(std::vector<AttributeFilter> parts) {
  return {Kind::kAnd, {}, {}, std::move(parts)};
}
AttributeFilter Or(std::vector<AttributeFilter> parts) {
  return {Kind::kOr, {}, {}, std::move(parts)};
}
AttributeFilter operator&(AttributeFilter a, AttributeFilter b) {
  return join(Kind::kAnd, std::move(a), std::move(b));
}
AttributeFilter operator|(AttributeFilter a, AttributeFilter b) {
  return join(Kind::kOr, std::move(a), std::move(b));
}

bool LayerFilterParams::matches(const Graph& graph, const Node& node) const {
  const std::string type = node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
  if (type != layer) return false;
  for (const auto& [name, value] : kwargs) {
    const auto found = filter_value(graph, node, name);
    if (!found || *found != value) return false;
  }
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const AttributeFilter& one) { return one.matches(graph, node); });
}

namespace {

void add_attributes(const AttributeFilter& filter, std::vector<std::string>& names) {
  if (!filter.attribute.empty() && std::find(names.begin(), names.end(), filter.attribute) == names.end())
    names.push_back(filter.attribute);
  for (const AttributeFilter& part : filter.parts) add_attributes(part, names);
}

}  // namespace

std::vector<std::string> LayerFilterParams::attributes() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : kwargs) names.push_back(name);
  for (const AttributeFilter& one : conditions) add_attributes(one, names);
  return names;
}

LayerFilterParams read_layer_filter(const Json& json, const std::string& place) {
  if (json.is_string()) return LayerFilterParams(json.get<std::string>());
  if (!json.is_object()) detail::wrong_type(json, "a layer filter", place);
  LayerFilterParams filter("");
  for (const auto& [key, value] : json.items()) {
    const std::string at = detail::join_place(place, key);
    if (key == "layer") {
      from_json(value, filter.layer, at);
    } else if (key == "all") {
      for (AttributeFilter& one : read_conditions(value, at)) filter.conditions.push_back(std::move(one));
    } else if (key == "any") {
      filter.conditions.push_back(Or(read_conditions(value, at)));
    } else if (key == "kwargs") {
      if (!value.is_object()) detail::wrong_type(value, "an object", at);
      for (const auto& [name, wanted] : value.items())
        filter.kwargs[name] = read_value(wanted, detail::join_place(at, name));
    } else {
      detail::unknown_key(key, {"layer", "all", "any", "kwargs"}, place);
    }
  }
  if (filter.layer.empty())
    throw Error(ErrorCode::kInvalidConfig, "The field \"layer\" is missing or empty.", place,
                "Give an operator type, such as \"Conv\".");
  return filter;
}

Json to_json(const LayerFilterParams& filter) {
  Json json{{"layer", filter.layer}};
  if (!filter.conditions.empty()) {
    json["all"] = Json::array();
    for (const AttributeFilter& one : filter.conditions) json["all"].push_back(write_condition(one));
  }
  for (const auto& [name, value] : filter.kwargs) json["kwargs"][name] = write_value(value);
  return json;
}

}  // namespace tersor::framework
