// SPDX-License-Identifier: Apache-2.0
// Parts of statistics in byte strings, for exchange between workers (base/byte_stream.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/byte_stream.h"
#include "core/calibrate/statistics.h"

namespace tersor::calibrate {

inline void put_bytes(ByteWriter& writer, const Statistics& statistics) {
  const ByteBuffer bytes = pack(statistics);
  writer.put_all(std::span<const std::byte>(bytes));
}
inline void get_bytes(ByteReader& reader, Statistics& statistics) {
  statistics = unpack(reader.get_all<std::byte>());
}

inline void put_bytes(ByteWriter& writer, const RoundedWeight& weight) {
  writer.put(weight.name), writer.put(weight.scales), writer.put(weight.codes), writer.put(weight.noise_ratio);
}
inline void get_bytes(ByteReader& reader, RoundedWeight& weight) {
  reader.read(weight.name), reader.read(weight.scales), reader.read(weight.codes), reader.read(weight.noise_ratio);
}

inline void put_bytes(ByteWriter& writer, const MeasuredShift& shift) {
  writer.put(shift.name), writer.put(shift.shifts);
}
inline void get_bytes(ByteReader& reader, MeasuredShift& shift) {
  reader.read(shift.name), reader.read(shift.shifts);
}

inline void put_bytes(ByteWriter& writer, const ExactSums& sums) {
  writer.put(static_cast<uint64_t>(sums.size()));
  for (size_t k = 0; k < sums.size(); ++k) writer.put(sums.sum(k).words());
}
inline void get_bytes(ByteReader& reader, ExactSums& sums) {
  sums = ExactSums(static_cast<size_t>(reader.get<uint64_t>()));
  for (size_t k = 0; k < sums.size(); ++k) sums.add(k, ExactSum(reader.get<std::array<uint64_t, ExactSum::kWords>>()));
}

}  // namespace tersor::calibrate
