// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tersor::cli {

/// Has memory that a step of the job leaves stay for the steps that follow (with glibc), since to touch memory for the
/// first time takes long: a tenth of a short run. Large pages are not asked for: a virtual machine that has given its
/// free ones back to its host gets them anew at a tenth of the speed. To be called before other threads run.
void keep_freed_memory();

}  // namespace tersor::cli
