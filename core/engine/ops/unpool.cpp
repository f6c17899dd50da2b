// SPDX-License-Identifier: Apache-2.0
// Operators that put pieces back into a picture: MaxUnpool each maximum to the place it came from, Col2Im the columns
// of a convolution, adding where they overlap.
#include <algorithm>
#include <cstring>

#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/integer_list.h"
#include "core/ops/strided.h"
#include "core/ops/window.h"

namespace tersor::ops {

namespace {

/// Strides and dilations of 1 and pads of 0 where the node says nothing. Error kInvalidModel for other lengths.
struct Steps {
  std::vector<int64_t> strides, dilations, pads;

  Steps(const Setup& setup, size_t spatial)
      : strides(setup.node.ints_or("strides", std::vector<int64_t>(spatial, 1))),
        dilations(setup.node.ints_or("dilations", std::vector<int64_t>(spatial, 1))),
        pads(setup.node.ints_or("pads", std::vector<int64_t>(2 * spatial, 0))) {}

  void check(size_t spatial) const {
    require_positive(strides, "strides");
    require_positive(dilations, "dilations");
    for (const int64_t pad : pads)
      if (pad < 0 || pad > int64_t{1} << 31) invalid("The attribute pads is " + text_of(pads) + ".");
    if (strides.size() != spatial || dilations.size() != spatial || pads.size() != 2 * spatial)
      invalid("The strides " + text_of(strides) + ", dilations " + text_of(dilations) + " or pads " + text_of(pads) +
              " do not fit " + std::to_string(spatial) + " spatial axes.");
  }
};

class MaxUnpool : public Kernel {
 public:
  explicit MaxUnpool(const Setup& setup)
      : kernel_(setup.node.ints_or("kernel_shape", {})), steps_(setup, kernel_.size()) {
    require_inputs(setup, 2, 3);
    require_positive(kernel_, "kernel_shape");
    if (kernel_.empty()) invalid("The attribute kernel_shape is missing.");
    steps_.check(kernel_.size());
    sized_ = setup.has_input(2);
  }

  std::vector<size_t> value_inputs() const override { return sized_ ? std::vector<size_t>{2} : std::vector<size_t>{}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    require_type(inputs[1], {DType::kInt64}, "I");
    const Shape& x = inputs[0].shape();
    if (!(x == inputs[1].shape()) || x.rank() != static_cast<int>(kernel_.size()) + 2)
      invalid("The inputs have the shapes " + x.text() + " and " + inputs[1].shape().text() + "; the window has " +
              std::to_string(kernel_.size()) + " axes.");
    const Shape natural = natural_shape(x);
    if (!sized_) return {{DType::kFloat32, natural, Layout::kPlain}};
    const Shape wanted(integers_of(inputs[2], "output_shape"));
    bool fits = wanted.rank() == x.rank() && wanted[0] == x[0] && wanted[1] == x[1];
    for (int k = 2; fits && k < x.rank(); ++k) fits = wanted[k] >= natural[k];
    if (!fits) invalid("The output_shape is " + wanted.text() + "; the input unpools to " + natural.text() + ".");
    return {{DType::kFloat32, wanted, Layout::kPlain}};
  }

  /// Indices count over the natural output; a larger one is padded at the end.
  void run(const Call& call) const override {
    const Shape natural = natural_shape(call.inputs[0].shape());
    const Shape& out = call.outputs[0].shape();
    const std::vector<int64_t> steps = row_major_strides(out.dims());
    const auto x = call.inputs[0].values<float>();
    const auto indices = call.inputs[1].values<int64_t>();
    const auto y = call.outputs[0].values<float>();
    std::fill(y.begin(), y.end(), 0.0f);
    for (size_t k = 0; k < x.size(); ++k) {
      int64_t rest = indices[k], at = 0;
      if (rest < 0 || rest >= natural.elements())
        invalid("The index " + std::to_string(rest) + " is outside the " + std::to_string(natural.elements()) +
                " places of the output.");
      for (int axis = out.rank(); axis-- > 0; rest /= natural[axis])
        at += rest % natural[axis] * steps[static_cast<size_t>(axis)];
      y[static_cast<size_t>(at)] = x[k];
    }
  }

 private:
  Shape natural_shape(const Shape& x) const {
    std::vector<int64_t> dims{x[0], x[1]};
    const size_t spatial = kernel_.size();
    for (size_t k = 0; k < spatial; ++k) {
      const int64_t length =
          (x[static_cast<int>(k) + 2] - 1) * steps_.strides[k] + kernel_[k] - steps_.pads[k] - steps_.pads[k + spatial];
      if (length < 0) invalid("The pads " + text_of(steps_.pads) + " leave nothing of the shape " + x.text() + ".");
      dims.push_back(length);
    }
    return Shape(std::move(dims));
  }

