// SPDX-License-Identifier: Apache-2.0
// DFT and STFT. Transforms run in double and are rounded once.
#include <algorithm>
#include <complex>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/fourier.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/lines.h"

namespace tersor::ops {

namespace {

using Complex = std::complex<double>;

constexpr int64_t kMostLength = int64_t{1} << 26;

/// Real where the last axis holds one number, complex where it holds two.
int64_t parts_of(const Input& input, std::string_view name) {
  require_type(input, {DType::kFloat32}, name);
  const Shape& shape = input.shape();
  if (shape.rank() < 2 || (shape[shape.rank() - 1] != 1 && shape[shape.rank() - 1] != 2))
    invalid("The input " + std::string(name) + " has the shape " + shape.text() +
            "; its last axis must hold one number or two, the real and the imaginary part.");
  return shape[shape.rank() - 1];
}

Complex number_at(const float* x, int64_t place, int64_t parts) {
  return {static_cast<double>(x[place * parts]), parts == 2 ? static_cast<double>(x[place * parts + 1]) : 0.0};
}

void store(const Complex& number, float* y, int64_t place, int64_t parts) {
  y[place * parts] = static_cast<float>(number.real());
  if (parts == 2) y[place * parts + 1] = static_cast<float>(number.imag());
}

class Dft : public Kernel {
 public:
  explicit Dft(const Setup& setup)
      : axis_is_input_(setup.opset >= 20),
        axis_(int_of(setup.node, "axis")),
        inverse_(int_of(setup.node, "inverse") != 0),
        onesided_(setup.node.int_or("onesided", 0) != 0) {
    require_inputs(setup, 1, axis_is_input_ ? 3 : 2);
    for (size_t k = 1; k < 3; ++k)
      if (setup.has_input(k)) given_.push_back(k);
  }

  std::vector<size_t> value_inputs() const override { return given_; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const int64_t parts = parts_of(inputs[0], "input");
    const Shape& x = inputs[0].shape();
    const int axis = axis_in(inputs);
    if (onesided_ && (inverse_ ? parts != 2 : parts != 1))
      invalid(inverse_ ? "A one-sided inverse transform takes complex numbers; the input is real."
                       : "A one-sided transform takes real numbers; the input is complex.");
    const int64_t length = length_of(inputs);
    if (length < 1 || length > kMostLength) invalid("The length of the transform is " + std::to_string(length) + ".");
    std::vector<int64_t> dims = x.dims();
    dims[static_cast<size_t>(axis)] = onesided_ && !inverse_ ? length / 2 + 1 : length;
    dims.back() = onesided_ && inverse_ ? 1 : 2;
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& x_shape = call.inputs[0].shape();
    const int axis = axis_in(call.inputs);
    const int64_t length = length_of(call.inputs), parts = x_shape[x_shape.rank() - 1];
    const int64_t out_parts = call.outputs[0].shape()[x_shape.rank() - 1];
    const kernels::Fourier fourier(static_cast<size_t>(length), inverse_);
    std::vector<Complex> line(static_cast<size_t>(length)), work(line.size());
    // Along the axis, in numbers: the last axis is no axis of the signal.
    const int64_t outer = x_shape.elements(0, axis), inner = x_shape.elements(axis + 1, x_shape.rank() - 1);
    const int64_t from = x_shape[axis], to = call.outputs[0].shape()[axis];
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        for (int64_t t = 0; t < length; ++t)
          line[static_cast<size_t>(t)] = t < from ? number_at(x, (o * from + t) * inner + i, parts) : Complex();
        if (onesided_ && inverse_)
          for (int64_t t = length / 2 + 1; t < length; ++t)
            line[static_cast<size_t>(t)] = std::conj(line[static_cast<size_t>(length - t)]);
        fourier.run(line.data(), work.data());
        for (int64_t k = 0; k < to; ++k) store(line[static_cast<size_t>(k)], y, (o * to + k) * inner + i, out_parts);
      }
  }

