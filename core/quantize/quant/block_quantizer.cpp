// SPDX-License-Identifier: Apache-2.0
#include "core/quant/block_quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "core/quant/quantizers/quantizers.h"
#include "core/tensor/float16.h"

namespace tersor::quant {

namespace {

constexpr int kBitsWithoutSearch = 8;  // whose extremes cost next to nothing
constexpr int kFactors = 20;           // of the scale that reaches all values, from 1 down to ...
constexpr double kLeastFactor = 0.52;  // ... this
constexpr double kLeastFactorOfManyBits = 0.9;
constexpr float kLeastHalf = 0x1p-14f;  // of float16's normal numbers
constexpr int32_t kLargestLevel = 127;
constexpr float kLeastRatio = 0x1p-8f, kLargestRatio = 127.0f;  // of a block's scale to its row's
constexpr int kMoves = 3;                                       // of the zero point from the best
constexpr int kFits = 2;                                        // of the scale to the integers that it gave

/// What a block is read back with.
struct BlockStep {
  float scale = 1;
  int32_t zero_point = 0;
};

/// Looks for a block's scale and zero point.
class BlockSearch {
 public:
  BlockSearch(std::span<const float> values, std::span<const double> importance, const BlockParams& params,
              const Criterion& criterion)
      : values_(values), importance_(importance), params_(params), criterion_(criterion) {
    for (const float value : values) {
      if (!std::isfinite(value))
        throw Error(ErrorCode::kInvalidModel, "A weight is not finite.", "", "Export the model again.");
      low_ = std::min(low_, static_cast<double>(value));
      high_ = std::max(high_, static_cast<double>(value));
    }
  }

  BlockStep best() {
    if (low_ == 0 && high_ == 0) return {};
    if (params_.method == QuantizationMethod::kUniform)
      search_ranges();
    else
      search_scales();
    return best_;
  }

 private:
  bool searches() const {
    return params_.grid.n_bits < kBitsWithoutSearch || criterion_.method != ThresholdSelectionMethod::kNoClipping;
  }
  int q_min() const { return params_.grid.q_min(); }
  int q_max() const { return params_.grid.q_max(); }

  /// The scale at which the grid reaches the extremes, its longer side on the right where `turned`.
  double reaching_scale(bool turned) const {
    const double low = turned ? -high_ : low_, high = turned ? -low_ : high_;
    return std::max(low / q_min(), high / q_max());
  }

  void search_scales() {
    const bool in_octaves = params_.method == QuantizationMethod::kPowerOfTwo;
    for (const bool turned : {false, true}) {
      if (turned && !params_.allows_negative) break;
      const double sign = turned ? -1 : 1, reaching = reaching_scale(turned);
      if (in_octaves) {
        const double scale = power_of_two_above(reaching);
        for (const double part : {1.0, 0.5, 0.25})
          if (part == 1 || searches()) consider(sign * scale * part, 0);
        continue;
      }
      for_each_factor([&](double factor) { consider_and_fit(sign * reaching * factor, 0); });
    }
  }

  void search_ranges() {
    const double reaching = (high_ - low_) / (q_max() - q_min());
    for_each_factor([&](double factor) {
      const double scale = reaching * factor;
      // Both ends give way together, or one of them alone.
      const double middle = (low_ + high_) / 2, half = (high_ - low_) / 2 * factor;
      for (const double low : {middle - half, low_, high_ - 2 * half}) {
        const double zero_point = q_min() - low / scale;
        consider_and_fit(scale,
                         static_cast<int32_t>(round_half_even(std::clamp<double>(zero_point, q_min(), q_max()))));
        if (factor == 1) break;
      }
    });
    if (searches()) search_neighbours();
  }

  /// Steps of the zero point, each with scales about the best, as long as they help.
  void search_neighbours() {
    for (int round = 0; round < kMoves; ++round) {
      const double before = least_;
      const BlockStep from = best_;
      for (const int move : {-1, 1})
        for (const double factor : {0.94, 0.97, 1.0, 1.03, 1.06}) {
          const int32_t zero_point = from.zero_point + move;
          if (zero_point >= q_min() && zero_point <= q_max()) consider_and_fit(from.scale * factor, zero_point);
        }
      if (!(least_ < before)) return;
    }
  }

  template <class Visit>
  void for_each_factor(Visit visit) const {
    visit(1.0);
    if (!searches()) return;
    const double least = params_.grid.n_bits < kBitsWithoutSearch ? kLeastFactor : kLeastFactorOfManyBits;
    for (int k = 1; k < kFactors; ++k) visit(1 - (1 - least) * k / (kFactors - 1));
  }

  double importance(size_t k) const { return importance_.empty() ? 1 : importance_[k]; }

  double power_of(double error) const {
    switch (criterion_.method) {
      case ThresholdSelectionMethod::kMae:
        return error;
      case ThresholdSelectionMethod::kLp: {
        double power = error;
        for (int k = 1; k < criterion_.p; ++k) power *= error;
        return power;
      }
      default:
        return error * error;
    }
  }

  /// Takes the step where its error is less than any before.
  bool consider(double scale, int32_t zero_point) {
    const auto stored = static_cast<float>(scale);
    if (!std::isnormal(stored)) return false;
    double error = 0;
    for (size_t k = 0; k < values_.size() && error < least_; ++k) {
      const int32_t q = quantize_value(values_[k], stored, zero_point, q_min(), q_max());
      error += importance(k) * power_of(std::fabs(values_[k] - dequantize_value(q, stored, zero_point)));
    }
    if (!(error < least_)) return false;
    least_ = error;
    best_ = {stored, zero_point};
    return true;
  }

