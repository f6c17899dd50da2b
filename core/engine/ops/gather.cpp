// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by index: Gather, GatherElements, GatherND, and com.microsoft GatherBlockQuantized.
// Indices count from the end when negative; one outside the axis is an error.
#include <bit>
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

void require_data_and_indices(std::span<const Input> inputs) {
  require_whole_bytes(inputs[0], "data");
  require_type(inputs[1], {DType::kInt64, DType::kInt32}, "indices");
}

class Gather : public Kernel {
 public:
  explicit Gather(const Setup& setup) : axis_(int_of(setup.node, "axis")) { require_inputs(setup, 2, 2); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_data_and_indices(inputs);
    const Shape& from = inputs[0].shape();
    const int axis = axis_of(axis_, from);
    std::vector<int64_t> dims(from.begin(), from.begin() + axis);
    dims.insert(dims.end(), inputs[1].shape().begin(), inputs[1].shape().end());
    dims.insert(dims.end(), from.begin() + axis + 1, from.end());
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& from = call.inputs[0].shape();
    const int axis = axis_of(axis_, from);
    const int64_t outer = from.elements(0, axis), dim = from[axis], count = call.inputs[1].elements();
    const auto bytes = static_cast<size_t>(from.elements(axis + 1, from.rank()) * bits_of(call.inputs[0].dtype()) / 8);
    if (call.outputs[0].elements() == 0) return;
    std::byte* target = call.outputs[0].data;
    for (int64_t block = 0; block < outer; ++block)
      for (int64_t k = 0; k < count; ++k, target += bytes) {
        const int64_t row = block * dim + checked_index(index_at(call.inputs[1], k), dim);
        std::memcpy(target, call.inputs[0].data + static_cast<size_t>(row) * bytes, bytes);
      }
  }

 private:
  int64_t axis_;
};

class GatherElements : public Kernel {
 public:
  explicit GatherElements(const Setup& setup) : axis_(int_of(setup.node, "axis")) { require_inputs(setup, 2, 2); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_data_and_indices(inputs);
    const Shape &from = inputs[0].shape(), &picks = inputs[1].shape();
    const int axis = axis_of(axis_, from);
    bool fits = from.rank() == picks.rank();
    for (int k = 0; fits && k < from.rank(); ++k) fits = k == axis || picks[k] <= from[k];
    if (!fits) invalid("Indices of shape " + picks.text() + " do not fit data of shape " + from.text() + ".");
    return {{inputs[0].dtype(), picks, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape &from = call.inputs[0].shape(), &picks = call.inputs[1].shape();
    const int axis = axis_of(axis_, from);
    const auto bytes = static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8);
    const std::vector<int64_t> source = row_major_strides(from.dims()), target = row_major_strides(picks.dims());
    for (int64_t k = 0; k < picks.elements(); ++k) {
      int64_t offset = 0, rest = k;
      for (int d = 0; d < from.rank(); ++d) {
        const auto at = static_cast<size_t>(d);
        const int64_t place = d == axis ? checked_index(index_at(call.inputs[1], k), from[d]) : rest / target[at];
        offset += place * source[at];
        rest %= target[at];
      }
      std::memcpy(call.outputs[0].data + static_cast<size_t>(k) * bytes,
                  call.inputs[0].data + static_cast<size_t>(offset) * bytes, bytes);
    }
  }

 private:
  int64_t axis_;
};

class GatherNd : public Kernel {
 public:
  explicit GatherNd(const Setup& setup) : batch_dims_(int_of(setup.node, "batch_dims")) { require_inputs(setup, 2, 2); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_data_and_indices(inputs);
    const Shape &from = inputs[0].shape(), &picks = inputs[1].shape();
    const int last = picks.rank() - 1;
    bool fits = last >= 0 && batch_dims_ >= 0 && batch_dims_ <= last && picks[last] >= 1 &&
                picks[last] <= from.rank() - batch_dims_;
    for (int k = 0; fits && k < batch_dims_; ++k) fits = from[k] == picks[k];
    if (!fits) invalid("Indices of shape " + picks.text() + " do not fit data of shape " + from.text() + ".");
    std::vector<int64_t> dims(picks.begin(), picks.begin() + last);
    dims.insert(dims.end(), from.begin() + batch_dims_ + picks[last], from.end());
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape &from = call.inputs[0].shape(), &picks = call.inputs[1].shape();
    const auto depth = static_cast<int>(picks[picks.rank() - 1]), batch = static_cast<int>(batch_dims_);
    const int64_t block = from.elements(batch + depth, from.rank()), batches = from.elements(0, batch);
    const int64_t rows = picks.elements(0, picks.rank() - 1), rows_per_batch = batches == 0 ? 0 : rows / batches;
    const auto bytes = static_cast<size_t>(block * bits_of(call.inputs[0].dtype()) / 8);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t place = row / rows_per_batch;
      for (int d = 0; d < depth; ++d)
        place = place * from[batch + d] + checked_index(index_at(call.inputs[1], row * depth + d), from[batch + d]);
      if (bytes != 0)
        std::memcpy(call.outputs[0].data + static_cast<size_t>(row) * bytes,
                    call.inputs[0].data + static_cast<size_t>(place) * bytes, bytes);
    }
  }

