// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/write.h"

#include "core/base/error.h"
#include "core/onnx/encode.h"
#include "core/onnx/format.h"

namespace tersor::onnx {

namespace {

constexpr uint64_t kPage = 4096;  // ONNX advises offsets that can be mapped into memory

Message encode_opset(const OpsetImport& import) {
  Message message;
  message.text(opset_field::kDomain, import.domain);
  message.integer(opset_field::kVersion, import.version);
  return message;
}

Message encode_model(const Model& model, const ExternalStore* store, bool list_initializers) {
  Message message;
  message.integer(model_field::kIrVersion, model.ir_version);
  message.text_unless_empty(model_field::kProducerName, model.producer_name);
  message.text_unless_empty(model_field::kProducerVersion, model.producer_version);
  message.text_unless_empty(model_field::kDomain, model.domain);
  if (model.model_version != 0) message.integer(model_field::kModelVersion, model.model_version);
  message.text_unless_empty(model_field::kDoc, model.doc);
  message.message(model_field::kGraph,
                  encode_graph(model.graph, store, list_initializers || model.ir_version < kIrWithFreeInitializers));
  for (const OpsetImport& import : model.opset_imports)
    message.message(model_field::kOpsetImport, encode_opset(import));
  for (const auto& [key, value] : model.metadata) {
    Message entry;
    entry.text(entry_field::kKey, key);
    entry.text(entry_field::kValue, value);
    message.message(model_field::kMetadata, std::move(entry));
  }
  message.encoded(model.rest);
  return message;
}

std::vector<std::byte> checked_bytes(const Message& message) {
  if (message.size() > kLargestFile)
    throw Error(ErrorCode::kUnsupportedModel,
                "The model would have " + std::to_string(message.size()) + " bytes; an ONNX file can have at most " +
                    std::to_string(kLargestFile) + ".",
                {}, "Write the weights into a file beside it.");
  return message.bytes();
}

}  // namespace

std::vector<std::byte> write(const Model& model, const WriteOptions& options) {
  if (!options.external) return checked_bytes(encode_model(model, nullptr, options.initializers_as_inputs));
  const ExternalTarget& target = *options.external;
  uint64_t end = 0;
  ExternalStore store;
  store.location = target.location;
  store.at_least_bytes = target.at_least_bytes;
  store.store = [&](std::span<const std::byte> bytes) {
    const std::vector<std::byte> gap(static_cast<size_t>((kPage - end % kPage) % kPage));
    if (!gap.empty()) target.append(gap);
    const uint64_t begin = end + gap.size();
    target.append(bytes);
    end = begin + bytes.size();
    return begin;
  };
  return checked_bytes(encode_model(model, &store, options.initializers_as_inputs));
}

}  // namespace tersor::onnx
