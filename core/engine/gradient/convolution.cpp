// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose of one or two spatial axes, channels last. The gradient by the input is a convolution of the
// output's, with zeros between its elements where the steps are longer than 1, by the weights turned around. That by
// the weights is, for each tap, a matrix product over all output places.
#include <algorithm>
#include <optional>

#include "core/gradient/kernel.h"
#include "core/graph/attribute_defaults.h"
#include "core/kernels/conv.h"
#include "core/kernels/gemm.h"
#include "core/kernels/gradients.h"
#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::gradient {

namespace {

int64_t whole_lines(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// The attributes of a Conv, and the places of its window over an input x by weights w.
class ConvKernel : public ops::Kernel {
 public:
  explicit ConvKernel(const ops::Setup& setup) : window_(setup), group_(setup.node.int_or("group", 1)) {}

 protected:
  struct Sizes {
    ops::WindowAxis rows, columns;
    int64_t batch = 0, group = 1, inputs = 0, outputs = 0;  // channels of x and y
    int64_t taps() const { return rows.kernel * columns.kernel; }
    bool one_output_each() const { return group > 1 && group == outputs && inputs == outputs; }
  };

  Sizes sizes(const Shape& x, const Shape& w) const {
    const std::vector<int64_t> kernel(w.begin() + 2, w.end());
    const std::vector<ops::WindowAxis> axes = window_.place(x, kernel);
    Sizes s;
    s.columns = axes.back();
    if (axes.size() == 2) s.rows = axes[0];
    s.batch = x[0], s.group = group_, s.inputs = x[1], s.outputs = w[0];
    return s;
  }
  int64_t group() const { return group_; }

 private:
  ops::Window window_;
  int64_t group_;
};

/// ConvInputGradient(dy, w, x).
class ConvInputGradient : public ConvKernel {
 public:
  explicit ConvInputGradient(ops::Setup& setup) : ConvKernel(setup) {
    const Tensor* w = setup.constant(1);
    if (w == nullptr || !setup.will_run) return;
    constexpr int64_t kAnyLength = 1 << 16;
    std::vector<int64_t> x(static_cast<size_t>(w->shape().rank()), kAnyLength);
    x[0] = 1, x[1] = w->shape()[1] * group();
    packed_.emplace(sizes(Shape(x), w->shape()), w->aligned().data<float>().data());
    setup.absorb(1);
  }

  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = ops::Layout::kChannelsLast;
    forms[2].layout = inputs[2].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs[2].shape(), ops::Layout::kChannelsLast}};
  }
  int64_t scratch_bytes(std::span<const ops::Input> inputs, std::span<const ops::TensorType>) const override {
    const Sizes s = sizes(inputs[2].shape(), inputs[1].shape());
    return spread_bytes(s) +
           (s.one_output_each() ? 0 : kernels::Conv::scratch_bytes(shape_of(s), turned(s.rows), turned(s.columns)));
  }

  void run(const ops::Call& call) const override {
    const Sizes s = sizes(call.inputs[2].shape(), call.inputs[1].shape());
    const float* dy = call.inputs[0].values<float>().data();
    float* dx = call.outputs[0].values<float>().data();
    const int64_t spread = spread_bytes(s);
    if (spread != 0) dy = spread_out(s, dy, reinterpret_cast<float*>(call.scratch.data()));
    const auto scratch = call.scratch.subspan(static_cast<size_t>(spread));
    if (packed_) return packed_->run(s, dy, scratch, dx);
    Packed(s, call.inputs[1].values<float>().data()).run(s, dy, scratch, dx);
  }

 private:
  /// The weights turned around.
  struct Packed {
    kernels::Conv conv;
    kernels::Depthwise depthwise;

    Packed(const Sizes& s, const float* w) {
      const std::vector<float> weights = turned_weights(s, w);
      if (s.one_output_each())
        depthwise = kernels::Depthwise(s.group, s.rows.kernel, s.columns.kernel, weights.data());
      else
        conv = kernels::Conv(shape_of(s), weights.data());
    }
    void run(const Sizes& s, const float* dy, std::span<std::byte> scratch, float* dx) const {
      const kernels::ConvAxis rows = turned(s.rows), columns = turned(s.columns);
      if (!depthwise.empty()) return depthwise.run(dy, s.batch, rows, columns, {}, dx);
      conv.run(dy, s.batch, rows, columns, {}, scratch, dx);
    }
  };

  static int64_t spread_length(const ops::WindowAxis& axis) { return (axis.out - 1) * axis.stride + 1; }
  static int64_t spread_bytes(const Sizes& s) {
    if (s.rows.stride == 1 && s.columns.stride == 1) return 0;
    return whole_lines(s.batch * spread_length(s.rows) * spread_length(s.columns) * s.outputs * 4);
  }
  static kernels::ConvAxis turned(const ops::WindowAxis& axis) {
    const int64_t before = axis.extent() - 1 - axis.before;
    if (before < 0) ops::unsupported("A convolution with pads larger than its window has no gradient here.");
    return {.in = spread_length(axis),
            .out = axis.in,
            .kernel = axis.kernel,
            .stride = 1,
            .dilation = axis.dilation,
            .before = before};
  }
  static kernels::ConvWeights shape_of(const Sizes& s) {
    const bool unit = s.rows.dilation == 1 && s.columns.dilation == 1;
    return {s.outputs, s.inputs, s.group, s.rows.kernel, s.columns.kernel, s.columns.dilation > 1, unit};
  }

  /// Zeros between the elements of dy, as many as the steps leave out.
  static const float* spread_out(const Sizes& s, const float* dy, float* to) {
    const int64_t height = spread_length(s.rows), width = spread_length(s.columns), channels = s.outputs;
    std::fill_n(to, s.batch * height * width * channels, 0.0f);
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t r = 0; r < s.rows.out; ++r)
        for (int64_t c = 0; c < s.columns.out; ++c, dy += channels)
          std::copy_n(dy, channels, to + ((n * height + r * s.rows.stride) * width + c * s.columns.stride) * channels);
    return to;
  }

  /// Outputs and inputs changed with each other inside each group, taps from the last to the first.
  static std::vector<float> turned_weights(const Sizes& s, const float* w) {
    const int64_t taps = s.taps(), outputs = s.outputs / s.group, inputs = s.inputs / s.group;
    std::vector<float> turned(static_cast<size_t>(s.outputs * inputs * taps));
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t i = 0; i < inputs; ++i) {
          const float* from = w + ((g * outputs + o) * inputs + i) * taps;
          float* to = turned.data() + ((g * inputs + i) * outputs + o) * taps;
          for (int64_t t = 0; t < taps; ++t) to[t] = from[taps - 1 - t];
        }
    return turned;
  }

  std::optional<Packed> packed_;  // where the weights are a constant
};

