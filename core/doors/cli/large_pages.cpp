// SPDX-License-Identifier: Apache-2.0
#include "core/cli/large_pages.h"

#include <cstdint>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tersor::cli {

void use_large_pages() {
#if defined(__GLIBC__)
  constexpr int kRoom = 1 << 28, kUsualPad = 1 << 17;
  constexpr std::uintptr_t kLargePage = 1 << 21;
  // Blocks of tensors, too, come from the heap, and what they leave stays for those that follow.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // Of all threads: heaps of their own would be in small pages, and given back between two rounds.
  mallopt(M_ARENA_MAX, 1);
  // The heap is made to end that far ahead once: addresses, of which nothing is memory until it is touched.
  mallopt(M_TOP_PAD, kRoom);
  const auto begin = reinterpret_cast<std::uintptr_t>(sbrk(0));
  void* volatile block = std::malloc(kLargePage);  // or the compiler would leave the pair out
  std::free(block);
  mallopt(M_TOP_PAD, kUsualPad);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)),
             first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  // Refused by a system without such pages, and then all is as it was.
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace tersor::cli
