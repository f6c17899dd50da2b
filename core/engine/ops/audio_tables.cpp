// SPDX-License-Identifier: Apache-2.0
// Tables for sound: the windows of Hann, Hamming and Blackman, and the matrix from a spectrum to mel bands.
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/fourier.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/number_types.h"

namespace tersor::ops {

namespace {

constexpr int64_t kMost = int64_t{1} << 31;

DType output_type_of(const Setup& setup) {
  const int64_t number = int_of(setup.node, "output_datatype");
  const auto dtype = number > 0 && number < 256 ? static_cast<DType>(number) : DType::kUndefined;
  with_number_type(dtype, [](auto) {});
  return dtype;
}

/// a0 - a1 cos(2 pi k / n) + a2 cos(4 pi k / n).
struct Cosines {
  double a0, a1, a2;
};

class AudioWindow : public Kernel {
 public:
  AudioWindow(const Setup& setup, const Cosines& cosines)
      : cosines_(cosines), periodic_(int_of(setup.node, "periodic") != 0), dtype_(output_type_of(setup)) {
    require_inputs(setup, 1, 1);
  }

  std::vector<size_t> value_inputs() const override { return {0}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const int64_t size = integer_of(inputs[0], "size");
    if (size < 0 || size > kMost) invalid("The size is " + std::to_string(size) + ".");
    return {{dtype_, Shape{size}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const int64_t size = call.outputs[0].elements(), n = std::max<int64_t>(1, periodic_ ? size : size - 1);
    with_number_type(dtype_, [&](auto zero) {
      auto y = call.outputs[0].values<decltype(zero)>();
      for (int64_t k = 0; k < size; ++k) {
        const double once = kernels::direction(k, n).real(), twice = kernels::direction(2 * k, n).real();
        y[static_cast<size_t>(k)] = static_cast<decltype(zero)>(cosines_.a0 - cosines_.a1 * once + cosines_.a2 * twice);
      }
    });
  }

 private:
  Cosines cosines_;
  bool periodic_;
  DType dtype_;
};

/// mel(f) = 2595 log10(1 + f / 700), and back.
double mel_of(double hertz) {
  return 2595 * kernels::natural_logarithm(1 + hertz / 700) / 2.302585092994046;
}
double hertz_of(double mel) {
  return 700 * (kernels::exponential(mel / 2595 * 2.302585092994046) - 1);
}

class MelWeightMatrix : public Kernel {
 public:
  explicit MelWeightMatrix(const Setup& setup) : dtype_(output_type_of(setup)) { require_inputs(setup, 5, 5); }

  std::vector<size_t> value_inputs() const override { return {0, 1, 2, 3, 4}; }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    return {{dtype_, Shape{s.length / 2 + 1, s.bands}, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const int64_t rows = s.length / 2 + 1;
    const double low = mel_of(s.low), step = (mel_of(s.high) - low) / static_cast<double>(s.bands + 2);
    const auto edge = [&](int64_t k) {  // the spectrum's bin where band k begins
      const double hertz = hertz_of(low + static_cast<double>(k) * step);
      return std::floor(static_cast<double>(s.length + 1) * hertz / static_cast<double>(s.rate));
    };
    with_number_type(dtype_, [&](auto zero) {
      using T = decltype(zero);
      auto y = call.outputs[0].values<T>();
      for (T& value : y) value = T(0);
      for (int64_t band = 0; band < s.bands; ++band) {
        const double begin = edge(band), middle = edge(band + 1), end = edge(band + 2);
        for (int64_t row = 0; row < rows; ++row) {
          const auto x = static_cast<double>(row);
          double weight = 0;
          if (x >= begin && x <= middle) weight = middle == begin ? 1 : (x - begin) / (middle - begin);
          if (x >= middle && x < end) weight = (end - x) / (end - middle);
          y[static_cast<size_t>(row * s.bands + band)] = static_cast<T>(weight);
        }
      }
    });
  }

 private:
  struct Sizes {
    int64_t bands, length, rate;
    double low, high;
  };

  static double float_of(const Input& input, std::string_view name) {
    require_type(input, {DType::kFloat32, DType::kFloat64}, name);
    if (input.elements() != 1) invalid("The input " + std::string(name) + " must be a scalar.");
    return input.dtype() == DType::kFloat32 ? static_cast<double>(input.values<float>()[0]) : input.values<double>()[0];
  }

  static Sizes sizes(std::span<const Input> inputs) {
    const Sizes s{integer_of(inputs[0], "num_mel_bins"), integer_of(inputs[1], "dft_length"),
                  integer_of(inputs[2], "sample_rate"), float_of(inputs[3], "lower_edge_hertz"),
                  float_of(inputs[4], "upper_edge_hertz")};
    const bool fits = s.bands >= 1 && s.bands < kMost && s.length >= 1 && s.length < kMost && s.rate >= 1 &&
                      s.low >= 0 && s.high > s.low && s.high < 1e30;
    if (!fits)
      invalid("There are " + std::to_string(s.bands) + " bands from " + std::to_string(s.low) + " to " +
              std::to_string(s.high) + " Hz for a transform of " + std::to_string(s.length) + " at " +
              std::to_string(s.rate) + " Hz.");
    return s;
  }

  DType dtype_;
};

Op window(std::string_view type, const Cosines& cosines) {
  return {.domain = "", .type = type, .since = 17, .prepare = [cosines](Setup& setup) {
            return std::make_unique<AudioWindow>(setup, cosines);
          }};
}

}  // namespace

std::vector<Op> audio_table_ops() {
  return {window("HannWindow", {0.5, 0.5, 0}),
          window("HammingWindow", {25.0 / 46, 21.0 / 46, 0}),
          window("BlackmanWindow", {0.42, 0.5, 0.08}),
          {.domain = "", .type = "MelWeightMatrix", .since = 17, .prepare = make_kernel<MelWeightMatrix>}};
}

}  // namespace tersor::ops