/// ConvWeightGradient(x, dy, w).
class ConvWeightGradient : public ConvKernel {
 public:
  explicit ConvWeightGradient(ops::Setup& setup) : ConvKernel(setup) {}

  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = forms[1].layout = ops::Layout::kChannelsLast;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs[2].shape(), ops::Layout::kPlain}};
  }
  int64_t scratch_bytes(std::span<const ops::Input> inputs, std::span<const ops::TensorType>) const override {
    const Sizes s = sizes(inputs[0].shape(), inputs[2].shape());
    if (s.one_output_each()) return whole_lines(s.inputs * 8);
    return Parts(s, nullptr).bytes;
  }

  void run(const ops::Call& call) const override {
    const Sizes s = sizes(call.inputs[0].shape(), call.inputs[2].shape());
    const float *x = call.inputs[0].values<float>().data(), *dy = call.inputs[1].values<float>().data();
    float* dw = call.outputs[0].values<float>().data();
    if (s.one_output_each()) return depthwise(s, x, dy, call.scratch.data(), dw);
    const Parts parts(s, call.scratch.data());
    std::fill_n(parts.views, parts.view_floats(s), 0.0f);
    std::fill_n(parts.places, parts.depth * parts.outputs, 0.0f);
    for (int64_t g = 0; g < s.group; ++g)
      for (int64_t n = 0; n < s.batch; ++n) {
        spread_input(s, parts, x + n * s.rows.in * s.columns.in * s.inputs + g * parts.inputs);
        spread_output(s, parts, dy + n * s.rows.out * s.columns.out * s.outputs + g * parts.outputs);
        multiply(s, parts);
        add_product(s, parts, n == 0, dw + g * parts.outputs * parts.inputs * s.taps());
      }
  }

 private:
  /// x channel by channel with its padding, so that what a tap meets at all output places lies one after the other:
  /// for steps longer than 1 the rows and columns of one remainder stand by themselves. dy has gaps of zeros where a
  /// row ends before the padding does.
  struct Parts {
    int64_t inputs, outputs;  // channels of a group
    int64_t rows, columns;    // of a plane
    int64_t plane;            // and its elements; one for each pair of remainders
    int64_t depth;            // output places with the gaps between them
    int64_t bytes;            // of all three:
    float *views = nullptr, *places = nullptr, *product = nullptr;

    Parts(const Sizes& s, std::byte* scratch)
        : inputs(s.inputs / s.group),
          outputs(s.outputs / s.group),
          rows(length(s.rows)),
          columns(length(s.columns)),
          plane(rows * columns),
          depth((s.rows.out - 1) * columns + s.columns.out) {
      const int64_t of_views = whole_lines(view_floats(s) * 4), of_places = whole_lines(depth * outputs * 4);
      bytes = of_views + of_places + whole_lines(s.taps() * inputs * outputs * 4);
      if (scratch == nullptr) return;  // only how many are asked for
      views = reinterpret_cast<float*>(scratch);
      places = reinterpret_cast<float*>(scratch + of_views);
      product = reinterpret_cast<float*>(scratch + of_views + of_places);
    }
    int64_t planes(const Sizes& s) const { return s.rows.stride * s.columns.stride; }
    int64_t view_floats(const Sizes& s) const { return inputs * planes(s) * plane; }

    /// Places of one remainder that windows reach.
    static int64_t length(const ops::WindowAxis& axis) { return axis.out + (axis.extent() - 1) / axis.stride; }
  };

  /// What lies beyond the last window is left out.
  static void spread_input(const Sizes& s, const Parts& parts, const float* x) {
    for (int64_t r = 0; r < s.rows.in; ++r) {
      const int64_t down = r + s.rows.before, row = down / s.rows.stride;
      if (row >= parts.rows) break;
      for (int64_t c = 0; c < s.columns.in; ++c) {
        const int64_t right = c + s.columns.before, column = right / s.columns.stride;
        if (column >= parts.columns) break;
        const int64_t remainder = down % s.rows.stride * s.columns.stride + right % s.columns.stride;
        float* to = parts.views + remainder * parts.plane + row * parts.columns + column;
        const float* from = x + (r * s.columns.in + c) * s.inputs;
        const int64_t step = parts.planes(s) * parts.plane;
        for (int64_t i = 0; i < parts.inputs; ++i) to[i * step] = from[i];
      }
    }
  }

  static void spread_output(const Sizes& s, const Parts& parts, const float* dy) {
    for (int64_t r = 0; r < s.rows.out; ++r)
      for (int64_t c = 0; c < s.columns.out; ++c, dy += s.outputs)
        std::copy_n(dy, parts.outputs, parts.places + (r * parts.columns + c) * parts.outputs);
  }

  /// For each tap and input channel its view of x times dy.
  static void multiply(const Sizes& s, const Parts& parts) {
    const kernels::Panels panels = kernels::pack_matrix(parts.places, parts.depth, parts.outputs, false);
    const float* pointers[kernels::kRowsPerCall];
    const int64_t all = s.taps() * parts.inputs;
    for (int64_t first = 0; first < all; first += kernels::kRowsPerCall) {
      const int64_t count = std::min(kernels::kRowsPerCall, all - first);
      for (int64_t k = 0; k < count; ++k) {
        const int64_t tap = (first + k) / parts.inputs, i = (first + k) % parts.inputs;
        const int64_t down = tap / s.columns.kernel * s.rows.dilation,
                      right = tap % s.columns.kernel * s.columns.dilation;
        const int64_t remainder = down % s.rows.stride * s.columns.stride + right % s.columns.stride;
        pointers[k] = parts.views + (i * parts.planes(s) + remainder) * parts.plane +
                      down / s.rows.stride * parts.columns + right / s.columns.stride;
      }
      kernels::multiply_rows(panels, {pointers, count}, {}, parts.product + first * parts.outputs, parts.outputs);
    }
  }

  static void add_product(const Sizes& s, const Parts& parts, bool is_first, float* dw) {
    const int64_t taps = s.taps();
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t i = 0; i < parts.inputs; ++i) {
        const float* from = parts.product + (tap * parts.inputs + i) * parts.outputs;
        float* to = dw + i * taps + tap;
        for (int64_t o = 0; o < parts.outputs; ++o, to += parts.inputs * taps) *to = is_first ? from[o] : *to + from[o];
      }
  }

  /// The output columns whose tap lies inside the input.
  static std::pair<int64_t, int64_t> inside(const ops::WindowAxis& axis, int64_t offset) {
    int64_t first = 0, end = axis.out;
    while (first < end && first * axis.stride + offset < 0) ++first;
    while (end > first && (end - 1) * axis.stride + offset >= axis.in) --end;
    return {first, end};
  }

  /// Each channel by itself: sums of a row in float, of the rows in double.
  static void depthwise(const Sizes& s, const float* x, const float* dy, std::byte* scratch, float* dw) {
    const int64_t channels = s.inputs, taps = s.taps();
    auto* sums = reinterpret_cast<double*>(scratch);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t down = tap / s.columns.kernel * s.rows.dilation - s.rows.before,
                    right = tap % s.columns.kernel * s.columns.dilation - s.columns.before;
      const auto [first, end] = inside(s.columns, right);
      std::fill_n(sums, channels, 0.0);
      for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t r = 0; r < s.rows.out; ++r) {
          const int64_t row = r * s.rows.stride + down;
          if (row < 0 || row >= s.rows.in) continue;
          const float* from = x + ((n * s.rows.in + row) * s.columns.in + first * s.columns.stride + right) * channels;
          const float* by = dy + ((n * s.rows.out + r) * s.columns.out + first) * channels;
          kernels::add_row_of_products(from, static_cast<size_t>(s.columns.stride * channels), by,
                                       static_cast<size_t>(end - first), static_cast<size_t>(channels), sums);
        }
      for (int64_t k = 0; k < channels; ++k) dw[k * taps + tap] = static_cast<float>(sums[k]);
    }
  }
};

