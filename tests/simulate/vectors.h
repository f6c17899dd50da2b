// SPDX-License-Identifier: Apache-2.0
// Cases of integer_vectors.json: outputs of the real runtimes for small quantized graphs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/simulate/arithmetic.h"
#include "core/simulate/profile.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

namespace tersor::test {

/// All cases of one kernel; none (and "skipped" printed) where the file is not here.
inline std::vector<Json> vector_cases(const std::string& kernel) {
  static const std::optional<Json> all = []() -> std::optional<Json> {
    const auto path = shared_file("spec/integer_vectors.json");
    if (!path) return std::nullopt;
    const auto bytes = read_file(*path);
    return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "integer_vectors.json");
  }();
  std::vector<Json> cases;
  if (!all) return cases;
  for (const Json& one : (*all)["cases"])
    if (one["kernel"] == kernel) cases.push_back(one);
  REQUIRE_FALSE(cases.empty());
  return cases;
}

/// A float that the file may write as "inf" or "-inf".
inline float number_of(const Json& json) {
  if (json.is_string()) return json == "inf" ? HUGE_VALF : json == "-inf" ? -HUGE_VALF : NAN;
  return static_cast<float>(json.get<double>());
}

inline std::vector<float> floats_of(const Json& json) {
  std::vector<float> values;
  for (const Json& one : json) values.push_back(number_of(one));
  return values;
}

/// Integers as raw bytes, int8 in two's complement.
inline std::vector<uint8_t> raw_of(const Json& json) {
  std::vector<uint8_t> values;
  for (const Json& one : json) values.push_back(static_cast<uint8_t>(one.get<int>()));
  return values;
}

inline simulate::Grid grid_of(const Json& params, const std::string& prefix) {
  const bool is_signed = params.contains("dtype") && params["dtype"] == "s8";
  return {static_cast<float>(params[prefix + "_scale"].get<double>()), params[prefix + "_zp"].get<int>(), is_signed};
}

inline std::string key_of(simulate::Profile profile) {
  switch (profile) {
    case simulate::Profile::kX64:
      return "x64";
    case simulate::Profile::kWasm:
      return "wasm";
    case simulate::Profile::kArm64:
      return "arm64";
    case simulate::Profile::kAvx2:
      return "avx2_no_vnni";
    case simulate::Profile::kTfliteMicro:  // its vectors are .tflite files (tests/tflite)
      break;
  }
  return "";
}

inline constexpr simulate::Profile kAllProfiles[] = {simulate::Profile::kX64, simulate::Profile::kWasm,
                                                     simulate::Profile::kArm64, simulate::Profile::kAvx2};

/// What that runtime gave: its own key, or x64's where it does not differ.
inline const Json& expected(const Json& one, simulate::Profile profile) {
  const Json& output = one["output"];
  return output.contains(key_of(profile)) ? output[key_of(profile)] : output["x64"];
}

}  // namespace tersor::test
