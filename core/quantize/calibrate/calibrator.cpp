// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/calibrator.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace tersor::calibrate {

namespace {

bool is_finite(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat32) return true;
  const Tensor aligned = tensor.aligned();
  const auto values = aligned.data<float>();
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

Calibrator::Calibrator(std::shared_ptr<const run::Program> program, std::vector<Request> requests,
                       Provenance provenance, uint64_t data_set_size, WholeProgram whole)
    : runner_(std::move(program)),
      collector_(std::move(requests)),
      provenance_(std::move(provenance)),
      data_set_size_(data_set_size),
      whole_(std::move(whole)) {}

void Calibrator::add(SampleRecord sample, std::string_view place, std::span<const Tensor> inputs) {
  collector_.begin_sample(sample.index);
  try {
    std::vector<Tensor> outputs = runner_.run(inputs, &collector_);
    const std::optional<Collector::LeftOut> left_out = collector_.take_left_out();
    if (left_out && whole_) outputs = run::Runner(whole_()).run(inputs);
    if (left_out && !(std::all_of(inputs.begin(), inputs.end(), is_finite) &&
                      std::all_of(outputs.begin(), outputs.end(), is_finite)))
      throw Error(ErrorCode::kInvalidSamples,
                  "The tensor \"" + left_out->tensor + "\" has an element that is " +
                      (left_out->is_nan ? "not a number" : "infinite") + ".",
                  {}, "Check this sample and its preprocessing; the float model gives no usable result for it.");
  } catch (const Error& error) {
    // What an operator does not take in a run may be this sample's doing: an id outside of the vocabulary.
    const bool of_sample = error.code == ErrorCode::kInvalidSamples || error.code == ErrorCode::kInvalidModel;
    throw of_sample ? error.within(place) : error;
  }
  samples_.push_back(std::move(sample));
}

void Calibrator::note_digest(std::string digest) {
  TERSOR_CHECK(!samples_.empty());
  samples_.back().digest = std::move(digest);
}

Statistics Calibrator::statistics() const {
  Statistics statistics{provenance_, samples_, data_set_size_, collector_.statistics()};
  std::sort(statistics.samples.begin(), statistics.samples.end());
  return statistics;
}

Statistics Calibrator::finish() && {
  { const run::Runner done = std::move(runner_); }
  return statistics();
}

}  // namespace tersor::calibrate
