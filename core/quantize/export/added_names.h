// SPDX-License-Identifier: Apache-2.0
// How the initializers, values and nodes are called that quantization adds beside a tensor: its own name, and one of
// these. The exported file has them, the forecast of its size counts them, and the comparison finds tensors again by
// them.
#pragma once

namespace tersor::ptq {

inline constexpr char kCodes[] = "_quantized", kScale[] = "_scale", kZeroPoint[] = "_zero_point";
inline constexpr char kRestored[] = "_DequantizeLinear_Output";
// Of codes of few bits, several in a byte, and of tables:
inline constexpr char kTable[] = "_table", kPacked[] = "_packed", kIndices[] = "_indices", kEntries[] = "_entries",
                      kShape[] = "_shape", kShaped[] = "_shaped", kPlaces[] = "_places";

}  // namespace tersor::ptq
