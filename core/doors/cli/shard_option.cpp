// SPDX-License-Identifier: Apache-2.0
#include "core/cli/shard_option.h"

#include <cstdio>

#include "core/base/error.h"

namespace tersor::cli {

Shard read_shard(const std::string& text) {
  if (text.empty()) return {};
  long long index = 0, count = 0;
  char end = 0;
  if (std::sscanf(text.c_str(), "%lld/%lld%c", &index, &count, &end) != 2 || index < 1 || index > count)
    throw Error(ErrorCode::kInvalidArgument, "\"" + text + "\" is no shard; \"2/3\" is the second of three.",
                "--shard");
  return {index, count};
}

}  // namespace tersor::cli
