// SPDX-License-Identifier: Apache-2.0
// LUT_POT_QUANTIZER and LUT_SYM_QUANTIZER: a tensor as indices into a table of integers, x = table[q] * scale. Rather
// than evenly, the table's entries lie where the values are.
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

/// Invariants: at most 2^n_bits entries, ascending; scale has one entry, or one per index of channel_axis, which all
/// share the table. scale = threshold / 2^(value_bits - s) in float32. A weight's table holds 0.
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

struct LutSelection {
  LutParams params;
  double expected_sqnr_db = std::numeric_limits<double>::infinity();  // as in RangeSelection
};

/// Parameters of a weight tensor (float32): thresholds by the extremes, then the table of least square error over the
/// places of all weights; `criterion` gives min_threshold alone, for a table has no range that an error could choose.
/// Error kInvalidArgument for an axis that the tensor does not have, a method without a table, n_bits outside 2 to 7 or
/// lut_values_bitwidth outside n_bits to 16; kInvalidModel for a weight that is not finite.
LutSelection choose_lut_weight_params(const Tensor& weights, QuantizationMethod method, int n_bits,
                                      int lut_values_bitwidth, std::optional<int> channel_axis,
                                      const Criterion& criterion);

/// The same of an activation; z_threshold counts. The table need not hold 0, for most activations have zeros enough.
LutSelection choose_lut_activation_params(const EvenBins& bins, QuantizationMethod method, int n_bits, bool is_signed,
                                          int lut_values_bitwidth, const Criterion& criterion);

/// The table of an activation for a threshold that was chosen already.
LutParams lut_activation_params(const EvenBins& bins, QuantizationMethod method, int n_bits, const LutValues& values,
                                double threshold);

/// For every uint8 code of the entries' own even steps, whose code of 0 is `zero_point`, that of the nearest entry.
/// Entries have 8 bits.
std::vector<uint8_t> nearest_codes(const LutParams& params, int32_t zero_point);

/// Indices (uint8, same shape) of the nearest entries, and the float32 values that indices stand for.
Tensor quantize(const Tensor& x, const LutParams& params);
Tensor dequantize(const Tensor& q, const LutParams& params);

}  // namespace tersor::quant
