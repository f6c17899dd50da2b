// SPDX-License-Identifier: Apache-2.0
// Suffixes of the names that quantization adds for a tensor. The exporter names initializers, values and nodes with
// them, the size forecast counts them, and the comparison finds tensors by them.
#pragma once

namespace tersor::ptq {

inline constexpr char kCodes[] = "_quantized", kScale[] = "_scale", kZeroPoint[] = "_zero_point";
inline constexpr char kRestored[] = "_DequantizeLinear_Output";
// For packed codes and for tables:
inline constexpr char kTable[] = "_table", kPacked[] = "_packed", kIndices[] = "_indices", kEntries[] = "_entries",
                      kShape[] = "_shape", kShaped[] = "_shaped", kPlaces[] = "_places";

}  // namespace tersor::ptq
