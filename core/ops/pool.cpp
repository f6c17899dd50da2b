// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, and the global pools, which are pools whose window is the whole picture. Channels last.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::ops {

namespace {

/// The part of a window that lies inside the input along one axis: elements first, first + dilation, ...
struct Span {
  int64_t first = 0;
  int64_t count = 0;
  int64_t padded = 0;  // elements of the window inside the input and its padding
};

Span span_at(const WindowAxis& axis, int64_t out) {
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

int64_t input_places(const std::vector<WindowAxis>& axes) {
  int64_t places = 1;
  for (const WindowAxis& axis : axes) places *= axis.in;
  return places;
}

class Pool : public Kernel {
 public:
  explicit Pool(const Setup& setup, bool global)
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

class MaxPool : public Pool {
 public:
  MaxPool(const Setup& setup, bool global)
      : Pool(setup, global),
        wants_indices_(setup.has_output(1)),
        column_major_(setup.node.int_or("storage_order", 0) != 0) {}

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    std::vector<TensorType> types = Pool::infer(inputs);
    if (wants_indices_) types.push_back({DType::kInt64, types[0].shape, Layout::kChannelsLast});
    return types;
  }

  void run(const Call& call) const override {
    switch (call.inputs[0].dtype()) {
      case DType::kFloat32:
        return run_as<float>(call);
      case DType::kInt8:
        return run_as<int8_t>(call);
      default:
        return run_as<uint8_t>(call);
    }
  }

 protected:
  void check_type(const Input& input) const override {
    require_type(input, {DType::kFloat32, DType::kInt8, DType::kUint8}, "X");
  }

 private:
  template <class T>
  void run_as(const Call& call) const {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const T* x = call.inputs[0].values<T>().data();
    if (!call.outputs[0].present()) return run_indices<T>(call);
    T* y = call.outputs[0].values<T>().data();
    Windows windows(spatial);
    std::vector<const T*> rows;
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      rows.clear();
      windows.for_each_place(out, [&](int64_t place) { rows.push_back(x + (n * places + place) * channels); });
      largest(rows, channels, y + at * channels);
    });
    if (call.outputs.size() > 1 && call.outputs[1].present()) run_indices<T>(call);
  }

  template <class T>
  static void largest(const std::vector<const T*>& rows, int64_t channels, T* y) {
    if (rows.empty()) {  // a dilated window that steps over a small input
      std::fill_n(y, channels,
                  std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest());
    } else if constexpr (std::is_same_v<T, float>) {
      kernels::max_of_rows(rows.data(), rows.size(), static_cast<size_t>(channels), y);
    } else {
      std::copy_n(rows[0], channels, y);
      for (const T* row : rows)
        for (int64_t c = 0; c < channels; ++c) y[c] = row[c] > y[c] ? row[c] : y[c];
    }
  }

  /// Where each maximum lies in the (plain) input, counted over the whole tensor.
  template <class T>
  void run_indices(const Call& call) const {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const T* x = call.inputs[0].values<T>().data();
    int64_t* indices = call.outputs[1].values<int64_t>().data();
    Windows windows(spatial);
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      for (int64_t c = 0; c < channels; ++c) {
        int64_t best = -1;  // stays so where a dilated window steps over a small input
        windows.for_each_place(out, [&](int64_t place) {
          if (best < 0 || x[(n * places + place) * channels + c] > x[(n * places + best) * channels + c]) best = place;
        });
        indices[at * channels + c] =
            (n * channels + c) * places +
            (column_major_ ? turned(std::max<int64_t>(0, best), spatial) : std::max<int64_t>(0, best));
      }
    });
  }

  /// The place counted with the first spatial axis fastest.
  static int64_t turned(int64_t place, const std::vector<WindowAxis>& spatial) {
    int64_t result = 0;
    std::vector<int64_t> index(spatial.size());
    for (size_t k = spatial.size(); k-- > 0; place /= spatial[k].in) index[k] = place % spatial[k].in;
    for (size_t k = spatial.size(); k-- > 0;) result = result * spatial[k].in + index[k];
    return result;
  }

  bool wants_indices_, column_major_;
};

class AveragePool : public Pool {
 public:
  AveragePool(const Setup& setup, bool global)
      : Pool(setup, global), counts_padding_(setup.node.int_or("count_include_pad", 0) != 0) {}

  /// The sum over the window in row-major order, divided by the number of its places.
  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    Windows windows(spatial);
    std::vector<const float*> rows;
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      rows.clear();
      windows.for_each_place(out, [&](int64_t place) { rows.push_back(x + (n * places + place) * channels); });
      int64_t count = 1;
      for (size_t k = 0; k < spatial.size(); ++k) {
        const Span& span = windows.span(k, out[k]);
        count *= counts_padding_ ? span.padded : span.count;
      }
      kernels::mean_of_rows(rows.data(), rows.size(), static_cast<size_t>(channels),
                            static_cast<float>(std::max<int64_t>(1, count)), y + at * channels);
    });
  }

 private:
  bool counts_padding_;
};

template <class K>
Op pool(std::string_view type, bool global) {
  return {.domain = "", .type = type, .prepare = [global](Setup& setup) { return std::make_unique<K>(setup, global); }};
}

}  // namespace

std::vector<Op> pool_ops() {
  return {pool<MaxPool>("MaxPool", false), pool<MaxPool>("GlobalMaxPool", true),
          pool<AveragePool>("AveragePool", false), pool<AveragePool>("GlobalAveragePool", true)};
}

}  // namespace tersor::ops
