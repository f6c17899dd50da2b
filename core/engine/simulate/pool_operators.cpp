// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool, QLinearGlobalAveragePool, MaxPool on integers and QLinearSoftmax.
#include <algorithm>
#include <cstring>

#include "core/simulate/operator_parts.h"
#include "core/simulate/qlinear_pool.h"
#include "core/simulate/qlinear_softmax.h"
#include "core/simulate/window.h"

namespace tersor::simulate {

namespace {

/// Calls `visit(output place, window)` for each output place of one picture, in row-major order.
template <class Visit>
void for_each_window(const Window& window, std::span<const int64_t> sizes, std::span<const int64_t> out_sizes,
                     bool count_padding, Visit&& visit) {
  const size_t axes = sizes.size();
  const std::vector<int64_t> pads = window.pads_for(sizes, window.kernel);
  std::vector<int64_t> place(axes, 0), tap(axes, 0);
  int64_t places = 1, taps = 1;
  for (size_t i = 0; i < axes; ++i) places *= out_sizes[i], taps *= window.kernel[i];
  PoolWindow found;
  for (int64_t p = 0; p < places; ++p) {
    int64_t rest = p;
    for (size_t i = axes; i-- > 0; rest /= out_sizes[i]) place[i] = rest % out_sizes[i];
    found.offsets.clear();
    for (int64_t t = 0; t < taps; ++t) {
      int64_t left = t, offset = 0;
      for (size_t i = axes; i-- > 0; left /= window.kernel[i]) tap[i] = left % window.kernel[i];
      bool inside = true;
      for (size_t i = 0; i < axes; ++i) {
        const int64_t at = place[i] * window.strides[i] - pads[i] + tap[i] * window.dilations[i];
        inside = inside && at >= 0 && at < sizes[i];
        offset = offset * sizes[i] + at;
      }
      if (inside) found.offsets.push_back(offset);
    }
    found.divisor = count_padding ? taps : static_cast<int64_t>(found.offsets.size());
    visit(p, found);
  }
}

/// Where a pooling node has its channels. The attribute channels_last declares shapes as N, spatial axes, C, whose
/// bytes are those of the layout that the kernels take: only the shapes differ.
class ChannelAxis {
 public:
  explicit ChannelAxis(const Node& node) : last_(node.int_or("channels_last", 0) != 0) {}

  Layout layout() const { return last_ ? Layout::kPlain : Layout::kChannelsLast; }
  /// N, C, spatial axes of the shape that the node has.
  Shape channels_first(const Shape& shape) const {
    std::vector<int64_t> dims = shape.dims();
    if (last_ && dims.size() > 2) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    return Shape(dims);
  }
  /// The node's type of an output with that shape.
  TensorType type(DType dtype, std::vector<int64_t> dims) const {
    if (last_) std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    return {dtype, Shape(dims), layout()};
  }

 private:
  bool last_;
};

/// What the windowed kernels share: channels last in and out, the output's shape.
class PoolKernel : public ops::Kernel {
 public:
  PoolKernel(const Node& node)
      : channels_(node), window_(node, static_cast<int>(node.ints_or("kernel_shape", {}).size())) {
    if (window_.kernel.empty()) throw Error(ErrorCode::kInvalidModel, "The attribute kernel_shape is missing.");
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    forms[0].layout = channels_.layout();
    return forms;
  }

 protected:
  TensorType pooled(const Input& input, DType dtype) const {
    const Shape shape = channels_.channels_first(input.shape());
    if (shape.rank() != static_cast<int>(window_.kernel.size()) + 2)
      throw Error(ErrorCode::kInvalidModel, "The input of shape " + shape.text() + " does not fit a window of " +
                                                std::to_string(window_.kernel.size()) + " axes.");
    std::vector<int64_t> dims = {shape[0], shape[1]};
    const std::vector<int64_t> sizes = spatial(shape);
    const std::vector<int64_t> pads = window_.pads_for(sizes, window_.kernel);
    for (size_t i = 0; i < sizes.size(); ++i) dims.push_back(window_.out_size(sizes[i], window_.kernel[i], i, pads));
    return channels_.type(dtype, std::move(dims));
  }

