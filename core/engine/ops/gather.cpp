// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by index: Gather, GatherElements, GatherND. Indices count from the end when negative;
// one outside the axis is an error.
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

}  // namespace

std::vector<Op> gather_ops() {
  return {
      {.domain = "", .type = "Gather", .prepare = make_kernel<Gather>},
      {.domain = "", .type = "GatherElements", .since = 11, .prepare = make_kernel<GatherElements>},
      {.domain = "", .type = "GatherND", .since = 11, .prepare = make_kernel<GatherNd>},
  };
}

}  // namespace tersor::ops
