// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/functions.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/graph/subgraphs.h"
#include "core/onnx/format.h"
#include "core/onnx/read_value.h"

namespace tersor::onnx {

namespace {

/// Functions that call themselves, and those that double with each call, end here.
constexpr int64_t kMostCalls = 1 << 16;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;

[[noreturn]] void invalid(std::string message) {
  throw Error(ErrorCode::kInvalidModel, std::move(message));
}

std::string key_of(std::string_view domain, std::string_view name, std::string_view overload) {
  return std::string(domain) + '\n' + std::string(name) + '\n' + std::string(overload);
}

/// A NodeProto's fields as they lie in the file.
struct Call {
  std::string name, type, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::string_view> attributes;
};

std::string attribute_name(std::string_view message) {
  Fields fields(message);
  while (fields.next())
    if (fields.tag() == attribute_field::kName) return fields.text();
  return {};
}

Call read_call(std::string_view message) {
  Call call;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.tag()) {
      case node_field::kInput:
        call.inputs.push_back(fields.text());
        break;
      case node_field::kOutput:
        call.outputs.push_back(fields.text());
        break;
      case node_field::kName:
        call.name = fields.text();
        break;
      case node_field::kOpType:
        call.type = fields.text();
        break;
      case node_field::kDomain:
        call.domain = canonical_domain(fields.view());
        break;
      case node_field::kOverload:
        call.overload = fields.text();
        break;
      case node_field::kAttribute: {
        const std::string_view attribute = fields.view();
        call.attributes[attribute_name(attribute)] = attribute;
        break;
      }
      default:
        break;
    }
  }
  return call;
}

/// Copies a function's nodes under other names, with the attributes of one call in place of references to them.
class Renamer {
 public:
  Renamer(const std::map<std::string, std::string_view>& given, const std::map<std::string, std::string_view>& defaults,
          std::string prefix, std::string call_name)
      : given_(given), defaults_(defaults), prefix_(std::move(prefix)), call_name_(std::move(call_name)) {}

  void bind(const std::string& inner, const std::string& outer) { names_[inner] = outer; }

  Message node(std::string_view message) const {
    Message made;
    Fields fields(message);
    while (fields.next()) {
      if (fields.tag() == node_field::kInput || fields.tag() == node_field::kOutput)
        made.text(fields.tag(), renamed(fields.text()));
      else if (fields.tag() == node_field::kName)
        made.text(node_field::kName, call_name_ + "/" + fields.text());
      else if (fields.tag() == node_field::kAttribute)
        attribute(fields.view(), made);
      else
        made.encoded(fields.encoded());
    }
    return made;
  }

 private:
  std::string renamed(const std::string& name) const {
    if (name.empty()) return name;
    const auto bound = names_.find(name);
    return bound != names_.end() ? bound->second : prefix_ + name;
  }

  void attribute(std::string_view message, Message& node) const {
    std::string name, reference;
    Fields fields(message);
    while (fields.next()) {
      if (fields.tag() == attribute_field::kName) name = fields.text();
      if (fields.tag() == attribute_field::kReference) reference = fields.text();
    }
    if (reference.empty()) return node.message(node_field::kAttribute, own_attribute(message));
    auto found = given_.find(reference);
    if (found == given_.end()) {
      found = defaults_.find(reference);
      if (found == defaults_.end()) return;  // the operator's own default holds
    }
    node.message(node_field::kAttribute, under_name(found->second, name));
  }

  static Message under_name(std::string_view message, const std::string& name) {
    Message made;
    made.text(attribute_field::kName, name);
    Fields fields(message);
    while (fields.next())
      if (fields.tag() != attribute_field::kName) made.encoded(fields.encoded());
    return made;
  }

  Message own_attribute(std::string_view message) const {
    Message made;
    Fields fields(message);
    while (fields.next()) {
      if (fields.tag() == attribute_field::kGraph || fields.tag() == attribute_field::kGraphs)
        made.message(fields.tag(), graph(fields.view()));
      else
        made.encoded(fields.encoded());
    }
    return made;
  }

  Message graph(std::string_view message) const {
    Message made;
    Fields fields(message);
    while (fields.next()) {
      switch (fields.tag()) {
        case graph_field::kNode:
          made.message(graph_field::kNode, node(fields.view()));
          break;
        case graph_field::kInput:
        case graph_field::kOutput:
        case graph_field::kValueInfo:
          made.message(fields.tag(), named(fields.view(), value_field::kName));
          break;
        case graph_field::kInitializer:
          made.message(graph_field::kInitializer, named(fields.view(), tensor_field::kName));
          break;
        case graph_field::kSparseInitializer:
          made.message(graph_field::kSparseInitializer, sparse(fields.view()));
          break;
        default:
          made.encoded(fields.encoded());
          break;
      }
    }
    return made;
  }

  Message named(std::string_view message, Tag name) const {
    Message made;
    Fields fields(message);
    while (fields.next()) {
      if (fields.tag() == name)
        made.text(name, renamed(fields.text()));
      else
        made.encoded(fields.encoded());
    }
    return made;
  }

