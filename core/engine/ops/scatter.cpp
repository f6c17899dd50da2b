// SPDX-License-Identifier: Apache-2.0
// Operators that write elements to places given by index: Scatter, ScatterElements, ScatterND, TensorScatter. Where two
// updates meet, they act in the order in which they stand.
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/binary_functions.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/number_types.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

/// Lets n updates act on n elements.
using Take = void (*)(std::byte* to, const std::byte* from, size_t n, size_t element_bytes);

template <class F, class T>
void take(std::byte* to, const std::byte* from, size_t n, size_t) {
  T* y = reinterpret_cast<T*>(to);
  const T* x = reinterpret_cast<const T*>(from);
  for (size_t k = 0; k < n; ++k) y[k] = F::of(y[k], x[k]);
}

void replace(std::byte* to, const std::byte* from, size_t n, size_t element_bytes) {
  std::memcpy(to, from, n * element_bytes);
}

template <class F>
Take take_of(DType dtype) {
  Take made = nullptr;
  with_number_type(dtype, [&](auto zero) { made = take<F, decltype(zero)>; });
  return made;
}

Take take_for(const std::string& reduction, DType dtype) {
  if (reduction == "add") return take_of<of_two::Add>(dtype);
  if (reduction == "mul") return take_of<of_two::Mul>(dtype);
  if (reduction == "max") return take_of<of_two::Max>(dtype);
  if (reduction == "min") return take_of<of_two::Min>(dtype);
  return replace;
}

std::string reduction_of(const Setup& setup) {
  std::string word = setup.node.string_or("reduction", "none");
  if (word != "none" && word != "add" && word != "mul" && word != "max" && word != "min")
    invalid("The attribute reduction is \"" + word + "\"; it must be none, add, mul, max or min.");
  return word;
}

[[noreturn]] void refuse_shapes(std::span<const Input> inputs) {
  invalid("Indices of shape " + inputs[1].shape().text() + " and updates of shape " + inputs[2].shape().text() +
          " do not fit data of shape " + inputs[0].shape().text() + ".");
}

/// What the three have in common: the output starts as a copy of input 0.
class Scattering : public Kernel {
 public:
  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  void run(const Call& call) const override {
    const Input& data = call.inputs[0];
    if (call.outputs[0].elements() == 0) return;
    if (data.data != call.outputs[0].data)
      std::memcpy(call.outputs[0].data, data.data, static_cast<size_t>(data.type->bytes()));
    write(call);
  }

 private:
  virtual void write(const Call& call) const = 0;
};

class ScatterElements : public Scattering {
 public:
  explicit ScatterElements(const Setup& setup) : axis_(setup.node.int_or("axis", 0)), reduction_(reduction_of(setup)) {
    require_inputs(setup, 3, 3);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "data");
    require_type(inputs[1], {DType::kInt64, DType::kInt32}, "indices");
    require_same_type(inputs[0], inputs[2]);
    take_for(reduction_, inputs[0].dtype());
    const Shape &data = inputs[0].shape(), &picks = inputs[1].shape();
    const int axis = axis_of(axis_, data);
    bool fits = data.rank() == picks.rank() && picks == inputs[2].shape();
    for (int k = 0; fits && k < data.rank(); ++k) fits = k == axis || picks[k] <= data[k];
    if (!fits) refuse_shapes(inputs);
    return {{inputs[0].dtype(), data, Layout::kPlain}};
  }

 private:
  void write(const Call& call) const override {
    const Shape &data = call.inputs[0].shape(), &picks = call.inputs[1].shape();
    const int axis = axis_of(axis_, data);
    const Take take = take_for(reduction_, call.inputs[0].dtype());
    const auto bytes = static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8);
    const std::vector<int64_t> steps = row_major_strides(data.dims()), of_picks = row_major_strides(picks.dims());
    for (int64_t k = 0; k < picks.elements(); ++k) {
      int64_t offset = 0, rest = k;
      for (int d = 0; d < data.rank(); ++d) {
        const auto at = static_cast<size_t>(d);
        const int64_t place = d == axis ? checked_index(index_at(call.inputs[1], k), data[d]) : rest / of_picks[at];
        offset += place * steps[at];
        rest %= of_picks[at];
      }
      take(call.outputs[0].data + static_cast<size_t>(offset) * bytes,
           call.inputs[2].data + static_cast<size_t>(k) * bytes, 1, bytes);
    }
  }

  int64_t axis_;
  std::string reduction_;
};

