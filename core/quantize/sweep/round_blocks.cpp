// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/round_blocks.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/choose/block_weight.h"
#include "core/kernels/add_scaled.h"
#include "core/kernels/nearest_planes.h"
#include "core/sweep/gram_factor.h"

namespace tersor::ptq {

using quant::BlockParams;

namespace {

constexpr double kWorthwhile = 0.98;   // of the noise of the nearest integers, on samples held aside
constexpr int64_t kTriedOutputs = 32;  // of a group, at most about so many, on samples held aside
constexpr int kFits = 2;               // of the steps
constexpr double kFarthestFit = 1.5;   // of a step, up or down
constexpr auto kLanes = static_cast<int64_t>(kernels::kPlaneLanes);

enum class Outputs : uint8_t { kAll, kTried };

/// Codes by output and column, and what they count in.
struct Found {
  std::vector<int8_t> codes;
  BlockParams params;
};

class BlockRounder {
 public:
  BlockRounder(const KernelPlan& plan, const Tensor& weight, const GramKernel& kernel)
      : plan_(plan),
        kernel_(kernel),
        rows_(rows_of(plan.op, weight)),
        planned_{quant::quantize(rows_, *plan.blocks), *plan.blocks} {}

  const Found& planned() const { return planned_; }
  /// With steps by importance where `chooses`.
  Found round(const std::vector<Factor>& given, bool chooses, Outputs outputs) const {
    Found found = planned_;
    if (chooses) choose_steps(given, found);
    Found next = found;
    for (size_t b = 0; b < given.size(); ++b)
      if (!given[b].order.empty())
        for_outputs(kernel_.blocks[b].group, outputs, [&](int64_t first, int64_t end) {
          round_some(kernel_.blocks[b], given[b], first, end, next, found);
        });
    return found;
  }
  /// Squared error after the kernel, summed over the outputs that are tried.
  double noise(const Found& found, const std::vector<Matrix>& matrices) const {
    double sum = 0;
    for (size_t b = 0; b < matrices.size(); ++b)
      for_outputs(kernel_.blocks[b].group, Outputs::kTried, [&](int64_t first, int64_t end) {
        for (const double one : noise_of(matrices[b], errors(kernel_.blocks[b], first, end, found))) sum += one;
      });
    return sum;
  }

 private:
  int64_t columns() const { return kernel_.columns(); }

  template <class Visit>
  void for_outputs(int64_t group, Outputs outputs, Visit visit) const {
    const int64_t per_group = plan_.op.outputs / plan_.op.groups, end = (group + 1) * per_group;
    const int64_t turns = outputs == Outputs::kTried ? std::max<int64_t>(1, per_group / kTriedOutputs) : 1;
    for (int64_t o = group * per_group; o < end; o += turns * kLanes) visit(o, std::min(o + kLanes, end));
  }

  /// Of each column of the group, the mean square of its input, as far as it is known.
  std::vector<double> importance(int64_t group, const std::vector<Factor>& given) const {
    std::vector<double> of_columns(static_cast<size_t>(columns()), 1.0);
    for (size_t b = 0; b < given.size(); ++b) {
      const GramBlock& block = kernel_.blocks[b];
      if (block.group != group || given[b].order.empty()) continue;
      for (int64_t k = 0; k < block.size; ++k)
        of_columns[static_cast<size_t>(block.first + k)] =
            given[b].damped.row(static_cast<size_t>(k))[static_cast<size_t>(k)];
    }
    return of_columns;
  }

