// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/names.h"
#include "core/tpc/quantization_config_options.h"

namespace tersor::tpc {

/// How the platform's runtime computes an operator whose inputs are quantized.
enum class RuntimeKernel {
  kInteger,             // in integers; needs quantized operands and a quantizer after it
  kIntegerFloatOutput,  // in integers; the quantizer after it may be left out and the output is float then
  kFloat,               // in float: a quantizer around it costs accuracy and gains nothing
  kEither,              // it has an integer kernel, which is taken where the prices say that it saves time; else kFloat
};

/// Operators under one label. Without options ("configure-less") the set serves fusing only and its operators have the
/// model's default options.
struct OperatorsSet {
  std::string name;
  std::optional<QuantizationConfigOptions> qc_options;
  std::optional<RuntimeKernel> runtime_kernel = std::nullopt;  // absent: kInteger where the output is quantized, else
                                                               // kFloat
  /// JSON text of the list of layers that the set stands for, each an operator type or a filter; empty: those that
  /// are known for its name.
  std::string layers = {};
  /// JSON text of an object: a weight's general name ("kernel_attr") to operator type to the ONNX input ("W") that has
  /// the configuration of that name in the set; empty: as ONNX has them.
  std::string attr_mapping = {};
  bool operator==(const OperatorsSet&) const = default;
};

/// Several sets treated alike in a fusing pattern, by their names.
struct OperatorSetConcat {
  std::vector<std::string> operators_set;
  bool operator==(const OperatorSetConcat&) const = default;

  /// Error kInvalidPlatform when there is none.
  static OperatorSetConcat of(const std::vector<OperatorsSet>& opsets);
  bool contains(std::string_view operators_set_name) const;
  /// The names joined by "_".
  std::string name() const;
};

/// The newer name.
using OperatorSetGroup = OperatorSetConcat;

}  // namespace tersor::tpc

template <>
struct tersor::EnumWords<tersor::tpc::RuntimeKernel> {
  using K = tersor::tpc::RuntimeKernel;
  static constexpr const char* kind = "runtime kernel";
  static constexpr std::pair<K, std::string_view> words[] = {{K::kInteger, "INTEGER"},
                                                             {K::kIntegerFloatOutput, "INTEGER_FLOAT_OUTPUT"},
                                                             {K::kFloat, "FLOAT"},
                                                             {K::kEither, "EITHER"}};
};
