// SPDX-License-Identifier: Apache-2.0
#include "core/native/make_variants.h"

#include <algorithm>
#include <utility>

#include "core/native/compare_samples.h"
#include "core/native/gather.h"
#include "core/native/stage_count.h"
#include "core/report/guess_remark.h"
#include "core/trial/take_samples.h"

namespace tersor {

VariantMaker::VariantMaker(VariantRequest request) : request_(std::move(request)) {
  for (const std::string& name : request_.names) variant_kind(name);
  for (const VariantKind& kind : variant_kinds())
    if (std::find(request_.names.begin(), request_.names.end(), kind.dtype) != request_.names.end())
      left_.push_back(kind);
  std::reverse(left_.begin(), left_.end());
  if (request_.data) samples_ = variant_samples(request_.data->size(), request_.calibrate);
}

std::optional<MadeVariant> VariantMaker::next(const Workforce& workforce) {
  if (left_.empty()) return std::nullopt;
  const VariantKind kind = left_.back();
  left_.pop_back();
  try {
    return make(kind, workforce);
  } catch (const Error& error) {
    return MadeVariant{refused_variant(kind, error), {}};
  }
}

MadeVariant VariantMaker::make(const VariantKind& kind, const Workforce& workforce) {
  const OpenedModel& opened = *request_.opened;
  const QuantizedFile* begun = kind.platform.empty() ? nullptr : &quantized(kind, workforce);
  const Largest* seen = kind.is_half && request_.data ? &largest(workforce) : nullptr;
  VariantFile made = variant_file(kind, opened, begun, seen);
  if (request_.data && kind.is_judged()) {
    const bool classes = !request_.data->classes().empty();
    const auto program = report::CompareProgram::make(opened.model, *made.computed, simulate::Profile::kX64, classes,
                                                      {}, report::Depth::kOutputs);
    made.computed.reset();
    judge(made.row, std::move(made.report), compare_samples(program, request_.data, samples_.judged, {}, workforce),
          samples_.held_aside, report::guess_remark(*request_.data), leader_ ? &*leader_ : nullptr);
    if (made.row.leads) leader_ = made.row;
  }
  return {std::move(made.row), std::move(made.bytes)};
}

const QuantizedFile& VariantMaker::quantized(const VariantKind& kind, const Workforce& workforce) {
  Settings settings = variant_settings(kind, request_.data != nullptr);
  if (quantized_ && quantized_->job->settings.platform.name == settings.platform.name) return *quantized_;
  quantized_.reset();
  settings.own_statistics_only = true;
  if (request_.data) take_samples(request_.opened->model, request_.data, settings);
  const auto job = prepare(request_.opened, std::move(settings));
  const Gathered gathered = request_.data ? gather(job, *request_.data, samples_.calibrated, workforce)
                                          : gather(job, empty_statistics(*job), nullptr, workforce);
  QuantizeResult result = tersor::quantize(*gathered.job, gathered.statistics, gathered.draft);
  return quantized_.emplace(QuantizedFile{gathered.job, std::move(result)});
}

const Largest& VariantMaker::largest(const Workforce& workforce) {
  if (largest_) return *largest_;
  const Model& model = request_.opened->model;
  const auto program = largest_values_program(model);
  const auto count = static_cast<int64_t>(samples_.calibrated.size());
  const int used = thread_count(workforce.threads);
  std::vector<LargestValues> values;
  std::vector<samples::SampleReader> readers;
  for (int k = 0; k < used; ++k) values.emplace_back(program, model), readers.emplace_back(request_.data);
  StageCount progress(workforce.progress, "ranges", count);
  fan_out(used, count, [&](int worker, int64_t item) {
    const auto w = static_cast<size_t>(worker);
    values[w].add(readers[w].load(samples_.calibrated[static_cast<size_t>(item)]));
    progress.step();
  });
  for (size_t k = 1; k < values.size(); ++k) values[0].merge(values[k].values());
  return largest_.emplace(values[0].values());
}

}  // namespace tersor
