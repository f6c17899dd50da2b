// SPDX-License-Identifier: Apache-2.0
// One worker's part of a job that goes through samples. Parts become bytes that any worker can merge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/evaluate/evaluation.h"
#include "core/job/tersor.h"
#include "core/report/compare.h"
#include "core/samples/source.h"

namespace tersor::wasm {

struct JobSample {
  int64_t index = 0;  // in the whole data set
  std::optional<int64_t> label;
  std::string place;  // for errors
  std::vector<Tensor> inputs;
  int64_t batch = 1;    // how many times the sample is repeated along the first axis
  ByteBuffer digested;  // samples::digested_bytes(), of jobs that want digests
};

/// Packed statistics (calibrate::pack()), to which their SHA-256 belongs to make a .tstats file, or JSON.
using JobResult = std::variant<ByteBuffer, std::string>;

class SampleJob {
 public:
  virtual ~SampleJob() = default;
  virtual bool wants_digests() const { return false; }
  virtual void add(const JobSample& sample) = 0;
  /// SHA-256 in hexadecimal digits, of the sample that was added last.
  virtual void note_digest(std::string) {}
  /// What this worker's part came to, for another's merge().
  virtual ByteBuffer finish() = 0;
  /// What the whole job came to, with the other workers' parts; in place of finish(). `statistics`: a .tstats file that
  /// a comparison takes histograms from, or empty.
  virtual JobResult merge(std::span<const samples::Bytes> parts, std::span<const std::byte> statistics) = 0;
};

/// `data_set_size` 0: not known.
std::unique_ptr<SampleJob> make_calibration(const Job& job, uint64_t data_set_size);
/// `reference`: answers that those of this job are compared with.
std::unique_ptr<SampleJob> make_evaluation(std::shared_ptr<const run::Program> program, evaluate::Metric metric,
                                           int64_t group, std::optional<std::vector<int64_t>> reference);
/// The largest values of a model (core/variants/largest_values.h), as JSON of each tensor's, null where one was not
/// finite. The light engine has none.
std::unique_ptr<SampleJob> make_ranges(std::shared_ptr<const OpenedModel> opened);
/// `layered`: the samples whose layers are looked at.
std::unique_ptr<SampleJob> make_comparison(std::shared_ptr<const report::CompareProgram> program,
                                           std::vector<int64_t> layered);

}  // namespace tersor::wasm
