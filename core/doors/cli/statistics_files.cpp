// SPDX-License-Identifier: Apache-2.0
#include "core/cli/statistics_files.h"

#include "core/cli/files.h"
#include "core/native/join_statistics.h"

namespace tersor::cli {

calibrate::Statistics read_statistics(const std::vector<std::string>& paths) {
  JoinedStatistics all;
  for (const std::string& path : paths) all.add(map_file(path).bytes, path);
  return all.take();
}

}  // namespace tersor::cli
