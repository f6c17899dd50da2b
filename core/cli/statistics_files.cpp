// SPDX-License-Identifier: Apache-2.0
#include "core/cli/statistics_files.h"

#include "core/base/error.h"
#include "core/cli/files.h"

namespace tersor::cli {

calibrate::Statistics read_statistics(const std::vector<std::string>& paths) {
  calibrate::Statistics all;
  for (size_t k = 0; k < paths.size(); ++k) {
    try {
      calibrate::Statistics part = calibrate::read(map_file(paths[k]).bytes);
      if (k == 0)
        all = std::move(part);
      else
        calibrate::merge(all, part);
    } catch (const Error& error) {
      const std::string inner = error.place.empty() || error.place == paths[k] ? "" : ": " + error.place;
      throw Error(error.code, error.message, paths[k] + inner, error.hint);
    }
  }
  return all;
}

}  // namespace tersor::cli
