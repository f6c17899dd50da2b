// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/window.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::simulate {

Window::Window(const Node& node, int axes)
    : kernel(node.ints_or("kernel_shape", {})),
      strides(node.ints_or("strides", std::vector<int64_t>(static_cast<size_t>(axes), 1))),
      dilations(node.ints_or("dilations", std::vector<int64_t>(static_cast<size_t>(axes), 1))),
      pads(node.ints_or("pads", std::vector<int64_t>(static_cast<size_t>(2 * axes), 0))),
      auto_pad(ops::auto_pad_of(node)),
      ceil_mode(node.int_or("ceil_mode", 0) != 0) {
  const auto count = static_cast<size_t>(std::max(axes, 0));
  const auto positive = [](int64_t value) { return value >= 1 && value < (int64_t{1} << 31); };
  const auto pad = [](int64_t value) { return value >= 0 && value < (int64_t{1} << 31); };
  const bool right = strides.size() == count && dilations.size() == count && pads.size() == 2 * count &&
                     (kernel.empty() || kernel.size() == count) &&
                     std::all_of(strides.begin(), strides.end(), positive) &&
                     std::all_of(dilations.begin(), dilations.end(), positive) &&
                     std::all_of(pads.begin(), pads.end(), pad) && std::all_of(kernel.begin(), kernel.end(), positive);
  if (!right)
    throw Error(ErrorCode::kInvalidModel,
                "Strides, dilations, pads or kernel_shape do not fit " + std::to_string(axes) + " spatial axes.");
}

std::vector<int64_t> Window::pads_for(std::span<const int64_t> sizes, std::span<const int64_t> kernel_shape) const {
  if (auto_pad == ops::AutoPad::kExplicit) return pads;
  const size_t axes = sizes.size();
  std::vector<int64_t> result(2 * axes, 0);
  if (auto_pad == ops::AutoPad::kValid) return result;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t out = (sizes[i] + strides[i] - 1) / strides[i];
    const int64_t needed =
        std::max<int64_t>((out - 1) * strides[i] + dilations[i] * (kernel_shape[i] - 1) + 1 - sizes[i], 0);
    const int64_t less = needed / 2, more = needed - less;
    result[i] = auto_pad == ops::AutoPad::kSameLower ? more : less;
    result[axes + i] = auto_pad == ops::AutoPad::kSameLower ? less : more;
  }
  return result;
}

int64_t Window::out_size(int64_t size, int64_t kernel_size, size_t axis, std::span<const int64_t> actual_pads) const {
  const int64_t begin = actual_pads[axis], end = actual_pads[strides.size() + axis];
  const int64_t room = size + begin + end - dilations[axis] * (kernel_size - 1) - 1;
  if (room < 0 && !(ceil_mode && room > -strides[axis]))
    throw Error(ErrorCode::kInvalidModel, "A window of " + std::to_string(kernel_size) + " does not fit an axis of " +
                                              std::to_string(size) + " with the pads " + std::to_string(begin) +
                                              " and " + std::to_string(end) + ".");
  int64_t out = (ceil_mode ? (room + strides[axis] - 1) / strides[axis] : room / strides[axis]) + 1;
  // A window that would start in the padding after the picture does not count.
  if (ceil_mode && (out - 1) * strides[axis] >= size + begin) --out;
  return out;
}

}  // namespace tersor::simulate
