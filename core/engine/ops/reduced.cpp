// SPDX-License-Identifier: Apache-2.0
#include "core/ops/reduced.h"

#include <algorithm>

namespace tersor::ops {

std::optional<TensorType> reduced_type(const TensorType& from, const std::vector<int>& axes, bool keep_dims) {
  const int rank = from.shape.rank();
  const auto is_reduced = [&](int axis) { return std::binary_search(axes.begin(), axes.end(), axis); };
  std::vector<int64_t> dims;
  std::vector<int> kept;  // logical axes
  for (int axis = 0; axis < rank; ++axis) {
    if (is_reduced(axis) && !keep_dims) continue;
    kept.push_back(axis);
    dims.push_back(is_reduced(axis) ? 1 : from.shape[axis]);
  }
  TensorType to{from.dtype, Shape(std::move(dims)), from.layout};
  if (keep_dims || from.layout == Layout::kPlain) return to;
  std::vector<int> lying;  // logical axes in memory order
  for (int k = 0; k < rank; ++k)
    if (const int axis = logical_axis(k, rank, from.layout); !is_reduced(axis)) lying.push_back(axis);
  to.layout = Layout::kPlain;
  if (lying == kept) return to;
  std::rotate(kept.begin() + 1, kept.begin() + 2, kept.end());
  to.layout = Layout::kChannelsLast;
  return lying == kept ? std::optional(to) : std::nullopt;
}

ReducedLoop::ReducedLoop(const TensorType& from, const std::vector<int>& axes) {
  const int rank = from.shape.rank();
  const std::vector<int64_t> dims = physical_dims(from);
  std::vector<Axis> lying(dims.size());
  int64_t step = 1;
  for (int k = rank; k-- > 0;) {
    const auto at = static_cast<size_t>(k);
    const bool reduced = std::binary_search(axes.begin(), axes.end(), logical_axis(k, rank, from.layout));
    lying[at] = {dims[at], reduced ? 0 : step};
    if (!reduced) step *= dims[at];
  }
  for (const Axis& axis : lying) {
    if (axis.length == 1) continue;
    if (!outer_.empty() && outer_.back().step == axis.step * axis.length)
      outer_.back() = {outer_.back().length * axis.length, axis.step};
    else
      outer_.push_back(axis);
  }
  if (!outer_.empty()) {
    inner_ = outer_.back();
    outer_.pop_back();
  }
  const int64_t elements = from.shape.elements();
  runs_ = elements == 0 ? 0 : elements / inner_.length;
}

}  // namespace tersor::ops
