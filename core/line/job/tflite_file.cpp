// SPDX-License-Identifier: Apache-2.0
#include "core/job/tflite_file.h"

#include "core/tflite/lower.h"
#include "core/tflite/write.h"

namespace tersor {

bool ends_in_tflite(std::string_view path) {
  constexpr std::string_view kEnding = ".tflite";
  return path.size() > kEnding.size() && path.substr(path.size() - kEnding.size()) == kEnding;
}

void check_tflite(const Job& job) {
  tflite::lower(job.model);
}

std::vector<std::byte> tflite_file(const QuantizeResult& result) {
  tflite::Network network = tflite::lower(result.model);
  network.description = result.model.producer_name + " " + result.model.producer_version;
  return tflite::write(network);
}

}  // namespace tersor
