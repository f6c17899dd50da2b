// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/round_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/base/error.h"
#include "core/choose/table_weight.h"
#include "core/kernels/add_scaled.h"
#include "core/kernels/nearest_planes.h"
#include "core/quant/quantizer.h"
#include "core/sweep/gram_factor.h"
#include "core/sweep/round_blocks.h"
#include "core/tensor/rounding.h"

namespace tersor::ptq {

namespace {

constexpr double kWorthwhile = 0.98;  // of the noise of the nearest integers, on samples held aside
/// Outputs that take rows of a sum while they are in the cache.
constexpr int64_t kOutputsAtOnce = kernels::kPlaneLanes;
constexpr double kWorthwhileScale = 0.9;
constexpr int kMostRounds = 20;  // over the columns
constexpr double kScaleFactors[] = {1.0, 0.97, 0.94, 0.91, 0.88};
/// Few steps are worth more where they lie close than where they reach all values.
constexpr double kScaleFactorsOfFewBits[] = {1.0, 1.6, 1.35, 1.15, 1.07, 0.93, 0.86, 0.8, 0.73, 0.66, 0.6, 0.52};
constexpr int64_t kTriedOutputs = 32;  // of a group, at most about so many, on samples held aside

struct Grid {
  double lowest, highest;
  std::span<const int32_t> entries = {};  // ascending; of a table, and its codes are no others

  double nearest(double value) const {
    if (entries.empty()) return round_half_even_small(std::clamp(value, lowest, highest));
    const auto above = std::lower_bound(entries.begin(), entries.end(), value);
    if (above == entries.begin()) return *above;
    if (above == entries.end()) return entries.back();
    return *above - value < value - *(above - 1) ? *above : *(above - 1);
  }
};

/// The same for entries that lie unevenly, one output after another.
std::vector<double> nearest_entries(const Factor& factor, const std::vector<double>& values, const Grid& grid) {
  const size_t size = factor.order.size();
  std::vector<double> codes(values.size()), carried(size);
  for (size_t first = 0; first < values.size(); first += size) {
    std::fill(carried.begin(), carried.end(), 0.0);
    for (size_t i = size; i-- > 0;) {
      const double value = values[first + factor.order[i]], code = grid.nearest(value + carried[i]);
      codes[first + factor.order[i]] = code;
      const float* const row = factor.lower.values.data() + i * size;
      for (size_t k = 0; k < i; ++k) carried[k] += (value - code) * static_cast<double>(row[k]);
    }
  }
  return codes;
}

/// Codes for rows of `values` (weights in steps, zero point added) by nearest planes.
std::vector<double> nearest_planes(const Factor& factor, const std::vector<double>& values, const Grid& grid) {
  constexpr size_t kLanes = kernels::kPlaneLanes;
  const size_t size = factor.order.size(), outputs = values.size() / size;
  std::vector<double> codes(values.size());
  for (size_t first = 0; first < outputs; first += kLanes) {
    const size_t end = std::min(first + kLanes, outputs);
    std::vector<float> places(size * kLanes), carried(size * kLanes);
    const auto for_each_value = [&](auto visit) {
      for (size_t o = first; o < end; ++o)
        for (size_t i = 0; i < size; ++i) visit(o * size + factor.order[i], places[i * kLanes + o - first]);
    };
    for_each_value([&](size_t from, float& place) { place = static_cast<float>(values[from]); });
    kernels::nearest_planes(factor.lower.values.data(), size, static_cast<float>(grid.lowest),
                            static_cast<float>(grid.highest), carried.data(), places.data());
    for_each_value([&](size_t to, float& place) { codes[to] = static_cast<double>(place); });
  }
  return codes;
}

/// Steps of one integer, column by column, as long as they lower e^T H e.
void descend(const Matrix& h, const double* values, const Grid& grid, double* codes) {
  const size_t size = h.size;
  std::vector<double> slopes(size, 0.0);  // H e
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < size; ++j) slopes[i] += h.row(i)[j] * (values[j] - codes[j]);
  for (int round = 0; round < kMostRounds; ++round) {
    bool moved = false;
    for (size_t i = 0; i < size; ++i) {
      const double step = slopes[i] > 0 ? 1 : -1;  // of the code; the error moves by -step
      const double next = codes[i] + step;
      if (next < grid.lowest || next > grid.highest) continue;
      if (2 * std::fabs(slopes[i]) <= h.row(i)[i] * (1 + 1e-9)) continue;
      codes[i] = next;
      kernels::add_scaled(-step, h.row(i), size, slopes.data());
      moved = true;
    }
    if (!moved) return;
  }
}

/// What is done beyond carrying each weight's error over to the next ones (kernels/nearest_planes.h).
struct Rounding {
  bool descends = false;      // single integers move afterwards, as long as the error falls
  bool tries_scales = false;  // other scales of each output are tried too
};

/// Codes by output and column, and the scales they count in.
struct Found {
  std::vector<int8_t> codes;
  std::vector<float> scales;
};

bool has_few_bits(const KernelPlan& plan) {
  return plan.weight.grid.n_bits < 8;
}

/// Tries ways of rounding one weight, as a matrix of outputs and columns.
class Rounder {
 public:
  /// All, or some that are spread evenly.
  enum class Outputs : uint8_t { kAll, kTried };

