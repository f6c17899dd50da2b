// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/calibrate/statistics.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor::report {

/// The range that was chosen for an activation.
struct RangeRow {
  std::string tensor;
  quant::QuantizationMethod method = quant::QuantizationMethod::kUniform;
  int n_bits = 8;
  std::vector<double> range;
  std::vector<double> seen;
  std::vector<double> scale;
  int64_t zero_point = 0;
  std::optional<double> expected_sqnr_db;
  std::optional<double> channel_unevenness;

  static constexpr auto fields() {
    return std::make_tuple(
        field("tensor", &RangeRow::tensor, "Its name in the prepared graph."),
        field("method", &RangeRow::method, "The quantizer's method."), field("n_bits", &RangeRow::n_bits, "Its bits."),
        field("range", &RangeRow::range, "Lowest and highest value that it represents."),
        field("seen", &RangeRow::seen, "Lowest and highest value that calibration saw."),
        field("scale", &RangeRow::scale, "The step between two codes; several are those of channels."),
        field("zero_point", &RangeRow::zero_point, "Code of the value 0."),
        field(
            "expected_sqnr_db", &RangeRow::expected_sqnr_db,
            "SQNR in dB that the range by itself leaves of what calibration saw; null when exact, or where there is no "
            "histogram."),
        field(
            "channel_unevenness", &RangeRow::channel_unevenness,
            "How many times as far from 0 the farthest channel reaches as the middle one, channels that are all 0 left "
            "out; null where channels were not watched."));
  }
};

/// Returns a row per quantized activation, in graph order. `graph` and `statistics` are those that the plan was chosen
/// for.
std::vector<RangeRow> ranges_of(const Graph& graph, const ptq::QuantizationPlan& plan,
                                const calibrate::Statistics& statistics);

}  // namespace tersor::report