  void choose_steps(const std::vector<Factor>& given, Found& found) const {
    const int64_t per_group = plan_.op.outputs / plan_.op.groups;
    const auto elements = static_cast<size_t>(per_group * columns());
    found.params.scale.clear();
    found.params.zero_point.clear();
    for (int64_t group = 0; group < plan_.op.groups; ++group) {
      const std::span<const float> rows = std::span(rows_).subspan(static_cast<size_t>(group) * elements, elements);
      BlockParams own = *plan_.blocks;
      if (own.has_levels()) {
        const auto begin = plan_.blocks->row_scale.begin() + group * per_group;
        own.row_scale.assign(begin, begin + per_group);
      }
      const BlockParams chosen =
          quant::choose_blocks(rows, std::move(own), quant::Criterion{}, importance(group, given));
      found.params.scale.insert(found.params.scale.end(), chosen.scale.begin(), chosen.scale.end());
      found.params.zero_point.insert(found.params.zero_point.end(), chosen.zero_point.begin(), chosen.zero_point.end());
    }
    found.codes = quant::quantize(rows_, found.params);
  }

  double error_at(int64_t output, int64_t column, const Found& found) const {
    const auto k = static_cast<size_t>(output * columns() + column);
    const size_t index = found.params.index(output, column);
    if (found.params.has_levels())
      return static_cast<double>(rows_[k]) - static_cast<double>(found.params.value(found.codes[k], index));
    return static_cast<double>(rows_[k]) -
           (found.codes[k] - found.params.zero_point[index]) * static_cast<double>(found.params.scale[index]);
  }
  std::vector<double> errors(const GramBlock& block, int64_t first, int64_t end, const Found& found) const {
    std::vector<double> list;
    for (int64_t o = first; o < end; ++o)
      for (int64_t k = 0; k < block.size; ++k) list.push_back(error_at(o, block.first + k, found));
    return list;
  }

  /// A group's outputs from first to end: integers by nearest planes, steps fitted to them as long as that helps.
  /// `next` begins as `found` does.
  void round_some(const GramBlock& block, const Factor& factor, int64_t first, int64_t end, Found& next,
                  Found& found) const {
    std::vector<double> least = noise_of(factor.damped, errors(block, first, end, found));
    for (int round = 0; round <= kFits; ++round) {
      if (round > 0 && plan_.blocks->method == quant::QuantizationMethod::kPowerOfTwo) return;
      for (int64_t o = first; round > 0 && o < end; ++o) fit_steps(block, factor.damped, o, next);
      find_planes(block, factor, first, end, next);
      const std::vector<double> noise = noise_of(factor.damped, errors(block, first, end, next));
      for (int64_t o = first; o < end; ++o) {
        double& best = least[static_cast<size_t>(o - first)];
        if (!(noise[static_cast<size_t>(o - first)] < best)) continue;
        best = noise[static_cast<size_t>(o - first)];
        copy(block, o, next, found);
      }
    }
  }

  void copy(const GramBlock& block, int64_t output, const Found& from, Found& to) const {
    const auto at = static_cast<size_t>(output * columns() + block.first);
    std::copy_n(from.codes.begin() + static_cast<std::ptrdiff_t>(at), block.size,
                to.codes.begin() + static_cast<std::ptrdiff_t>(at));
    for (int64_t k = 0; k < block.size; ++k) {
      const size_t index = from.params.index(output, block.first + k);
      to.params.scale[index] = from.params.scale[index];
    }
  }

  void find_planes(const GramBlock& block, const Factor& factor, int64_t first, int64_t end, Found& found) const {
    const auto size = static_cast<size_t>(block.size), lanes = static_cast<size_t>(kLanes);
    std::vector<float> values(size * lanes), carried(size * lanes), steps(size * lanes, 1.0f), lows(size * lanes),
        highs(size * lanes);
    const auto for_each_place = [&](auto visit) {
      for (int64_t o = first; o < end; ++o)
        for (size_t i = 0; i < size; ++i) {
          const int64_t column = block.first + static_cast<int64_t>(factor.order[i]);
          visit(i * lanes + static_cast<size_t>(o - first), static_cast<size_t>(o * columns() + column),
                found.params.index(o, column));
        }
    };
    for_each_place([&](size_t place, size_t k, size_t index) {
      const int32_t zero = found.params.zero_point[index];
      values[place] = rows_[k];
      steps[place] = found.params.scale[index];
      const auto [low, high] = found.params.bounds(index);
      lows[place] = static_cast<float>(low - zero);
      highs[place] = static_cast<float>(high - zero);
    });
    kernels::nearest_planes(factor.lower.values.data(), size, {steps.data(), lows.data(), highs.data()}, carried.data(),
                            values.data());
    for_each_place([&](size_t place, size_t k, size_t index) {
      found.codes[k] = static_cast<int8_t>(static_cast<int32_t>(values[place]) + found.params.zero_point[index]);
    });
  }