  Rounder(const KernelPlan& plan, const Tensor& weight, const GramKernel& kernel);

  /// Found with the matrices of `given`; other outputs have the nearest integers.
  Found round(const std::vector<Factor>& given, const Rounding& rounding, Outputs outputs) const;
  const Found& nearest() const { return nearest_; }
  /// Squared error after the kernel, summed over the outputs that are tried.
  double noise(const Found& found, const std::vector<Matrix>& matrices) const;
  /// Codes in the weight's own order.
  std::vector<int8_t> in_weight_order(const std::vector<int8_t>& codes) const;

 private:
  size_t scale_index(int64_t o) const { return plan_.weight.scale.size() == 1 ? 0 : static_cast<size_t>(o); }
  size_t zero_point_index(int64_t o) const {
    return plan_.weight.zero_point.size() == 1 ? 0 : plan_.scale_index(static_cast<size_t>(o));
  }
  size_t at(int64_t o, const GramBlock& block) const {
    return static_cast<size_t>(o * kernel_.columns() + block.first);
  }
  template <class Visit>
  void for_each_element(Visit visit) const {
    const passes::KernelOp op = plan_.op;  // a copy, which nothing that is visited can change
    size_t to = 0;
    for (int64_t o = 0; o < op.outputs; ++o)
      for (int64_t i = 0; i < op.inputs_per_group(); ++i)
        for (int64_t tap = 0; tap < op.taps; ++tap) visit(to++, op.at(o, i, tap));
  }
  /// A group's outputs, some at a time.
  template <class Visit>
  void for_outputs(int64_t group, Outputs outputs, Visit visit) const {
    const int64_t per_group = plan_.op.outputs / plan_.op.groups, end = (group + 1) * per_group;
    const int64_t turns = outputs == Outputs::kTried ? std::max<int64_t>(1, per_group / kTriedOutputs) : 1;
    for (int64_t o = group * per_group; o < end; o += turns * kOutputsAtOnce)
      visit(o, std::min(o + kOutputsAtOnce, end));
  }
  void round_block(const GramBlock& block, const Factor& factor, const Rounding& rounding, Outputs outputs,
                   Found& found) const;
  Found round_with_scales(const std::vector<Factor>& given, const Rounding& rounding, Outputs outputs) const;
  /// Adds the squared error after the kernel of each output.
  void add_noise(const Found& found, const Matrix& matrix, const GramBlock& block, Outputs outputs,
                 std::vector<double>& noise) const;
  /// Appends a block's weights of output o in steps of `scale`.
  void add_steps(int64_t o, const GramBlock& block, float scale, std::vector<double>& values) const {
    for (size_t k = at(o, block), end = k + static_cast<size_t>(block.size); k < end; ++k)
      values.push_back(weights_[k] / scale + plan_.weight.zero_point[zero_point_index(o)]);
  }

