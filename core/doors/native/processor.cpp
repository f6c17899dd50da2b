// SPDX-License-Identifier: Apache-2.0
#include "core/native/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tersor {

std::optional<bool> adds_exactly() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw")) return true;
  constexpr unsigned kAvxVnni = 1U << 4;  // EAX of leaf 7, subleaf 1
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax & kAvxVnni) != 0;
#else
  return std::nullopt;
#endif
}

}  // namespace tersor
