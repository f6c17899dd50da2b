// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tersor::cli {

/// Has the heap grow in the processor's large pages, where the system gives these on request (Linux with glibc). Memory
/// that is touched for the first time, 4 kB after another, otherwise takes a tenth of a short run. To be called before
/// other threads run.
void use_large_pages();

}  // namespace tersor::cli
