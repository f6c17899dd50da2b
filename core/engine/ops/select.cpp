// SPDX-License-Identifier: Apache-2.0
// Operators whose output is as long as the data say: NonZero, Compress, Unique.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/sort_stably.h"
#include "core/graph/attribute_defaults.h"
#include "core/ops/element_order.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

/// The elements of an input that is a number or bool.
template <class T>
const T* elements_of(const Input& input) {
  return reinterpret_cast<const T*>(input.data);
}

class NonZero : public Kernel {
 public:
  explicit NonZero(const Setup& setup) { require_inputs(setup, 1, 1); }

  std::vector<size_t> value_inputs() const override { return {0}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    int64_t count = 0;
    with_value_type(inputs[0].dtype(), [&](auto zero) {
      const auto* x = elements_of<decltype(zero)>(inputs[0]);
      count = inputs[0].elements() - std::count(x, x + inputs[0].elements(), zero);
    });
    return {{DType::kInt64, Shape{std::max(1, inputs[0].shape().rank()), count}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int64_t found = call.outputs[0].shape()[1];
    int64_t* places = call.outputs[0].values<int64_t>().data();
    with_value_type(call.inputs[0].dtype(), [&](auto zero) {
      const auto* x = elements_of<decltype(zero)>(call.inputs[0]);
      for (int64_t k = 0, at = 0; k < shape.elements(); ++k) {
        if (x[k] == zero) continue;
        int64_t rest = k;
        if (shape.rank() == 0) places[at] = 0;  // a scalar counts as a list of one
        for (int axis = shape.rank(); axis-- > 0; rest /= shape[axis]) places[axis * found + at] = rest % shape[axis];
        ++at;
      }
    });
  }
};

class Compress : public Kernel {
 public:
  explicit Compress(const Setup& setup) {
    require_inputs(setup, 2, 2);
    if (const auto* axis = setup.node.attribute<int64_t>("axis")) axis_ = *axis;
  }

  std::vector<size_t> value_inputs() const override { return {1}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "input");
    require_type(inputs[1], {DType::kBool}, "condition");
    require_rank(inputs[1], 1, "condition");
    const Shape seen = as_seen(inputs[0].shape());
    const int64_t dim = seen[1];
    if (inputs[1].elements() > dim)
      invalid("There are " + std::to_string(inputs[1].elements()) + " conditions for " + std::to_string(dim) +
              " places.");
    const auto kept = static_cast<int64_t>(picks(inputs[1]).size());
    if (!axis_) return {{inputs[0].dtype(), Shape{kept}, Layout::kPlain}};
    std::vector<int64_t> dims = inputs[0].shape().dims();
    dims[static_cast<size_t>(axis_of(*axis_, inputs[0].shape()))] = kept;
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape seen = as_seen(call.inputs[0].shape());
    const std::vector<int64_t> kept = picks(call.inputs[1]);
    const auto bytes = static_cast<size_t>(seen[2] * bits_of(call.inputs[0].dtype()) / 8);
    if (call.outputs[0].elements() == 0) return;
    std::byte* to = call.outputs[0].data;
    for (int64_t o = 0; o < seen[0]; ++o)
      for (const int64_t k : kept) {
        std::memcpy(to, call.inputs[0].data + static_cast<size_t>(o * seen[1] + k) * bytes, bytes);
        to += bytes;
      }
  }

 private:
  /// Outer elements, those to choose from, inner elements.
  Shape as_seen(const Shape& shape) const {
    if (!axis_) return Shape{1, shape.elements(), 1};
    const int axis = axis_of(*axis_, shape);
    return Shape{shape.elements(0, axis), shape[axis], shape.elements(axis + 1, shape.rank())};
  }

  static std::vector<int64_t> picks(const Input& condition) {
    std::vector<int64_t> picks;
    for (int64_t k = 0; k < condition.elements(); ++k)
      if (condition.data[k] != std::byte{0}) picks.push_back(k);
    return picks;
  }

  std::optional<int64_t> axis_;
};

/// The different slices along an axis (or the different elements), sorted or in the order of their first occurrence.
class Unique : public Kernel {
 public:
  explicit Unique(const Setup& setup) : sorted_(int_of(setup.node, "sorted") != 0) {
    require_inputs(setup, 1, 1);
    if (const auto* axis = setup.node.attribute<int64_t>("axis")) axis_ = *axis;
  }

