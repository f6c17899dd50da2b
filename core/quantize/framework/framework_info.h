// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/framework/layer_filter_params.h"
#include "core/quant/quantizer.h"

namespace tersor::framework {

/// The lowest and highest value an operator can give; absent: unbounded on that side.
struct ValueBounds {
  std::optional<double> low;
  std::optional<double> high;
  bool operator==(const ValueBounds&) const = default;
};

/// Axes of a kernel's output and input channels; absent where there is none.
struct KernelChannels {
  std::optional<int> output_axis;
  std::optional<int> input_axis;
  bool operator==(const KernelChannels&) const = default;
};

/// What quantization must know of ONNX operators, by operator type.
///
/// An operator's kernel is quantized only when its type is among kernel_ops, its output only when it is among
/// activation_ops; a type in no_quantization_ops is left alone whatever the platform says. Within that, the platform
/// decides. A type that is in none of the three lists, and not in our own activation_ops either, takes the platform's
/// default options.
struct FrameworkInfo {
  std::vector<std::string> kernel_ops;
  std::vector<std::string> activation_ops;
  std::vector<std::string> no_quantization_ops;
  std::map<quant::QuantizationMethod, const quant::Quantizer*> activation_quantizer_mapping;
  std::map<quant::QuantizationMethod, const quant::Quantizer*> weights_quantizer_mapping;
  /// Of the kernel operand as stored; Gemm's are those of transB = 0 and swap when it is 1.
  std::map<std::string, KernelChannels> kernel_channels_mapping;
  /// By name of an activation function, in lower case: "softmax".
  std::map<std::string, ValueBounds> activation_min_max_mapping;
  /// By operator type; wins over the former.
  std::map<std::string, ValueBounds> layer_min_max_mapping;

  /// What the operator's output is known to stay within: the mappings, narrowed by the node's own attributes (bounds of
  /// a Clip, alpha of an Elu). Empty bounds where nothing is known.
  ValueBounds bounds_of(const Graph& graph, const Node& node) const;
};

/// The defaults for ONNX.
FrameworkInfo onnx_framework_info();

/// Reads an object of the eight fields over `start`: a field that is given replaces that of `start` as a whole, the
/// others stay. Axes and bounds are lists of two, null for none: {"kernel_channels_mapping": {"Conv": [0, 1]},
/// "layer_min_max_mapping": {"Relu": [0, null]}}; a quantizer mapping says which quantizer acts for a method:
/// {"SYMMETRIC": "POWER_OF_TWO"}. Error kInvalidConfig listing every fault.
FrameworkInfo read_framework_info(const Json& json, const std::string& place = "framework_info",
                                  FrameworkInfo start = onnx_framework_info());
Json to_json(const FrameworkInfo& info);

/// Error kInvalidConfig listing every operator that `info` names and `known` does not have, each with the nearest that
/// it has: a name that no node can bear would say nothing.
void check_operators(const FrameworkInfo& info, const std::vector<std::string>& known,
                     const std::string& place = "framework_info");

}  // namespace tersor::framework
