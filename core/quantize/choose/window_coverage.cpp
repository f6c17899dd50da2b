// SPDX-License-Identifier: Apache-2.0
#include "core/choose/window_coverage.h"

#include <algorithm>

namespace tersor::ptq {

namespace {

int64_t at(const std::vector<int64_t>& values, size_t index, int64_t otherwise) {
  return index < values.size() ? values[index] : otherwise;
}

}  // namespace

WindowAxis window_axis(const Node& conv, const Shape& input, const std::vector<int64_t>& kernel, size_t k) {
  WindowAxis axis{input[static_cast<int>(k) + 2],          kernel[k], at(conv.ints_or("strides", {}), k, 1),
                  at(conv.ints_or("dilations", {}), k, 1), 0,         0};
  const std::vector<int64_t> pads = conv.ints_or("pads", {});
  const std::string automatic = conv.string_or("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    const int64_t outputs = (axis.size + axis.stride - 1) / axis.stride;
    const int64_t total =
        std::max<int64_t>(0, (outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.size);
    axis.begin = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    axis.end = total - axis.begin;
  } else if (automatic != "VALID") {
    axis.begin = at(pads, k, 0);
    axis.end = at(pads, kernel.size() + k, 0);
  }
  return axis;
}

namespace {

std::vector<double> axis_coverage(const WindowAxis& axis) {
  const int64_t outputs = axis.stride > 0 ? axis.outputs() : 0;
  std::vector<double> shares;
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    int64_t inside = 0;
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t position = o * axis.stride - axis.begin + tap * axis.dilation;
      inside += position >= 0 && position < axis.size ? 1 : 0;
    }
    shares.push_back(outputs > 0 ? static_cast<double>(inside) / static_cast<double>(outputs) : 1);
  }
  return shares;
}

}  // namespace

std::vector<double> window_coverage(const Node& conv, const Shape& input, const std::vector<int64_t>& kernel) {
  std::vector<double> coverage{1};
  for (size_t k = 0; k < kernel.size(); ++k) {
    const std::vector<double> axis = axis_coverage(window_axis(conv, input, kernel, k));
    std::vector<double> wider;
    for (const double outer : coverage)
      for (const double inner : axis) wider.push_back(outer * inner);
    coverage = std::move(wider);
  }
  return coverage;
}

}  // namespace tersor::ptq