  static std::vector<int64_t> spatial(const Shape& shape) { return {shape.dims().begin() + 2, shape.dims().end()}; }

  /// Each output is value_of(the values of its channel, `channels` apart, channels, its window).
  template <class ValueOf>
  void fill(const Call& call, bool count_padding, ValueOf&& value_of) const {
    if (call.outputs[0].elements() == 0) return;
    const Shape in = channels_.channels_first(call.inputs[0].shape());
    const Shape out = channels_.channels_first(call.outputs[0].shape());
    const auto x = raw_bytes(call.inputs[0]);
    const auto y = raw_bytes(call.outputs[0]);
    const int64_t channels = in[1], in_one = in.elements(1, in.rank()), out_one = out.elements(1, out.rank());
    for_each_window(window_, spatial(in), spatial(out), count_padding, [&](int64_t place, const PoolWindow& window) {
      for (int64_t n = 0; n < in[0]; ++n)
        for (int64_t c = 0; c < channels; ++c)
          y[static_cast<size_t>(n * out_one + place * channels + c)] =
              value_of(x.subspan(static_cast<size_t>(n * in_one + c)), channels, window);
    });
  }

  ChannelAxis channels_;
  Window window_;
};

class QLinearAveragePool : public PoolKernel {
 public:
  explicit QLinearAveragePool(Setup& setup)
      : PoolKernel(setup.node),
        x_(grid_at(setup, 1)),
        y_(grid_at(setup, 3)),
        count_padding_(setup.node.int_or("count_include_pad", 0) != 0) {
    for (size_t k = 1; k < setup.node.inputs.size(); ++k) setup.absorb(k);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0], x_);
    return {pooled(inputs[0], dtype_of_grid(y_))};
  }

  void run(const Call& call) const override {
    const std::vector<int64_t> sizes = spatial(channels_.channels_first(call.inputs[0].shape()));
    const std::vector<int64_t> pads = window_.pads_for(sizes, window_.kernel);
    const bool whole =
        sizes == window_.kernel && std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
    fill(call, count_padding_, [&](std::span<const uint8_t> x, int64_t channels, const PoolWindow& window) {
      return whole ? qlinear_global_average(x, channels, window.divisor, x_, y_)
                   : qlinear_average(x, channels, window, x_, y_);
    });
  }

 private:
  Grid x_, y_;
  bool count_padding_;
};

class QLinearGlobalAveragePool : public ops::Kernel {
 public:
  explicit QLinearGlobalAveragePool(Setup& setup)
      : channels_(setup.node), x_(grid_at(setup, 1)), y_(grid_at(setup, 3)) {
    for (size_t k = 1; k < setup.node.inputs.size(); ++k) setup.absorb(k);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    if (inputs[0].shape().rank() >= 3) forms[0].layout = channels_.layout();
    return forms;
  }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0], x_);
    const Shape shape = channels_.channels_first(inputs[0].shape());
    if (shape.rank() < 3) throw Error(ErrorCode::kInvalidModel, "Global pooling of shape " + shape.text() + ".");
    std::vector<int64_t> dims(static_cast<size_t>(shape.rank()), 1);
    dims[0] = shape[0], dims[1] = shape[1];
    return {channels_.type(dtype_of_grid(y_), std::move(dims))};
  }
  void run(const Call& call) const override {
    const Shape in = channels_.channels_first(call.inputs[0].shape());
    const auto x = raw_bytes(call.inputs[0]);
    const auto y = raw_bytes(call.outputs[0]);
    const int64_t channels = in[1], count = in.elements(2, in.rank());
    for (int64_t n = 0; n < in[0]; ++n)
      for (int64_t c = 0; c < channels; ++c)
        y[static_cast<size_t>(n * channels + c)] =
            qlinear_global_average(x.subspan(static_cast<size_t>(n * count * channels + c)), channels, count, x_, y_);
  }

 private:
  ChannelAxis channels_;
  Grid x_, y_;
};

