// SPDX-License-Identifier: Apache-2.0
// Resize in linear mode over the last two of four axes, with the runtime's weights and order of sums (onnxruntime
// core/providers/cpu/tensor/upsample.cc). All other forms are the standard operator's.
#include <algorithm>
#include <cmath>

#include "core/ops/registry.h"
#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

namespace {

/// The two neighbours of one output place along an axis, and the distances to them.
struct Neighbours {
  int64_t first, second;
  float to_first, to_second;
};

struct Coordinates {
  std::string mode;
  std::vector<float> scales;  // by axis; empty: from the sizes

  bool known() const {
    return mode == "half_pixel" || mode == "pytorch_half_pixel" || mode == "asymmetric" || mode == "align_corners";
  }

  float source(int64_t place, int64_t in, int64_t out, size_t axis) const {
    const auto at = static_cast<float>(place);
    const float scale = scales.empty() ? static_cast<float>(out) / static_cast<float>(in) : scales[axis];
    if (scale == 1.0f) return at;
    if (mode == "asymmetric") return at / scale;
    if (mode == "align_corners") return out == 1 ? 0.0f : at * static_cast<float>(in - 1) / static_cast<float>(out - 1);
    if (mode == "pytorch_half_pixel" && out <= 1) return 0;
    return (at + 0.5f) / scale - 0.5f;
  }

  std::vector<Neighbours> along(int64_t in, int64_t out, size_t axis) const {
    std::vector<Neighbours> list;
    for (int64_t place = 0; place < out; ++place) {
      const float c = std::min(std::max(source(place, in, out, axis), 0.0f), static_cast<float>(in - 1));
      const auto first = std::min(static_cast<int64_t>(c), in - 1), second = std::min(first + 1, in - 1);
      const bool same = first == second;
      list.push_back({first, second, same ? 0.5f : std::fabs(c - static_cast<float>(first)),
                      same ? 0.5f : std::fabs(c - static_cast<float>(second))});
    }
    return list;
  }
};

class LinearResize : public ops::Kernel {
 public:
  LinearResize(std::unique_ptr<const ops::Kernel> standard, Coordinates coordinates, Profile profile)
      : standard_(std::move(standard)), coordinates_(std::move(coordinates)), profile_(profile) {}

  std::vector<size_t> value_inputs() const override { return standard_->value_inputs(); }
  std::vector<ops::Form> forms(std::span<const Input> inputs) const override { return standard_->forms(inputs); }
  std::vector<ops::TensorType> infer(std::span<const Input> inputs) const override { return standard_->infer(inputs); }
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const ops::TensorType> outputs) const override {
    return standard_->scratch_bytes(inputs, outputs);
  }

  void run(const ops::Call& call) const override {
    const Shape &in = call.inputs[0].shape(), &out = call.outputs[0].shape();
    if (in.rank() != 4 || in[0] != out[0] || in[1] != out[1] || in.elements() == 0 || out.elements() == 0)
      return standard_->run(call);
    const bool last = call.inputs[0].type->layout == ops::Layout::kChannelsLast;
    // Planes lie apart by plane_step; places of one plane by place_step.
    const int64_t in_size = in[2] * in[3], out_size = out[2] * out[3], place_step = last ? in[1] : 1;
    const std::vector<Neighbours> rows = coordinates_.along(in[2], out[2], 2),
                                  columns = coordinates_.along(in[3], out[3], 3);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    for (int64_t n = 0; n < in[0]; ++n)
      for (int64_t c = 0; c < in[1]; ++c) {
        const int64_t plane = n * in[1] + c;
        const float* from = last ? x + n * in[1] * in_size + c : x + plane * in_size;
        float* to = last ? y + n * in[1] * out_size + c : y + plane * out_size;
        for (int64_t h = 0; h < out[2]; ++h)
          for (int64_t w = 0; w < out[3]; ++w)
            to[(h * out[3] + w) * place_step] =
                at(from, in[3], place_step, rows[static_cast<size_t>(h)], columns[static_cast<size_t>(w)]);
      }
  }

 private:
  float at(const float* from, int64_t width, int64_t step, const Neighbours& row, const Neighbours& column) const {
    const auto value = [&](int64_t h, int64_t w) { return from[(h * width + w) * step]; };
    const float x1 = value(row.first, column.first), x2 = value(row.first, column.second),
                x3 = value(row.second, column.first), x4 = value(row.second, column.second);
    const float w1 = column.to_second * row.to_second, w2 = column.to_first * row.to_second,
                w3 = column.to_second * row.to_first, w4 = column.to_first * row.to_first;
    if (profile_ == Profile::kArm64) return fma_once(w4, x4, fma_once(w3, x3, fma_once(w1, x1, w2 * x2)));
    return w1 * x1 + w2 * x2 + w3 * x3 + w4 * x4;
  }

  std::unique_ptr<const ops::Kernel> standard_;
  Coordinates coordinates_;
  Profile profile_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_resize(Setup& setup, Profile profile) {
  const Node& node = setup.node;
  auto standard = ops::standard().find(node.domain, node.op_type, setup.opset)->prepare(setup);
  const bool plain = setup.opset >= 11 && node.string_or("mode", "nearest") == "linear" &&
                     node.int_or("antialias", 0) == 0 && node.int_or("exclude_outside", 0) == 0 &&
                     node.string_or("keep_aspect_ratio_policy", "stretch") == "stretch" &&
                     node.ints_or("axes", {}).empty();
  Coordinates coordinates{node.string_or("coordinate_transformation_mode", "half_pixel"), {}};
  if (!plain || !coordinates.known()) return standard;
  const Tensor* scales = setup.has_input(2) ? setup.constant(2) : nullptr;
  if (scales != nullptr && scales->dtype() == DType::kFloat32 && scales->elements() == 4) {
    const Tensor aligned = scales->aligned();
    coordinates.scales.assign(aligned.data<float>().begin(), aligned.data<float>().end());
  } else if (!setup.has_input(3)) {
    return standard;  // scales computed at run time, or none for four axes
  }
  return std::make_unique<LinearResize>(std::move(standard), std::move(coordinates), profile);
}

}  // namespace tersor::simulate
