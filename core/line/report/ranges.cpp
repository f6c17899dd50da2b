// SPDX-License-Identifier: Apache-2.0
#include "core/report/ranges.h"

#include <algorithm>
#include <cmath>

#include "core/report/range_remarks.h"

namespace tersor::report {

namespace {

constexpr double kMostDb = 200;

std::optional<double> expected(const calibrate::TensorStatistics* seen, const ptq::ActivationPlan& plan) {
  if (seen == nullptr || seen->histogram.empty() || plan.params.per_channel()) return std::nullopt;
  const double decibels = expected_sqnr_db(seen->histogram, plan.params, plan.table);
  if (!std::isfinite(decibels)) return std::nullopt;
  return std::clamp(decibels, -kMostDb, kMostDb);
}

std::optional<double> unevenness(const calibrate::TensorStatistics* seen) {
  if (seen == nullptr) return std::nullopt;
  std::vector<double> reaches;
  for (const calibrate::ChannelStatistics& channel : seen->channels)
    if (const float reach = std::max(-channel.min, channel.max); reach > 0)
      reaches.push_back(static_cast<double>(reach));
  if (reaches.empty()) return std::nullopt;
  std::sort(reaches.begin(), reaches.end());
  return reaches.back() / reaches[reaches.size() / 2];
}

}  // namespace

std::vector<RangeRow> ranges_of(const Graph& graph, const ptq::QuantizationPlan& plan,
                                const calibrate::Statistics& statistics) {
  std::vector<RangeRow> rows;
  for (const ptq::ActivationPlan& one : plan.activations) {
    RangeRow row;
    row.tensor = graph.name_of(one.tensor.value);
    row.method = one.params.method;
    row.n_bits = one.table ? one.table->n_bits : one.params.grid.n_bits;
    quant::Range range = one.params.representable();
    for (size_t c = 1; c < one.params.scale.size(); ++c) {
      const quant::Range other = one.params.representable(c);
      range = {std::min(range.low, other.low), std::max(range.high, other.high)};
    }
    if (one.table) {
      const double step = one.params.scale[0];
      range = {one.table->table.front() * step, one.table->table.back() * step};
    }
    row.range = {range.low, range.high};
    row.seen = {one.seen.low, one.seen.high};
    row.scale.assign(one.params.scale.begin(), one.params.scale.end());
    row.zero_point = one.params.zero_point[0];
    const calibrate::TensorStatistics* seen = statistics.find(row.tensor);
    row.expected_sqnr_db = expected(seen, one);
    row.channel_unevenness = unevenness(seen);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tersor::report
