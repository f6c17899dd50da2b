// SPDX-License-Identifier: Apache-2.0
#include "core/native/stage_count.h"

#include <utility>

namespace tersor {

StageCount::StageCount(const ProgressFunction& listener, std::string stage, int64_t total)
    : listener_(listener), stage_(std::move(stage)), total_(total) {}

void StageCount::step() {
  report_progress(listener_, {stage_, ++done_, total_, {}});
}

}  // namespace tersor