  const KernelPlan& plan_;
  const GramKernel& kernel_;
  std::vector<double> weights_;
  Found nearest_;
  std::span<const double> factors_;  // of scales
  Grid grid_{};
};

Rounder::Rounder(const KernelPlan& plan, const Tensor& weight, const GramKernel& kernel)
    : plan_(plan), kernel_(kernel), nearest_{{}, plan.weight.scale} {
  const Tensor values = weight.aligned(),
               codes = plan.table ? entries_of(values, *plan.table) : quant::quantize(values, plan.weight);
  weights_.resize(values.data<float>().size());
  nearest_.codes.resize(weights_.size());
  for_each_element([&](size_t to, size_t from) {
    weights_[to] = static_cast<double>(values.data<float>()[from]);
    nearest_.codes[to] = codes.data<int8_t>()[from];
  });
  factors_ = has_few_bits(plan) ? std::span<const double>(kScaleFactorsOfFewBits) : std::span(kScaleFactors);
  grid_ = {static_cast<double>(plan.weight.grid.q_min()), static_cast<double>(plan.weight.grid.q_max())};
  if (plan.table) grid_.entries = plan.table->table;
}

std::vector<int8_t> Rounder::in_weight_order(const std::vector<int8_t>& codes) const {
  std::vector<int8_t> ordered(codes.size());
  for_each_element([&](size_t from, size_t to) { ordered[to] = codes[from]; });
  return ordered;
}

void Rounder::round_block(const GramBlock& block, const Factor& factor, const Rounding& rounding, Outputs outputs,
                          Found& found) const {
  std::vector<double> values;
  for_outputs(block.group, outputs, [&](int64_t first, int64_t end) {
    values.clear();
    for (int64_t o = first; o < end; ++o) add_steps(o, block, found.scales[scale_index(o)], values);
    std::vector<double> codes;
    if (factor.order.empty())
      for (const double value : values) codes.push_back(grid_.nearest(value));
    else
      codes = grid_.entries.empty() ? nearest_planes(factor, values, grid_) : nearest_entries(factor, values, grid_);
    const double* code = codes.data();
    for (size_t k = 0; rounding.descends && !factor.order.empty() && k < codes.size(); k += factor.damped.size)
      descend(factor.damped, values.data() + k, grid_, codes.data() + k);
    for (int64_t o = first; o < end; ++o) {
      int8_t* to = found.codes.data() + at(o, block);
      for (int64_t k = 0; k < block.size; ++k) to[k] = static_cast<int8_t>(*code++);
    }
  });
}

/// Every output with the scale, among those of `factors` times its own, whose codes make the least noise, damping
/// included.
Found Rounder::round_with_scales(const std::vector<Factor>& given, const Rounding& rounding, Outputs outputs) const {
  Found best = nearest_;
  std::vector<double> least;
  for (const double factor : factors_) {
    Found found = nearest_;
    for (float& scale : found.scales) scale = static_cast<float>(scale * factor);
    std::vector<double> noise(static_cast<size_t>(plan_.op.outputs), 0.0);
    for (size_t b = 0; b < given.size(); ++b) {
      round_block(kernel_.blocks[b], given[b], rounding, outputs, found);
      if (!given[b].order.empty()) add_noise(found, given[b].damped, kernel_.blocks[b], outputs, noise);
    }
    if (least.empty()) least.assign(noise.size(), std::numeric_limits<double>::infinity());
    for (size_t o = 0; o < noise.size(); ++o) {
      if (noise[o] >= kWorthwhileScale * least[o]) continue;
      least[o] = noise[o];
      const auto from = found.codes.begin() + static_cast<std::ptrdiff_t>(o) * kernel_.columns();
      std::copy(from, from + kernel_.columns(),
                best.codes.begin() + static_cast<std::ptrdiff_t>(o) * kernel_.columns());
      best.scales[o] = found.scales[o];
    }
  }
  return best;
}

Found Rounder::round(const std::vector<Factor>& given, const Rounding& rounding, Outputs outputs) const {
  Found found = nearest_;
  // A scale that was raised so that its bias fits, or that several outputs or kernels share, stays.
  if (rounding.tries_scales && plan_.raised_channels == 0 && !plan_.shared &&
      plan_.weight.method != quant::QuantizationMethod::kPowerOfTwo &&
      static_cast<int64_t>(plan_.weight.scale.size()) == plan_.op.outputs)
    return round_with_scales(given, rounding, outputs);
  for (size_t b = 0; b < given.size(); ++b)
    if (!given[b].order.empty()) round_block(kernel_.blocks[b], given[b], rounding, outputs, found);
  return found;
}

void Rounder::add_noise(const Found& found, const Matrix& matrix, const GramBlock& block, Outputs outputs,
                        std::vector<double>& noise) const {
  std::vector<double> errors;
  for_outputs(block.group, outputs, [&](int64_t first, int64_t end) {
    errors.clear();
    for (int64_t o = first; o < end; ++o) {
      const float scale = found.scales[scale_index(o)];
      const int8_t* codes = found.codes.data() + at(o, block);
      add_steps(o, block, scale, errors);
      double* error = errors.data() + errors.size() - block.size;
      for (int64_t k = 0; k < block.size; ++k) error[k] = (error[k] - codes[k]) * scale;
    }
    const std::vector<double> own = noise_of(matrix, errors);
    for (size_t k = 0; k < own.size(); ++k) noise[static_cast<size_t>(first) + k] += own[k];
  });
}

double Rounder::noise(const Found& found, const std::vector<Matrix>& matrices) const {
  std::vector<double> by_output(static_cast<size_t>(plan_.op.outputs), 0.0);
  for (size_t b = 0; b < matrices.size(); ++b)
    add_noise(found, matrices[b], kernel_.blocks[b], Outputs::kTried, by_output);
  double noise = 0;
  for (const double own : by_output) noise += own;
  return noise;
}

/// All channels share a table, whose entries have no next integer, so that neither its scales nor its codes are moved.
std::vector<Rounding> roundings_of(int effort, bool few_bits, bool by_table) {
  std::vector<Rounding> all = {{.tries_scales = few_bits}};
  if (effort > 1 && !by_table) {
    all.push_back({.descends = true});
    all.push_back({.descends = true, .tries_scales = true});
  }
  return all;
}

}  // namespace

