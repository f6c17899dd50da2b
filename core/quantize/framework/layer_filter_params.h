// SPDX-License-Identifier: Apache-2.0
// Choosing nodes by operator type and attributes. An attribute is, in this order: the node's ONNX attribute; a constant
// input under its ONNX name in lower case where the operator has such ("min" and "max" of Clip); a few derived ones
// ("depthwise" of Conv); the ONNX default where the node does not say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/graph/graph.h"

namespace tersor::framework {

/// Numbers compare as double whatever they were written as; a list is what Contains looks into.
using FilterValue = std::variant<double, std::string, std::vector<double>, std::vector<std::string>>;

/// The value of a node's attribute; none where it has no such attribute.
std::optional<FilterValue> filter_value(const Graph& graph, const Node& node, std::string_view attribute);

/// The names that filter_value() finds something under.
std::vector<std::string> filter_attributes(const Graph& graph, const Node& node);

/// The names that filter_value() may find something under in operators of a type of ONNX's own domain; empty for
/// others.
std::vector<std::string> possible_attributes(std::string_view type);

/// A condition on attributes. Every comparison with a missing attribute is false, so NotEq is not the negation of Eq.
struct AttributeFilter {
  enum class Kind { kEq, kNotEq, kGreater, kGreaterEq, kSmaller, kSmallerEq, kContains, kAnd, kOr };

  Kind kind = Kind::kAnd;
  std::string attribute;
  FilterValue value;
  std::vector<AttributeFilter> parts;  // of And and Or

  bool matches(const Graph& graph, const Node& node) const;
  bool operator==(const AttributeFilter&) const = default;
};

AttributeFilter Eq(std::string attribute, FilterValue value);
AttributeFilter NotEq(std::string attribute, FilterValue value);
AttributeFilter Greater(std::string attribute, FilterValue value);
AttributeFilter GreaterEq(std::string attribute, FilterValue value);
AttributeFilter Smaller(std::string attribute, FilterValue value);
AttributeFilter SmallerEq(std::string attribute, FilterValue value);
AttributeFilter Contains(std::string attribute, FilterValue value);
AttributeFilter And(std::vector<AttributeFilter> parts);
AttributeFilter Or(std::vector<AttributeFilter> parts);
AttributeFilter operator&(AttributeFilter a, AttributeFilter b);
AttributeFilter operator|(AttributeFilter a, AttributeFilter b);

/// A layer type with filters: matches when the node's type is `layer` (ONNX's own domain, or "domain::Type"), every
/// condition holds, and every keyword equals the attribute.
struct LayerFilterParams {
  std::string layer;
  std::vector<AttributeFilter> conditions;
  std::map<std::string, FilterValue> kwargs;

  LayerFilterParams(std::string layer_type, std::vector<AttributeFilter> filters = {},
                    std::map<std::string, FilterValue> keywords = {})
      : layer(std::move(layer_type)), conditions(std::move(filters)), kwargs(std::move(keywords)) {}
  LayerFilterParams(const char* layer_type) : LayerFilterParams(std::string(layer_type)) {}

  bool plain() const { return conditions.empty() && kwargs.empty(); }
  bool matches(const Graph& graph, const Node& node) const;
  /// The attributes that it asks for, each once.
  std::vector<std::string> attributes() const;
  bool operator==(const LayerFilterParams&) const = default;
};

/// {"layer": "Clip", "all": [{"attr": "min", "op": "Eq", "value": 0}, {"any": [...]}], "any": [...], "kwargs": {...}}.
/// Error kInvalidConfig.
LayerFilterParams read_layer_filter(const Json& json, const std::string& place);
Json to_json(const LayerFilterParams& filter);

}  // namespace tersor::framework
