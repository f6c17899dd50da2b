// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear with one scale, one per channel, or one per block:
//   q = saturate(round_half_even(x / scale) + zero_point),   x = (q - zero_point) * scale, in float.
#include <algorithm>
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/quantize.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/tensor/rounding.h"

namespace tersor::ops {

namespace {

struct Range {
  int32_t low, high;
};

/// Of the types that a quantized tensor may have; 32-bit ones are for biases.
Range range_of(DType dtype) {
  switch (dtype) {
    case DType::kUint2:
      return {0, 3};
    case DType::kInt2:
      return {-2, 1};
    case DType::kUint4:
      return {0, 15};
    case DType::kInt4:
      return {-8, 7};
    case DType::kUint8:
      return {0, 255};
    case DType::kInt8:
      return {-128, 127};
    case DType::kUint16:
      return {0, 65535};
    case DType::kInt16:
      return {-32768, 32767};
    default:
      return {std::numeric_limits<int32_t>::lowest(), std::numeric_limits<int32_t>::max()};
  }
}

/// Where element `at` of a type of less than a byte stands in its byte: low bits first.
struct NarrowPlace {
  NarrowPlace(DType dtype, size_t at)
      : bits(static_cast<size_t>(bits_of(dtype))), byte(at * bits / 8), shift(at * bits % 8) {}
  int32_t mask() const { return (1 << bits) - 1; }
  size_t bits, byte, shift;
};

int32_t integer_at(const std::byte* data, DType dtype, int64_t k) {
  const auto at = static_cast<size_t>(k);
  switch (dtype) {
    case DType::kUint2:
    case DType::kInt2:
    case DType::kUint4:
    case DType::kInt4: {
      const NarrowPlace place(dtype, at);
      const int32_t code = static_cast<int32_t>(data[place.byte]) >> place.shift & place.mask();
      return code > range_of(dtype).high ? code - place.mask() - 1 : code;
    }
    case DType::kUint8:
      return reinterpret_cast<const uint8_t*>(data)[at];
    case DType::kInt8:
      return reinterpret_cast<const int8_t*>(data)[at];
    case DType::kUint16:
      return reinterpret_cast<const uint16_t*>(data)[at];
    case DType::kInt16:
      return reinterpret_cast<const int16_t*>(data)[at];
    default:
      return reinterpret_cast<const int32_t*>(data)[at];
  }
}

bool is_byte(DType dtype) {
  return dtype == DType::kUint8 || dtype == DType::kInt8;
}

void set_integer(std::byte* data, DType dtype, int64_t k, int32_t q) {
  const auto at = static_cast<size_t>(k);
  switch (dtype) {
    case DType::kUint2:
    case DType::kInt2:
    case DType::kUint4:
    case DType::kInt4: {
      const NarrowPlace place(dtype, at);
      const auto kept = place.shift == 0 ? std::byte{0} : data[place.byte];
      data[place.byte] = kept | static_cast<std::byte>((q & place.mask()) << place.shift);
      return;
    }
    case DType::kUint8:
    case DType::kInt8:
      data[at] = static_cast<std::byte>(q);
      return;
    default:
      reinterpret_cast<uint16_t*>(data)[at] = static_cast<uint16_t>(q);
  }
}

/// How elements find their scale: element (o, c, i) of outer x channels x inner has scale o * outer_step + c / block *
/// channel_step + i * inner_step.
struct Grid {
  int64_t outer = 1, channels = 1, inner = 1, block = 1;
  int64_t outer_step = 0, channel_step = 0, inner_step = 0;

  /// Calls body(first element, count, scale index, whether the index moves with the element).
  template <class Body>
  void for_each_run(Body body) const {
    for (int64_t o = 0; o < outer; ++o)
      if (inner == 1 && block == 1 && channel_step == 1)
        body(o * channels, channels, o * outer_step, true);
      else
        for (int64_t c = 0; c < channels; ++c)
          body((o * channels + c) * inner, inner, o * outer_step + c / block * channel_step, inner_step != 0);
  }
};

class QuantizeBase : public Kernel {
 public:
  explicit QuantizeBase(const Setup& setup)
      : axis_(int_of(setup.node, "axis")), block_(int_of(setup.node, "block_size")) {
    require_inputs(setup, 2, 3);
    if (block_ < 0) invalid("The attribute block_size is " + std::to_string(block_) + ".");
    if (const Tensor* scale = setup.constant(1)) check_scale(*scale);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    if (bits_of(inputs[0].dtype()) >= 8 && block_ == 0) forms[0].layout = inputs[0].type->layout;
    return forms;
  }

