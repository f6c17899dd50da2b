// SPDX-License-Identifier: Apache-2.0
#include "core/framework/overrides.h"

#include <algorithm>

#include "core/base/faults.h"
#include "core/base/json.h"
#include "core/base/sort_stably.h"
#include "core/framework/document_layers.h"

namespace tersor::framework {

namespace {

bool is_pattern(const std::string& name) {
  return name.find_first_of("*?") != std::string::npos;
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.push_back(override_name(graph, node));
  return names;
}

std::string type_of(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
}

std::vector<std::string> types_of(const Graph& graph) {
  std::vector<std::string> types;
  for (const Node& node : graph.nodes())
    if (std::find(types.begin(), types.end(), type_of(node)) == types.end()) types.push_back(type_of(node));
  return types;
}

/// Nothing where the quantizer leaves it open: the attachment settles it. Bits and axis are asked for all the same, and
/// given up where the platform does not offer them (NodeSettings::open_fields).
void ask_method(const LayerQuantizer& quantizer, const char* field, Json& fields) {
  if (!quantizer.symmetric) return;
  fields[field] =
      enum_word(*quantizer.symmetric ? quant::QuantizationMethod::kSymmetric : quant::QuantizationMethod::kUniform);
}

/// Of these fields those that a quantizer says nothing of.
std::vector<std::string> open_fields_of(const NodeRequest& request) {
  std::vector<std::string> fields;
  if (!request.outputs.empty() && !request.outputs[0].num_bits) fields.emplace_back("activation_n_bits");
  if (request.kernel && !request.kernel->per_axis) fields.emplace_back("weights_per_channel_threshold");
  if (request.kernel && !request.kernel->num_bits) fields.emplace_back("weights_n_bits");
  // Last: platforms that leave every activation in float.
  if (!request.outputs.empty() && !request.outputs[0].num_bits) fields.emplace_back("enable_activation_quantization");
  return fields;
}

/// What a QuantizeConfig asks of a node, as fields of the configuration.
Json fields_of(const NodeRequest& request) {
  Json fields{{"enable_activation_quantization", !request.outputs.empty()}};
  if (!request.outputs.empty()) {
    fields["activation_n_bits"] = request.outputs[0].bits();
    ask_method(request.outputs[0], "activation_quantization_method", fields);
  }
  if (!request.about_kernel) return fields;
  fields["enable_weights_quantization"] = request.kernel.has_value();
  if (!request.kernel) return fields;
  fields["weights_n_bits"] = request.kernel->bits();
  ask_method(*request.kernel, "weights_quantization_method", fields);
  fields["weights_per_channel_threshold"] = request.kernel->is_per_axis();
  return fields;
}

}  // namespace

std::string override_name(const Graph& graph, const Node& node) {
  if (!node.name.empty() || node.outputs.empty() || !node.outputs[0].valid()) return node.name;
  return graph.name_of(node.outputs[0]);
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Overrides::Overrides(const std::vector<config::Override>& list, const Graph* former, const QuantizeScope& scope,
                     const std::string& place) {
  Faults faults;
  for (size_t k = 0; k < list.size(); ++k)
    faults.attempt([&] {
      Entry entry{list[k], {}, nullptr, Strength::kType, place + "[" + std::to_string(k) + "]"};
      if (!list[k].quantize_config.empty()) {
        const std::string at = entry.place + ".quantize_config";
        entry.quantize_config = scope.from_config(parse_json(list[k].quantize_config, at), at);
      }
      if (!list[k].filter.empty()) {
        const std::string at = entry.place + ".filter";
        entry.filter = onnx_operators(read_layer_filter(parse_json(list[k].filter, at), at));
        entry.strength = Strength::kFilter;
      }
      if (!list[k].name.empty()) entry.strength = is_pattern(list[k].name) ? Strength::kPattern : Strength::kName;
      entries_.push_back(std::move(entry));
    });
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The list of overrides", place);
  sort_stably(entries_, [](const Entry& a, const Entry& b) { return a.strength < b.strength; });
  if (former != nullptr && !entries_.empty()) former_names_ = names_of(*former);
}

bool Overrides::matches(const Entry& entry, const Graph& graph, const Node& node) {
  const config::Override& given = entry.given;
  const auto is_it = [&](const LayerFilterParams& one) { return one.matches(graph, node); };
  if (!given.type.empty() && given.type != type_of(node)) {
    const std::vector<LayerFilterParams> operators = onnx_operators(LayerFilterParams(given.type));
    if (std::none_of(operators.begin(), operators.end(), is_it)) return false;
  }
  if (!entry.filter.empty() && std::none_of(entry.filter.begin(), entry.filter.end(), is_it)) return false;
  if (given.name.empty()) return true;
  const std::string name = override_name(graph, node);
  return given.name == name || matches_pattern(given.name, name);
}

NodeRequests Overrides::requests(const Graph& graph) const {
  NodeRequests all(entries_.size());
  const Uses uses(graph);
  Faults faults;
  for (size_t k = 0; k < entries_.size(); ++k) {
    if (!entries_[k].quantize_config) continue;
    for (const Node& node : graph.nodes()) {
      if (!matches(entries_[k], graph, node)) continue;
      faults.attempt([&] {
        try {
          for (const NodeRequest& one : requests_of(*entries_[k].quantize_config, layer_of(graph, uses, node)))
            all[k][one.node] = one;
        } catch (const Error& error) {
          throw Error(error.code, error.message, entries_[k].place + "." + error.place, error.hint);
        }
      });
    }
  }
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The list of overrides", "overrides");
  return all;
}

NodeSettings Overrides::settings_of(const Graph& graph, const Node& node, const config::QuantizationConfig& base,
                                    const NodeRequests& requests) const {
  NodeSettings settings;
  settings.config = base;
  Json fields;
  const auto apply = [&](const Json& given, const Entry& entry, const std::string& place) {
    if (fields.is_null()) fields = config::to_json(base);
    settings.key += entry.place + to_text(given, false);
    for (const auto& [name, value] : given.items()) {
      const std::string field(canonical_name(name));
      fields[field] = value;
      settings.said_at.emplace_back(field, place + (place == entry.place + ".config" ? "." + field : ""));
      settings.set_at[field] = settings.said_at.back().second;
      std::erase(settings.by_name, field);
      std::erase(settings.open_fields, field);
      if (entry.strength == Strength::kName) settings.by_name.push_back(field);
    }
  };
  for (size_t k = 0; k < entries_.size(); ++k) {
    const Entry& entry = entries_[k];
    if (const auto asked = requests[k].find(node.id); asked != requests[k].end()) {
      apply(fields_of(asked->second), entry, entry.place + ".quantize_config");
      if (asked->second.about_kernel) settings.kernel_quantizer = asked->second.kernel;
      settings.output_quantizers = asked->second.outputs;
      settings.open_fields = open_fields_of(asked->second);
      for (const std::string& field : settings.open_fields) settings.key += " " + field + " open";
    }
    if (!entry.given.trainable_quantizer.empty() && matches(entry, graph, node))
      settings.trainable_quantizers.push_back(entry.given.trainable_quantizer);
    if (!entry.given.config.empty() && matches(entry, graph, node))
      apply(parse_json(entry.given.config, entry.place + ".config"), entry, entry.place + ".config");
  }
  if (ignored_.count(override_name(graph, node)) != 0) {
    if (fields.is_null()) fields = config::to_json(base);
    for (const char* field : {"enable_activation_quantization", "enable_weights_quantization"}) {
      fields[field] = false;
      settings.set_at[field] = "config.ignored_scope";
    }
    settings.key += " ignored";
    settings.kernel_quantizer.reset();
    settings.output_quantizers.clear();
    settings.open_fields.clear();
  }
  if (!fields.is_null()) settings.config = config::read_quantization_config(fields, "overrides");
  return settings;
}

std::optional<std::vector<NodeId>> Overrides::annotated(const Graph& graph) const {
  const bool some = std::any_of(entries_.begin(), entries_.end(), [](const Entry& one) { return one.given.annotate; });
  if (!some) return std::nullopt;
  const Uses uses(graph);
  std::vector<NodeId> ids;
  for (const Node& node : graph.nodes()) {
    const bool chosen = std::any_of(entries_.begin(), entries_.end(),
                                    [&](const Entry& one) { return one.given.annotate && matches(one, graph, node); });
    if (!chosen) continue;
    const Layer layer = layer_of(graph, uses, node);
    ids.push_back(node.id);
    if (layer.bias_node) ids.push_back(*layer.bias_node);
    if (layer.activation_node) ids.push_back(*layer.activation_node);
  }
  return ids;
}

namespace {

/// Names an attribute that none of the operators has which the filter is about.
void check_attributes(const LayerFilterParams& filter, const Graph& graph, const std::string& place) {
  std::vector<std::string> known;
  for (const Node& node : graph.nodes())
    if (LayerFilterParams(filter.layer).matches(graph, node))
      for (const std::string& name : filter_attributes(graph, node)) known.push_back(name);
  for (const std::string& name : filter.attributes())
    if (!known.empty() && std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorCode::kInvalidConfig, "No " + filter.layer + " of the model has the attribute \"" + name + "\".",
                  place, suggestion(name, known) + "Name one that they have.");
}

}  // namespace

void Overrides::unmatched(const Entry& entry, const Graph& graph) const {
  const config::Override& given = entry.given;
  const std::string place = entry.place;
  if (!given.type.empty() && given.name.empty() && entry.filter.empty())
    throw Error(ErrorCode::kInvalidConfig, "The model has no operator of the type \"" + given.type + "\".",
                place + ".type", suggestion(given.type, types_of(graph)) + "Name what the model has.");
  if (given.name.empty()) {
    check_attributes(entry.filter[0], graph, place + ".filter");
    throw Error(ErrorCode::kInvalidConfig, "No node of the model passes this filter.", place + ".filter",
                "It chooses operators of the type \"" + entry.filter[0].layer + "\".");
  }
  const std::vector<std::string> names = names_of(graph);
  if (std::find(names.begin(), names.end(), given.name) != names.end())
    throw Error(ErrorCode::kInvalidConfig,
                "The node \"" + given.name + "\" is not of the type or filter named with it.", place);
  if (std::find(former_names_.begin(), former_names_.end(), given.name) != former_names_.end())
    throw Error(ErrorCode::kInvalidConfig,
                "The node \"" + given.name + "\" is not quantized on its own: it was folded into the nodes around it.",
                place + ".name", "Name the operator that it belongs to.");
  throw Error(ErrorCode::kInvalidConfig, "No node of the model is called \"" + given.name + "\".", place + ".name",
              suggestion(given.name, names) + "Name a node of the model, or a pattern with * and ?.");
}

void Overrides::find_unmatched(const Graph& graph, Faults& faults) const {
  for (const Entry& entry : entries_) {
    const bool some = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                  [&](const Node& node) { return matches(entry, graph, node); });
    if (!some) faults.attempt([&] { unmatched(entry, graph); });
  }
}

void Overrides::check_matched(const Graph& graph) const {
  Faults faults;
  find_unmatched(graph, faults);
  faults.throw_if_any(ErrorCode::kInvalidConfig, "The list of overrides", "overrides");
}

}  // namespace tersor::framework
