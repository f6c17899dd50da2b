// SPDX-License-Identifier: Apache-2.0
// Resize and its forerunner Upsample: one axis after the other, each output place a weighted sum of input places. In
// whatever layout the input lies.
#include "core/ops/layouts.h"
#include "core/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/ops/families.h"
#include "core/ops/number_types.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

/// out[o][place][i] = sum over taps of weight * in[o][tap place][i].
void resample(const Taps& taps, const float* in, int64_t outer, int64_t from, int64_t inner, float extrapolation,
              float* out) {
  const auto places = static_cast<int64_t>(taps.outside.size());
  for (int64_t o = 0; o < outer; ++o, in += from * inner)
    for (int64_t place = 0; place < places; ++place, out += inner) {
      const bool outside = taps.outside[static_cast<size_t>(place)];
      std::fill_n(out, inner, outside ? extrapolation : 0.0f);
      for (int64_t t = 0; t < taps.per_place && !outside; ++t) {
        const auto k = static_cast<size_t>(place * taps.per_place + t);
        const float weight = taps.weights[k];
        const float* row = in + taps.places[k] * inner;
        for (int64_t i = 0; i < inner; ++i) out[i] += weight * row[i];
      }
    }
}

/// The same for the nearest place, of elements of any type. `beyond` is a row of what lies outside.
void pick(const Taps& taps, const std::byte* in, int64_t outer, int64_t from, size_t inner_bytes,
          const std::byte* beyond, std::byte* out) {
  for (int64_t o = 0; o < outer; ++o)
    for (size_t k = 0; k < taps.places.size(); ++k, out += inner_bytes)
      std::memcpy(out, taps.outside[k] ? beyond : in + static_cast<size_t>(o * from + taps.places[k]) * inner_bytes,
                  inner_bytes);
}

/// `count` elements of the extrapolation value; in whole numbers it is cut towards zero and wraps around.
std::vector<std::byte> row_of(double value, DType dtype, int64_t count) {
  std::vector<std::byte> row(static_cast<size_t>(count * bits_of(dtype) / 8));
  with_number_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    T element;
    if constexpr (std::is_floating_point_v<T>)
      element = static_cast<T>(value);
    else
      element = static_cast<T>(std::abs(value) < 0x1p62 ? static_cast<int64_t>(value) : 0);
    for (size_t at = 0; at < row.size(); at += sizeof(T)) std::memcpy(row.data() + at, &element, sizeof(T));
  });
  return row;
}