  Message sparse(std::string_view message) const {
    Message made;
    Fields fields(message);
    while (fields.next()) {
      if (fields.tag() == sparse_field::kValues)
        made.message(sparse_field::kValues, named(fields.view(), tensor_field::kName));
      else
        made.encoded(fields.encoded());
    }
    return made;
  }

  const std::map<std::string, std::string_view>& given_;
  const std::map<std::string, std::string_view>& defaults_;
  std::map<std::string, std::string> names_;
  std::string prefix_;
  std::string call_name_;
};

Message identity(const std::string& from, const std::string& to) {
  Message node;
  node.text(node_field::kInput, from);
  node.text(node_field::kOutput, to);
  node.text(node_field::kOpType, "Identity");
  return node;
}

void collect_domains(const Graph& graph, std::set<std::string>& domains) {
  for (const Node& node : graph.nodes()) {
    domains.insert(node.domain);
    for_each_subgraph(node, [&](const Graph& inner) { collect_domains(inner, domains); });
  }
}

}  // namespace

Functions::Functions(const std::vector<std::string_view>& messages) {
  for (const std::string_view message : messages) {
    Function function;
    std::string overload;
    Fields fields(message);
    while (fields.next()) {
      switch (fields.tag()) {
        case function_field::kName:
          function.name = fields.text();
          break;
        case function_field::kInput:
          function.inputs.push_back(fields.text());
          break;
        case function_field::kOutput:
          function.outputs.push_back(fields.text());
          break;
        case function_field::kNode:
          function.nodes.push_back(fields.view());
          break;
        case function_field::kOpsetImport:
          function.imports.push_back(read_opset(fields.view()));
          break;
        case function_field::kDomain:
          function.domain = canonical_domain(fields.view());
          break;
        case function_field::kDefault: {
          const std::string_view attribute = fields.view();
          function.defaults[attribute_name(attribute)] = attribute;
          break;
        }
        case function_field::kOverload:
          overload = fields.text();
          break;
        default:
          break;
      }
    }
    const std::string name = function.name;
    if (!functions_.emplace(key_of(function.domain, name, overload), std::move(function)).second)
      invalid("The model defines the function \"" + name + "\" twice.");
  }
}

std::optional<std::vector<OwnedMessage>> Functions::expand(std::string_view node) {
  if (functions_.empty()) return std::nullopt;
  const Call call = read_call(node);
  const auto found = functions_.find(key_of(call.domain, call.type, call.overload));
  if (found == functions_.end()) return std::nullopt;
  Function& function = found->second;
  if (call.inputs.size() > function.inputs.size() || call.outputs.size() > function.outputs.size())
    invalid("The node calls the function \"" + function.name + "\" with more inputs or outputs than that has.");
  if (++calls_ > kMostCalls)
    invalid("The model's functions call each other without end, or more than " + std::to_string(kMostCalls) +
            " times.");
  function.used = true;
  const std::string prefix = function.name + "." + std::to_string(calls_) + "/";
  Renamer renamer(call.attributes, function.defaults, prefix,
                  call.name.empty() ? function.name + "." + std::to_string(calls_) : call.name);
  for (size_t k = 0; k < function.inputs.size(); ++k)
    renamer.bind(function.inputs[k], k < call.inputs.size() ? call.inputs[k] : std::string());
  std::vector<Message> made;
  for (size_t k = 0; k < call.outputs.size(); ++k) {
    if (call.outputs[k].empty()) continue;
    const auto through = std::find(function.inputs.begin(), function.inputs.end(), function.outputs[k]);
    if (through == function.inputs.end()) {
      renamer.bind(function.outputs[k], call.outputs[k]);
    } else {  // an input handed through
      const auto position = static_cast<size_t>(through - function.inputs.begin());
      made.push_back(identity(position < call.inputs.size() ? call.inputs[position] : "", call.outputs[k]));
    }
  }
  for (const std::string_view inner : function.nodes) made.push_back(renamer.node(inner));
  std::vector<OwnedMessage> texts;
  for (const Message& message : made) {
    bytes_ += message.size();
    if (bytes_ > kMostBytes) invalid("The model's functions come to more than 256 MB when they are put in place.");
    texts.push_back(std::make_shared<const std::string>(message.text()));
  }
  return texts;
}

void Functions::settle_imports(Model& model) const {
  std::set<std::string> left;
  collect_domains(model.graph, left);
  for (const auto& [key, function] : functions_) {
    if (!function.used) continue;
    for (const OpsetImport& import : function.imports) {
      const int64_t version = model.opset(import.domain);
      if (left.count(import.domain) == 0) continue;
      if (version == 0) {
        model.opset_imports.push_back(import);
      } else if (version != import.version) {
        throw Error(ErrorCode::kUnsupportedModel,
                    "The function \"" + function.name + "\" is written for operator set " +
                        std::to_string(import.version) + " of \"" + import.domain + "\", the model for " +
                        std::to_string(version) + ".",
                    "functions", "Inline the functions before (onnx.inliner), or export for one operator set.");
      }
    }
  }
  for (const auto& entry : functions_) {
    const std::string& domain = entry.second.domain;
    if (!domain.empty() && left.count(domain) == 0)
      std::erase_if(model.opset_imports, [&](const OpsetImport& import) { return import.domain == domain; });
  }
}

}  // namespace tersor::onnx