/// The largest raw value of each window; padding counts as the lowest.
class IntegerMaxPool : public PoolKernel {
 public:
  explicit IntegerMaxPool(const Setup& setup) : PoolKernel(setup.node) {}

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    if (inputs[0].dtype() != DType::kUint8 && inputs[0].dtype() != DType::kInt8)
      throw Error(ErrorCode::kUnsupportedModel, "Integer pooling of " + std::string(name_of(inputs[0].dtype())) + ".");
    return {pooled(inputs[0], inputs[0].dtype())};
  }

  void run(const Call& call) const override {
    const Grid grid{1, 0, call.inputs[0].dtype() == DType::kInt8};
    fill(call, false, [&](std::span<const uint8_t> x, int64_t channels, const PoolWindow& window) {
      int32_t most = grid.low();
      for (const int64_t offset : window.offsets)
        most = std::max(most, grid.number(x[static_cast<size_t>(offset * channels)]));
      return static_cast<uint8_t>(most);
    });
  }
};

class SoftmaxKernel : public ops::Kernel {
 public:
  explicit SoftmaxKernel(Setup& setup)
      : x_(grid_at(setup, 1)),
        y_(grid_at(setup, 3)),
        axis_(setup.node.int_or("axis", -1)),
        opset_(setup.node.int_or("opset", 13)) {
    for (size_t k = 1; k < setup.node.inputs.size(); ++k) setup.absorb(k);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0], x_);
    normalize_axis(axis_, inputs[0].shape().rank());
    return {{dtype_of_grid(y_), inputs[0].shape(), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const int axis = normalize_axis(axis_, shape.rank());
    const auto x = raw_bytes(call.inputs[0]);
    const auto y = raw_bytes(call.outputs[0]);
    const int64_t inner = opset_ < 13 ? 1 : shape.elements(axis + 1, shape.rank());
    const int64_t length = opset_ < 13 ? shape.elements(axis, shape.rank()) : shape[axis];
    if (x.empty()) return;
    const QLinearSoftmax softmax(length, x_, y_);
    if (inner == 1) return softmax.run(x, y);
    std::vector<uint8_t> row(static_cast<size_t>(length)), result(row.size());
    for (int64_t outer = 0; outer < shape.elements() / (length * inner); ++outer)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t start = outer * length * inner + i;
        for (int64_t k = 0; k < length; ++k) row[static_cast<size_t>(k)] = x[static_cast<size_t>(start + k * inner)];
        softmax.run(row, result);
        for (int64_t k = 0; k < length; ++k) y[static_cast<size_t>(start + k * inner)] = result[static_cast<size_t>(k)];
      }
  }

 private:
  Grid x_, y_;
  int64_t axis_, opset_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_qlinear_average_pool(Setup& setup, Profile) {
  require_present(setup, {0, 1, 3});
  return std::make_unique<QLinearAveragePool>(setup);
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_global_average_pool(Setup& setup, Profile) {
  require_present(setup, {0, 1, 3});
  return std::make_unique<QLinearGlobalAveragePool>(setup);
}
std::unique_ptr<const ops::Kernel> prepare_integer_max_pool(Setup& setup, Profile) {
  require_present(setup, {0});
  return std::make_unique<IntegerMaxPool>(setup);
}
std::unique_ptr<const ops::Kernel> prepare_qlinear_softmax(Setup& setup, Profile) {
  require_present(setup, {0, 1, 3});
  return std::make_unique<SoftmaxKernel>(setup);
}

}  // namespace tersor::simulate
