// SPDX-License-Identifier: Apache-2.0
// Parts of a model as protobuf messages, fields in the order of their numbers. The messages refer to the tensors'
// bytes: the parts must outlive them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/onnx/wire.h"

namespace tersor::onnx {

/// Where the bytes of large tensors go instead of into the model's file.
struct ExternalStore {
  std::string location;       // the name written into the model
  size_t at_least_bytes = 0;  // smaller tensors stay in the model
  /// Stores the bytes and gives the offset they begin at.
  std::function<uint64_t(std::span<const std::byte>)> store;
};

/// TensorProto. `store` may be null.
Message encode_tensor(const Tensor& tensor, std::string_view name, std::string_view doc, const ExternalStore* store);
/// AttributeProto.
Message encode_attribute(std::string_view key, const Attribute& attribute);
/// ValueInfoProto.
Message encode_value(const Value& value);
/// GraphProto. `initializers_as_inputs`: models before IR version 4 list initializers among the inputs too.
Message encode_graph(const Graph& graph, const ExternalStore* store, bool initializers_as_inputs);

}  // namespace tersor::onnx
