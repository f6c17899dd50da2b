// SPDX-License-Identifier: Apache-2.0
// How a layer is quantized, said by a class: the QuantizeConfig interface of the requirement documents, for ONNX nodes.
// A subclass names the weights, the activation function and the outputs of a layer to quantize, each with a quantizer.
// The platform and the layers around it are not its concern: what it asks for must be among what the platform offers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/base/names.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/quant/quantizer.h"

namespace tersor::framework {

/// Where a quantizer takes its range from. In training, and of samples with a batch_size, the first three differ by how
/// a range follows the batches (BatchRange); else the first and third take the extremes of all samples, the second the
/// mean of the extremes of each, which is where a moving average settles. Of a weight all three take its own extremes.
enum class RangeSource {
  kLastValue,
  kMovingAverage,
  kAllValues,
  kFixed,  // init_min and init_max
};

/// A quantizer as a QuantizeConfig names it. symmetric: the range is made symmetric and 0 has the code 0 (SYMMETRIC),
/// else the range is made to hold 0 (UNIFORM). per_axis: one range for each output channel of a weight. What is left
/// open is as the documents have it (8 bits, one range, asymmetric) where the platform offers that, and what the
/// platform takes where it does not, so that the documents' examples hold on each.
struct LayerQuantizer {
  RangeSource source = RangeSource::kLastValue;
  std::optional<int> num_bits;
  std::optional<bool> per_axis;
  std::optional<bool> symmetric;
  bool narrow_range = false;
  std::optional<double> init_min;
  std::optional<double> init_max;
  /// Of an activation: the range follows the samples in their order, so many at a time.
  std::optional<int> batch_size;

  int bits() const { return num_bits.value_or(8); }
  bool is_per_axis() const { return per_axis.value_or(false); }
  bool is_symmetric() const { return symmetric.value_or(false); }
  bool operator==(const LayerQuantizer&) const = default;
};

LayerQuantizer LastValueQuantizer(std::optional<int> num_bits = {}, std::optional<bool> per_axis = {},
                                  std::optional<bool> symmetric = {}, bool narrow_range = false);
LayerQuantizer MovingAverageQuantizer(std::optional<int> num_bits = {}, std::optional<bool> per_axis = {},
                                      std::optional<bool> symmetric = {}, bool narrow_range = false);
LayerQuantizer AllValuesQuantizer(std::optional<int> num_bits = {}, std::optional<bool> per_axis = {},
                                  std::optional<bool> symmetric = {}, bool narrow_range = false);
LayerQuantizer FixedQuantizer(double init_min, double init_max, std::optional<int> num_bits = {},
                              bool narrow_range = false);

/// {"class_name": "LastValueQuantizer", "config": {"num_bits": 8, ...}}, and back. Error kInvalidConfig.
Json to_json(const LayerQuantizer& quantizer);
LayerQuantizer read_layer_quantizer(const Json& json, const std::string& place);

/// The range that a quantizer makes of extremes: symmetric, the smallest range around 0 that holds both and whose ends
/// are in the grid's ratio (-1 narrow, else -(2^n - 2) / 2^n); else the range made to hold 0.
quant::Range shape_range(const LayerQuantizer& quantizer, double low, double high);

/// A weight of a layer: "kernel" or "bias".
struct LayerWeight {
  std::string name;
  Tensor value;
};

/// A node as a QuantizeConfig sees it, with what belongs to it: the Add that adds a MatMul's bias, and the activation
/// function that alone reads its result.
struct Layer {
  std::string name;
  std::string type;                  // ONNX operator type
  std::vector<LayerWeight> weights;  // in the order kernel, bias; without what is not constant
  std::string activation;            // "relu", "clip", ...; "linear" where none follows
  size_t outputs = 1;

  /// The nodes: of the operator, of the bias where it is a node of its own, of the activation function where there is.
  NodeId node;
  std::optional<NodeId> bias_node, activation_node;

