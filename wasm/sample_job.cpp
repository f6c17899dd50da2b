// SPDX-License-Identifier: Apache-2.0
#include "wasm/sample_job.h"

#include "core/base/json.h"
#include "core/report/histogram_view.h"
#include "core/samples/fixed_batch.h"

namespace tersor::wasm {

namespace {

class Calibration : public SampleJob {
 public:
  Calibration(const Job& job, uint64_t data_set_size)
      : calibrator_(std::make_unique<calibrate::Calibrator>(calibrator_of(job, data_set_size))) {}
  bool wants_digests() const override { return true; }
  void add(const JobSample& sample) override {
    calibrator_->add({static_cast<uint64_t>(sample.index), {}}, sample.place, sample.inputs);
  }
  void note_digest(std::string digest) override { calibrator_->note_digest(std::move(digest)); }
  ByteBuffer finish() override { return calibrate::pack(statistics()); }
  JobResult merge(std::span<const samples::Bytes> parts, std::span<const std::byte>) override {
    calibrate::Statistics all = statistics();
    for (const samples::Bytes& part : parts) calibrate::merge(all, calibrate::unpack(part.view));
    // samples that streamed in: there are no others
    if (all.data_set_size == 0) all.data_set_size = all.samples.size();
    return calibrate::pack(all);
  }

 private:
  calibrate::Statistics statistics() {
    calibrate::Statistics own = std::move(*calibrator_).finish();
    calibrator_ = nullptr;  // its memory serves what follows
    return own;
  }

  std::unique_ptr<calibrate::Calibrator> calibrator_;
};

class EvaluationJob : public SampleJob {
 public:
  EvaluationJob(std::shared_ptr<const run::Program> program, evaluate::Metric metric, int64_t group,
                std::optional<std::vector<int64_t>> reference)
      : runner_(std::move(program)), evaluation_(metric, group), reference_(std::move(reference)) {}
  void add(const JobSample& sample) override {
    try {
      evaluation_.add(sample.index, sample.label, samples::first_rows(sample.inputs, sample.batch),
                      samples::first_rows(runner_.run(sample.inputs), sample.batch));
    } catch (const Error& error) {
      throw error.within(sample.place);
    }
  }
  ByteBuffer finish() override { return evaluation_.save(); }
  JobResult merge(std::span<const samples::Bytes> parts, std::span<const std::byte>) override {
    for (const samples::Bytes& part : parts) evaluation_.merge(evaluate::Evaluation::load(part.view));
    evaluate::EvaluationResult result = evaluation_.result();
    if (reference_) {
      evaluate::EvaluationResult other = result;
      other.answers = std::move(reference_);
      result.agreement = evaluate::agreement(other, result);
    }
    return to_text(to_json(result), false);
  }

 private:
  run::Runner runner_;
  evaluate::Evaluation evaluation_;
  std::optional<std::vector<int64_t>> reference_;
};

class ComparisonJob : public SampleJob {
 public:
  ComparisonJob(std::shared_ptr<const report::CompareProgram> program, std::vector<int64_t> layered)
      : comparer_(std::move(program)), layered_(std::move(layered)) {}
  void add(const JobSample& sample) override {
    try {
      comparer_.add(sample.index, sample.inputs, report::depth_of(layered_, sample.index), sample.batch);
    } catch (const Error& error) {
      throw error.within(sample.place);
    }
  }
  ByteBuffer finish() override { return comparer_.save(); }
  JobResult merge(std::span<const samples::Bytes> parts, std::span<const std::byte> statistics) override {
    for (const samples::Bytes& part : parts) comparer_.merge_saved(part.view);
    report::Comparison comparison = comparer_.result();
    if (!statistics.empty()) report::add_histograms(comparison, calibrate::read(statistics));
    return to_text(to_json(comparison), false);
  }

 private:
  report::Comparer comparer_;
  std::vector<int64_t> layered_;
};

}  // namespace

std::unique_ptr<SampleJob> make_calibration(const Job& job, uint64_t data_set_size) {
  return std::make_unique<Calibration>(job, data_set_size);
}

std::unique_ptr<SampleJob> make_evaluation(std::shared_ptr<const run::Program> program, evaluate::Metric metric,
                                           int64_t group, std::optional<std::vector<int64_t>> reference) {
  return std::make_unique<EvaluationJob>(std::move(program), metric, group, std::move(reference));
}

std::unique_ptr<SampleJob> make_comparison(std::shared_ptr<const report::CompareProgram> program,
                                           std::vector<int64_t> layered) {
  return std::make_unique<ComparisonJob>(std::move(program), std::move(layered));
}

}  // namespace tersor::wasm