Resampling resampling_of(const Setup& setup) {
  const Node& node = setup.node;
  Resampling r;
  const std::string mode = node.string_or("mode", "nearest");
  if (mode == "linear" || mode == "bilinear")
    r.filter = Resampling::Filter::kLinear;
  else if (mode == "cubic")
    r.filter = Resampling::Filter::kCubic;
  else if (mode != "nearest")
    invalid("The attribute mode is \"" + mode + "\"; it must be nearest, linear or cubic.");
  const bool old = node.op_type == "Upsample" || setup.opset < 11;
  r.coordinates = node.string_or("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  r.nearest = node.string_or("nearest_mode", old ? kSimpleNearest : "round_prefer_floor");
  r.cubic_a = node.float_or("cubic_coeff_a", -0.75f);
  r.excludes_outside = node.int_or("exclude_outside", 0) != 0;
  r.antialias = node.int_or("antialias", 0) != 0;
  r.extrapolation = node.float_or("extrapolation_value", 0);
  return r;
}

class Resize : public AnyLayoutKernel {
 public:
  explicit Resize(const Setup& setup)
      : resampling_(resampling_of(setup)),
        policy_(setup.node.string_or("keep_aspect_ratio_policy", "stretch")),
        axes_(setup.node.ints_or("axes", {})) {
    const bool with_roi = setup.node.op_type == "Resize" && setup.opset >= 11;
    require_inputs(setup, 1, with_roi ? 4 : 2);
    if (const auto* scales = setup.node.attribute<std::vector<float>>("scales")) fixed_scales_ = *scales;
    if (with_roi && crops()) roi_ = given(setup, 1);
    scales_ = given(setup, with_roi ? 2 : 1);
    if (with_roi) sizes_ = given(setup, 3);
    if (fixed_scales_.empty() && !scales_ && !sizes_) invalid("Neither scales nor sizes are given.");
  }

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    for (const auto& input : {roi_, scales_, sizes_})
      if (input) inputs.push_back(*input);
    return inputs;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    if (resampling_.filter == Resampling::Filter::kNearest) {
      if (bits_of(inputs[0].dtype()) < 8)
        unsupported("The type " + std::string(name_of(inputs[0].dtype())) + " is not supported.");
      if (crops()) with_number_type(inputs[0].dtype(), [](auto) {});
    } else {
      require_type(inputs[0], {DType::kFloat32}, "X");
    }
    std::vector<int64_t> dims;
    for (const ResampledAxis& axis : resampled(inputs)) dims.push_back(axis.out);
    return {{inputs[0].dtype(), Shape(std::move(dims)), inputs[0].type->layout}};
  }

  /// Two pictures, each at least as large as any between the first and the last axis.
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return 2 * largest_between(inputs) * bits_of(inputs[0].dtype()) / 8;
  }

  void run(const Call& call) const override {
    const TensorType& type = *call.inputs[0].type;
    const std::vector<ResampledAxis> axes = resampled(call.inputs);
    if (call.outputs[0].elements() == 0) return;
    std::vector<int64_t> dims = physical_dims(type);
    std::vector<int> work;  // logical axes that change
    for (int axis = 0; axis < type.shape.rank(); ++axis)
      if (changes(axes[static_cast<size_t>(axis)])) work.push_back(axis);
    const auto bytes = static_cast<size_t>(bits_of(type.dtype) / 8);
    const std::byte* from = call.inputs[0].data;
    if (work.empty()) std::memcpy(call.outputs[0].data, from, static_cast<size_t>(type.bytes()));
    for (size_t k = 0; k < work.size(); ++k) {
      const ResampledAxis& axis = axes[static_cast<size_t>(work[k])];
      const auto at = static_cast<size_t>(physical_axis(work[k], type.shape.rank(), type.layout));
      int64_t outer = 1, inner = 1;
      for (size_t d = 0; d < at; ++d) outer *= dims[d];
      for (size_t d = at + 1; d < dims.size(); ++d) inner *= dims[d];
      std::byte* to =
          k + 1 == work.size() ? call.outputs[0].data : call.scratch.data() + k % 2 * (call.scratch.size() / 2);
      const Taps taps = taps_of(resampling_, axis);
      if (resampling_.filter == Resampling::Filter::kNearest)
        pick(taps, from, outer, axis.in, static_cast<size_t>(inner) * bytes,
             crops() ? row_of(resampling_.extrapolation, type.dtype, inner).data() : nullptr, to);
      else
        resample(taps, reinterpret_cast<const float*>(from), outer, axis.in, inner,
                 static_cast<float>(resampling_.extrapolation), reinterpret_cast<float*>(to));
      dims[at] = axis.out;
      from = to;
    }
  }

 private:
  static std::optional<size_t> given(const Setup& setup, size_t k) {
    if (!setup.has_input(k)) return std::nullopt;
    const Tensor* constant = setup.constant(k);  // an empty constant stands for an absent input
    return constant != nullptr && constant->elements() == 0 ? std::nullopt : std::optional(k);
  }

  bool crops() const { return resampling_.coordinates == "tf_crop_and_resize"; }

  bool changes(const ResampledAxis& axis) const { return axis.in != axis.out || axis.scale != 1 || crops(); }

  int64_t largest_between(std::span<const Input> inputs) const {
    const std::vector<ResampledAxis> axes = resampled(inputs);
    int64_t largest = 0;
    std::vector<int64_t> dims;
    for (const ResampledAxis& axis : axes) dims.push_back(axis.in);
    for (size_t k = 0; k < axes.size(); ++k) {
      dims[k] = axes[k].out;
      largest = std::max(largest, Shape(dims).elements());
    }
    return largest;
  }

  std::vector<int64_t> axes_in(int rank) const {
    std::vector<int64_t> axes;
    for (int axis = 0; axis < rank && axes_.empty(); ++axis) axes.push_back(axis);
    for (const int64_t axis : axes_) {
      if (axis < -rank || axis >= rank)
        invalid("The axes " + text_of(axes_) + " do not fit rank " + std::to_string(rank) + ".");
      axes.push_back(axis < 0 ? axis + rank : axis);
    }
    return axes;
  }

  static std::vector<double> floats_of(const Input& input, std::string_view name) {
    require_type(input, {DType::kFloat32}, name);
    const auto values = input.values<float>();
    return {values.begin(), values.end()};
  }

  std::vector<ResampledAxis> resampled(std::span<const Input> inputs) const;
  void set_sizes(const std::vector<int64_t>& sizes, const std::vector<int64_t>& axes,
                 std::vector<ResampledAxis>& all) const;

  Resampling resampling_;
  std::string policy_;
  std::vector<int64_t> axes_;
  std::vector<float> fixed_scales_;
  std::optional<size_t> roi_, scales_, sizes_;
};

