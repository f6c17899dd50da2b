// SPDX-License-Identifier: Apache-2.0
// The table methods LUT_POT_QUANTIZER and LUT_SYM_QUANTIZER: a tensor is stored as indices into a table of integers, x
// = table[q] * scale. The entries are not evenly spaced but lie where the values are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/quant/histogram.h"
#include "core/quant/lut_table.h"
#include "core/quant/quantization_method.h"
#include "core/quant/threshold_search.h"
#include "core/tensor/tensor.h"

namespace tersor::quant {

/// Invariants: the table has at most 2^n_bits entries, in ascending order, and holds 0 if it is for a weight. scale has
/// one entry, or one per index of channel_axis; all channels share the table. scale = threshold / 2^(value_bits - s) in
/// float32, where s is 1 for signed values and else 0.
struct LutParams {
  QuantizationMethod method = QuantizationMethod::kLutSymQuantizer;
  int n_bits = 4;
  LutValues values;
  std::optional<int> channel_axis;
  std::vector<int32_t> table;
  std::vector<double> threshold;
  std::vector<float> scale;

  bool operator==(const LutParams&) const = default;
};

/// The parameters of a table, and the error that they cause.
struct LutSelection {
  LutParams params;
  double expected_sqnr_db = std::numeric_limits<double>::infinity();  // as in RangeSelection
};

/// Chooses the parameters of a float32 weight tensor: thresholds from the extremes, then the table of least squared
/// error over the places (lut_place) of all weights. Of `criterion` only min_threshold counts, because a table has no
/// range to search. Error kInvalidArgument if the tensor does not have the axis, for a method without a table, n_bits
/// outside 2 to 7 or lut_values_bitwidth outside n_bits to 16. Error kInvalidModel for a weight that is not finite.
LutSelection choose_lut_weight_params(const Tensor& weights, QuantizationMethod method, int n_bits,
                                      int lut_values_bitwidth, std::optional<int> channel_axis,
                                      const Criterion& criterion);

/// The same for an activation, without outliers by z_threshold. The table is not forced to hold 0: most
/// activations have so many zeros that 0 gets an entry anyway.
LutSelection choose_lut_activation_params(const EvenBins& bins, QuantizationMethod method, int n_bits, bool is_signed,
                                          int lut_values_bitwidth, const Criterion& criterion);

/// The table of an activation for a given threshold.
LutParams lut_activation_params(const EvenBins& bins, QuantizationMethod method, int n_bits, const LutValues& values,
                                double threshold);

/// A table of 256: for every uint8 code on the even grid of the entries, the code of the nearest entry. `zero_point` is
/// the code of 0. The entries have 8 bits.
std::vector<uint8_t> nearest_codes(const LutParams& params, int32_t zero_point);

/// The index of the nearest entry for each element: uint8, same shape.
Tensor quantize(const Tensor& x, const LutParams& params);
Tensor dequantize(const Tensor& q, const LutParams& params);

}  // namespace tersor::quant
