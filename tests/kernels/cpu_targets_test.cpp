// SPDX-License-Identifier: Apache-2.0
// That the kernels run in the widest vectors that this processor has, as Linux describes it.
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>

#include <hwy/highway.h>

#include "tests/catch.h"

#if defined(__linux__) && HWY_ARCH_X86 && !defined(HWY_COMPILE_ONLY_STATIC)

namespace {

std::set<std::string> flags_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::set<std::string> flags;
    for (std::string word; words >> word;) flags.insert(word);
    return flags;
  }
  return {};
}

bool all_of(const std::set<std::string>& flags, std::initializer_list<const char*> wanted) {
  for (const char* name : wanted) {
    if (flags.count(name) == 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the targets are those whose features the processor has") {
  const std::set<std::string> flags = flags_of_processor();
  REQUIRE(!flags.empty());
  const int64_t targets = hwy::SupportedTargets();
  const bool sse4 = all_of(flags, {"ssse3", "sse4_1", "sse4_2", "pclmulqdq", "aes"});
  const bool avx2 = sse4 && all_of(flags, {"avx", "avx2", "fma", "bmi1", "bmi2", "f16c", "abm"});
  const bool avx3 = avx2 && all_of(flags, {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"});
  const bool avx3_dl = avx3 && all_of(flags, {"avx512_vnni", "vpclmulqdq", "avx512vbmi", "avx512_vbmi2", "vaes",
                                              "avx512_vpopcntdq", "avx512_bitalg", "gfni"});
  CHECK(((targets & HWY_SSE4) != 0) == sse4);
  CHECK(((targets & HWY_AVX2) != 0) == avx2);
  CHECK(((targets & HWY_AVX3) != 0) == avx3);
  CHECK(((targets & HWY_AVX3_DL) != 0) == avx3_dl);
  CHECK((targets & HWY_ENABLED_BASELINE) == HWY_ENABLED_BASELINE);
}

#endif