  std::vector<size_t> value_inputs() const override { return {0}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Groups groups = grouped(inputs[0]);
    const auto count = static_cast<int64_t>(groups.first.size());
    std::vector<int64_t> dims{count};
    if (axis_) {
      dims = inputs[0].shape().dims();
      dims[static_cast<size_t>(axis_of(*axis_, inputs[0].shape()))] = count;
    }
    const auto list = [](int64_t length) { return TensorType{DType::kInt64, Shape{length}, Layout::kPlain}; };
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kPlain},
            list(count),
            list(static_cast<int64_t>(groups.group_of.size())),
            list(count)};
  }

  void run(const Call& call) const override {
    const Groups groups = grouped(call.inputs[0]);
    const auto give = [&](size_t k, const std::vector<int64_t>& list) {
      if (k < call.outputs.size() && call.outputs[k].present())
        std::copy(list.begin(), list.end(), call.outputs[k].values<int64_t>().begin());
    };
    give(1, groups.first);
    give(2, groups.group_of);
    give(3, groups.counts);
    if (!call.outputs[0].present() || call.outputs[0].elements() == 0) return;
    const Shape seen = as_seen(call.inputs[0].shape());
    const auto bytes = static_cast<size_t>(seen[2] * bits_of(call.inputs[0].dtype()) / 8);
    std::byte* to = call.outputs[0].data;
    for (int64_t o = 0; o < seen[0]; ++o)
      for (const int64_t k : groups.first) {
        std::memcpy(to, call.inputs[0].data + static_cast<size_t>(o * seen[1] + k) * bytes, bytes);
        to += bytes;
      }
  }

 private:
  struct Groups {
    std::vector<int64_t> first;     // by group: the first slice that is in it
    std::vector<int64_t> counts;    // by group
    std::vector<int64_t> group_of;  // by slice
  };

  Shape as_seen(const Shape& shape) const {
    if (!axis_) return Shape{1, shape.elements(), 1};
    const int axis = axis_of(*axis_, shape);
    return Shape{shape.elements(0, axis), shape[axis], shape.elements(axis + 1, shape.rank())};
  }

  Groups grouped(const Input& input) const {
    const Shape seen = as_seen(input.shape());
    const auto compare_elements = element_order(input);
    const auto compare_slices = [&](int64_t a, int64_t b) {
      for (int64_t o = 0; o < seen[0]; ++o)
        for (int64_t i = 0; i < seen[2]; ++i) {
          const int64_t row = o * seen[1] * seen[2] + i;
          if (const int order = compare_elements(row + a * seen[2], row + b * seen[2]); order != 0) return order;
        }
      return 0;
    };
    std::vector<int64_t> order(static_cast<size_t>(seen[1]));
    std::iota(order.begin(), order.end(), int64_t{0});
    sort_stably(order, [&](int64_t a, int64_t b) { return compare_slices(a, b) < 0; });
    Groups groups;
    groups.group_of.resize(order.size());
    for (const int64_t k : order) {
      if (groups.first.empty() || compare_slices(groups.first.back(), k) != 0) {
        groups.first.push_back(k);
        groups.counts.push_back(0);
      }
      ++groups.counts.back();
      groups.group_of[static_cast<size_t>(k)] = static_cast<int64_t>(groups.first.size()) - 1;
    }
    if (!sorted_) order_by_occurrence(groups);
    return groups;
  }

  static void order_by_occurrence(Groups& groups) {
    std::vector<size_t> order(groups.first.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return groups.first[a] < groups.first[b]; });
    Groups turned = groups;
    std::vector<int64_t> place(order.size());
    for (size_t k = 0; k < order.size(); ++k) {
      turned.first[k] = groups.first[order[k]];
      turned.counts[k] = groups.counts[order[k]];
      place[order[k]] = static_cast<int64_t>(k);
    }
    for (int64_t& group : turned.group_of) group = place[static_cast<size_t>(group)];
    groups = std::move(turned);
  }

  std::optional<int64_t> axis_;
  bool sorted_;
};

}  // namespace

std::vector<Op> select_ops() {
  return {
      {.domain = "", .type = "NonZero", .since = 9, .prepare = make_kernel<NonZero>},
      {.domain = "", .type = "Compress", .since = 9, .prepare = make_kernel<Compress>},
      {.domain = "", .type = "Unique", .since = 11, .prepare = make_kernel<Unique>},
  };
}

}  // namespace tersor::ops
