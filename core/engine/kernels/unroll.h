// SPDX-License-Identifier: Apache-2.0
// TERSOR_UNROLL before a loop of a few fixed rounds over an array of vectors: unrolled, the array is registers.
#pragma once

#if defined(__clang__)
#define TERSOR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERSOR_UNROLL _Pragma("GCC unroll 16")
#endif
