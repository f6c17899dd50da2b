// SPDX-License-Identifier: Apache-2.0
// One worker's part of a job that takes its samples through steps, all workers together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/base/json.h"
#include "core/samples/source.h"
#include "core/tensor/tensor.h"

namespace tersor::wasm {

class StepJob {
 public:
  virtual ~StepJob() = default;

  /// False: these settings and statistics ask for no such job.
  virtual bool needed() const = 0;
  /// None where only the steps themselves show how many there are.
  virtual std::optional<size_t> steps() const = 0;
  /// Numbers of the samples that take part, ascending.
  virtual const std::vector<int64_t>& samples() const = 0;

  /// Samples whose places among samples() are equal modulo this go to one worker; none where any worker may have any.
  virtual std::optional<size_t> lanes() const { return std::nullopt; }

  /// The sample of that number.
  virtual void add(int64_t number, std::span<const Tensor> inputs) = 0;
  /// Takes what the step before came to, and runs the step: bytes of what this worker's samples add up to. None where
  /// there is no such step.
  virtual ByteBuffer advance(size_t step, std::span<const std::byte> before) = 0;
  /// What a step came to, from all workers' bytes.
  virtual ByteBuffer merge(size_t step, std::span<const samples::Bytes> parts) const = 0;
  /// The .tstats file with what all steps came to in it.
  virtual ByteBuffer finish(std::span<const samples::Bytes> outcomes) = 0;
  /// Between two steps: ends early with what there is. Every worker is told between the same two.
  virtual void stop() {}
  /// Between two steps: figures to watch; null where there are none.
  virtual Json progress() const { return nullptr; }
  /// Between two steps, or after finish(): where the job stands; empty where it cannot be gone on with later.
  virtual ByteBuffer checkpoint() const { return {}; }
  /// Before the first step: goes on from a checkpoint. Every worker is given the same.
  virtual void restore(std::span<const std::byte>) {}
};

}  // namespace tersor::wasm