 protected:
  /// In blocks any finite ones: quantizers of weights turn a grid by a scale below 0, and give a block of zeros 0.
  void check_scale(const Tensor& scale) const {
    if (scale.dtype() != DType::kFloat32) return;  // infer() says so
    const Tensor aligned = scale.aligned();
    for (float one : aligned.data<float>())
      if (!(one > 0 || block_ > 0) || !std::isfinite(one))
        invalid("A scale is " + std::to_string(one) + "; scales are above 0 and finite.",
                "Quantize the model again, or look at what computed its scales.");
  }

  Grid grid(std::span<const Input> inputs) const {
    const TensorType& type = *inputs[0].type;
    const Shape &shape = type.shape, &scales = inputs[1].shape();
    if (inputs.size() > 2 && inputs[2].present() && !(inputs[2].shape() == scales) &&
        !(inputs[2].elements() == 1 && scales.elements() == 1))
      invalid("The zero point has the shape " + inputs[2].shape().text() + "; the scale has " + scales.text() + ".");
    if (scales.elements() == 1 && block_ == 0) return {.inner = shape.elements()};
    const int rank = shape.rank(), axis = axis_of(axis_, shape);
    const int physical = physical_axis(axis, rank, type.layout);
    const Shape lying(physical_dims(type));
    Grid grid{
        .outer = lying.elements(0, physical), .channels = shape[axis], .inner = lying.elements(physical + 1, rank)};
    if (block_ == 0) {
      if (scales.rank() != 1 || scales[0] != shape[axis])
        invalid("The scale has the shape " + scales.text() + "; axis " + std::to_string(axis) + " of " + shape.text() +
                " needs one per channel.");
      grid.channel_step = 1;
      return grid;
    }
    bool fits = scales.rank() == rank;
    for (int k = 0; fits && k < rank; ++k)
      fits = scales[k] == (k == axis ? (shape[k] + block_ - 1) / block_ : shape[k]);
    if (!fits)
      invalid("The scale has the shape " + scales.text() + ", which does not fit blocks of " + std::to_string(block_) +
              " in " + shape.text() + ".");
    grid.block = block_;
    grid.inner_step = 1;
    grid.channel_step = grid.inner;
    grid.outer_step = scales[axis] * grid.inner;
    return grid;
  }

  static int32_t zero_point(std::span<const Input> inputs, int64_t k) {
    if (inputs.size() < 3 || !inputs[2].present()) return 0;
    return integer_at(inputs[2].data, inputs[2].dtype(), k);
  }

  /// That of index k, and those from it on.
  static kernels::CodeGrid grid_at(std::span<const Input> inputs, int64_t k, DType type) {
    return {inputs[1].values<float>()[static_cast<size_t>(k)], zero_point(inputs, k), type == DType::kInt8};
  }
  static kernels::CodeGrids grids(std::span<const Input> inputs, int64_t k, DType type) {
    const bool has_zero_points = inputs.size() > 2 && inputs[2].present();
    return {inputs[1].values<float>().data() + k,
            has_zero_points ? reinterpret_cast<const uint8_t*>(inputs[2].data) + k : nullptr, type == DType::kInt8};
  }

