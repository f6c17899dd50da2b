// SPDX-License-Identifier: Apache-2.0
// Functions that a model brings with it: each is a list of nodes under a name of its own. While a graph is read, a node
// that calls one is replaced by those nodes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::onnx {

/// A node's message as made here, for tensors inside to keep alive.
using OwnedMessage = std::shared_ptr<const std::string>;

class Functions {
 public:
  /// Encoded FunctionProtos, which must outlive this. Error kInvalidModel when two have one name.
  explicit Functions(const std::vector<std::string_view>& messages);

  /// For an encoded NodeProto that calls a function: the encoded nodes in its place, which may be calls again. Inner
  /// tensors get names that no other call gives; inner nodes are named after the call. None for every other node.
  /// Error kInvalidModel when the call gives more inputs or takes more outputs than there are, or when all calls
  /// together come to too much (functions that call themselves never end).
  std::optional<std::vector<OwnedMessage>> expand(std::string_view node);

  bool any_expanded() const { return calls_ > 0; }
  /// Makes the operator sets that expanded functions import those of the model, and drops the functions' own domains
  /// where no node is left of them. Error kUnsupportedModel where a function wants another version than the model.
  void settle_imports(Model& model) const;

 private:
  struct Function {
    std::vector<std::string> inputs, outputs;
    std::vector<std::string_view> nodes;
    std::map<std::string, std::string_view> defaults;  // encoded attributes by name
    std::vector<OpsetImport> imports;
    std::string name;
    std::string domain;
    bool used = false;
  };
  using Key = std::string;  // domain, name and overload

  std::map<Key, Function> functions_;
  int64_t calls_ = 0;
  uint64_t bytes_ = 0;  // of all nodes made
};

}  // namespace tersor::onnx
