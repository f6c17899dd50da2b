// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization and SkipSimplifiedLayerNormalization of com.microsoft: LayerNormalization or RMSNormalization
// of a sum.
#include "core/ops/families.h"
#include "core/ops/microsoft.h"

namespace tersor::ops {

namespace {

/// The inputs are x, skip, gamma, beta where it centers, and a bias: the normalized sum x + skip + bias. The skip may
/// lack leading axes of x. The fourth output is the sum itself.
class SkipLayerNorm : public Kernel {
 public:
  SkipLayerNorm(const Setup& setup, bool centers)
      : centers_(centers),
        bias_(centers ? 4 : 3),
        norm_(make_layer_norm(centers, -1, setup.node.float_or("epsilon", 1e-12f))) {
    require_inputs(setup, 3, bias_ + 1);
    require_attributes(setup, {"epsilon"});
    refuse_output(setup, 1, "mean");
    refuse_output(setup, 2, "inv_std_var");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const TensorType same = norm_->infer(normed(inputs[0], inputs))[0];
    require_type(inputs[1], {DType::kFloat32}, "skip");
    const Shape &x = inputs[0].shape(), &skip = inputs[1].shape();
    int leading = 0;
    while (leading + 1 < skip.rank() && skip[leading] == 1) ++leading;
    bool fits = skip.rank() >= 1 && skip.rank() <= x.rank();
    for (int k = leading; fits && k < skip.rank(); ++k) fits = skip[k] == x[k + x.rank() - skip.rank()];
    if (!fits)
      invalid("The input skip has the shape " + skip.text() + ", which does not fit the input of shape " + x.text() +
              ".");
    if (is_present(inputs, bias_)) {
      require_type(inputs[bias_], {DType::kFloat32}, "bias");
      if (!(inputs[bias_].shape() == Shape{x[x.rank() - 1]}))
        invalid("The input bias has the shape " + inputs[bias_].shape().text() + "; that of the input is " + x.text() +
                ".");
    }
    return {same, same, same, same};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return norm_->scratch_bytes(inputs, outputs);
  }

  void run(const Call& call) const override {
    const bool keeps_sum = call.outputs.size() > 3 && call.outputs[3].present();
    const Output& into = keeps_sum ? call.outputs[3] : call.outputs[0];
    const float *x = call.inputs[0].values<float>().data(), *skip = call.inputs[1].values<float>().data();
    const std::span<const float> bias =
        is_present(call.inputs, bias_) ? call.inputs[bias_].values<float>() : std::span<const float>();
    float* sum = into.values<float>().data();
    const int64_t n = into.elements(), repeats = call.inputs[1].elements();
    for (int64_t from = 0; from < n; from += repeats)
      for (int64_t k = 0; k < repeats; ++k) sum[from + k] = x[from + k] + skip[k];
    const auto step = static_cast<int64_t>(bias.size());
    for (int64_t from = 0; step > 0 && from < n; from += step)
      for (int64_t k = 0; k < step; ++k) sum[from + k] += bias[static_cast<size_t>(k)];
    if (call.outputs[0].present())
      norm_->run({normed({into.type, into.data}, call.inputs), call.outputs.first(1), call.scratch});
  }

 private:
  std::vector<Input> normed(const Input& x, std::span<const Input> inputs) const {
    std::vector<Input> its = {x, inputs[2]};
    if (centers_ && is_present(inputs, 3)) its.push_back(inputs[3]);
    return its;
  }

  bool centers_;
  size_t bias_;  // which input that is
  std::unique_ptr<const Kernel> norm_;
};

Op skip_layer_norm(std::string_view type, bool centers) {
  return {.domain = "com.microsoft", .type = type, .prepare = [centers](Setup& setup) {
            return std::make_unique<SkipLayerNorm>(setup, centers);
          }};
}

}  // namespace

std::vector<Op> skip_layer_norm_ops() {
  return {skip_layer_norm("SkipLayerNormalization", true), skip_layer_norm("SkipSimplifiedLayerNormalization", false)};
}

}  // namespace tersor::ops
