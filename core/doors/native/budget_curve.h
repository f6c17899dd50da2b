// SPDX-License-Identifier: Apache-2.0
// What the model loses when it may take less: one quantization for each budget, all from one calibration and one
// measurement of sensitivities.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/job/tersor.h"
#include "core/native/evaluate_samples.h"
#include "core/native/kept_samples.h"
#include "core/report/report_of.h"
#include "core/rounds/rounds.h"
#include "core/samples/data_set.h"

namespace tersor {

/// What is restricted: bytes of weights where the platform offers several numbers of bits, else the operators that stay
/// in float.
enum class Resource { kWeightsMemory, kFloatOperators };

/// As the curve's JSON names it.
const char* name_of(Resource resource);

/// A quantization within one budget.
struct BudgetPoint : Gathered {
  double budget = 0;
  QuantizeResult result;
  SampleEvaluation evaluation;  // empty where nobody looks at how good the point is

  size_t bytes() const { return result.bytes.size(); }
};

class BudgetCurve {
 public:
  /// Calibrates. `labels`: of all samples of `data`, or empty. Error kInvalidConfig where the settings leave nothing to
  /// choose.
  BudgetCurve(std::shared_ptr<const OpenedModel> opened, Settings settings,
              std::shared_ptr<const samples::DataSet> data, std::vector<int64_t> chosen, std::vector<int64_t> labels,
              Workforce workforce);

  Resource resource() const { return resource_; }
  /// The least that budgets say something about, and the most.
  double least() const { return least_; }
  double most() const { return most_; }
  /// The float model on the same samples.
  const SampleEvaluation& in_float();
  /// None where so many operators in float leave nothing to quantize.
  std::optional<BudgetPoint> at(double budget);
  /// The smallest budget, of about thirty between the least and the most, whose point is `good`; none where even the
  /// largest is not. Points are taken to get better with the budget.
  template <class Good>
  std::optional<BudgetPoint> smallest(Good good);
  /// About the largest budget whose file has at most so many bytes; nobody looks at how good it is. Error
  /// kInvalidConfig where the least budget's file has more.
  BudgetPoint largest_file(size_t bytes);

 private:
  Settings within(double budget) const;
  BudgetPoint quantized_within(double budget);
  /// As quantized_within(); none where so many operators in float leave nothing to quantize.
  std::optional<BudgetPoint> made(double budget);
  SampleEvaluation evaluated(const std::shared_ptr<const run::Program>& program,
                             std::shared_ptr<const run::Program> reference) const;

  std::shared_ptr<const OpenedModel> opened_;
  Settings settings_;
  std::shared_ptr<const samples::DataSet> data_;
  std::vector<int64_t> chosen_, labels_, evaluated_;
  Workforce workforce_;
  Resource resource_ = Resource::kWeightsMemory;
  std::unique_ptr<KeptSamples> kept_;
  calibrate::Statistics statistics_;
  double least_ = 0, most_ = 1e18;
  std::shared_ptr<const run::Program> float_program_;
  std::optional<SampleEvaluation> in_float_;
};

/// Points of so many budgets from the least to the most, evenly apart: {resource, float_accuracy, samples, points}. A
/// file that keeps to a budget keeps to a larger one as well, so where that one's own is worse the better one stands
/// for it. `seen`, which may be empty, is told each point as soon as it is there.
Json trade_off(BudgetCurve& curve, int64_t points,
               const std::function<void(double budget, const BudgetPoint&)>& seen = {});

template <class Good>
std::optional<BudgetPoint> BudgetCurve::smallest(Good good) {
  constexpr int kSteps = 5;
  const bool is_count = resource_ == Resource::kFloatOperators;
  double low = least_, high = most_;
  std::optional<BudgetPoint> best = at(high);
  while (!best && high >= 1) best = at(high = static_cast<double>(static_cast<int64_t>(high / 2)));
  if (!best || !good(*best)) return std::nullopt;
  if (auto first = at(low); first && good(*first)) return first;
  for (int step = 0; step < kSteps && high - low > (is_count ? 1 : 0); ++step) {
    const double half = (low + high) / 2, middle = is_count ? static_cast<double>(static_cast<int64_t>(half)) : half;
    auto point = at(middle);
    const bool is_good = point && good(*point);
    (is_good ? high : low) = middle;
    if (is_good) best = std::move(point);
  }
  return best;
}

}  // namespace tersor
