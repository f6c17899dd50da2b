// SPDX-License-Identifier: Apache-2.0
// What a sweep's steps add up to and come to, as bytes that cross between workers.
#pragma once

#include "core/base/byte_stream.h"
#include "core/ptq/sweep.h"

namespace tersor::wasm {

void put(ByteWriter& writer, const ptq::SweepSums& sums);
ptq::SweepSums get_sweep_sums(ByteReader& reader);
void put(ByteWriter& writer, const ptq::SweepOutcome& outcome);
ptq::SweepOutcome get_sweep_outcome(ByteReader& reader);

}  // namespace tersor::wasm
