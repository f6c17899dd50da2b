// SPDX-License-Identifier: Apache-2.0
// What pooling operators share: the places of each window inside the input, and the checks of their nodes. Channels
// last.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::ops {

/// The part of a window that lies inside the input along one axis: elements first, first + dilation, ...
struct Span {
  int64_t first = 0;
  int64_t count = 0;
  int64_t padded = 0;  // elements of the window inside the input and its padding
};

inline Span span_at(const WindowAxis& axis, int64_t out) {
  const int64_t start = out * axis.stride - axis.before;
  const int64_t skipped = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
  const int64_t inside = start < axis.in ? (axis.in - start + axis.dilation - 1) / axis.dilation : 0;
  const int64_t bordered = (axis.in + axis.after - start + axis.dilation - 1) / axis.dilation;
  const int64_t last = std::min(axis.kernel, inside);
  return {start + skipped * axis.dilation, std::max<int64_t>(0, last - skipped), std::min(axis.kernel, bordered)};
}

/// The places of each window inside the input. Made once for a run; keeps what the windows share.
class Windows {
 public:
  explicit Windows(const std::vector<WindowAxis>& axes) : axes_(axes), index_(axes.size()), now_(axes.size()) {
    for (const WindowAxis& axis : axes) {
      spans_.emplace_back();
      for (int64_t out = 0; out < axis.out; ++out) spans_.back().push_back(span_at(axis, out));
    }
  }

  const Span& span(size_t axis, int64_t out) const { return spans_[axis][static_cast<size_t>(out)]; }

  /// Calls visit(offset of a place in one picture, in places) for every place of the window at `out`, row-major.
  template <class Visit>
  void for_each_place(const std::vector<int64_t>& out, Visit visit) {
    const size_t last = axes_.size() - 1;
    for (size_t k = 0; k <= last; ++k) {
      now_[k] = &span(k, out[k]);
      index_[k] = 0;
      if (now_[k]->count == 0) return;
    }
    while (true) {
      int64_t line = 0;
      for (size_t k = 0; k < last; ++k) line = line * axes_[k].in + now_[k]->first + index_[k] * axes_[k].dilation;
      for (int64_t k = 0; k < now_[last]->count; ++k)
        visit(line * axes_[last].in + now_[last]->first + k * axes_[last].dilation);
      size_t k = last;
      while (true) {
        if (k-- == 0) return;
        if (++index_[k] < now_[k]->count) break;
        index_[k] = 0;
      }
    }
  }

 private:
  const std::vector<WindowAxis>& axes_;
  std::vector<std::vector<Span>> spans_;  // by axis and output place
  std::vector<int64_t> index_;
  std::vector<const Span*> now_;
};

/// Calls body(batch, places of the output so far, index of the output place) for every output place.
template <class Body>
void for_each_output(int64_t batch, const std::vector<WindowAxis>& axes, Body body) {
  int64_t outputs = 1;
  for (const WindowAxis& axis : axes) outputs *= axis.out;
  std::vector<int64_t> out(axes.size(), 0);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t at = 0; at < outputs; ++at) {
      body(n, n * outputs + at, out);
      for (size_t k = axes.size(); k-- > 0;) {
        if (++out[k] < axes[k].out) break;
        out[k] = 0;
      }
    }
}

inline int64_t input_places(const std::vector<WindowAxis>& axes) {
  int64_t places = 1;
  for (const WindowAxis& axis : axes) places *= axis.in;
  return places;
}

/// A node whose window slides over its first input, or covers it where `global`.
class Pool : public Kernel {
 public:
  Pool(const Setup& setup, bool global)
      : window_(setup), kernel_(setup.node.ints_or("kernel_shape", {})), global_(global) {
    require_inputs(setup, 1, 1);
    require_positive(kernel_, "kernel_shape");
    if (!global && kernel_.empty()) invalid("The attribute kernel_shape is missing.");
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    if (inputs[0].shape().rank() < 3)
      invalid("The input has the shape " + inputs[0].shape().text() + "; it must have spatial axes.");
    return {{Layout::kChannelsLast, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0]);
    std::vector<int64_t> dims{inputs[0].shape()[0], inputs[0].shape()[1]};
    for (const WindowAxis& axis : axes(inputs[0].shape())) dims.push_back(axis.out);
    return {{inputs[0].dtype(), Shape(std::move(dims)), Layout::kChannelsLast}};
  }

 protected:
  virtual void check_type(const Input& input) const { require_type(input, {DType::kFloat32}, "X"); }

  std::vector<WindowAxis> axes(const Shape& shape) const {
    std::vector<WindowAxis> axes;
    if (!global_) axes = window_.place(shape, kernel_);
    for (int k = 2; global_ && k < shape.rank(); ++k) axes.push_back({.in = shape[k], .out = 1, .kernel = shape[k]});
    for (const WindowAxis& axis : axes)
      if (axis.in < 1 || std::max(axis.before, axis.after) >= axis.extent())
        invalid("A window of " + std::to_string(axis.extent()) + " with the pads " + std::to_string(axis.before) +
                " and " + std::to_string(axis.after) + " may see nothing of the input of shape " + shape.text() + ".");
    return axes;
  }

 private:
  Window window_;
  std::vector<int64_t> kernel_;
  bool global_;
};

/// The operator of a class of pools.
template <class K>
Op pool(std::string_view type, bool global) {
  return {.domain = "", .type = type, .prepare = [global](Setup& setup) { return std::make_unique<K>(setup, global); }};
}

}  // namespace tersor::ops
