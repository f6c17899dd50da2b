// SPDX-License-Identifier: Apache-2.0
// Where trainable quantizers stand in a graph: the wrapper of a node whose weights are quantized, and the holder after
// it a value that is (mct_quantizers' QuantizationWrapper and ActivationQuantizationHolder). Neither changes the graph
// while it is trained; they keep what belongs to its node or value, for whoever runs the graph.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/graph/graph.h"
#include "core/trainable/base_trainable_quantizer.h"
#include "core/trainable/trainable_quantizers.h"

namespace tersor::trainable {

/// A weight by its name, "kernel" or "bias", or by its place among the node's inputs.
using WeightKey = std::variant<std::string, int>;

class QuantizationWrapper {
 public:
  using Quantizers = std::vector<std::pair<WeightKey, std::unique_ptr<BaseTrainableQuantizer>>>;

  struct Weight {
    WeightKey key;
    ValueId value;  // the initializer
    Shape shape;
    /// The float weight, which is trained unless the quantizer trains something in its place (SOFT: its rounding).
    Variable variable;
    /// What the node computes with; as of the last quantize_weights().
    std::vector<float> quantized;
    std::unique_ptr<BaseTrainableQuantizer> quantizer;  // null once it was converted
    std::unique_ptr<InferableQuantizer> inferable;      // null until then, or where quantization is not enabled
  };

  /// Copies each weight that is named out of the graph and initializes its quantizer with it. Places come lowest first.
  /// Error kInvalidConfig for no quantizers, a key twice, names beside places, a quantizer of activations, or a key
  /// that is no float32 constant of the node.
  QuantizationWrapper(const Graph& graph, NodeId node, Quantizers quantizers);

  NodeId node() const { return node_; }
  const std::string& name() const { return name_; }
  const std::vector<Weight>& weights() const { return weights_; }
  /// Error kInvalidConfig where no such weight is wrapped.
  const Weight& weight(const WeightKey& key) const;

  /// Computes every `quantized` from the float weights as they are now.
  void quantize_weights(bool training);
  /// Of a loss with the derivatives `by_quantized` by number k of weights(): adds to the gradients of its variables.
  void gradient(size_t k, std::span<const float> by_quantized);
  /// Sum of the quantizers' regularizers, whose derivatives times `factor` are added.
  double regularize(double beta, double factor);
  /// The float weights that are trained, and the quantizers' own; none once converted.
  std::vector<Variable*> get_trainable_variables(VariableGroup group);

  /// Takes each weight to its grid for good and replaces the quantizer by the one of inference, which leaves it as it
  /// is.
  void convert_to_inferable_quantizers();
  /// Gives the node the weights as quantize_weights(false) makes them. A weight that other nodes read as well is theirs
  /// as before.
  void apply(Graph& graph);

  /// {"layer": name of the node, "weights_quantizers": {"kernel": {"class_name": ..., "config": ...}}}.
  Json get_config() const;
  static QuantizationWrapper from_config(const Graph& graph, const Json& json, const TrainableQuantizers& classes,
                                         const std::string& place);

 private:
  NodeId node_;
  std::string name_;
  std::vector<Weight> weights_;
  std::vector<float> scratch_;
};

/// Quantizes the value that it is placed at. One that preserves or fuses may be told to let values through.
class ActivationQuantizationHolder {
 public:
  /// Error kInvalidConfig for no quantizer or one of weights.
  ActivationQuantizationHolder(const Graph& graph, ValueId value, std::unique_ptr<BaseTrainableQuantizer> quantizer);

  ValueId value() const { return value_; }
  const std::string& name() const { return name_; }
  /// As the quantizer's, with the value's name.
  void initialize_quantization(std::span<const float> values, std::span<const int64_t> shape);
  void call(std::span<const float> inputs, std::span<float> outputs, bool training);
  /// Error kInvalidArgument once converted.
  void gradient(std::span<const float> inputs, std::span<const float> by_output, std::span<float> by_input);
  /// As the quantizer's; 0 once converted.
  double regularize(double beta, double factor);
  std::vector<Variable*> get_trainable_variables(VariableGroup group);

  void convert_to_inferable_quantizers();
  /// Null once converted, and until then.
  const BaseTrainableQuantizer* quantizer() const { return quantizer_.get(); }
  const InferableQuantizer* inferable() const { return inferable_.get(); }
  bool quantization_bypass() const { return quantization_bypass_; }

  /// {"value": its name, "quantization_bypass": ..., "activation_holder_quantizer": {"class_name": ..., "config":
  /// ...}}.
  Json get_config() const;
  static ActivationQuantizationHolder from_config(const Graph& graph, const Json& json,
                                                  const TrainableQuantizers& classes, const std::string& place);

 protected:
  ActivationQuantizationHolder(const Graph& graph, ValueId value, std::unique_ptr<BaseTrainableQuantizer> quantizer,
                               bool quantization_bypass);

 private:
  ValueId value_;
  std::string name_;
  std::unique_ptr<BaseTrainableQuantizer> quantizer_;
  std::unique_ptr<InferableQuantizer> inferable_;
  bool quantization_bypass_ = false;
  bool is_converted_ = false;
};

/// After an operator that passes quantized values on.
struct PreservingActivationQuantizationHolder : ActivationQuantizationHolder {
  PreservingActivationQuantizationHolder(const Graph& graph, ValueId value,
                                         std::unique_ptr<BaseTrainableQuantizer> quantizer,
                                         bool quantization_bypass = false)
      : ActivationQuantizationHolder(graph, value, std::move(quantizer), quantization_bypass) {}
};

/// After an operator within a fused group, whose result is not quantized.
struct FLNActivationQuantizationHolder : ActivationQuantizationHolder {
  FLNActivationQuantizationHolder(const Graph& graph, ValueId value, std::unique_ptr<BaseTrainableQuantizer> quantizer,
                                  bool quantization_bypass = false)
      : ActivationQuantizationHolder(graph, value, std::move(quantizer), quantization_bypass) {}
};

/// mct_quantizers has each of them for each framework.
using KerasQuantizationWrapper = QuantizationWrapper;
using PytorchQuantizationWrapper = QuantizationWrapper;
using KerasActivationQuantizationHolder = ActivationQuantizationHolder;
using PytorchActivationQuantizationHolder = ActivationQuantizationHolder;

/// Configs that start a trainable quantizer at the parameters of a plan: method, bits, sign and ranges. Its scales are
/// those of `params` up to the last digit of a float.
TrainableQuantizerWeightsConfig weights_config_of(const quant::QuantizationParams& params,
                                                  double min_threshold = kMinThreshold);
TrainableQuantizerActivationConfig activation_config_of(const quant::QuantizationParams& params,
                                                        double min_threshold = kMinThreshold);

}  // namespace tersor::trainable