  /// Each block's step in turn is that of least e^T H e; not of a block that lies in two matrices.
  void fit_steps(const GramBlock& block, const Matrix& h, int64_t output, Found& found) const {
    const auto size = static_cast<size_t>(block.size);
    std::vector<double> slopes(size, 0.0), steps(size, 0.0),
        along(size);  // H e, integers less zero points, H times these
    for (size_t k = 0; k < size; ++k)
      kernels::add_scaled(error_at(output, block.first + static_cast<int64_t>(k), found), h.row(k), size,
                          slopes.data());
    const int64_t width = found.params.size;
    for (int64_t begin = (block.first + width - 1) / width * width; begin < block.first + block.size; begin += width) {
      const int64_t end = std::min(begin + width, columns());
      if (end > block.first + block.size) return;
      const size_t index = found.params.index(output, begin);
      std::fill(along.begin(), along.end(), 0.0);
      for (int64_t c = begin; c < end; ++c) {
        const auto k = static_cast<size_t>(c - block.first);
        steps[k] = found.codes[static_cast<size_t>(output * columns() + c)] - found.params.zero_point[index];
        kernels::add_scaled(steps[k], h.row(k), size, along.data());
      }
      double products = 0, squares = 0;
      for (int64_t c = begin; c < end; ++c) {
        const auto k = static_cast<size_t>(c - block.first);
        products += steps[k] * slopes[k];
        squares += steps[k] * along[k];
      }
      if (!(squares > 0)) continue;
      const double before = found.params.scale[index];
      const float fitted = found.params.stored_scale(static_cast<float>(before + products / squares), index);
      const double ratio = fitted / before;
      if (!(ratio <= kFarthestFit && ratio * kFarthestFit >= 1) || !std::isnormal(fitted)) continue;
      found.params.scale[index] = fitted;
      kernels::add_scaled(before - fitted, along.data(), size, slopes.data());
    }
  }

  const KernelPlan& plan_;
  const GramKernel& kernel_;
  std::vector<float> rows_;
  Found planned_;
};

}  // namespace

std::optional<calibrate::RoundedWeight> round_blocks(const std::string& name, const Tensor& weight,
                                                     const KernelPlan& plan, const GramKernel& kernel,
                                                     const GramSums& sums) {
  const BlockRounder rounder(plan, weight, kernel);
  const std::vector<Matrix> aside = matrices_of(kernel, sums, 1);
  const double before = rounder.noise(rounder.planned(), aside);
  if (!(before > 0)) return std::nullopt;
  const std::vector<Factor> tried = factors_of(matrices_of(kernel, sums, 0), true);
  // Zero points are decided without samples, and so the ranges that they belong to are.
  const bool may_choose = plan.blocks->method != quant::QuantizationMethod::kUniform;
  double ratio = 2;
  bool chooses = false;
  for (const bool own : {false, true}) {
    if (own && !may_choose) break;
    const double noise = rounder.noise(rounder.round(tried, own, Outputs::kTried), aside) / before;
    if (!(noise < ratio)) continue;
    ratio = noise;
    chooses = own;
  }
  if (!(ratio < kWorthwhile)) return std::nullopt;
  Found found = rounder.round(factors_of(matrices_of(kernel, sums, 2), true), chooses, Outputs::kAll);
  return calibrate::RoundedWeight{name, std::move(found.params.scale), in_weight_order(plan.op, found.codes), ratio};
}

}  // namespace tersor::ptq
