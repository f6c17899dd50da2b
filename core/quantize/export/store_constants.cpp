// SPDX-License-Identifier: Apache-2.0
// Stores constants that are not weights of kernels: operands, and tables for Gather.
#include <algorithm>

#include "core/export/added_names.h"
#include "core/export/applier.h"
#include "core/quant/quantizer.h"

namespace tersor::ptq {

namespace {

Tensor codes_of(const Tensor& values, const ConstantPlan& constant) {
  return constant.table ? entries_of(values, *constant.table) : quant::quantize(values, constant.params);
}

}  // namespace

/// The codes of a table, which a kernel has too.
void Applier::store_tied(const ConstantPlan& table) {
  if (tied_.count(*table.tied) != 0) return;
  const ValueId value = graph().find(table.node)->inputs[table.input];
  QuantizationParams params = plan_.find(*table.tied)->rounding();
  if (params.per_channel()) params.channel_axis = 0;
  tied_[*table.tied] = stored_codes_of(name_of(value), quant::quantize(graph().initializer(value)->aligned(), params),
                                       params.grid.n_bits);
}

/// Other nodes may read the constant, so it stays, and goes when none does.
void Applier::store_constant(const ConstantPlan& constant) {
  Node& node = *graph().find(constant.node);
  const ValueId value = node.inputs[constant.input];
  const ValueId restored = graph().add_unique_value(name_of(value) + kRestored, DType::kFloat32);
  const Tensor values = graph().initializer(value)->aligned();
  node.inputs[constant.input] = restored;
  std::vector<Node>& before = before_[constant.node];
  const QuantizationParams& params = constant.params;
  if (constant.blocks) {
    KernelPlan rows;
    rows.op.outputs = values.shape()[0];
    rows.op.output_axis = 0;
    rows.blocks = constant.blocks;
    fold_blocks(rows, quant::quantize(values.data<float>(), *rows.blocks), values.shape(), restored, before);
  } else if (constant.is_packed)
    look_up(name_of(value), values, *constant.table, restored, before);
  else if (constant.tied)
    before.push_back(restore_shared({tied_.at(*constant.tied), scale_of(name_of(value), params),
                                     zero_point_of(name_of(value), params, params.storage()), params.scale},
                                    params, restored));
  else if (folds_constants() && !constant.table && params.storage() == DType::kInt8)
    fold(std::string(name_of(value)), codes_of(values, constant), params, restored, before);
  else
    before.push_back(restore(name_of(value), codes_of(values, constant), constant.params, restored));
}

/// Runtimes would restore the whole table in each run, were it a DequantizeLinear before the Gather. So the codes
/// are gathered, and the node that was the Gather scales them.
void Applier::store_embedding(const ConstantPlan& embedding) {
  Node& node = *graph().find(embedding.node);
  if (embedding.blocks) return gather_blocks(embedding, node);
  const QuantizationParams& params = embedding.params;
  const std::string name = name_of(node.inputs[0]);
  const ValueId rows = node.inputs[1];
  const StoredTable table = stored_table(embedding, node.inputs[0]);
  std::vector<Node>& before = before_[node.id];
  const auto gather = [&](const char* part, ValueId stored, DType dtype) {
    return chain(before, "Gather", name + part, {stored, rows}, name + part + "_rows", dtype);
  };
  const ValueId codes = gather(kCodes, table.codes, params.storage());
  node.attributes.erase("axis");
  if (!params.per_channel()) {
    node.op_type = "DequantizeLinear";
    node.inputs = {codes, table.scale, table.zero_point};
    return;
  }
  ValueId value = chain(before, "Cast", name, {codes}, name + "_Cast_Output", DType::kFloat32);
  if (table.zero_point.valid())
    value = chain(before, "Sub", name, {value, gather(kZeroPoint, table.zero_point, DType::kFloat32)},
                  name + "_Sub_Output", DType::kFloat32);
  node.op_type = "Mul";
  node.inputs = {value, gather(kScale, table.scale, DType::kFloat32)};
}

/// The node becomes com.microsoft GatherBlockQuantized.
void Applier::gather_blocks(const ConstantPlan& embedding, Node& node) {
  const quant::BlockParams& params = *embedding.blocks;
  const ValueId value = node.inputs[0];
  const std::string name = name_of(value);
  auto known = std::find_if(block_tables_.begin(), block_tables_.end(),
                            [&](const auto& one) { return one.table == value && one.params == params; });
  if (known == block_tables_.end()) {
    const Tensor table = graph().initializer(value)->aligned();
    const Shape grid{table.shape()[0], params.blocks()};
    StoredBlocks stored{value, params, {}, {}, {}};
    stored.codes = graph().add_initializer(
        name + kCodes, stored_codes(quant::quantize(table.data<float>(), params), DType::kInt4, table.shape()));
    stored.scale = scales_of_blocks(name, params, grid, before_[node.id]);
    if (params.has_zero_points())
      stored.zero_point = graph().add_initializer(name + kZeroPoint, integers(params.zero_point, DType::kInt4, grid));
    known = block_tables_.insert(block_tables_.end(), std::move(stored));
  }
  node.op_type = "GatherBlockQuantized";
  node.domain = "com.microsoft";
  node.attributes = {};
  node.attributes["gather_axis"] = int64_t{0};
  node.attributes["quantize_axis"] = int64_t{1};
  node.attributes["block_size"] = params.size;
  node.inputs = {known->codes, node.inputs[1], known->scale};
  if (known->zero_point.valid()) node.inputs.push_back(known->zero_point);
  import_microsoft();
  has_int4_ = true;
}

/// Several Gathers may read one table, an encoder's and a decoder's say; it is stored once.
StoredTable Applier::stored_table(const ConstantPlan& embedding, ValueId table) {
  const QuantizationParams& params = embedding.params;
  for (const StoredTable& known : tables_)
    if (known.table == table && known.params == params) return known;
  StoredTable& stored = tables_.emplace_back(StoredTable{table, params, {}, {}, {}});
  const std::string name = name_of(table);
  const auto column = [&](const char* part, auto begin, auto end) {
    const Shape shape{static_cast<int64_t>(end - begin), 1};
    return graph().add_initializer(name + part, Tensor::of<float>(shape, std::vector<float>(begin, end)));
  };
  stored.codes = embedding.tied ? tied_.at(*embedding.tied)
                                : stored_codes_of(name, codes_of(graph().initializer(table)->aligned(), embedding),
                                                  params.grid.n_bits);
  if (!params.per_channel()) {
    stored.scale = scale_of(name, params);
    stored.zero_point = zero_point_of(name, params, params.storage());
    return stored;
  }
  stored.scale = column(kScale, params.scale.begin(), params.scale.end());
  const std::vector<int32_t>& zeros = params.zero_point;
  if (std::any_of(zeros.begin(), zeros.end(), [](int32_t zero) { return zero != 0; }))
    stored.zero_point = column(kZeroPoint, zeros.begin(), zeros.end());
  return stored;
}

}  // namespace tersor::ptq