 private:
  int axis_in(std::span<const Input> inputs) const {
    const int64_t given = !axis_is_input_ ? axis_ : is_present(inputs, 2) ? integer_of(inputs[2], "axis") : -2;
    const int axis = axis_of(given, inputs[0].shape());
    if (axis == inputs[0].shape().rank() - 1)
      invalid("The axis " + std::to_string(given) + " is the one of real and imaginary parts.");
    return axis;
  }

  int64_t length_of(std::span<const Input> inputs) const {
    if (is_present(inputs, 1)) return integer_of(inputs[1], "dft_length");
    const int64_t dim = inputs[0].shape()[axis_in(inputs)];
    return onesided_ && inverse_ ? 2 * (dim - 1) : dim;
  }

  bool axis_is_input_;
  int64_t axis_;
  bool inverse_, onesided_;
  std::vector<size_t> given_;
};

/// Transforms of the stretches of a signal that a window cuts out, one every frame_step.
class Stft : public Kernel {
 public:
  explicit Stft(const Setup& setup) : onesided_(setup.node.int_or("onesided", 1) != 0) {
    require_inputs(setup, 2, 4);
    for (const size_t k : {size_t{1}, size_t{3}})
      if (setup.has_input(k)) given_.push_back(k);
  }

  std::vector<size_t> value_inputs() const override { return given_; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    return {{DType::kFloat32, Shape{s.batch, s.frames, s.bins, 2}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const kernels::Fourier fourier(static_cast<size_t>(s.length), false);
    std::vector<Complex> line(static_cast<size_t>(s.length)), work(line.size());
    const bool windowed = call.inputs.size() > 2 && call.inputs[2].present();
    const float* window = windowed ? call.inputs[2].values<float>().data() : nullptr;
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t frame = 0; frame < s.frames; ++frame, y += s.bins * 2) {
        for (int64_t t = 0; t < s.length; ++t) {
          const Complex number = number_at(x, n * s.signal + frame * s.step + t, s.parts);
          line[static_cast<size_t>(t)] = windowed ? number * static_cast<double>(window[t]) : number;
        }
        fourier.run(line.data(), work.data());
        for (int64_t k = 0; k < s.bins; ++k) store(line[static_cast<size_t>(k)], y, k, 2);
      }
  }

 private:
  struct Sizes {
    int64_t batch, signal, parts, step, length, frames, bins;
  };

  Sizes sizes(std::span<const Input> inputs) const {
    const auto has = [&](size_t k) { return k < inputs.size() && inputs[k].present(); };
    require_type(inputs[0], {DType::kFloat32}, "signal");
    const Shape& x = inputs[0].shape();
    if (x.rank() != 2 && x.rank() != 3)
      invalid("The signal has the shape " + x.text() + "; it must have batch, length and parts.");
    Sizes s{x[0], x[1], x.rank() == 3 ? parts_of(inputs[0], "signal") : 1, integer_of(inputs[1], "frame_step"), 0,
            0,    0};
    s.length = s.signal;
    if (has(2)) {
      require_type(inputs[2], {DType::kFloat32}, "window");
      require_rank(inputs[2], 1, "window");
      s.length = inputs[2].elements();
    }
    if (has(3)) {
      const int64_t given = integer_of(inputs[3], "frame_length");
      if (has(2) && given != s.length)
        invalid("The frame_length is " + std::to_string(given) + "; the window has " + std::to_string(s.length) + ".");
      s.length = given;
    }
    if (s.step < 1 || s.length < 1 || s.length > s.signal || s.length > kMostLength)
      invalid("Frames of " + std::to_string(s.length) + " every " + std::to_string(s.step) +
              " do not fit a signal of " + std::to_string(s.signal) + ".");
    if (onesided_ && s.parts == 2) invalid("A one-sided transform takes real numbers; the signal is complex.");
    s.frames = (s.signal - s.length) / s.step + 1;
    s.bins = onesided_ ? s.length / 2 + 1 : s.length;
    return s;
  }

  bool onesided_;
  std::vector<size_t> given_;
};

}  // namespace

std::vector<Op> spectrum_ops() {
  return {
      {.domain = "", .type = "DFT", .since = 17, .prepare = make_kernel<Dft>},
      {.domain = "", .type = "STFT", .since = 17, .prepare = make_kernel<Stft>},
  };
}

}  // namespace tersor::ops