  int64_t axis_, block_;
};

class Quantize : public QuantizeBase {
 public:
  explicit Quantize(const Setup& setup) : QuantizeBase(setup), declared_(int_of(setup.node, "output_dtype")) {}

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32, DType::kInt32}, "x");
    require_type(inputs[1], {DType::kFloat32}, "y_scale");
    DType to = declared_ > 0 && declared_ < 256 ? static_cast<DType>(declared_) : DType::kUint8;
    if (inputs.size() > 2 && inputs[2].present()) {
      to = inputs[2].dtype();
      if (declared_ != 0 && static_cast<DType>(declared_) != to)
        invalid("The attribute output_dtype and the zero point's type (" + std::string(name_of(to)) + ") differ.");
    }
    if (range_of(to).high > 65535) unsupported("Quantizing to " + std::string(name_of(to)) + " is not supported.");
    grid(inputs);
    if (bits_of(to) < 8 && inputs[0].type->layout != Layout::kPlain) return {{to, inputs[0].shape(), Layout::kPlain}};
    return {{to, inputs[0].shape(), inputs[0].type->layout}};
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = QuantizeBase::forms(inputs);
    const bool narrow = inputs.size() > 2 && inputs[2].present() ? bits_of(inputs[2].dtype()) < 8 : declared_ > 0;
    if (narrow) forms[0].layout = Layout::kPlain;
    return forms;
  }

  void run(const Call& call) const override {
    const DType to = call.outputs[0].type->dtype;
    const Range range = range_of(to);
    const auto* scales = call.inputs[1].values<float>().data();
    const bool whole = call.inputs[0].dtype() == DType::kInt32;
    grid(call.inputs).for_each_run([&](int64_t first, int64_t count, int64_t scale, bool moves) {
      if (!whole && is_byte(to)) {
        const float* x = call.inputs[0].values<float>().data() + first;
        auto* codes = reinterpret_cast<uint8_t*>(call.outputs[0].data) + first;
        const auto n = static_cast<size_t>(count);
        return moves ? kernels::quantize_codes(x, n, grids(call.inputs, scale, to), codes)
                     : kernels::quantize_codes(x, n, grid_at(call.inputs, scale, to), codes);
      }
      for (int64_t k = 0; k < count; ++k) {
        const int64_t at = first + k, s = scale + (moves ? k : 0);
        const float x = whole ? static_cast<float>(call.inputs[0].values<int32_t>()[static_cast<size_t>(at)])
                              : call.inputs[0].values<float>()[static_cast<size_t>(at)];
        const float rounded = round_half_even(x / scales[s]);
        const float bounded = rounded != rounded ? 0.0f : std::clamp(rounded, -1e6f, 1e6f);
        const int32_t q = static_cast<int32_t>(bounded) + zero_point(call.inputs, s);
        set_integer(call.outputs[0].data, to, at, std::clamp(q, range.low, range.high));
      }
    });
  }

 private:
  int64_t declared_;
};

class Dequantize : public QuantizeBase {
 public:
  using QuantizeBase::QuantizeBase;

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0],
                 {DType::kUint8, DType::kInt8, DType::kUint16, DType::kInt16, DType::kInt32, DType::kUint4,
                  DType::kInt4, DType::kUint2, DType::kInt2},
                 "x");
    require_type(inputs[1], {DType::kFloat32}, "x_scale");
    if (inputs.size() > 2 && inputs[2].present()) require_same_type(inputs[0], inputs[2]);
    grid(inputs);
    return {{DType::kFloat32, inputs[0].shape(), inputs[0].type->layout}};
  }

  void run(const Call& call) const override {
    const DType from = call.inputs[0].dtype();
    const auto* scales = call.inputs[1].values<float>().data();
    auto* out = call.outputs[0].values<float>().data();
    grid(call.inputs).for_each_run([&](int64_t first, int64_t count, int64_t scale, bool moves) {
      if (is_byte(from)) {
        const auto* codes = reinterpret_cast<const uint8_t*>(call.inputs[0].data) + first;
        const auto n = static_cast<size_t>(count);
        return moves ? kernels::dequantize_codes(codes, n, grids(call.inputs, scale, from), out + first)
                     : kernels::dequantize_codes(codes, n, grid_at(call.inputs, scale, from), out + first);
      }
      for (int64_t k = 0; k < count; ++k) {
        const int64_t s = scale + (moves ? k : 0);
        const int64_t q = integer_at(call.inputs[0].data, from, first + k);
        out[first + k] = static_cast<float>(q - zero_point(call.inputs, s)) * scales[s];
      }
    });
  }
};

}  // namespace

std::vector<Op> quantize_ops() {
  const auto quantize = make_kernel<Quantize>;
  const auto dequantize = make_kernel<Dequantize>;
  return {
      {.domain = "", .type = "QuantizeLinear", .since = 10, .prepare = quantize},
      {.domain = "", .type = "DequantizeLinear", .since = 10, .prepare = dequantize},
      {.domain = "com.microsoft", .type = "QuantizeLinear", .prepare = quantize},
      {.domain = "com.microsoft", .type = "DequantizeLinear", .prepare = dequantize},
  };
}

}  // namespace tersor::ops
