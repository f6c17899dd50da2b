// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/write.h"

#include <algorithm>
#include <map>

#include "core/tflite/flat_writer.h"

namespace tersor::tflite {

namespace {

constexpr size_t kBufferAlignment = 16;

template <class T>
FlatObject numbers(const std::vector<T>& values) {
  return FlatObject::vector_of(std::span<const T>(values));
}

FlatObject options_table(const Operator& op, const OperatorKind& kind) {
  FlatObject table = FlatObject::table();
  for (const OptionField& field : kind.fields) {
    if (field.slot < 0) break;
    if (field.real != nullptr)
      table.put_number(field.slot, op.options.*field.real);
    else if (field.list != nullptr)
      table.put(field.slot, numbers(op.options.*field.list));
    else if (field.is_byte)
      table.put_number(field.slot, static_cast<int8_t>(op.options.*field.number));
    else
      table.put_number(field.slot, op.options.*field.number);
  }
  return table;
}

class Writer {
 public:
  explicit Writer(const Network& network) : network_(network) { buffers_.push_back(FlatObject::table()); }

  std::vector<std::byte> file() {
    std::vector<FlatObject> tensors, operators, codes;
    for (const NetworkTensor& tensor : network_.tensors) tensors.push_back(tensor_table(tensor));
    for (const Operator& op : network_.operators) operators.push_back(operator_table(op));
    for (const OperatorKind* kind : kinds_) codes.push_back(code_table(*kind));
    FlatObject graph = FlatObject::table();
    graph.put(0, FlatObject::vector_of_objects(std::move(tensors)));
    graph.put(1, numbers(network_.inputs));
    graph.put(2, numbers(network_.outputs));
    graph.put(3, FlatObject::vector_of_objects(std::move(operators)));
    graph.put(4, FlatObject::string(network_.name));
    std::vector<FlatObject> graphs;
    graphs.push_back(std::move(graph));
    FlatObject model = FlatObject::table();
    model.put_number(0, kSchemaVersion);
    model.put(1, FlatObject::vector_of_objects(std::move(codes)));
    model.put(2, FlatObject::vector_of_objects(std::move(graphs)));
    model.put(3, FlatObject::string(network_.description));
    model.put(4, FlatObject::vector_of_objects(std::move(buffers_)));
    return flat_file(model, "TFL3");
  }

 private:
  /// The schema had one byte for the code at first; readers take the larger of both fields.
  static FlatObject code_table(const OperatorKind& kind) {
    FlatObject table = FlatObject::table();
    const auto code = static_cast<int32_t>(kind.code);
    table.put_number(0, static_cast<int8_t>(std::min(code, 127)));
    table.put_number(2, kind.version);
    table.put_number(3, code);
    return table;
  }

  FlatObject operator_table(const Operator& op) {
    const OperatorKind& kind = kind_of(op.code);
    const auto found = std::find(kinds_.begin(), kinds_.end(), &kind);
    const auto index = static_cast<uint32_t>(found - kinds_.begin());
    if (found == kinds_.end()) kinds_.push_back(&kind);
    FlatObject table = FlatObject::table();
    table.put_number(0, index);
    table.put(1, numbers(op.inputs));
    table.put(2, numbers(op.outputs));
    if (!op.intermediates.empty()) table.put(8, numbers(op.intermediates));
    if (kind.options != 0) {
      table.put_number(3, kind.options);
      table.put(4, options_table(op, kind));
    }
    return table;
  }

  uint32_t buffer_of(const Tensor& data) {
    const std::span<const std::byte> bytes = data.bytes();
    const std::string_view key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [entry, is_new] = by_bytes_.try_emplace(key, static_cast<uint32_t>(buffers_.size()));
    if (is_new) {
      FlatObject table = FlatObject::table();
      table.put(0, FlatObject::vector_over(bytes, bytes.size(), kBufferAlignment));
      buffers_.push_back(std::move(table));
    }
    return entry->second;
  }

  FlatObject tensor_table(const NetworkTensor& tensor) {
    FlatObject table = FlatObject::table();
    table.put(0, numbers(tensor.shape));
    table.put_number(1, type_number(tensor.dtype));
    table.put_number(2, tensor.data ? buffer_of(*tensor.data) : uint32_t{0});
    table.put(3, FlatObject::string(tensor.name));
    if (const Quantization& quantization = tensor.quantization; !quantization.scale.empty()) {
      FlatObject of = FlatObject::table();
      of.put(2, numbers(quantization.scale));
      of.put(3, numbers(quantization.zero_point));
      of.put_number(6, quantization.dimension);
      table.put(4, std::move(of));
    }
    if (tensor.is_variable) table.put_number(5, int8_t{1});
    return table;
  }

  const Network& network_;
  std::vector<const OperatorKind*> kinds_;
  std::vector<FlatObject> buffers_;
  std::map<std::string_view, uint32_t> by_bytes_;
};

}  // namespace

std::vector<std::byte> write(const Network& network) {
  return Writer(network).file();
}

}  // namespace tersor::tflite