  /// And the scale of least squared error for the integers that it gives.
  void consider_and_fit(double scale, int32_t zero_point) {
    if (!consider(scale, zero_point) || !searches()) return;
    for (int round = 0; round < kFits; ++round) {
      double products = 0, squares = 0;
      for (size_t k = 0; k < values_.size(); ++k) {
        const double steps =
            quantize_value(values_[k], static_cast<float>(scale), zero_point, q_min(), q_max()) - zero_point;
        products += importance(k) * steps * values_[k];
        squares += importance(k) * steps * steps;
      }
      if (!(squares > 0) || products / squares * scale <= 0) return;
      scale = products / squares;
      if (!consider(scale, zero_point)) return;
    }
  }

  std::span<const float> values_;
  std::span<const double> importance_;
  const BlockParams& params_;
  const Criterion& criterion_;
  double low_ = 0, high_ = 0;
  BlockStep best_;
  double least_ = std::numeric_limits<double>::infinity();
};

/// Calls visit(first element, elements, index of the block) for each block.
template <class Visit>
void for_each_block(size_t elements, const BlockParams& params, Visit visit) {
  const auto columns = static_cast<size_t>(params.columns), size = static_cast<size_t>(params.size);
  size_t index = 0;
  for (size_t row = 0; row + columns <= elements; row += columns)
    for (size_t at = 0; at < columns; at += size) visit(row + at, std::min(size, columns - at), index++);
}

}  // namespace

float BlockParams::stored_scale(float exact, size_t block) const {
  if (has_levels()) {
    const float row = row_scale[block / static_cast<size_t>(blocks())];
    const float part = std::clamp(std::fabs(exact) / row, kLeastRatio, kLargestRatio);
    return float_from_half(half_from_float(std::copysign(part, exact))) * row;
  }
  const float half = float_from_half(half_from_float(exact));
  return half_scales && std::fabs(half) >= kLeastHalf && std::isfinite(half) ? half : exact;
}

float BlockParams::ratio(size_t block) const {
  return float_from_half(half_from_float(scale[block] / row_scale[block / static_cast<size_t>(blocks())]));
}

int8_t BlockParams::level(int32_t code, size_t block) const {
  return static_cast<int8_t>(round_half_even(static_cast<float>(code - zero_point[block]) * ratio(block)));
}

float BlockParams::value(int32_t code, size_t block) const {
  if (!has_levels()) return dequantize_value(code, scale[block], zero_point[block]);
  return static_cast<float>(level(code, block)) * row_scale[block / static_cast<size_t>(blocks())];
}

std::pair<int32_t, int32_t> BlockParams::bounds(size_t block) const {
  int32_t low = grid.q_min(), high = grid.q_max();
  if (!has_levels()) return {low, high};
  // In the units of a level, whose half the rounding to the nearest adds.
  const double most = (kLargestLevel + 0.499) / std::fabs(static_cast<double>(ratio(block)));
  const auto steps = static_cast<int32_t>(std::min<double>(most, high - low));
  return {std::max(low, zero_point[block] - steps), std::min(high, zero_point[block] + steps)};
}

bool BlockParams::has_zero_points() const {
  return std::any_of(zero_point.begin(), zero_point.end(), [](int32_t one) { return one != 0; });
}

BlockParams choose_blocks(std::span<const float> weights, BlockParams params, const Criterion& criterion,
                          std::span<const double> importance) {
  quantizer_of(params.method);
  params.scale.clear();
  params.zero_point.clear();
  for_each_block(weights.size(), params, [&](size_t first, size_t count, size_t) {
    const size_t column = first % static_cast<size_t>(params.columns);
    const auto of_columns = importance.empty() ? importance : importance.subspan(column, count);
    const BlockStep step = BlockSearch(weights.subspan(first, count), of_columns, params, criterion).best();
    params.scale.push_back(params.stored_scale(step.scale, params.scale.size()));
    params.zero_point.push_back(step.zero_point);
  });
  return params;
}

std::vector<int8_t> quantize(std::span<const float> weights, const BlockParams& params) {
  std::vector<int8_t> codes(weights.size());
  for_each_block(weights.size(), params, [&](size_t first, size_t count, size_t block) {
    const auto [low, high] = params.bounds(block);
    for (size_t k = first; k < first + count; ++k)
      codes[k] =
          static_cast<int8_t>(quantize_value(weights[k], params.scale[block], params.zero_point[block], low, high));
  });
  return codes;
}

std::vector<int8_t> levels_of(std::span<const int8_t> codes, const BlockParams& params) {
  std::vector<int8_t> levels(codes.size());
  for_each_block(codes.size(), params, [&](size_t first, size_t count, size_t block) {
    for (size_t k = first; k < first + count; ++k) levels[k] = params.level(codes[k], block);
  });
  return levels;
}

std::vector<float> dequantize(std::span<const int8_t> codes, const BlockParams& params) {
  std::vector<float> values(codes.size());
  for_each_block(codes.size(), params, [&](size_t first, size_t count, size_t block) {
    for (size_t k = first; k < first + count; ++k) values[k] = params.value(codes[k], block);
  });
  return values;
}

}  // namespace tersor::quant