  /// Error kInvalidConfig when the layer has no such weight.
  const LayerWeight& weight(const std::string& weight_name) const;
  const LayerWeight& kernel() const { return weight("kernel"); }
  const LayerWeight& bias() const { return weight("bias"); }
};

Layer layer_of(const Graph& graph, const Uses& uses, const Node& node);

/// Derive from it to say how a layer is quantized.
class QuantizeConfig {
 public:
  using Weights = std::vector<std::pair<LayerWeight, LayerQuantizer>>;
  using Activations = std::vector<std::pair<std::string, LayerQuantizer>>;  // the layer's activation

  virtual ~QuantizeConfig() = default;
  /// The weights to quantize; those left out stay float.
  virtual Weights get_weights_and_quantizers(const Layer& layer) const = 0;
  /// The activation function whose result to quantize, or none.
  virtual Activations get_activations_and_quantizers(const Layer& layer) const = 0;
  /// Put quantized weights, in the order of the getter, into the layer.
  virtual void set_quantize_weights(Layer& layer, const std::vector<Tensor>& quantize_weights) const = 0;
  virtual void set_quantize_activations(Layer& layer, const std::vector<std::string>& quantize_activations) const = 0;
  /// At most one for each output of the layer, the last for all that follow; empty: outputs are not quantized.
  virtual std::vector<LayerQuantizer> get_output_quantizers(const Layer& layer) const = 0;
  /// What makes the same object again, beside its class name.
  virtual Json get_config() const = 0;
  /// The name it is registered under.
  virtual std::string class_name() const = 0;
};

/// Classes by name, to read configurations from JSON. The built-in ones are there from the start:
///   DefaultQuantizeConfig     {weight_attrs, activation_attrs, quantize_output}: the default 8-bit scheme
///   NoOpQuantizeConfig        {}: nothing is quantized
///   OutputOnlyConfig          {quantize_config}: of another configuration, its outputs only
///   FixedQuantizeConfig       {quantize_config, num_bits, init_min, init_max, narrow_range}: fixed output ranges
///   LayerQuantizeConfig       {weights, activation, outputs}: quantizers by name of the weight, as data
class QuantizeScope {
 public:
  using Ptr = std::shared_ptr<const QuantizeConfig>;
  using Make = std::function<Ptr(const Json& config, const QuantizeScope& scope, const std::string& place)>;

  QuantizeScope();
  void add(const std::string& class_name, Make make);
  /// {"class_name": ..., "config": {...}}, or the class name alone. Error kInvalidConfig that lists the classes known.
  Ptr from_config(const Json& json, const std::string& place) const;

 private:
  std::map<std::string, Make> classes_;
};

/// {"class_name": ..., "config": get_config()}.
Json to_json(const QuantizeConfig& config);

/// The default 8-bit scheme's configuration for a layer. Error kInvalidConfig for a type or activation function that
/// it does not know, saying to give a QuantizeConfig.
std::shared_ptr<const QuantizeConfig> default_quantize_config(const Layer& layer);

/// What a configuration asks of one node.
struct NodeRequest {
  NodeId node;
  std::optional<LayerQuantizer> kernel;  // none: stays float
  std::vector<LayerQuantizer> outputs;   // of the node's outputs in turn, the last of all that follow; none: stay float
  bool about_kernel = false;             // false: the node's kernel is not this configuration's concern
};

/// The configuration's answers for a layer, checked: only weights of the layer, each once; the activation is the
/// layer's; as many output quantizers as outputs at most, of the same bits and symmetry. Error kInvalidConfig.
std::vector<NodeRequest> requests_of(const QuantizeConfig& config, const Layer& layer);

/// The layer's weights through its quantizers, given back to the configuration: get, quantize, set. `axis`: of the
/// kernel's output channels. Error kInvalidConfig when the setter leaves a weight of another shape or drops one.
void quantize_layer(const QuantizeConfig& config, Layer& layer, std::optional<int> axis);

}  // namespace tersor::framework

template <>
struct tersor::EnumWords<tersor::framework::RangeSource> {
  using R = tersor::framework::RangeSource;
  static constexpr const char* kind = "quantizer";
  static constexpr std::pair<R, std::string_view> words[] = {{R::kLastValue, "LastValueQuantizer"},
                                                             {R::kMovingAverage, "MovingAverageQuantizer"},
                                                             {R::kAllValues, "AllValuesQuantizer"},
                                                             {R::kFixed, "FixedQuantizer"}};
};
