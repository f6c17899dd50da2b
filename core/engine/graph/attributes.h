// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace tersor {

class Graph;

/// An attribute of a type this code does not look into, kept byte for byte (the encoded AttributeProto).
struct OpaqueAttribute {
  std::string bytes;
  bool operator==(const OpaqueAttribute&) const = default;
};

using Attribute = std::variant<int64_t, float, std::string, Tensor, std::shared_ptr<const Graph>, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>, std::vector<Tensor>,
                               std::vector<std::shared_ptr<const Graph>>, OpaqueAttribute>;

/// The attributes of a node: a map with the interface of std::map that keeps its entries in the order they came, so
/// that a node is written as it was read. Nodes have few attributes; lookups are linear.
class Attributes {
 public:
  using value_type = std::pair<std::string, Attribute>;
  using iterator = std::vector<value_type>::iterator;
  using const_iterator = std::vector<value_type>::const_iterator;

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

  iterator find(std::string_view key) {
    auto it = begin();
    while (it != end() && it->first != key) ++it;
    return it;
  }
  const_iterator find(std::string_view key) const { return const_cast<Attributes*>(this)->find(key); }
  size_t count(std::string_view key) const { return find(key) == end() ? 0 : 1; }
  bool contains(std::string_view key) const { return find(key) != end(); }
  const Attribute& at(std::string_view key) const {
    const auto it = find(key);
    if (it == end()) throw std::out_of_range("no attribute \"" + std::string(key) + "\"");
    return it->second;
  }

  /// The attribute of that name, added at the end where there is none.
  Attribute& operator[](std::string_view key) { return emplace(std::string(key), Attribute()).first->second; }
  /// Adds at the end unless the key is there already; second tells whether it was added.
  std::pair<iterator, bool> emplace(std::string key, Attribute value) {
    if (const auto it = find(key); it != end()) return {it, false};
    entries_.emplace_back(std::move(key), std::move(value));
    return {std::prev(end()), true};
  }
  size_t erase(std::string_view key) {
    return std::erase_if(entries_, [&](const value_type& entry) { return entry.first == key; });
  }
  iterator erase(const_iterator at) { return entries_.erase(at); }

  bool operator==(const Attributes&) const = default;

 private:
  std::vector<value_type> entries_;
};

}  // namespace tersor