class ScatterNd : public Scattering {
 public:
  explicit ScatterNd(const Setup& setup) : reduction_(reduction_of(setup)) { require_inputs(setup, 3, 3); }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "data");
    require_type(inputs[1], {DType::kInt64, DType::kInt32}, "indices");
    require_same_type(inputs[0], inputs[2]);
    take_for(reduction_, inputs[0].dtype());
    const Shape &data = inputs[0].shape(), &picks = inputs[1].shape();
    const int last = picks.rank() - 1;
    if (last < 0 || data.rank() < 1 || picks[last] > data.rank()) refuse_shapes(inputs);
    std::vector<int64_t> dims(picks.begin(), picks.begin() + last);
    dims.insert(dims.end(), data.begin() + picks[last], data.end());
    if (!(Shape(std::move(dims)) == inputs[2].shape())) refuse_shapes(inputs);
    return {{inputs[0].dtype(), data, Layout::kPlain}};
  }

 private:
  void write(const Call& call) const override {
    const Shape &data = call.inputs[0].shape(), &picks = call.inputs[1].shape();
    const int last = picks.rank() - 1;
    const auto depth = static_cast<int>(picks[last]);
    const Take take = take_for(reduction_, call.inputs[0].dtype());
    const auto each = static_cast<size_t>(bits_of(call.inputs[0].dtype()) / 8);
    const auto block = static_cast<size_t>(data.elements(depth, data.rank()));
    const int64_t rows = picks.elements(0, last);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t place = 0;
      for (int d = 0; d < depth; ++d)
        place = place * data[d] + checked_index(index_at(call.inputs[1], row * depth + d), data[d]);
      take(call.outputs[0].data + static_cast<size_t>(place) * block * each,
           call.inputs[2].data + static_cast<size_t>(row) * block * each, block, each);
    }
  }

  std::string reduction_;
};

/// Writes a stretch of a sequence into a cache, from a place of its own for each sample on.
class TensorScatter : public Scattering {
 public:
  explicit TensorScatter(const Setup& setup) : axis_(setup.node.int_or("axis", -2)) {
    require_inputs(setup, 2, 3);
    const std::string mode = string_of(setup.node, "mode");
    if (mode != "linear" && mode != "circular")
      invalid("The attribute mode is \"" + mode + "\"; it must be linear or circular.");
    circular_ = mode == "circular";
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "past_cache");
    require_same_type(inputs[0], inputs[1]);
    const Shape &cache = inputs[0].shape(), &update = inputs[1].shape();
    const int axis = axis_of(axis_, cache);
    bool fits = axis > 0 && cache.rank() == update.rank();
    for (int k = 0; fits && k < cache.rank(); ++k) fits = k == axis ? update[k] <= cache[k] : update[k] == cache[k];
    if (!fits)
      invalid("An update of shape " + update.text() + " does not fit a cache of shape " + cache.text() +
              " along axis " + std::to_string(axis) + ".");
    if (inputs.size() > 2 && inputs[2].present()) {
      require_type(inputs[2], {DType::kInt64, DType::kInt32}, "write_indices");
      if (inputs[2].shape().rank() != 1 || inputs[2].elements() != cache[0])
        invalid("The input write_indices has the shape " + inputs[2].shape().text() + " for a batch of " +
                std::to_string(cache[0]) + ".");
    }
    return {{inputs[0].dtype(), cache, Layout::kPlain}};
  }

 private:
  void write(const Call& call) const override {
    const Shape &cache = call.inputs[0].shape(), &update = call.inputs[1].shape();
    const int axis = axis_of(axis_, cache);
    const int64_t most = cache[axis], length = update[axis], lines = cache.elements(1, axis);
    const auto bytes =
        static_cast<size_t>(cache.elements(axis + 1, cache.rank()) * bits_of(call.inputs[0].dtype()) / 8);
    const bool indexed = call.inputs.size() > 2 && call.inputs[2].present();
    const std::byte* from = call.inputs[1].data;
    for (int64_t n = 0; n < cache[0]; ++n) {
      const int64_t first = indexed ? index_at(call.inputs[2], n) : 0;
      if (first < 0 || (!circular_ && first > most - length))
        invalid("An update of " + std::to_string(length) + " places from " + std::to_string(first) +
                " on does not fit a cache of " + std::to_string(most) + ".");
      for (int64_t line = n * lines; line < (n + 1) * lines; ++line)
        for (int64_t k = 0; k < length; ++k, from += bytes)
          std::memcpy(call.outputs[0].data + static_cast<size_t>(line * most + (first % most + k) % most) * bytes, from,
                      bytes);
    }
  }

  int64_t axis_;
  bool circular_ = false;
};

}  // namespace

std::vector<Op> scatter_ops() {
  return {
      {.domain = "", .type = "Scatter", .since = 9, .until = 10, .prepare = make_kernel<ScatterElements>},
      {.domain = "", .type = "ScatterElements", .since = 11, .prepare = make_kernel<ScatterElements>},
      {.domain = "", .type = "ScatterND", .since = 11, .prepare = make_kernel<ScatterNd>},
      {.domain = "", .type = "TensorScatter", .since = 24, .prepare = make_kernel<TensorScatter>},
  };
}

}  // namespace tersor::ops
