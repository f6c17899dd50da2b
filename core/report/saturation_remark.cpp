// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "core/report/comparison.h"

namespace tersor::report {

std::optional<Diagnostic> saturation_remark(const Comparison& comparison) {
  const auto share = [](const SaturationRow& row) {
    return row.sums == 0 ? 0.0 : static_cast<double>(row.saturated) / static_cast<double>(row.sums);
  };
  const auto& rows = comparison.saturation;
  const auto worst =
      std::max_element(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return share(a) < share(b); });
  if (worst == rows.end() || worst->saturated == 0) return std::nullopt;
  const auto layers = std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.saturated > 0; });
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.2g %%", 100 * share(*worst));
  return Diagnostic{
      "saturation",
      std::to_string(layers) + (layers == 1 ? " layer adds" : " layers add") +
          " pairs of products that do not fit into 16 bits, which x64 CPUs without VNNI cut off; most in \"" +
          worst->name + "\" (" + worst->op + "): " + percent + " of its sums.",
      worst->name,
      "Quantize with 7-bit weights (the platform ort-cpu-avx2), or run with the session option "
      "session.x64quantprecision set to 1."};
}

}  // namespace tersor::report
