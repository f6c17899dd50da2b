// SPDX-License-Identifier: Apache-2.0
#include "core/framework/document_layers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/framework/operations_to_layers.h"

namespace tersor::framework {

namespace {

/// A line for each layer that ONNX has no operator of that name for: its names, then what they stand for, operators or,
/// with a #, an operator set of onnx_layers().
constexpr std::string_view kLayers =
    "Conv1D Conv2D Conv3D Conv1d Conv2d Conv3d SeparableConv2D=Conv\n"
    "DepthwiseConv2D=#DepthwiseConv2D\n"
    "Conv2DTranspose ConvTranspose1d ConvTranspose2d=ConvTranspose\n"
    "Dense Linear=#FullyConnected\n"
    "Embedding=Gather\n"
    "Activation=Relu Softmax LogSoftmax Sigmoid HardSigmoid Tanh Elu Selu Gelu Swish LeakyRelu Softplus Softsign "
    "Identity\n"
    "ReLU relu=Relu\n"
    "ReLU6 relu6=#ReLU6\n"
    "LeakyReLU=LeakyRelu\n"
    "PReLU=PRelu\n"
    "ELU=Elu\n"
    "GELU=Gelu\n"
    "SiLU=Swish\n"
    "Hardswish hard_swish=HardSwish\n"
    "Hardsigmoid=HardSigmoid\n"
    "softmax=Softmax\n"
    "sigmoid=Sigmoid\n"
    "BatchNorm2d=BatchNormalization\n"
    "Concatenate concat concatenate cat=Concat\n"
    "add=Add\n"
    "Multiply=Mul\n"
    "Subtract=Sub\n"
    "reshape=Reshape\n"
    "flatten=Flatten\n"
    "Permute transpose=Transpose\n"
    "ZeroPadding2D=Pad\n"
    "UpSampling2D=Resize\n"
    "MaxPooling2D MaxPool2D MaxPool2d=MaxPool\n"
    "AveragePooling2D AvgPool2D AvgPool2d=AveragePool\n"
    "GlobalAveragePooling2D AdaptiveAvgPool2d=GlobalAveragePool\n"
    "GlobalMaxPooling2D=GlobalMaxPool\n";

/// Where the axes of a kernel lie in the weight of the ONNX operator.
struct KernelAxes {
  std::string_view layer, order;
};
constexpr std::array kAxes{KernelAxes{"Conv1D", "210"}, KernelAxes{"Conv2D", "2310"}, KernelAxes{"Conv3D", "23410"},
                           KernelAxes{"Conv2DTranspose", "2310"}, KernelAxes{"Linear", "10"}};

/// The words of a text.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<LayerFilterParams> standing_for(const std::string& name) {
  for (std::string_view rest = kLayers; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const size_t middle = line.find('=');
    const std::vector<std::string> names = words_of(line.substr(0, middle));
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (line[middle + 1] == '#') return onnx_layers().find(line.substr(middle + 2))->layers;
    std::vector<LayerFilterParams> made;
    for (std::string& type : words_of(line.substr(middle + 1))) made.emplace_back(std::move(type));
    return made;
  }
  return {LayerFilterParams(name)};
}

}  // namespace

std::vector<LayerFilterParams> onnx_operators(const LayerFilterParams& layer) {
  std::vector<LayerFilterParams> made = standing_for(layer.layer);
  for (LayerFilterParams& one : made) {
    one.conditions.insert(one.conditions.end(), layer.conditions.begin(), layer.conditions.end());
    one.kwargs.insert(layer.kwargs.begin(), layer.kwargs.end());
  }
  return made;
}

std::vector<std::string> onnx_types(const std::string& layer) {
  std::vector<std::string> types;
  for (const LayerFilterParams& one : standing_for(layer))
    if (std::find(types.begin(), types.end(), one.layer) == types.end()) types.push_back(one.layer);
  return types;
}

KernelChannels onnx_axes(const std::string& layer, const KernelChannels& axes, const std::string& place) {
  if (layer == "DepthwiseConv2D") return {0, 1};  // of rows, columns, inputs and multiplier the third has all outputs
  const auto found =
      std::find_if(kAxes.begin(), kAxes.end(), [&](const KernelAxes& one) { return one.layer == layer; });
  if (found == kAxes.end()) return axes;
  const int count = static_cast<int>(found->order.size());
  const auto moved = [&](std::optional<int> axis) {
    if (!axis) return axis;
    if (*axis < -count || *axis >= count)
      throw Error(ErrorCode::kInvalidConfig,
                  "The kernel of " + layer + " has " + std::to_string(count) + " axes, and there is none with number " +
                      std::to_string(*axis) + ".",
                  place);
    return std::optional(found->order[static_cast<size_t>(*axis < 0 ? *axis + count : *axis)] - '0');
  };
  return {moved(axes.output_axis), moved(axes.input_axis)};
}

}  // namespace tersor::framework