/// ChannelSum(dy, bias): dy summed over all but the channels; in double.
class ChannelSum : public ops::Kernel {
 public:
  explicit ChannelSum(ops::Setup&) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0].layout = ops::Layout::kChannelsLast;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs[1].shape(), ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const std::span<const float> dy = call.inputs[0].values<float>();
    const std::span<float> to = call.outputs[0].values<float>();
    std::vector<double> sums(to.size(), 0.0);
    kernels::add_products_by_column({dy.data(), nullptr, nullptr, dy.size() / to.size(), to.size()}, sums.data());
    for (size_t c = 0; c < sums.size(); ++c) to[c] = static_cast<float>(sums[c]);
  }
};

/// ChannelProduct(dy, y, bias): by channel (those of convolutions on axis 1, else on the last), the sum over all else
/// of dy times y less bias. Each product in float, sums in double.
class ChannelProduct : public ops::Kernel {
 public:
  explicit ChannelProduct(const ops::Setup& setup) : is_last_(setup.node.int_or("channel_axis", -1) < 0) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    if (!is_last_) forms[0].layout = forms[1].layout = ops::Layout::kChannelsLast;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    const Shape& shape = inputs[1].shape();
    const int64_t channels = shape[is_last_ ? shape.rank() - 1 : 1];
    return {{DType::kFloat32, Shape{channels}, ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const std::span<const float> dy = call.inputs[0].values<float>(), y = call.inputs[1].values<float>();
    const std::span<float> to = call.outputs[0].values<float>();
    const bool has_bias = call.inputs.size() > 2 && call.inputs[2].present();
    std::vector<double> sums(to.size(), 0.0);
    const float* bias = has_bias ? call.inputs[2].values<float>().data() : nullptr;
    kernels::add_products_by_column({dy.data(), y.data(), bias, dy.size() / to.size(), to.size()}, sums.data());
    for (size_t c = 0; c < to.size(); ++c) to[c] = static_cast<float>(sums[c]);
  }

 private:
  bool is_last_;
};

Attributes window_of(const Node& node) {
  Attributes attributes;
  for (const char* name : {"strides", "dilations", "pads", "auto_pad", "group"}) {
    const auto found = node.attributes.find(name);
    if (found != node.attributes.end()) attributes[name] = found->second;
  }
  return attributes;
}

void require_planes(Backward& b) {
  if (b.rank(b.node().inputs[1]) > 4)
    ops::unsupported("A " + b.node().op_type + " of three spatial axes has no gradient here.");
}

void convolution(Backward& b) {
  require_planes(b);
  const Node& node = b.node();
  const ValueId x = node.inputs[0], w = node.inputs[1], dy = b.by_output();
  if (b.wants(0)) b.give(0, b.own("ConvInputGradient", {dy, w, x}, window_of(node)));
  if (b.wants(1)) b.give(1, b.own("ConvWeightGradient", {x, dy, w}, window_of(node)));
  if (b.wants(2)) b.give(2, b.own("ChannelSum", {dy, node.inputs[2]}));
}

/// The transposed convolution's weights are those of the convolution that it turns around.
void transposed_convolution(Backward& b) {
  require_planes(b);
  const Node& node = b.node();
  if (string_of(node, "auto_pad") != "NOTSET" || node.attributes.contains("output_shape"))
    ops::unsupported("A ConvTranspose that finds its pads itself has no gradient here.");
  const ValueId x = node.inputs[0], w = node.inputs[1], dy = b.by_output();
  if (b.wants(0)) b.give(0, b.emit("Conv", {dy, w}, window_of(node)));
  if (b.wants(1)) b.give(1, b.own("ConvWeightGradient", {dy, x, w}, window_of(node)));
  if (b.wants(2)) b.give(2, b.own("ChannelSum", {dy, node.inputs[2]}));
}

}  // namespace

Family convolution_family() {
  return {
      {{"", "Conv", convolution}, {"", "ConvTranspose", transposed_convolution}},
      {kernel_record<ConvInputGradient>("ConvInputGradient"), kernel_record<ConvWeightGradient>("ConvWeightGradient"),
       kernel_record<ChannelSum>("ChannelSum"), kernel_record<ChannelProduct>("ChannelProduct")}};
}

}  // namespace tersor::gradient