constexpr double kMostPlaces = 281474976710656.0;  // 2^48, more than a Shape takes

/// Every axis of the input, with those that scales or sizes name changed.
std::vector<ResampledAxis> Resize::resampled(std::span<const Input> inputs) const {
  const Shape& shape = inputs[0].shape();
  std::vector<ResampledAxis> all;
  for (const int64_t dim : shape) all.push_back({.in = dim, .out = dim});
  const std::vector<int64_t> axes = axes_in(shape.rank());
  if (sizes_) {
    set_sizes(integers_of(inputs[*sizes_], "sizes"), axes, all);
  } else {
    std::vector<double> scales(fixed_scales_.begin(), fixed_scales_.end());
    if (scales_) scales = floats_of(inputs[*scales_], "scales");
    if (scales.size() != axes.size())
      invalid("There are " + std::to_string(scales.size()) + " scales for " + std::to_string(axes.size()) + " axes.");
    for (size_t k = 0; k < axes.size(); ++k) {
      ResampledAxis& axis = all[static_cast<size_t>(axes[k])];
      axis.scale = scales[k];
      const double length = std::floor(static_cast<double>(axis.in) * axis.scale);
      if (!(axis.scale > 0) || !(length < kMostPlaces)) invalid("A scale is " + std::to_string(axis.scale) + ".");
      axis.out = static_cast<int64_t>(length);
    }
  }
  if (roi_) {
    const std::vector<double> roi = floats_of(inputs[*roi_], "roi");
    if (roi.size() != 2 * axes.size()) invalid("The roi has " + std::to_string(roi.size()) + " numbers.");
    for (size_t k = 0; k < axes.size(); ++k) {
      all[static_cast<size_t>(axes[k])].roi_start = roi[k];
      all[static_cast<size_t>(axes[k])].roi_end = roi[k + axes.size()];
      if (!(std::abs(roi[k]) < 1e6) || !(std::abs(roi[k + axes.size()]) < 1e6)) invalid("The roi is out of range.");
    }
  }
  for (const ResampledAxis& axis : all)
    if (axis.in == 0 && axis.out != 0) invalid("An empty axis cannot be resized: the shape is " + shape.text() + ".");
  return all;
}

void Resize::set_sizes(const std::vector<int64_t>& sizes, const std::vector<int64_t>& axes,
                       std::vector<ResampledAxis>& all) const {
  bool fits = sizes.size() == axes.size();
  for (const int64_t size : sizes) fits = fits && size >= 0 && static_cast<double>(size) < kMostPlaces;
  if (!fits) invalid("The sizes " + text_of(sizes) + " do not fit " + std::to_string(axes.size()) + " axes.");
  double common = policy_ == "not_larger" ? kMostPlaces : 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    ResampledAxis& axis = all[static_cast<size_t>(axes[k])];
    axis.out = sizes[k];
    axis.scale = axis.in == 0 ? 1 : static_cast<double>(sizes[k]) / static_cast<double>(axis.in);
    common = policy_ == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (policy_ == "stretch") return;
  if (policy_ != "not_larger" && policy_ != "not_smaller")
    invalid("The attribute keep_aspect_ratio_policy is \"" + policy_ + "\", which ONNX does not have.");
  for (const int64_t k : axes) {
    ResampledAxis& axis = all[static_cast<size_t>(k)];
    const double length = std::floor(common * static_cast<double>(axis.in) + 0.5);
    if (!(length < kMostPlaces)) invalid("The sizes " + text_of(sizes) + " are out of range.");
    axis.scale = common;
    axis.out = static_cast<int64_t>(length);
  }
}

std::unique_ptr<const Kernel> prepare(Setup& setup) {
  return std::make_unique<Resize>(setup);
}

}  // namespace

std::vector<Op> resize_ops() {
  return {
      {.domain = "", .type = "Resize", .since = 10, .prepare = prepare},
      {.domain = "", .type = "Upsample", .since = 7, .until = 9, .prepare = prepare},
  };
}

}  // namespace tersor::ops