  std::vector<int64_t> kernel_;
  Steps steps_;
  bool sized_ = false;
};

class Col2Im : public Kernel {
 public:
  explicit Col2Im(const Setup& setup)
      : strides_(setup.node.ints_or("strides", {})),
        dilations_(setup.node.ints_or("dilations", {})),
        pads_(setup.node.ints_or("pads", {})) {
    require_inputs(setup, 3, 3);
    require_positive(strides_, "strides");
    require_positive(dilations_, "dilations");
    for (const int64_t pad : pads_)
      if (pad < 0 || pad > int64_t{1} << 31) invalid("The attribute pads is " + text_of(pads_) + ".");
  }

  std::vector<size_t> value_inputs() const override { return {1, 2}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "input");
    const Sizes s = sizes(inputs);
    std::vector<int64_t> dims{s.batch, s.channels};
    for (const WindowAxis& axis : s.axes) dims.push_back(axis.in);
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const auto y = call.outputs[0].values<float>();
    std::fill(y.begin(), y.end(), 0.0f);
    const float* x = call.inputs[0].values<float>().data();
    float* image = y.data();
    const size_t spatial = s.axes.size();
    std::vector<int64_t> tap(spatial), block(spatial);
    for (int64_t picture = 0; picture < s.batch * s.channels; ++picture, image += s.image)
      for (int64_t t = 0; t < s.taps; ++t) {
        int64_t rest = t;
        for (size_t k = spatial; k-- > 0; rest /= s.axes[k].kernel) tap[k] = rest % s.axes[k].kernel;
        for (int64_t b = 0; b < s.blocks; ++b, ++x) {
          int64_t at = 0, index = b, step = 1;
          bool inside = true;
          for (size_t k = spatial; k-- > 0; index /= s.axes[k].out, step *= s.axes[k].in) {
            const WindowAxis& axis = s.axes[k];
            const int64_t place = index % axis.out * axis.stride - axis.before + tap[k] * axis.dilation;
            inside = inside && place >= 0 && place < axis.in;
            at += place * step;
          }
          if (inside) image[at] += *x;
        }
      }
  }

 private:
  struct Sizes {
    int64_t batch = 0, channels = 0;
    int64_t taps = 1, blocks = 1, image = 1;  // of one picture
    std::vector<WindowAxis> axes;             // `in` is the picture, `out` counts blocks
  };

  Sizes sizes(std::span<const Input> inputs) const {
    const std::vector<int64_t> image = integers_of(inputs[1], "image_shape");
    const std::vector<int64_t> block = integers_of(inputs[2], "block_shape");
    require_rank(inputs[0], 3, "input");
    require_positive(block, "block_shape");
    require_positive(image, "image_shape");
    const size_t spatial = image.size();
    const auto fits = [&](const std::vector<int64_t>& list, size_t count) {
      return list.empty() || list.size() == count;
    };
    if (spatial == 0 || block.size() != spatial || !fits(strides_, spatial) || !fits(dilations_, spatial) ||
        !fits(pads_, 2 * spatial))
      invalid("The image " + text_of(image) + ", the block " + text_of(block) + " and the attributes do not fit.");
    const Shape whole(image), window(block);  // checks their sizes
    Sizes s;
    s.image = whole.elements();
    s.taps = window.elements();
    for (size_t k = 0; k < spatial; ++k) {
      WindowAxis axis;
      axis.in = image[k];
      axis.kernel = block[k];
      axis.stride = strides_.empty() ? 1 : strides_[k];
      axis.dilation = dilations_.empty() ? 1 : dilations_[k];
      axis.before = pads_.empty() ? 0 : pads_[k];
      axis.after = pads_.empty() ? 0 : pads_[k + spatial];
      const int64_t room = axis.in + axis.before + axis.after - axis.extent();
      if (room < 0)
        invalid("A block of " + std::to_string(axis.extent()) + " does not fit an image of " + text_of(image) + ".");
      axis.out = room / axis.stride + 1;
      s.axes.push_back(axis);
    }
    std::vector<int64_t> counts;
    for (const WindowAxis& axis : s.axes) counts.push_back(axis.out);
    s.blocks = Shape(counts).elements();
    const Shape& x = inputs[0].shape();
    if (x[1] % s.taps != 0 || x[2] != s.blocks)
      invalid("The input has the shape " + x.text() + "; " + std::to_string(s.blocks) + " blocks of " +
              std::to_string(s.taps) + " places are expected.");
    s.batch = x[0];
    s.channels = x[1] / s.taps;
    return s;
  }

  std::vector<int64_t> strides_, dilations_, pads_;
};

}  // namespace

std::vector<Op> unpool_ops() {
  return {
      {.domain = "", .type = "MaxUnpool", .since = 9, .prepare = make_kernel<MaxUnpool>},
      {.domain = "", .type = "Col2Im", .since = 18, .prepare = make_kernel<Col2Im>},
  };
}

}  // namespace tersor::ops
