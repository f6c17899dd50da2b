// SPDX-License-Identifier: Apache-2.0
// The base of every quantizer that is trained. A subclass says in a mark what it is for, makes its variables when it
// sees its tensor, and computes values and derivatives; docs/cpp.md has one of 40 lines.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/base/names.h"
#include "core/tensor/shape.h"
#include "core/trainable/inferable_quantizers.h"
#include "core/trainable/quantizer_config.h"

namespace tersor::trainable {

/// Variables that stand for weights (such as the rounding of each), and those of the quantizer (such as thresholds).
enum class VariableGroup { WEIGHTS, QPARAMS };

/// What training changes. `gradient` is as long as `value`; quantizers add to it, and who steps sets it back to 0.
struct Variable {
  std::string name;
  VariableGroup group = VariableGroup::WEIGHTS;
  std::vector<float> value, gradient;
  bool is_trainable = true;
};

using TrainableQuantizerConfig = std::variant<TrainableQuantizerWeightsConfig, TrainableQuantizerActivationConfig>;

/// Error kInvalidConfig where a config of `found` is given to a class that is marked for the other target.
void check_target(const QuantizerMark& mark, QuantizationTarget found);

class BaseTrainableQuantizer {
 public:
  virtual ~BaseTrainableQuantizer() = default;
  BaseTrainableQuantizer(const BaseTrainableQuantizer&) = delete;
  BaseTrainableQuantizer& operator=(const BaseTrainableQuantizer&) = delete;

  /// Makes the variables for a tensor of this shape, called `name`, from the config's params; what these leave out
  /// follows from `values`. An activation's values may be any of its samples, or none where the params say all. Error
  /// kInvalidArgument for values that do not fill the shape or are not finite, kInvalidConfig for params that do not
  /// fit the shape.
  void initialize_quantization(std::span<const float> values, std::span<const int64_t> shape, std::string_view name);

  /// Quantized values, float32 on the grid of convert2inferable() except where a quantizer of soft values is in
  /// `training`. An activation may have any number of values, a weight those of its shape; outputs may be inputs. Error
  /// kInvalidArgument for unlike sizes, or before initialize_quantization().
  void call(std::span<const float> inputs, std::span<float> outputs, bool training);

  /// Of a loss with the derivatives `by_output` at `inputs`: adds those by the variables to their gradients, and writes
  /// those by the inputs. `by_input` may be empty where nobody wants it, and may be by_output. Sums run in double in
  /// the order of the values and are rounded once.
  void gradient(std::span<const float> inputs, std::span<const float> by_output, std::span<float> by_input);

  /// Adds `factor` times the derivatives of the regularizer by the variables to their gradients; returns the
  /// regularizer, 0 for a quantizer that has none.
  virtual double regularize(double beta, double factor);

  /// The quantizer of inference with what was learned; null where the config does not enable quantization.
  std::unique_ptr<InferableQuantizer> convert2inferable() const;

  /// Those of a group that are trained. Error kInvalidConfig where quantization parameters would be although
  /// freeze_quant_params is set.
  std::vector<Variable*> get_trainable_variables(VariableGroup group);
  /// All of them, those that stay as they are too, in the order in which they were made.
  const std::deque<Variable>& variables() const { return variables_; }
  std::deque<Variable>& variables() { return variables_; }

  /// {"quantization_config": ..., "is_weights": ..., "is_activations": ..., "freeze_quant_params": ...};
  /// TrainableQuantizers::from_config() makes the same quantizer again, without what it learned.
  Json get_config() const;
  const TrainableQuantizerConfig& quantization_config() const { return config_; }
  const QuantizerMark& mark() const { return mark_; }
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }

 protected:
  /// The checks of a quantizer's construction, each Error kInvalidConfig: the mark names a class, at least one method
  /// and an identifier; the config is of the mark's target; its method is one of the mark's; and validate(). Bugs in a
  /// mark are found here as well.
  BaseTrainableQuantizer(const QuantizerMark& mark, TrainableQuantizerWeightsConfig config,
                         bool freeze_quant_params = false);
  BaseTrainableQuantizer(const QuantizerMark& mark, TrainableQuantizerActivationConfig config,
                         bool freeze_quant_params = false);

  /// What a subclass does; arguments are checked, and only an enabled quantizer is asked. `by_input` is empty or as
  /// long as `inputs`.
  virtual void initialize(std::span<const float> values, const Shape& shape) = 0;
  virtual void quantize(std::span<const float> inputs, std::span<float> outputs, bool training) = 0;
  virtual void differentiate(std::span<const float> inputs, std::span<const float> by_output,
                             std::span<float> by_input) = 0;
  virtual std::unique_ptr<InferableQuantizer> to_inferable() const = 0;

  /// A variable called "<name of the tensor>/<name>".
  Variable& add_variable(std::string_view name, VariableGroup group, std::vector<float> value, bool is_trainable);
  const TrainableQuantizerSettings& settings() const { return settings_; }
  bool freeze_quant_params() const { return freeze_quant_params_; }

 private:
  void check_mark() const;
  void check_ready(size_t values) const;

  const QuantizerMark& mark_;
  TrainableQuantizerConfig config_;
  TrainableQuantizerSettings settings_;
  bool freeze_quant_params_;
  bool is_initialized_ = false;
  std::string name_;
  Shape shape_;
  std::deque<Variable> variables_;  // a deque, for others hold pointers into it
};

/// The documents have a base for each framework; here both are this one.
using BaseKerasTrainableQuantizer = BaseTrainableQuantizer;
using BasePytorchTrainableQuantizer = BaseTrainableQuantizer;

}  // namespace tersor::trainable

template <>
struct tersor::EnumWords<tersor::trainable::VariableGroup> {
  using G = tersor::trainable::VariableGroup;
  static constexpr const char* kind = "variable group";
  static constexpr std::pair<G, std::string_view> words[] = {{G::WEIGHTS, "WEIGHTS"}, {G::QPARAMS, "QPARAMS"}};
};
