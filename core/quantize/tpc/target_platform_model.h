// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/tpc/fusing.h"
#include "core/tpc/operators_set.h"
#include "core/tpc/quantization_config_options.h"

namespace tersor::tpc {

/// The hardware a model will run on: operator sets with their options, and what it fuses.
struct TargetPlatformModel {
  QuantizationConfigOptions default_qco;  // for operators of no set, and for the model's inputs
  bool add_metadata = false;
  std::string name = "default_tp_model";
  std::vector<OperatorsSet> operator_set;
  std::vector<Fusing> fusing_patterns;
  /// The table's number in its own counting, as in "4.1" of an IMX500; absent where it has none.
  std::optional<int> tpc_minor_version;
  std::optional<int> tpc_patch_version;
  std::string tpc_platform_type;  // such as "imx500"
  bool is_simd_padding = false;   // kept for the exported metadata
  /// Whether the file has quantizers behind operators that preserve: true for all of them, false for none; absent:
  /// where the placement has them.
  std::optional<bool> insert_preserving_quantizers;

  explicit TargetPlatformModel(QuantizationConfigOptions default_options, bool with_metadata = false,
                               std::string label = "default_tp_model")
      : default_qco(std::move(default_options)), add_metadata(with_metadata), name(std::move(label)) {}

  /// Null when there is none of that name.
  const OperatorsSet* find(std::string_view operators_set_name) const;
  /// The set's options, or the default's.
  const QuantizationConfigOptions& options_of(std::string_view operators_set_name) const;

  bool operator==(const TargetPlatformModel&) const = default;
};

/// Checks what no single member can: names of sets are unique and not empty, fusings name known sets, every
/// configuration is in its limits and free of contradictions. Error kInvalidPlatform listing every fault with its
/// place.
void validate(const TargetPlatformModel& model, const std::string& place = "tp_model");
/// The same faults, as a list.
std::vector<Error> faults_of(const TargetPlatformModel& model, const std::string& place = "tp_model");

}  // namespace tersor::tpc
