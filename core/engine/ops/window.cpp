// SPDX-License-Identifier: Apache-2.0
#include "core/ops/window.h"

#include <algorithm>

#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {
constexpr int64_t kMost = int64_t{1} << 31;

[[noreturn]] void outside(std::string_view name, const std::vector<int64_t>& numbers, int least) {
  invalid("The attribute " + std::string(name) + " is " + text_of(numbers) + "; its numbers must be from " +
          std::to_string(least) + " to " + std::to_string(kMost) + ".");
}
}  // namespace

void require_positive(const std::vector<int64_t>& numbers, std::string_view name) {
  for (const int64_t number : numbers)
    if (number < 1 || number > kMost) outside(name, numbers, 1);
}

AutoPad auto_pad_of(const Node& node) {
  const std::string word = node.string_or("auto_pad", "NOTSET");
  if (word == "NOTSET" || word.empty()) return AutoPad::kExplicit;
  if (word == "VALID") return AutoPad::kValid;
  if (word == "SAME_UPPER") return AutoPad::kSameUpper;
  if (word == "SAME_LOWER") return AutoPad::kSameLower;
  invalid("The attribute auto_pad is \"" + word + "\"; it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER.");
}

void require_pads_once(const Node& node) {
  if (auto_pad_of(node) != AutoPad::kExplicit && node.attributes.count("pads") != 0)
    invalid("The attributes auto_pad and pads are both given, which contradict each other.",
            "Leave out one of the two; with pads, auto_pad is NOTSET.");
}

Window::Window(const Setup& setup)
    : strides_(setup.node.ints_or("strides", {})),
      dilations_(setup.node.ints_or("dilations", {})),
      pads_(setup.node.ints_or("pads", {})),
      auto_pad_(auto_pad_of(setup.node)),
      ceil_(setup.node.int_or("ceil_mode", 0) != 0) {
  require_positive(strides_, "strides");
  require_positive(dilations_, "dilations");
  for (const int64_t pad : pads_)
    if (pad < 0 || pad > kMost) outside("pads", pads_, 0);
}

bool Window::unit_steps() const {
  const auto one = [](int64_t step) { return step == 1; };
  return std::all_of(strides_.begin(), strides_.end(), one) && std::all_of(dilations_.begin(), dilations_.end(), one);
}

std::vector<WindowAxis> Window::place(const Shape& input, std::span<const int64_t> kernel) const {
  const auto spatial = static_cast<size_t>(std::max(0, input.rank() - 2));
  if (spatial == 0 || kernel.size() != spatial)
    invalid("The input has the shape " + input.text() + "; the window has " + std::to_string(kernel.size()) +
            " spatial axes.");
  const auto fits = [&](const std::vector<int64_t>& list, size_t wanted) {
    return list.empty() || list.size() == wanted;
  };
  if (!fits(strides_, spatial) || !fits(dilations_, spatial) || !fits(pads_, 2 * spatial))
    invalid("The strides " + text_of(strides_) + ", dilations " + text_of(dilations_) + " or pads " + text_of(pads_) +
            " do not fit " + std::to_string(spatial) + " spatial axes.");
  std::vector<WindowAxis> axes(spatial);
  for (size_t k = 0; k < spatial; ++k) {
    WindowAxis& axis = axes[k];
    axis.in = input[static_cast<int>(k) + 2];
    axis.kernel = kernel[k];
    axis.stride = strides_.empty() ? 1 : strides_[k];
    axis.dilation = dilations_.empty() ? 1 : dilations_[k];
    if (auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower) {
      axis.out = (axis.in + axis.stride - 1) / axis.stride;
      const int64_t pad = std::max<int64_t>(0, (axis.out - 1) * axis.stride + axis.extent() - axis.in);
      axis.before = auto_pad_ == AutoPad::kSameUpper ? pad / 2 : pad - pad / 2;
      axis.after = pad - axis.before;
      continue;
    }
    if (auto_pad_ == AutoPad::kExplicit && !pads_.empty()) {
      axis.before = pads_[k];
      axis.after = pads_[k + spatial];
    }
    const int64_t room = axis.in + axis.before + axis.after - axis.extent();
    if (room < 0 && !(ceil_ && room > -axis.stride))
      invalid("A window of " + std::to_string(axis.extent()) + " does not fit axis " + std::to_string(k + 2) +
              " of the shape " + input.text() + " with the pads " + std::to_string(axis.before) + " and " +
              std::to_string(axis.after) + ".");
    axis.out = room / axis.stride + 1;  // of a window that rounding up lets reach beyond the map: 1
    // Rounded up, unless the last window would begin in the padding at the end.
    if (ceil_ && room > 0 && room % axis.stride != 0 && axis.out * axis.stride < axis.in + axis.before) ++axis.out;
  }
  return axes;
}

}  // namespace tersor::ops