 private:
  int64_t batch_dims_;
};

/// Code `at` of codes of 2, 4 or 8 bits, which follow each other from the low bits up.
int32_t code_at(const Input& codes, int64_t bits, int64_t at) {
  const int64_t per_byte = 8 / bits;
  const auto byte = std::to_integer<int32_t>(codes.data[at / per_byte]);
  const int32_t code = byte >> (at % per_byte * bits) & ((1 << bits) - 1);
  return codes.dtype() == DType::kInt4 && code > 7 ? code - 16 : code;
}

/// Rows of a table that is quantized in blocks along an axis, (code - zero point) * scale in float32, as ONNX Runtime
/// computes them (contrib_ops/cpu/quantization/gather_block_quantized.cc). It gives zeros for an index outside the
/// table; here that is an error.
class GatherBlockQuantized : public Kernel {
 public:
  explicit GatherBlockQuantized(const Setup& setup)
      : axis_(setup.node.int_or("gather_axis", 0)),
        block_axis_(setup.node.int_or("quantize_axis", 1)),
        block_(setup.node.int_or("block_size", 128)),
        bits_(setup.node.int_or("bits", 4)) {
    require_inputs(setup, 3, 4);
    if (block_ < 16 || !std::has_single_bit(static_cast<uint64_t>(block_)))
      invalid("The attribute block_size is " + std::to_string(block_) + ".", "It must be a power of two from 16.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const DType dtype = inputs[0].dtype();
    const bool is_packed = dtype == DType::kUint8;
    require_type(inputs[0], {DType::kUint8, DType::kUint4, DType::kInt4}, "data");
    require_type(inputs[1], {DType::kInt64, DType::kInt32}, "indices");
    require_type(inputs[2], {DType::kFloat32}, "scales");
    if (bits_ != 4 && !(is_packed && (bits_ == 2 || bits_ == 8)))
      invalid("The attribute bits is " + std::to_string(bits_) + " with data of " + std::string(name_of(dtype)) + ".",
              "It may be 4, and 2 or 8 where the data is uint8.");
    const Table table(*this, inputs[0]);
    if (is_packed && (table.axis != 0 || table.block_axis != table.shape.rank() - 1 || table.shape.rank() < 2))
      invalid("Data of uint8 is gathered along axis " + std::to_string(table.axis) + " and has blocks along axis " +
                  std::to_string(table.block_axis) + ".",
              "ONNX Runtime gathers such data along the first axis alone, with blocks along the last one.");
    std::vector<int64_t> scales = table.shape.dims();
    scales[static_cast<size_t>(table.block_axis)] = table.blocks;
    require_shape(inputs[2], Shape(scales), "scales");
    if (is_present(inputs, 3)) {
      require_type(inputs[3], {dtype}, "zero_points");
      scales[static_cast<size_t>(table.block_axis)] = table.zero_points_in_row;
      require_shape(inputs[3], Shape(scales), "zero_points");
    }
    std::vector<int64_t> dims(table.shape.begin(), table.shape.begin() + table.axis);
    dims.insert(dims.end(), inputs[1].shape().begin(), inputs[1].shape().end());
    dims.insert(dims.end(), table.shape.begin() + table.axis + 1, table.shape.end());
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    if (call.outputs[0].elements() == 0) return;
    const Table table(*this, call.inputs[0]);
    const int64_t dim = table.shape[table.axis], count = call.inputs[1].elements();
    const int64_t length = table.shape.elements(table.axis + 1, table.shape.rank());
    float* target = call.outputs[0].values<float>().data();
    for (int64_t outer = 0; outer < table.shape.elements(0, table.axis); ++outer)
      for (int64_t k = 0; k < count; ++k, target += length) {
        const int64_t row = outer * dim + checked_index(index_at(call.inputs[1], k), dim);
        restore(call.inputs, table, row * length, {target, static_cast<size_t>(length)});
      }
  }

 private:
  /// The data in elements, of which uint8 holds several in a byte.
  struct Table {
    Table(const GatherBlockQuantized& op, const Input& data)
        : axis(axis_of(op.axis_, data.shape())), block_axis(axis_of(op.block_axis_, data.shape())) {
      const int64_t per_byte = data.dtype() == DType::kUint8 ? 8 / op.bits_ : 1;
      std::vector<int64_t> dims = data.shape().dims();
      dims[static_cast<size_t>(block_axis)] *= per_byte;
      shape = Shape(std::move(dims));
      blocks = (shape[block_axis] + op.block_ - 1) / op.block_;
      zero_points_in_row = (blocks + per_byte - 1) / per_byte;
      inner = shape.elements(block_axis + 1, shape.rank());
    }
    int axis, block_axis;
    Shape shape;
    int64_t blocks = 0, zero_points_in_row = 0, inner = 1;
  };

  static void require_shape(const Input& input, const Shape& wanted, std::string_view name) {
    if (!(input.shape() == wanted))
      invalid("The input " + std::string(name) + " has the shape " + input.shape().text() + "; its data needs " +
              wanted.text() + ".");
  }

  /// The elements of the table from `first` on.
  void restore(std::span<const Input> inputs, const Table& table, int64_t first, std::span<float> to) const {
    const auto scales = inputs[2].values<float>();
    const bool is_packed = inputs[0].dtype() == DType::kUint8, has_zeros = is_present(inputs, 3);
    const int32_t middle = is_packed ? 1 << (bits_ - 1) : 0;
    const int64_t in_row = is_packed ? table.zero_points_in_row * (8 / bits_) : table.blocks;
    for (size_t k = 0; k < to.size(); ++k) {
      const int64_t at = first + static_cast<int64_t>(k), lane = at % table.inner, line = at / table.inner;
      const int64_t row = line / table.shape[table.block_axis], block = line % table.shape[table.block_axis] / block_;
      const int32_t zero = has_zeros ? code_at(inputs[3], bits_, (row * in_row + block) * table.inner + lane) : middle;
      const float scale = scales[static_cast<size_t>((row * table.blocks + block) * table.inner + lane)];
      to[k] = static_cast<float>(code_at(inputs[0], bits_, at) - zero) * scale;
    }
  }

  int64_t axis_, block_axis_, block_, bits_;
};

}  // namespace

std::vector<Op> gather_ops() {
  return {
      {.domain = "", .type = "Gather", .prepare = make_kernel<Gather>},
      {.domain = "", .type = "GatherElements", .since = 11, .prepare = make_kernel<GatherElements>},
      {.domain = "", .type = "GatherND", .since = 11, .prepare = make_kernel<GatherNd>},
      {.domain = "com.microsoft", .type = "GatherBlockQuantized", .prepare = make_kernel<GatherBlockQuantized>},
  };
}

}  // namespace tersor::ops
