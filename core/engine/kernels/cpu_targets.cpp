// SPDX-License-Identifier: Apache-2.0
// What of Highway does not stand in its headers: which of the targets that the kernels are compiled for this processor
// can run. Distributions bring it in a shared library alone, and what we make is to run where there is none. Weak:
// where a program links Highway's own as well, those are taken.
#include <hwy/highway.h>

#if !defined(HWY_COMPILE_ONLY_STATIC)

#if HWY_ARCH_X86
#include <cpuid.h>
#elif HWY_ARCH_ARM && HWY_OS_LINUX
#include <sys/auxv.h>
#endif

namespace hwy {
namespace {

#if HWY_ARCH_X86
bool has_bit(uint32_t leaf, uint32_t which, uint32_t bit) {
  uint32_t registers[4] = {};
  __get_cpuid_count(leaf, 0, &registers[0], &registers[1], &registers[2], &registers[3]);
  return (registers[which] >> bit & 1) != 0;
}

/// The groups of features that Highway asks for (hwy/targets.cc). The compiler's library looks whether the system keeps
/// the registers too; what it has no name for comes with registers that it has looked for.
int64_t targets_of_processor() {
  constexpr uint32_t kEcx = 2;
  __builtin_cpu_init();
  int64_t targets = 0;
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!(__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
        __builtin_cpu_supports("aes"))) {
    return targets;
  }
  targets |= HWY_SSE4;
  const bool lzcnt = has_bit(0x80000001U, kEcx, 5), f16c = has_bit(1, kEcx, 29);
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && lzcnt && f16c)) {
    return targets;
  }
  targets |= HWY_AVX2;
  if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))) {
    return targets;
  }
  targets |= HWY_AVX3;
  const bool vaes = has_bit(7, kEcx, 9);
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg") &&
      __builtin_cpu_supports("gfni") && vaes) {
    targets |= HWY_AVX3_DL;
  }
  return targets;
}
#elif HWY_ARCH_ARM_A64 && HWY_OS_LINUX
int64_t targets_of_processor() {
  constexpr unsigned long kAes = 1UL << 3;  // HWCAP_AES, which Highway's NEON asks for
#if defined(HWY_NEON_WITHOUT_AES)
  constexpr int64_t kAlways = HWY_NEON_WITHOUT_AES;
#else
  constexpr int64_t kAlways = 0;
#endif
  return kAlways | ((getauxval(AT_HWCAP) & kAes) != 0 ? HWY_NEON : 0);
}
#else
int64_t targets_of_processor() {
  return 0;
}
#endif

}  // namespace

/// A mask of HWY_... targets. What the compiler takes for granted is one of them.
__attribute__((weak)) int64_t SupportedTargets() {
  return HWY_SCALAR | HWY_EMU128 | HWY_ENABLED_BASELINE | targets_of_processor();
}

__attribute__((weak)) ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy

#endif