std::optional<calibrate::RoundedWeight> round_weight(const std::string& name, const Tensor& weight,
                                                     const KernelPlan& plan, const GramKernel& kernel,
                                                     const GramSums& sums, int effort) {
  if (plan.weight.storage() != DType::kInt8 || !sums.has_both()) return std::nullopt;
  if (plan.blocks) return round_blocks(name, weight, plan, kernel, sums);
  const bool few_bits = has_few_bits(plan), keeps_damped = effort > 1 || few_bits;
  const Rounder rounder(plan, weight, kernel);
  const std::vector<Matrix> aside = matrices_of(kernel, sums, 1);
  const double before = rounder.noise(rounder.nearest(), aside);
  if (!(before > 0)) return std::nullopt;
  const std::vector<Factor> tried = factors_of(matrices_of(kernel, sums, 0), keeps_damped);
  const std::vector<Rounding> roundings = roundings_of(effort, few_bits, plan.table.has_value());
  std::vector<double> noise;
  for (const Rounding& rounding : roundings)
    noise.push_back(rounder.noise(rounder.round(tried, rounding, Rounder::Outputs::kTried), aside));
  const auto best = static_cast<size_t>(std::min_element(noise.begin(), noise.end()) - noise.begin());
  const double ratio = noise[best] / before;
  if (!(ratio < kWorthwhile)) return std::nullopt;
  Found found =
      rounder.round(factors_of(matrices_of(kernel, sums, 2), keeps_damped), roundings[best], Rounder::Outputs::kAll);
  return calibrate::RoundedWeight{name, std::move(found.scales), rounder.in_weight_order(found.codes), ratio};
}

void take_rounded(const Graph& graph, const calibrate::RoundedWeights& rounded, QuantizationPlan& plan) {
  for (KernelPlan& kernel : plan.kernels) {
    // The first kernel's integers are those of all that share them.
    if (kernel.shared && *kernel.shared != kernel.node) continue;
    const std::string& name = graph.name_of(kernel.op.weight);
    const auto found = std::find_if(rounded.weights.begin(), rounded.weights.end(),
                                    [&](const calibrate::RoundedWeight& one) { return one.name == name; });
    if (found == rounded.weights.end()) continue;
    std::vector<float>& own_scales = kernel.blocks ? kernel.blocks->scale : kernel.weight.scale;
    if (found->scales.size() != own_scales.size() ||
        static_cast<int64_t>(found->codes.size()) != graph.initializer(kernel.op.weight)->elements())
      throw Error(ErrorCode::kMismatch, "The statistics hold a rounded weight \"" + name + "\" of another size.",
                  "statistics", "Calibrate again.");
    const quant::IntegerGrid& grid = kernel.blocks ? kernel.blocks->grid : kernel.weight.grid;
    for (const int8_t code : found->codes)
      if (code < grid.q_min() || code > grid.q_max() ||
          (kernel.table && !std::binary_search(kernel.table->table.begin(), kernel.table->table.end(), code)))
        throw Error(ErrorCode::kMismatch, "The statistics hold a rounded weight \"" + name + "\" of other bits.",
                    "statistics", "Calibrate again.");
    kernel.codes = found->codes;
    kernel.noise_ratio = found->noise_ratio;
    if (kernel.blocks) {
      own_scales = found->scales;
      continue;
    }
    for (size_t c = 0; c < found->scales.size(); ++c) {
      if (found->scales[c] == kernel.weight.scale[c]) continue;
      kernel.weight.scale[c] = found->scales[c];
      kernel.weight.range[c] = kernel.weight.representable(c);
    }
  }
}

}  // namespace tersor::ptq
