// SPDX-License-Identifier: Apache-2.0
// Serializes the sums and results of a sweep's steps for exchange between workers and processes of one program.
#pragma once

#include "core/base/byte_stream.h"
#include "core/sweep/sweep.h"

namespace tersor::ptq {

void put(ByteWriter& writer, const SweepSums& sums);
SweepSums get_sweep_sums(ByteReader& reader);
void put(ByteWriter& writer, const SweepOutcome& outcome);
SweepOutcome get_sweep_outcome(ByteReader& reader);

template <class T>
ByteBuffer to_bytes(const T& value) {
  ByteWriter writer;
  put(writer, value);
  return writer.take();
}

}  // namespace tersor::ptq
