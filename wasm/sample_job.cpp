// SPDX-License-Identifier: Apache-2.0
#include "wasm/sample_job.h"

#include <cstring>

#include "core/report/histogram_view.h"

namespace tersor::wasm {

namespace {

class Calibration : public SampleJob {
 public:
  Calibration(const Job& job, uint64_t data_set_size)
      : calibrator_(std::make_unique<calibrate::Calibrator>(calibrator_of(job, data_set_size))) {}
  bool wants_digests() const override { return true; }
  void add(const JobSample& sample) override {
    calibrator_->add({static_cast<uint64_t>(sample.index), sample.digest}, sample.place, sample.inputs);
  }
  ByteBuffer finish() override {
    const calibrate::Statistics statistics = std::move(*calibrator_).finish();
    calibrator_ = nullptr;  // its memory serves what follows
    return calibrate::pack(statistics);
  }

 private:
  std::unique_ptr<calibrate::Calibrator> calibrator_;
};

class EvaluationJob : public SampleJob {
 public:
  EvaluationJob(std::shared_ptr<const run::Program> program, evaluate::Metric metric, int64_t group)
      : runner_(std::move(program)), evaluation_(metric, group) {}
  void add(const JobSample& sample) override {
    try {
      evaluation_.add(sample.index, sample.label, sample.inputs, runner_.run(sample.inputs));
    } catch (const Error& error) {
      throw error.within(sample.place);
    }
  }
  ByteBuffer finish() override { return evaluation_.save(); }

 private:
  run::Runner runner_;
  evaluate::Evaluation evaluation_;
};

class ComparisonJob : public SampleJob {
 public:
  explicit ComparisonJob(std::shared_ptr<const report::CompareProgram> program) : comparer_(std::move(program)) {}
  void add(const JobSample& sample) override {
    try {
      comparer_.add(sample.inputs);
    } catch (const Error& error) {
      throw error.within(sample.place);
    }
  }
  ByteBuffer finish() override {
    const std::string state = comparer_.state();
    ByteBuffer bytes(state.size());
    std::memcpy(bytes.data(), state.data(), state.size());
    return bytes;
  }

 private:
  report::Comparer comparer_;
};

}  // namespace

std::unique_ptr<SampleJob> make_calibration(const Job& job, uint64_t data_set_size) {
  return std::make_unique<Calibration>(job, data_set_size);
}

std::unique_ptr<SampleJob> make_evaluation(std::shared_ptr<const run::Program> program, evaluate::Metric metric,
                                           int64_t group) {
  return std::make_unique<EvaluationJob>(std::move(program), metric, group);
}

std::unique_ptr<SampleJob> make_comparison(std::shared_ptr<const report::CompareProgram> program) {
  return std::make_unique<ComparisonJob>(std::move(program));
}

ByteBuffer merge_statistics(std::span<const samples::Bytes> parts) {
  TERSOR_CHECK(!parts.empty());
  calibrate::Statistics all = calibrate::unpack(parts[0].view);
  for (size_t i = 1; i < parts.size(); ++i) calibrate::merge(all, calibrate::unpack(parts[i].view));
  // samples that streamed in: there are no others
  if (all.data_set_size == 0) all.data_set_size = all.samples.size();
  return calibrate::pack(all);
}

evaluate::EvaluationResult merge_evaluations(std::span<const samples::Bytes> parts,
                                             const std::optional<std::vector<int64_t>>& reference) {
  TERSOR_CHECK(!parts.empty());
  evaluate::Evaluation all = evaluate::Evaluation::load(parts[0].view);
  for (size_t i = 1; i < parts.size(); ++i) all.merge(evaluate::Evaluation::load(parts[i].view));
  evaluate::EvaluationResult result = all.result();
  if (reference) {
    evaluate::EvaluationResult other = result;
    other.answers = *reference;
    result.agreement = evaluate::agreement(other, result);
  }
  return result;
}

report::Comparison merge_comparisons(std::span<const samples::Bytes> parts,
                                     std::shared_ptr<const report::CompareProgram> program,
                                     std::span<const std::byte> statistics) {
  report::Comparer all(std::move(program));
  for (const samples::Bytes& part : parts)
    all.merge_state({reinterpret_cast<const char*>(part.view.data()), part.view.size()});
  report::Comparison comparison = all.result();
  if (!statistics.empty()) report::add_histograms(comparison, calibrate::read(statistics));
  return comparison;
}

}  // namespace tersor::wasm
