// SPDX-License-Identifier: Apache-2.0
#include "core/native/gather_within.h"

#include <cstdio>
#include <utility>

#include "core/native/budget_curve.h"

namespace tersor {

namespace {

/// "97.45 % right answers (97.50 % in float) and an SQNR of 31.20 dB on 1872 samples".
std::string figures_of_point(const BudgetPoint& point, const SampleEvaluation& in_float) {
  const evaluate::EvaluationResult &result = point.evaluation.result, &exact = in_float.result;
  char text[160];
  std::string figures;
  if (point.evaluation.own && in_float.own) {
    std::snprintf(text, sizeof text, "%.4g by your metric (%.4g in float) and ", *point.evaluation.own, *in_float.own);
    figures = text;
  } else if (result.value && exact.value) {
    std::snprintf(text, sizeof text, "%.2f %% right answers (%.2f %% in float) and ", 100 * *result.value,
                  100 * *exact.value);
    figures = text;
  }
  std::snprintf(text, sizeof text, "an SQNR of %.2f dB on %lld samples", point.evaluation.sqnr_db.value_or(200),
                static_cast<long long>(result.count));
  return figures + text;
}

/// No more is lost than may be; a difference of two counts has no rounding.
bool keeps_accuracy(double points, const SampleEvaluation& exact, const SampleEvaluation& quantized) {
  if (exact.own && quantized.own) return *exact.own - *quantized.own <= points / 100 + 1e-9;
  return static_cast<double>(exact.result.correct.value_or(0) - quantized.result.correct.value_or(0)) <=
         points / 100 * static_cast<double>(exact.result.count) + 1e-9;
}

std::string asked_of(const Aim& aim) {
  std::string asked;
  char text[64];
  if (aim.accuracy) {
    std::snprintf(text, sizeof text, "at most %g %s less", *aim.accuracy, *aim.accuracy == 1 ? "point" : "points");
    asked = text;
  }
  if (aim.sqnr) {
    std::snprintf(text, sizeof text, "%sat least %g dB", asked.empty() ? "" : " and ", *aim.sqnr);
    asked += text;
  }
  return asked;
}

}  // namespace

GatheredWithin gather_within(const std::shared_ptr<const OpenedModel>& opened, Settings settings,
                             const std::shared_ptr<const samples::DataSet>& data, std::vector<int64_t> labels,
                             std::vector<int64_t> chosen, const Aim& aim, std::string_view place,
                             const Workforce& workforce) {
  if (aim.accuracy && labels.empty() && !settings.metric)
    throw Error(ErrorCode::kInvalidLabels, "There are no labels to count right answers with.", std::string(place),
                "Give labels, or samples in class folders; an aim in dB (sqnr) needs none.");
  BudgetCurve curve(opened, std::move(settings), data, std::move(chosen), std::move(labels), workforce);
  std::string most;  // what the largest budget reaches, which is looked at first
  auto point = curve.smallest([&](const BudgetPoint& one) {
    if (most.empty()) most = figures_of_point(one, curve.in_float());
    return (!aim.accuracy || keeps_accuracy(*aim.accuracy, curve.in_float(), one.evaluation)) &&
           (!aim.sqnr || one.evaluation.sqnr_db.value_or(200) >= *aim.sqnr);
  });
  if (!point)
    throw Error(ErrorCode::kInvalidConfig,
                "No choice is as good as that: with the most bits that the platform offers there are " + most + ".",
                std::string(place),
                "Allow more, give more samples, or try prefer = accuracy, effort = 2 or another platform.");
  std::string met = "The aim of " + asked_of(aim) + " is met: " + figures_of_point(*point, curve.in_float()) + ".";
  return {{point->job, std::move(point->statistics), std::move(point->draft), 2}, std::move(met)};
}

}  // namespace tersor
