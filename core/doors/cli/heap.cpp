// SPDX-License-Identifier: Apache-2.0
#include "core/cli/heap.h"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tersor::cli {

void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // the most that it takes: blocks of tensors, too, come from the heap
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, 1);  // heaps of threads would be given back between two rounds
#endif
}

}  // namespace tersor::cli
