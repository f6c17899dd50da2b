// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose of one or two spatial axes, channels last. The gradient by the input is a convolution of the
// output's, with zeros between its elements where the steps are longer than 1, by the weights turned around. That by
// the weights is, for each tap, a matrix product over all places.
#include <algorithm>

#include "core/gradient/kernel.h"
#include "core/kernels/add_scaled.h"
#include "core/kernels/conv.h"
#include "core/kernels/gemm.h"
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

 private:
  ops::Window window_;
  int64_t group_;
};

/// ConvInputGradient(dy, w, x).
class ConvInputGradient : public ConvKernel {
 public:
  explicit ConvInputGradient(ops::Setup& setup) : ConvKernel(setup) {}

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
    const std::vector<float> weights = turned_weights(s, call.inputs[1].values<float>().data());
    const kernels::ConvAxis rows = turned(s.rows), columns = turned(s.columns);
    if (s.one_output_each())
      return kernels::Depthwise(s.group, s.rows.kernel, s.columns.kernel, weights.data())
          .run(dy, s.batch, rows, columns, {}, dx);
    kernels::Conv(shape_of(s), weights.data())
        .run(dy, s.batch, rows, columns, {}, call.scratch.subspan(static_cast<size_t>(spread)), dx);
  }

 private:
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
    if (s.one_output_each()) return whole_lines(s.inputs * 8) + whole_lines(s.inputs * 4);
    const int64_t inputs_each = s.inputs / s.group, outputs_each = s.outputs / s.group;
    return whole_lines(inputs_each * places(s) * 4) + whole_lines(inputs_each * outputs_each * 4) +
           (s.group == 1 ? 0 : whole_lines(outputs_each * places(s) * 4));
  }

  void run(const ops::Call& call) const override {
    const Sizes s = sizes(call.inputs[0].shape(), call.inputs[2].shape());
    const float *x = call.inputs[0].values<float>().data(), *dy = call.inputs[1].values<float>().data();
    float* dw = call.outputs[0].values<float>().data();
    if (s.one_output_each()) return depthwise(s, x, dy, call.scratch.data(), dw);
    const int64_t inputs = s.inputs / s.group, outputs = s.outputs / s.group, count = places(s), taps = s.taps();
    auto* columns = reinterpret_cast<float*>(call.scratch.data());
    auto* product = columns + whole_lines(inputs * count * 4) / 4;
    auto* part = product + whole_lines(inputs * outputs * 4) / 4;
    for (int64_t g = 0; g < s.group; ++g) {
      const float* rows = dy;
      if (s.group != 1) {
        for (int64_t p = 0; p < count; ++p) std::copy_n(dy + p * s.outputs + g * outputs, outputs, part + p * outputs);
        rows = part;
      }
      const kernels::Panels panels = kernels::pack_matrix(rows, count, outputs, false);
      for (int64_t tap = 0; tap < taps; ++tap) {
        gather(s, x, g * inputs, inputs, tap, columns);
        kernels::gemm(columns, inputs, panels, {}, product);
        for (int64_t i = 0; i < inputs; ++i)
          for (int64_t o = 0; o < outputs; ++o)
            dw[((g * outputs + o) * inputs + i) * taps + tap] = product[i * outputs + o];
      }
    }
  }

 private:
  static int64_t places(const Sizes& s) { return s.batch * s.rows.out * s.columns.out; }

  /// The output columns whose tap lies inside the input.
  static std::pair<int64_t, int64_t> inside(const ops::WindowAxis& axis, int64_t offset) {
    int64_t first = 0, end = axis.out;
    while (first < end && first * axis.stride + offset < 0) ++first;
    while (end > first && (end - 1) * axis.stride + offset >= axis.in) --end;
    return {first, end};
  }

  /// What the tap meets at each output place, channel by channel; 0 outside the input.
  static void gather(const Sizes& s, const float* x, int64_t channel, int64_t channels, int64_t tap, float* columns) {
    const int64_t count = places(s), down = tap / s.columns.kernel * s.rows.dilation - s.rows.before,
                  right = tap % s.columns.kernel * s.columns.dilation - s.columns.before;
    const auto [first, end] = inside(s.columns, right);
    const int64_t step = s.columns.stride * s.inputs;
    int64_t p = 0;
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t r = 0; r < s.rows.out; ++r, p += s.columns.out) {
        const int64_t row = r * s.rows.stride + down;
        const bool outside = row < 0 || row >= s.rows.in;
        const float* from = x + ((n * s.rows.in + row) * s.columns.in + first * s.columns.stride + right) * s.inputs;
        for (int64_t i = 0; i < channels; ++i) {
          float* to = columns + i * count + p;
          std::fill_n(to, s.columns.out, 0.0f);
          if (outside) continue;
          for (int64_t c = first; c < end; ++c) to[c] = from[(c - first) * step + channel + i];
        }
      }
  }

  /// Each channel by itself: sums of a row in float, of the rows in double.
  static void depthwise(const Sizes& s, const float* x, const float* dy, std::byte* scratch, float* dw) {
    const int64_t channels = s.inputs, taps = s.taps();
    auto* sums = reinterpret_cast<double*>(scratch);
    auto* line = reinterpret_cast<float*>(scratch + whole_lines(channels * 8));
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
          std::fill_n(line, channels, 0.0f);
          for (int64_t c = first; c < end; ++c, from += s.columns.stride * channels, by += channels)
            for (int64_t k = 0; k < channels; ++k) line[k] += from[k] * by[k];
          for (int64_t k = 0; k < channels; ++k) sums[k] += static_cast<double>(line[k]);
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
    for (size_t at = 0; at < dy.size(); at += sums.size())
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += static_cast<double>(dy[at + c]);
    for (size_t c = 0; c < sums.size(); ++c) to[c] = static_cast<float>(sums[c]);
  }
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
  if (node.string_or("auto_pad", "NOTSET") != "NOTSET" || node.attributes.contains("output_shape"))
    ops::unsupported("A ConvTranspose that finds its pads itself has no gradient here.");
  const ValueId x = node.inputs[0], w = node.inputs[1], dy = b.by_output();
  if (b.wants(0)) b.give(0, b.emit("Conv", {dy, w}, window_of(node)));
  if (b.wants(1)) b.give(1, b.own("ConvWeightGradient", {dy, x, w}, window_of(node)));
  if (b.wants(2)) b.give(2, b.own("ChannelSum", {dy, node.inputs[2]}));
}

}  // namespace

Family convolution_family() {
  return {{{"", "Conv", convolution}, {"", "ConvTranspose", transposed_convolution}},
          {kernel_record<ConvInputGradient>("ConvInputGradient"),
           kernel_record<ConvWeightGradient>("ConvWeightGradient"), kernel_record<ChannelSum>("ChannelSum")}};
}

}  // namespace tersor::gradient
