// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/axis_order.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/ops/layout.h"

namespace tersor::tflite {

namespace {

/// Without axes of one element.
AxisOrder long_axes(const Dims& dims, const AxisOrder& order) {
  AxisOrder kept;
  for (const int axis : order)
    if (dims[static_cast<size_t>(axis)] != 1) kept.push_back(axis);
  return kept;
}

/// Axes of both shapes that hold the same elements.
struct Group {
  AxisOrder from, to;
};

std::vector<Group> groups_of(const Dims& from, const Dims& to) {
  const AxisOrder a = long_axes(from, plain_order(from.size())), b = long_axes(to, plain_order(to.size()));
  std::vector<Group> groups;
  size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    Group& group = groups.emplace_back();
    int64_t left = 1, right = 1;
    do {
      if (left <= right && i < a.size()) {
        group.from.push_back(a[i]);
        left *= from[static_cast<size_t>(a[i++])];
      } else {
        TERSOR_CHECK(k < b.size());
        group.to.push_back(b[k]);
        right *= to[static_cast<size_t>(b[k++])];
      }
    } while (left != right || group.to.empty());
  }
  return groups;
}

}  // namespace

AxisOrder plain_order(size_t rank) {
  AxisOrder order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

AxisOrder channels_last(size_t rank) {
  AxisOrder order = plain_order(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Dims in_order(const Dims& dims, const AxisOrder& order) {
  Dims result;
  for (const int axis : order) result.push_back(dims[static_cast<size_t>(axis)]);
  return result;
}

int position_of(const AxisOrder& order, int axis) {
  return static_cast<int>(std::find(order.begin(), order.end(), axis) - order.begin());
}

bool lie_alike(const Dims& dims, const AxisOrder& a, const AxisOrder& b) {
  return long_axes(dims, a) == long_axes(dims, b);
}

std::optional<AxisOrder> order_after_reshape(const Dims& from, const AxisOrder& order, const Dims& to) {
  const AxisOrder lying = long_axes(from, order);
  const std::vector<Group> groups = groups_of(from, to);
  AxisOrder result;
  for (size_t at = 0; at < lying.size();) {
    const auto starts = [&](const Group& group) { return group.from.front() == lying[at]; };
    const auto group = std::find_if(groups.begin(), groups.end(), starts);
    if (group == groups.end() || at + group->from.size() > lying.size() ||
        !std::equal(group->from.begin(), group->from.end(), lying.begin() + static_cast<std::ptrdiff_t>(at)))
      return std::nullopt;
    result.insert(result.end(), group->to.begin(), group->to.end());
    at += group->from.size();
  }
  for (const AxisOrder& usual : {plain_order(to.size()), channels_last(to.size())})
    if (long_axes(to, usual) == result) return usual;
  AxisOrder with_short;
  for (const int axis : plain_order(to.size()))
    if (to[static_cast<size_t>(axis)] == 1) with_short.push_back(axis);
  with_short.insert(with_short.end(), result.begin(), result.end());
  return with_short;
}

Tensor rearranged(const Tensor& tensor, const AxisOrder& order) {
  const Dims& dims = tensor.shape().dims();
  if (lie_alike(dims, order, plain_order(order.size()))) return tensor.reshaped(Shape(in_order(dims, order)));
  Tensor result = Tensor::make_unset(tensor.dtype(), Shape(in_order(dims, order)));
  ops::permute(tensor.bytes().data(), dims, order, static_cast<size_t>(bits_of(tensor.dtype()) / 8),
               result.mutable_bytes().data());
  return result;
}

}  // namespace tersor::tflite
