// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/summed_output.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/correct/channel_runs.h"
#include "core/correct/unary_region.h"
#include "core/kernels/moments.h"
#include "core/kernels/sum_rows.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

constexpr int64_t kPoints = 4096;

/// The nodes that make the function, with all of the curve but y.
std::optional<UnaryRegion> region_after(const Graph& graph, const Uses& uses, const QuantizationPlan& plan,
                                        const calibrate::Statistics& statistics, ValueId value, Curve& curve) {
  const calibrate::TensorStatistics* made = statistics.find(graph.name_of(value));
  if (made == nullptr) return std::nullopt;
  const size_t channels = made->channels.size();
  curve.factors.assign(channels, 1), curve.offsets.assign(channels, 0);
  for (const char* type : {"Mul", "Add"}) {  // of scales that are split (correct/split_scales.h)
    const auto reader = passes::sole_reader(graph, uses, value);
    if (!reader || !graph.nodes()[*reader].is(type)) break;
    const Node& node = graph.nodes()[*reader];
    const Tensor* constant = node.inputs[0] == value ? passes::float_constant(graph, node.inputs[1]) : nullptr;
    if (constant == nullptr || constant->elements() != static_cast<int64_t>(channels) || channels == 1) break;
    (node.is("Mul") ? curve.factors : curve.offsets) = passes::to_doubles(*constant);
    value = node.outputs[0];
  }
  auto region = unary_region_after(graph, uses, value, [&](ValueId id) { return plan.find(id) != nullptr; });
  const calibrate::TensorStatistics* from = statistics.find(graph.name_of(value));
  if (!region || from == nullptr || from->histogram.empty()) return std::nullopt;
  const calibrate::TensorStatistics* to = statistics.find(graph.name_of(region->to));
  if (to == nullptr || to->channels.size() != channels || to->channel_axis != made->channel_axis) return std::nullopt;
  curve.to = region->to;
  curve.low = from->histogram.min();
  curve.step = (static_cast<double>(from->histogram.max()) - curve.low) / (kPoints - 1);
  if (!(curve.step > 0)) return std::nullopt;
  return region;
}

Tensor points_of(const Curve& curve) {
  std::vector<float> x;
  for (int64_t k = 0; k < kPoints; ++k)
    x.push_back(static_cast<float>(curve.low + static_cast<double>(k) * curve.step));
  return Tensor::of<float>(Shape{1, 1, kPoints, 1}, x);
}

/// The sum of y, and that of the slope in x.
std::pair<double, double> sums_on(const Curve& curve, size_t channel, const float* x, size_t count) {
  const double factor = curve.factors[channel], offset = curve.offsets[channel];
  const size_t last = curve.y.size() - 2;
  double sum = 0, rises = 0;
  for (size_t k = 0; k < count; ++k) {
    const double place = (factor * x[k] + offset - curve.low) / curve.step;
    const size_t cell = place > 0 ? std::min(last, static_cast<size_t>(std::min(place, 1e9))) : 0;
    const double rise = curve.y[cell + 1] - curve.y[cell];
    sum += curve.y[cell] + (place - static_cast<double>(cell)) * rise;
    rises += rise;
  }
  return {sum, rises / curve.step * factor};
}

}  // namespace

void ChannelSums::add(const ChannelSums& more) {
  if (more.sums.size() == 0) return;
  if (sums.size() == 0) sums = calibrate::ExactSums(more.sums.size());
  sums.add(more.sums);
  elements += more.elements;
}

void SummedOutput::add(std::span<const float> x, const Shape& physical, int axis, ChannelSums& sums) const {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto channels = static_cast<size_t>(physical[axis]);
  const float low = clamp ? static_cast<float>(clamp->low) : -kInfinity;
  const float high = clamp ? static_cast<float>(clamp->high) : kInfinity;
  const bool is_plain = !curve && !keeps_deviation, channels_last = axis == physical.rank() - 1;
  std::vector<double> own(2 * channels, 0.0);
  if (is_plain && channels_last && channels > 0)
    kernels::sum_clamped_rows(x.data(), x.size() / channels, channels, low, high, own.data(), own.data() + channels);
  else
    for_each_channel_run(physical, axis, [&](size_t c, size_t begin, size_t count) {
      const float* const first = x.data() + begin;
      if (is_plain) {
        kernels::sum_clamped_rows(first, count, 1, low, high, &own[c], &own[channels + c]);
        return;
      }
      const auto [sum, second] =
          curve ? sums_on(*curve, c, first, count)
                : std::pair(kernels::sum_shifted(first, count, 0), kernels::sum_squares_shifted(first, count, 0));
      own[c] += sum, own[channels + c] += second;
    });
  own.resize(per_channel() * channels);
  if (sums.sums.size() == 0) sums.sums = calibrate::ExactSums(own.size());
  if (sums.sums.size() != own.size())
    throw Error(ErrorCode::kInvalidSamples, "The number of channels differs between samples.");
  if (!std::all_of(own.begin(), own.end(), [](double sum) { return std::isfinite(sum); }))
    throw Error(ErrorCode::kInvalidSamples, "The model gives a number that is not finite.");
  sums.sums.add(own);
  sums.elements += x.size();
}

std::vector<std::shared_ptr<const Curve>> curves_after(const Model& float_model, const Uses& uses,
                                                       const QuantizationPlan& plan,
                                                       const calibrate::Statistics& statistics,
                                                       std::span<const ValueId> values) {
  std::vector<std::shared_ptr<const Curve>> curves(values.size());
  std::vector<size_t> places;
  std::vector<Curve> found;
  std::vector<UnaryRegion> regions;
  std::vector<Tensor> points;
  for (size_t k = 0; k < values.size(); ++k) {
    Curve curve;
    auto region = region_after(float_model.graph, uses, plan, statistics, values[k], curve);
    if (!region) continue;
    places.push_back(k);
    points.push_back(points_of(curve));
    regions.push_back(std::move(*region));
    found.push_back(std::move(curve));
  }
  if (found.empty()) return curves;
  const std::vector<Tensor> made = evaluate(float_model, regions, points);
  for (size_t k = 0; k < found.size(); ++k) {
    const auto y = made[k].data<float>();
    if (!std::all_of(y.begin(), y.end(), [](float one) { return std::isfinite(one); })) continue;
    Curve& curve = found[k];
    curve.y.assign(y.begin(), y.end());
    for (size_t c = 1; c < curve.y.size(); ++c)
      curve.steepest = std::max(curve.steepest, std::fabs(curve.y[c] - curve.y[c - 1]) / curve.step);
    curves[places[k]] = std::make_shared<const Curve>(std::move(curve));
  }
  return curves;
}

}  // namespace tersor::ptq
